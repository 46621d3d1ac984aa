"""What results cost in the store: a tiny unit in a file of its own or with others, and a start with very many stored.

The stored units of the latter are simulated: files with names and footers like real ones, but with one row for each
unit. Takes some minutes, 200 MB of disk, and 2 GB of memory, nearly all of it for the units themselves.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from benchmarks._outcome import Outcome

import ns_mab_gym as nsb
from ns_mab_gym.experiments import AgentEntry, Store, WorldEntry, code_versions
from ns_mab_gym.experiments.footers import key_of
from ns_mab_gym.experiments.parquet import SCHEMA, checked, to_parquet, written
from ns_mab_gym.experiments.shelves import name_of_shared
from ns_mab_gym.experiments.units import Unit
from ns_mab_gym.runs import Runs

TOGETHER = 500  # units in a file
COUNTS = (10_000, 1_000_000)
MOST_BYTES, MOST_SECONDS = 500, 60.0
START = """
import sys, time
from pathlib import Path
from benchmarks.stored import many_units
from ns_mab_gym.experiments import Store, code_versions

def peak():
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1e3

units, code = many_units(int(sys.argv[2])), code_versions(print)
asked = units + many_units(1, seed=1)
before, began = peak(), time.perf_counter()
with Store(sys.argv[1], code) as store:
    opened = time.perf_counter()
    store.tidy(units)
    tidied = time.perf_counter()
    assert len(store.missing(asked)) == 1
    print(opened - began, tidied - opened, time.perf_counter() - tidied, peak() - before)
"""


def many_units(count: int, seed: int = 0) -> list[Unit]:
    """So many units: one run each of a hundred agents on a hundred worlds."""
    worlds = [WorldEntry.of("NSBandit-Abrupt-v0", horizon=horizon) for horizon in range(1_000, 1_100)]
    agents = [AgentEntry.of("beta-swts", window=window) for window in range(100, 200)]
    runs = range(-(-count // (len(worlds) * len(agents))))
    every = (
        Unit(world=world, agent=agent, seed=seed, first_run=run, runs=1)
        for world in worlds
        for agent in agents
        for run in runs
    )
    return list(islice(every, count))


def simulate_store(folder: Path, count: int) -> None:
    """Write the files of so many units."""
    code = code_versions(print)
    Store(folder, code).close()
    units = many_units(count)
    details = {"units": [{"pulls": np.random.default_rng(n).integers(99, size=20).tolist()} for n in range(TOGETHER)]}
    for first in range(0, count, TOGETHER):
        some = units[first : first + TOGETHER]
        keys = np.array([key_of(unit.identity(code(unit))) for unit in some], np.uint64)
        words = pa.DictionaryArray.from_arrays(np.zeros(len(some), np.int32), ["w"])
        columns = [words, words, *(np.ones(len(some), int) for _ in range(3))]
        table = pa.table(
            [pa.array(column).cast(field.type) for column, field in zip(columns, SCHEMA, strict=True)], SCHEMA
        )
        path = folder / "units" / name_of_shared(some, keys)
        path.write_bytes(written(table, keys, [1] * len(some), details))


def start(count: int) -> dict[str, float]:
    """What a start takes if so many units are stored, in a new process that has made the units already."""
    with tempfile.TemporaryDirectory() as scratch:
        simulate_store(Path(scratch) / "out", count)
        command = [sys.executable, "-c", START, str(Path(scratch) / "out"), str(count)]
        said = subprocess.check_output(command, text=True, cwd=Path(__file__).parents[1])
    opening, tidying, looking_up, megabytes = map(float, said.split())
    return {"opening": opening, "tidying": tidying, "looking_up": looking_up, "megabytes": megabytes}


def tiny_results() -> list[tuple[Unit, str, Runs]]:
    """One run of 100 rounds and 10 arms for each unit."""
    world, agent = WorldEntry.of("NSBandit-Abrupt-v0", horizon=100), AgentEntry.of("beta-swts")
    units = [Unit(world=world, agent=agent, seed=0, first_run=run, runs=1) for run in range(TOGETHER)]
    return [(unit, "v" * 64, _played(unit)) for unit in units]


def _played(unit: Unit) -> Runs:
    world, agent = unit.world, unit.agent
    return nsb.simulate(world.name, agent.name, runs=1, first_run=unit.first_run, env_kwargs=world.kwargs, n_jobs=1)


def cost(results: list[tuple[Unit, str, Runs]], together: int) -> dict[str, float]:
    """Bytes and microseconds of a unit, in files of so many."""
    with tempfile.TemporaryDirectory() as scratch, Store(Path(scratch) / "out", lambda unit: "v" * 64) as store:
        parts = [results[first : first + together] for first in range(0, len(results), together)]
        began = perf_counter()
        contents = [to_parquet([(unit, code, checked(unit, runs)) for unit, code, runs in part]) for part in parts]
        encoded = perf_counter()
        for part, content in zip(parts, contents, strict=True):
            store.take([unit for unit, _, _ in part], content)
        taken = perf_counter()
        assert all(store.load(unit) is not None for unit, _, _ in results)
        loaded = perf_counter()
    times = {"encoding": encoded - began, "taking": taken - encoded, "loading": loaded - taken}
    microseconds = {name: seconds / len(results) * 1e6 for name, seconds in times.items()}
    return {"bytes": sum(map(len, contents)) / len(results), **microseconds}


def run() -> Outcome:
    """Print both tables."""
    print("stored: a unit of one run, 100 rounds, 10 arms")
    results = tiny_results()
    files: dict[str, Any] = {}
    for together in (1, TOGETHER):
        cost(results[:together], together)  # warms up
        files[str(together)] = each = cost(results, together)
        print(f"    {together:>3} in a file  {each['bytes']:,.0f} bytes  ", end="")
        print("  ".join(f"{name} {each[name]:,.0f} µs" for name in ("encoding", "taking", "loading")))
    print("  a start with so many units stored, 500 in a file, in a process that has the units already")
    starts: dict[str, Any] = {}
    for count in COUNTS:
        starts[str(count)] = each = start(count)
        print(f"    {count:>9,}  opening {each['opening']:.2f} s  tidying {each['tidying']:.2f} s  ", end="")
        print(f"looking all up {each['looking_up']:.2f} s  {each['megabytes']:,.0f} MB", flush=True)
    seconds = sum(starts[str(COUNTS[-1])][name] for name in ("opening", "tidying", "looking_up"))
    within = files[str(TOGETHER)]["bytes"] < MOST_BYTES and seconds < MOST_SECONDS
    return Outcome(within, {"files": files, "starts": starts})
