"""A small model of what a study costs on many workers, from a few measured figures.

Work is handed out in tasks of several units. Three things may take longest, and whatever does decides:

- the workers, who share the units;
- the coordinator, who hands out every task, takes it in and writes its file;
- the cores, where workers and coordinator share those of one machine.

Assumptions: units of a study take the same time; workers are equally fast; nobody fails; the network between them is
not the limit; all workers are there from the beginning, and their code is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from ns_mab_gym.workforce import dispatching, parcels

__all__ = ["Cost", "Overhead", "Units", "coordinator_share", "units_per_task", "wall_seconds"]


class Units(NamedTuple):
    """The units of a study: how many there are, how long one takes on one core, and how many bytes are stored of it."""

    number: int
    seconds: float
    size: float


class Cost(NamedTuple):
    """Seconds for every task, for every unit, and for every byte of results."""

    task: float
    unit: float
    byte: float

    def of(self, tasks: float, number: float, size: float) -> float:
        """The seconds of so many tasks with so many units, of which each has so many bytes."""
        return tasks * self.task + number * (self.unit + size * self.byte)


class Overhead(NamedTuple):
    """What a kind of workers costs beside the work itself.

    Attributes:
        processor: of the coordinator; Python lets one of its threads compute at a time.
        writer: of that thread of the coordinator which hands out, takes in, and waits until a file is written.
        worker: of the workers' processors.
        queued: how many tasks each worker is given at once.
    """

    processor: Cost
    writer: Cost
    worker: Cost
    queued: int


def units_per_task(units: Units, workers: int) -> int:
    """How many units the dispatcher puts into one task, once it knows how long they take."""
    seconds = dispatching.TASK_SECONDS * max(1.0, workers / dispatching.CROWD)
    fitting = min(seconds / units.seconds, parcels.FULL / max(1.0, units.size), dispatching.MOST_ITEMS)
    return max(1, math.ceil(fitting))


def wall_seconds(units: Units, workers: int, overhead: Overhead, cores: float = math.inf) -> float:
    """How long a study takes.

    Args:
        units: its units.
        workers: how many there are.
        overhead: what this kind of workers costs besides.
        cores: how many cores the coordinator and the workers have together, if they are on one machine.
    """

    def phase(tasks: float, number: float) -> float:
        processor, writer, worker = (cost.of(tasks, number, units.size) for cost in overhead[:3])
        return max((number * units.seconds + worker) / workers, processor, writer, (processor + worker) / cores)

    return units.seconds + sum(phase(tasks, number) for tasks, number in _phases(units, workers, overhead.queued))


def _phases(units: Units, workers: int, queued: int) -> Iterator[tuple[float, float]]:
    """How many tasks there are, of how many units together: while tasks grow, then for a long time, and in the end.

    Tasks double until they are large enough, or as large as a worker's share in what is left. In the end each takes
    such a share, so that all workers end together: the logarithm counts how often one in so many can be taken away
    until single units are left.
    """
    left, most, size = float(units.number), units_per_task(units, workers), 1
    while size < most and left > 2 * workers * size:
        number = min(left, workers * queued * size)
        yield number / size, number
        left, size = left - number, min(most, 2 * size)
    last = min(left, 2.0 * workers * size)
    yield (left - last) / size, left - last
    share = max(1.0, last / (2 * workers))
    yield min(last, 2 * workers * (1 + math.log(share))), last


def coordinator_share(units: Units, workers: int, overhead: Overhead) -> float:
    """The part of its time that the coordinator is busy while all workers are; above 1 it is what holds them up."""
    number = units_per_task(units, workers)
    processor, writer, worker = (cost.of(1, number, units.size) for cost in overhead[:3])
    return max(processor, writer) * workers / (number * units.seconds + worker)
