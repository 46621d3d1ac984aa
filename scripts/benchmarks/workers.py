"""What handing out work costs: a hundred workers whose units sleep, beside what the model in ``_cost.py`` says.

The overheads of the model are measured with units that take almost no time, as seconds of processors, which other load
on the machine hardly changes; then units of 1 ms to 1 s are played and compared with the model. Every task is written
to a file, as a study does. What a large study would cost is computed by the model from the time of a step and the bytes
of a unit, which are measured here too.
"""

from __future__ import annotations

import io
import logging
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from benchmarks import agents
from benchmarks._cost import Cost, Overhead, Units, coordinator_share, units_per_task, wall_seconds
from benchmarks._outcome import Outcome
from benchmarks._sleeping import Sleeping

import ns_mab_gym as nsb
from ns_mab_gym import experiments
from ns_mab_gym.experiments.progress import Lines
from ns_mab_gym.files import write_atomically
from ns_mab_gym.play.cores import usable_cores
from ns_mab_gym.workforce import Arrived, Crew, dispatch, dispatching
from ns_mab_gym.workforce.dask_crew import DaskCrew
from ns_mab_gym.workforce.thread_crew import ThreadCrew

WORKERS, PROCESSES = 100, 4
SLEEPS = (Units(300_000, 0.001, 300), Units(50_000, 0.01, 2_000), Units(6_000, 0.1, 20_000), Units(1_000, 1.0, 80_000))
# many tasks, many units, many bytes: units that take next to no time, and how many at most in a task
PROBES = ((Units(2_000, 1e-4, 20_000), 1), (Units(60_000, 1e-3, 200), 500), (Units(300, 1e-4, 2_000_000), 1))
STUDY_WORKERS = (1, 10, 100, 500, 1_000)
STUDY_RUNS, RUNS_PER_UNIT, HORIZON = 30_000_000, 25, 50_000
MARK = 2.0  # the model may be so many times too high or too low


class Measured(NamedTuple):
    """What playing some units took.

    Attributes:
        tasks: how many there were.
        wall: seconds on the clock.
        processor: seconds of the processors of this process.
        writer: seconds of the thread that hands out, takes in and writes, those in which it waits for the disk too.
        worker: seconds of the processors of the workers' processes.
    """

    tasks: int
    wall: float
    processor: float
    writer: float
    worker: float


@contextmanager
def hundred(kind: str) -> Iterator[Crew]:
    """A hundred workers: threads of this process, or those of four processes of a Dask cluster."""
    if kind == "threads":
        with ThreadCrew(WORKERS) as crew:
            yield crew
        return
    import distributed

    per_process = WORKERS // PROCESSES
    options = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    with (
        distributed.LocalCluster(n_workers=PROCESSES, threads_per_worker=per_process, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield DaskCrew(client)


def played(crew: Crew, units: Units, most: int = dispatching.MOST_ITEMS) -> Measured:
    """Play units that sleep, and write a file for each task."""

    def elsewhere() -> float:
        return float(sum(crew.everywhere(time.process_time).values()))

    tasks, writing = 0, 0.0
    job = Sleeping(units.seconds, int(units.size))
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(dispatching, "MOST_ITEMS", most):
        before = np.array([time.perf_counter(), time.process_time(), time.thread_time(), elsewhere()])
        for each in dispatch(crew, job, range(units.number)):
            assert isinstance(each, Arrived)
            writing -= time.perf_counter() - time.thread_time()
            write_atomically(Path(folder) / str(tasks % 100), each.content)
            writing += time.perf_counter() - time.thread_time()
            tasks += 1
        after = np.array([time.perf_counter(), time.process_time(), time.thread_time(), elsewhere()])
    wall, processor, thread, worker = (after - before).tolist()
    return Measured(tasks, wall, processor, thread + writing, worker)


def overhead_of(crew: Crew) -> Overhead:
    """The overheads of a kind of workers: sums that tasks, units and bytes take part in to different degrees."""
    runs = [(units, played(crew, units, most)) for units, most in PROBES]
    parts = np.array([(run.tasks, units.number, units.number * units.size) for units, run in runs], dtype=float)
    costs = np.linalg.solve(parts, np.array([run[2:] for _, run in runs])).T
    return Overhead(*(Cost(*np.maximum(cost, 0).tolist()) for cost in costs), queued=crew.queued)


def compared(crew: Crew, overhead: Overhead) -> list[dict[str, float]]:
    """Units of several lengths: what they took, what they would take without overhead, and what the model says."""
    rows = []
    for units in SLEEPS:
        run = played(crew, units)
        model = wall_seconds(units, WORKERS, overhead, usable_cores())
        ideal = units.number * units.seconds / WORKERS
        row = units._asdict() | {"tasks": run.tasks, "wall": run.wall, "ideal": ideal, "model": model}
        print(
            f"    {units.number:>7,} units of {units.seconds:5.3f} s: {run.tasks:>5,} tasks {run.wall:6.2f} s, "
            f"model {model:6.2f} s ({model / run.wall - 1:+.0%}), {units.number / run.wall:>8,.0f} units/s, "
            f"efficiency {ideal / run.wall:.0%}, {run.writer / run.tasks * 1e3:.2f} ms of the writer per task",
            flush=True,
        )
        rows.append(row)
    return rows


def step() -> float:
    """The seconds of a step on one core, the mean of all agents of the benchmark of agents."""

    def seconds(name: str, seed: int) -> float:
        began = time.process_time()
        return min(agents.play(name, seed).seconds, time.process_time() - began)  # whatever others do on the machine

    best = [min(seconds(name, seed) for seed in range(4)) for name in agents.MARKS]
    return statistics.mean(best) / agents.HORIZON


def stored() -> float:
    """The bytes that are stored of a unit of 25 runs."""
    world = experiments.WorldEntry.of(agents.WORLD, horizon=HORIZON)
    players = tuple(map(experiments.AgentEntry.of, ("beta-swts", "sw-ucb", "ser4", "rexp3")))
    study = experiments.Study("Bytes", (experiments.Experiment(worlds=(world,), agents=players, runs=RUNS_PER_UNIT),))
    with tempfile.TemporaryDirectory() as folder:
        with experiments.Store(folder, experiments.code_versions(print)) as store:
            experiments.run(study, store, nsb.simulate, Lines(io.StringIO()))
        files = [each for each in (Path(folder) / "units").rglob("*") if each.is_file()]
        return sum(each.stat().st_size for each in files) / len(players)


def study(overhead: Overhead) -> dict[str, Any]:
    """What the largest study would cost, by the model."""
    seconds, size = step(), stored()
    steps = RUNS_PER_UNIT * HORIZON
    units = Units(STUDY_RUNS // RUNS_PER_UNIT, steps * seconds, size)
    rows = {
        str(workers): {
            "units_per_task": units_per_task(units, workers),
            "hours": wall_seconds(units, workers, overhead) / 3600,
            "coordinator": coordinator_share(units, workers, overhead),
            "megabytes_per_second": units.number * size / wall_seconds(units, workers, overhead) / 1e6,
        }
        for workers in STUDY_WORKERS
    }
    print(f"  {STUDY_RUNS:,} runs of {HORIZON:,} rounds: {seconds * 1e6:.2f} µs per step, {units.seconds:.2f} s and")
    print(f"  {size / 1e3:.0f} kB per unit, {units.number * units.seconds / 3600:,.0f} hours of a core")
    for workers, row in rows.items():
        print(f"    {workers:>5} workers: {row['hours']:7.1f} h, coordinator {row['coordinator']:.0%} busy")
    return {
        "runs": STUDY_RUNS,
        "rounds": HORIZON,
        "agents": len(agents.MARKS),
        "steps": steps,
        **units._asdict(),
        "workers": rows,
    }


def run() -> Outcome:
    """Measure both kinds of workers, compare them with the model, and let the model say what a large study costs."""
    print(f"workers: {WORKERS} of them on {usable_cores()} cores, units that sleep")
    figures: dict[str, Any] = {"workers": WORKERS, "cores": usable_cores(), "kinds": {}}
    for kind in ("threads", "dask"):
        with hundred(kind) as crew:
            played(crew, Units(500, 0.01, 100))
            overhead = overhead_of(crew)
            for what, cost in zip(overhead._fields, overhead[:3], strict=False):
                print(
                    f"  {kind}, {what}: {cost.task * 1e3:.2f} ms per task, {cost.unit * 1e6:.1f} µs per unit, ", end=""
                )
                print(f"{cost.byte * 1e9:.1f} ms per MB")
            costs = {what: cost._asdict() for what, cost in zip(overhead._fields, overhead[:3], strict=False)}
            figures["kinds"][kind] = {"overhead": costs, "rows": compared(crew, overhead)}
    figures["study"] = study(overhead)
    ratios = [row["model"] / row["wall"] for kind in figures["kinds"].values() for row in kind["rows"]]
    return Outcome(all(1 / MARK <= ratio <= MARK for ratio in ratios), figures)
