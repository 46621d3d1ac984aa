"""What a study of very many tiny units costs beside the work itself, whoever computes it, and what it keeps in memory.

Each unit is one run of about 1 000 rounds. The work is what ``simulate`` takes for such a unit by itself; the overhead
is the time of the whole run for each unit, beyond the work shared by two workers. Workers are warmed up before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks._outcome import Outcome

import ns_mab_gym as nsb
from ns_mab_gym.experiments import AgentEntry, Experiment, Store, Study, WorldEntry, code_versions
from ns_mab_gym.experiments import run as run_study
from ns_mab_gym.experiments.progress import Lines
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.workforce import hired

SIDE, WORKERS, HORIZON = 100, 2, 1_000  # so many worlds and agents
LIMITS = {"threads": 2.0, "processes": 2.0, "dask": 5.0}  # milliseconds of overhead for each unit
MOST_MEGABYTES = 30


def study_of(side: int) -> Study:
    """One run of each of so many agents on each of so many worlds."""
    worlds = tuple(WorldEntry.of("NSBandit-Abrupt-v0", horizon=HORIZON + each) for each in range(side))
    agents = tuple(AgentEntry.of("beta-swts", window=100 + each) for each in range(side))
    return Study("tiny", (Experiment(worlds=worlds, agents=agents, runs=1, rounds=tuple(range(10, HORIZON, 10))),))


class Watched(Lines):
    """Notes the largest memory of this process while units arrive."""

    most = 0.0

    def advance(self, units: int, steps: int) -> None:
        """Look at the memory."""
        self.most = max(self.most, megabytes())


def megabytes() -> float:
    """The memory that this process has at present."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def child(folder: str, executor: str) -> None:
    """Measure one executor; prints the figures."""
    units = units_of(study_of(20))
    for unit in units[:40]:
        compute(unit, nsb.simulate, 1)
    began = perf_counter()
    for unit in units:
        compute(unit, nsb.simulate, 1)
    work = (perf_counter() - began) / len(units)
    with hired(executor, WORKERS) as crew, Path("/dev/null").open("w") as nowhere:
        with Store(f"{folder}/warm", code_versions(print)) as store:
            run_study(study_of(40), store, nsb.simulate, Lines(nowhere), crew=crew)
        with Store(f"{folder}/out", code_versions(print)) as store:
            progress, study, before, began = Watched(nowhere), study_of(SIDE), megabytes(), perf_counter()
            outcome = run_study(study, store, nsb.simulate, progress, crew=crew)
            wall = (perf_counter() - began) / SIDE**2
    assert len(outcome.computed) == SIDE**2
    files = len(list(Path(folder, "out", "units").iterdir()))
    print(json.dumps({"work": work * 1e3, "wall": wall * 1e3, "megabytes": progress.most - before, "files": files}))


def measured(executor: str) -> dict[str, Any]:
    """The figures of one executor, in a process of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        program = f"from benchmarks.tiny_units import child; child({scratch!r}, {executor!r})"
        said = subprocess.check_output([sys.executable, "-c", program], text=True, cwd=Path(__file__).parents[1])
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found | {"overhead": found["wall"] - found["work"] / WORKERS}


def run() -> Outcome:
    """Print a row for each executor."""
    print(f"tiny_units: {SIDE**2:,} units of one run of {HORIZON:,} rounds, {WORKERS} workers")
    found = {executor: measured(executor) for executor in LIMITS}
    for executor, each in found.items():
        times = f"{each['wall']:.2f} ms a unit, work {each['work']:.2f}, overhead {each['overhead']:.2f}"
        print(f"    {executor:<10} {times}  memory {each['megabytes']:+.0f} MB  {each['files']} files", flush=True)
    within = all(found[executor]["overhead"] < limit for executor, limit in LIMITS.items())
    return Outcome(within and max(each["megabytes"] for each in found.values()) < MOST_MEGABYTES, found)
