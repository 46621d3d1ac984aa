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

__all__ = ["Disk", "Overhead", "Units", "coordinator_share", "units_per_task", "wall_seconds"]


class Units(NamedTuple):
    """The units of a study: how many there are, how long one takes on one core, and how many bytes are stored of it."""

    number: int
    seconds: float
    size: float


class Overhead(NamedTuple):
    """What a kind of workers costs beside the work itself, in seconds of a processor.

    Attributes:
        task: of the coordinator's, for every task.
        unit: of the coordinator's, for every unit.
        byte: of the coordinator's, for every byte of results.
        worker_task: of the worker's, for every task.
        worker_unit: of the worker's, for every unit.
        queued: how many tasks each worker is given at once.
    """

    task: float
    unit: float
    byte: float
    worker_task: float
    worker_unit: float
    queued: int


class Disk(NamedTuple):
    """The seconds that writing takes: for every file, of which each task has one, and for every byte."""

    file: float
    byte: float


def units_per_task(units: Units, workers: int) -> int:
    """How many units the dispatcher puts into one task, once it knows how long they take."""
    seconds = dispatching.TASK_SECONDS * max(1.0, workers / dispatching.CROWD)
    fitting = min(seconds / units.seconds, parcels.FULL / max(1.0, units.size), dispatching.MOST_ITEMS)
    return max(1, math.ceil(fitting))


def wall_seconds(units: Units, workers: int, overhead: Overhead, disk: Disk, cores: float = math.inf) -> float:
    """How long a study takes.

    Args:
        units: its units.
        workers: how many there are.
        overhead: what this kind of workers costs besides.
        disk: what writing costs.
        cores: how many cores the coordinator and the workers have together, if they are on one machine.
    """

    def phase(tasks: float, number: float) -> float:
        beside = tasks * overhead.worker_task + number * overhead.worker_unit
        coordinating = _coordinating(tasks, number, units.size, overhead)
        writing = tasks * disk.file + number * units.size * disk.byte
        return max((number * units.seconds + beside) / workers, coordinating + writing, (coordinating + beside) / cores)

    return units.seconds + sum(phase(tasks, number) for tasks, number in _phases(units, workers, overhead.queued))


def _phases(units: Units, workers: int, queued: int) -> Iterator[tuple[float, float]]:
    """How many tasks there are, of how many units together: while tasks grow, then for a long time, and in the end.

    Tasks double until they are large enough. In the end each takes a share of what is left, so that all workers end
    together: the logarithm counts how often one in so many can be taken away until single units are left.
    """
    left, most, size = float(units.number), units_per_task(units, workers), 1
    while size < most and left > 0:
        number = min(left, workers * queued * size)
        yield number / size, number
        left, size = left - number, min(most, 2 * size)
    last = min(left, 2.0 * workers * most)
    yield (left - last) / most, left - last
    yield min(last, 2 * workers * (1 + math.log(most))), last


def _coordinating(tasks: float, number: float, size: float, overhead: Overhead) -> float:
    """The seconds of a processor that the coordinator takes."""
    return tasks * overhead.task + number * (overhead.unit + size * overhead.byte)


def coordinator_share(units: Units, workers: int, overhead: Overhead, disk: Disk) -> float:
    """The part of its time that the coordinator is busy while all workers are; above 1 it is what holds them up."""
    number = units_per_task(units, workers)
    writing = disk.file + number * units.size * disk.byte
    working = number * (units.seconds + overhead.worker_unit) + overhead.worker_task
    return (_coordinating(1, number, units.size, overhead) + writing) * workers / working
