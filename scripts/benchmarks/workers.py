"""Handing out work: a hundred workers whose units sleep, beside a small model of the cost of a study on many workers.

Work is handed out in tasks of several units. Three things may take longest, and the longest decides:

- the workers, who share the units;
- the coordinator, which hands out every task, takes it in and stores it;
- the cores, where workers and coordinator share those of one machine.

Assumptions: units of a study take the same time; workers are equally fast and there from the beginning; nothing fails;
the network is not the limit; code is compiled. The overheads are measured with units that take almost no time, as
seconds of processors, which other load on the machine hardly changes.
"""

from __future__ import annotations

import logging
import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import numpy.typing as npt
from benchmarks import agents
from benchmarks._common import Outcome
from benchmarks.studies import bytes_of
from benchmarks.studies import played as simulated

from ns_mab_gym import parallel
from ns_mab_gym.files import write_atomically
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.store import encode
from ns_mab_gym.studies.study import Experiment, Study, units_of


class Units(NamedTuple):
    """The units of a study: their number, the seconds of one on one core, and the bytes that are stored of it."""

    number: int
    seconds: float
    size: float


class Cost(NamedTuple):
    """Seconds for every task, for every unit, and for every byte of results."""

    task: float
    unit: float
    byte: float

    def of(self, tasks: float, number: float, size: float) -> float:
        """The seconds of some tasks with this number of units of this size."""
        return tasks * self.task + number * (self.unit + size * self.byte)


class Overhead(NamedTuple):
    """The cost of a kind of workers beside the work itself.

    Attributes:
        processor: of the coordinator; Python lets one of its threads compute at a time.
        writer: of that thread of the coordinator which hands out, takes in, and waits until a result is written.
        worker: of the workers' processors.
        queued: the number of tasks that each worker is given at once.
    """

    processor: Cost
    writer: Cost
    worker: Cost
    queued: int


def units_per_task(units: Units, workers: int) -> int:
    """The number of units in one task, once it is known how long they take."""
    seconds = parallel.TASK_SECONDS * max(1.0, workers / parallel.MANY_WORKERS)
    return max(1, math.ceil(min(seconds / units.seconds, parallel.MOST_ITEMS)))


def wall_seconds(units: Units, workers: int, overhead: Overhead, cores: float = math.inf) -> float:
    """The time that a study takes.

    Args:
        units: its units.
        workers: their number.
        overhead: of this kind of workers.
        cores: the cores that the coordinator and the workers have together, if they are on one machine.
    """

    def phase(tasks: float, number: float) -> float:
        processor, writer, worker = (cost.of(tasks, number, units.size) for cost in overhead[:3])
        return max((number * units.seconds + worker) / workers, processor, writer, (processor + worker) / cores)

    return units.seconds + sum(phase(tasks, number) for tasks, number in _phases(units, workers, overhead.queued))


def _phases(units: Units, workers: int, queued: int) -> Iterator[tuple[float, float]]:
    """The number of tasks and of their units: while tasks grow, then for a long time, and in the end.

    Tasks double until they are large enough, or as large as a worker's share in what is left. In the end each takes
    such a share, so that all workers end together: the logarithm counts how often that share can be taken away until
    single units are left.
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
    """The part of its time that the coordinator is busy while all workers are; above 1 it holds them up."""
    number = units_per_task(units, workers)
    processor, writer, worker = (cost.of(1, number, units.size) for cost in overhead[:3])
    return max(processor, writer) * workers / (number * units.seconds + worker)


WORKERS, PROCESSES = 100, 4
SLEEPS = (Units(300_000, 0.001, 300), Units(50_000, 0.01, 2_000), Units(6_000, 0.1, 20_000), Units(1_000, 1.0, 80_000))
# many tasks, many units, many bytes: units that take next to no time, and how many at most in a task
PROBES = ((Units(2_000, 1e-4, 20_000), 1), (Units(60_000, 1e-3, 200), 500), (Units(300, 1e-4, 2_000_000), 1))
STUDY_WORKERS = (1, 10, 100, 500, 1_000)
STUDY_RUNS, RUNS_PER_UNIT, HORIZON = 30_000_000, 25, 50_000
MARK = 2.0  # times too high or too low that the model may be


def sleep(seconds: float, size: int, item: int) -> bytes:
    """Occupy a worker and no core for some seconds; returns a result of this size."""
    time.sleep(seconds)
    return bytes(size)


@contextmanager
def hundred(kind: str) -> Iterator[tuple[parallel.Pool, Callable[[], float]]]:
    """A hundred workers, threads of this process or of four of a Dask cluster, and the seconds of other processors."""
    if kind == "threads":
        with parallel.executor("threads", WORKERS) as pool:
            yield pool, lambda: 0.0
        return
    import distributed

    options = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    threads = WORKERS // PROCESSES
    with (
        distributed.LocalCluster(n_workers=PROCESSES, threads_per_worker=threads, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        parallel.executor(client) as pool,
    ):
        yield pool, lambda: float(sum(client.run(time.process_time).values()))


def played(
    pool: parallel.Pool, elsewhere: Callable[[], float], units: Units, most: int = parallel.MOST_ITEMS
) -> tuple[int, list[float]]:
    """Play units that sleep, and write a file for each task.

    Returns the number of tasks, and the seconds on the clock, of the coordinator's processor, of its writing thread
    with its waiting for the disk, and of the workers' processors.
    """

    def clocks() -> npt.NDArray[np.float64]:
        return np.array([time.perf_counter(), time.process_time(), time.thread_time() + waited, elsewhere()])

    tasks, waited = 0, 0.0
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(parallel, "MOST_ITEMS", most):
        before = clocks()
        job = partial(sleep, units.seconds, int(units.size))
        for each in parallel.map_unordered(pool, job, range(units.number)):
            assert isinstance(each, parallel.Done)
            began = time.perf_counter() - time.thread_time()
            write_atomically(Path(folder) / str(tasks % 100), b"".join(each.results))
            waited += time.perf_counter() - time.thread_time() - began
            tasks += 1
        return tasks, (clocks() - before).tolist()


def overhead_of(pool: parallel.Pool, elsewhere: Callable[[], float]) -> Overhead:
    """The overheads of a kind of workers: sums that tasks, units and bytes take part in to different degrees."""
    runs = [(units, *played(pool, elsewhere, units, most)) for units, most in PROBES]
    parts = np.array([(tasks, units.number, units.number * units.size) for units, tasks, _ in runs], dtype=float)
    costs = np.linalg.solve(parts, np.array([seconds[1:] for *_, seconds in runs])).T
    return Overhead(*(Cost(*np.maximum(cost, 0).tolist()) for cost in costs), queued=pool.queued)


def measured(kind: str) -> tuple[Overhead, list[dict[str, float]]]:
    """The overheads of a kind of workers, and units of several lengths: measured, without overhead, by the model."""
    rows = []
    with hundred(kind) as (pool, elsewhere):
        played(pool, elsewhere, Units(500, 0.01, 100))
        overhead = overhead_of(pool, elsewhere)
        for what, cost in zip(overhead._fields, overhead[:3], strict=False):
            print(f"  {kind}, {what}: {cost.task * 1e3:.2f} ms per task, {cost.unit * 1e6:.1f} µs per unit, ", end="")
            print(f"{cost.byte * 1e9:.1f} ms per MB")
        for units in SLEEPS:
            tasks, (wall, *_) = played(pool, elsewhere, units)
            model = wall_seconds(units, WORKERS, overhead, parallel.usable_cores())
            ideal = units.number * units.seconds / WORKERS
            rows.append(units._asdict() | {"tasks": tasks, "wall": wall, "ideal": ideal, "model": model})
            print(f"    {units.number:>7,} units of {units.seconds:5.3f} s: {tasks:>5,} tasks, ", end="")
            print(f"{wall:6.2f} s, model {model:6.2f} s, efficiency {ideal / wall:.0%}", flush=True)
    return overhead, rows


def stored_bytes() -> float:
    """The bytes that are stored of a unit of 25 runs, the mean of four agents."""
    world = WorldSpec.of(agents.WORLD, horizon=HORIZON)
    players = tuple(map(AgentSpec.of, ("beta-swts", "sw-ucb", "ser4", "rexp3")))
    units = units_of(Study("bytes", (Experiment(worlds=(world,), agents=players, runs=RUNS_PER_UNIT),)))
    return statistics.mean(bytes_of(encode(unit, simulated(unit))) for unit in units)


def study(overhead: Overhead) -> dict[str, Any]:
    """The cost of a study that is too large for one machine, by the model."""
    steps = RUNS_PER_UNIT * HORIZON
    least = [min(agents.play(name, seed).seconds for seed in range(4)) for name in agents.MARKS]
    step = statistics.mean(least) / agents.HORIZON
    units = Units(STUDY_RUNS // RUNS_PER_UNIT, steps * step, stored_bytes())
    rows: dict[str, dict[str, float]] = {}
    for workers in STUDY_WORKERS:
        wall = wall_seconds(units, workers, overhead)
        rows[str(workers)] = row = {
            "units_per_task": units_per_task(units, workers),
            "hours": wall / 3600,
            "coordinator": coordinator_share(units, workers, overhead),
            "megabytes_per_second": units.number * units.size / wall / 1e6,
        }
        print(f"    {workers:>5} workers: {row['hours']:7.1f} h, coordinator {row['coordinator']:.0%} busy")
    about = {"runs": STUDY_RUNS, "rounds": HORIZON, "agents": len(agents.MARKS), "steps": steps}
    return about | units._asdict() | {"workers": rows}


def workers() -> Outcome:
    """Measure both kinds of workers, compare them with the model, and compute the cost of a large study."""
    cores = parallel.usable_cores()
    print(f"workers: {WORKERS} of them on {cores} cores, units that sleep")
    figures: dict[str, Any] = {"workers": WORKERS, "cores": cores, "kinds": {}}
    for kind in ("threads", "dask"):
        overhead, rows = measured(kind)
        costs = {what: cost._asdict() for what, cost in zip(overhead._fields, overhead[:3], strict=False)}
        figures["kinds"][kind] = {"overhead": costs, "rows": rows}
    figures["study"] = study(overhead)
    ratios = [row["model"] / row["wall"] for kind in figures["kinds"].values() for row in kind["rows"]]
    return Outcome(all(1 / MARK <= ratio <= MARK for ratio in ratios), figures)
