"""Studies of very many tiny units: the cost of storing them, of a start with many stored, and of handing them out."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks._common import Outcome, seconds_of

import ns_mab_gym as nsb
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.store import Store, encode
from ns_mab_gym.studies.study import BLOCK, Experiment, Study, Unit, units_of

TOGETHER = 500  # units that are stored at once
COUNTS = (10_000, 1_000_000)
MOST_BYTES, MOST_SECONDS = 2_000, 60.0
CODE = "v" * 64  # the version of the code that "computed" the units
SCRIPTS = Path(__file__).parents[1]
START = """
import sys, time
from benchmarks.studies import CODE, Store, many_units, peak
units = many_units(int(sys.argv[2]))
asked = units + many_units(1, seed=1)
before, began = peak(), time.perf_counter()
with Store(sys.argv[1], lambda unit: CODE) as store:
    opened = time.perf_counter()
    assert len(store.missing(asked)) == 1
    print(opened - began, time.perf_counter() - opened, peak() - before)
"""


def peak() -> float:
    """The most memory that this process has had, in megabytes."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1e3


def many_units(count: int, seed: int = 0) -> list[Unit]:
    """Units of a hundred agents on up to a hundred worlds: one run each, or blocks of runs if that is not enough."""
    side = min(100, -(-count // 100))
    worlds = tuple(WorldSpec.of("NSBandit-Abrupt-v0", horizon=100 + each) for each in range(side))
    agents = tuple(AgentSpec.of("beta-swts", window=window) for window in range(100, 200))
    blocks = -(-count // (side * len(agents)))
    runs = 1 if blocks == 1 else blocks * BLOCK
    study = Study("many", (Experiment(worlds=worlds, agents=agents, runs=runs, seed=seed),))
    return units_of(study)[:count]


def played(unit: Unit) -> Any:
    """The runs of a unit."""
    given = {"env_kwargs": unit.world.kwargs, "agent_kwargs": unit.agent.kwargs, "n_jobs": 1}
    return nsb.simulate(unit.world.name, unit.agent.name, runs=unit.runs, first_run=unit.first_run, **given)


def bytes_of(row: Iterable[Any]) -> int:
    """The bytes that a row of the store takes."""
    return sum(len(value if isinstance(value, bytes) else str(value)) for value in row)


def cost(together: int) -> dict[str, float]:
    """Bytes and microseconds of a unit of one run of 100 rounds, of which several are stored at once."""
    units = many_units(TOGETHER)
    runs = list(map(played, units))
    with tempfile.TemporaryDirectory() as scratch, Store(Path(scratch) / "out", lambda unit: CODE) as store:
        began = perf_counter()
        rows = [encode(unit, each) for unit, each in zip(units, runs, strict=True)]
        encoded = perf_counter()
        for first in range(0, len(units), together):
            store.save(units[first : first + together], rows[first : first + together])
        saved = perf_counter()
        assert all(store.load(unit) is not None for unit in units)
        loaded = perf_counter()
    size = sum(map(bytes_of, rows))
    times = {"encoding": encoded - began, "taking": saved - encoded, "loading": loaded - saved}
    return {"bytes": size / len(units)} | {name: seconds / len(units) * 1e6 for name, seconds in times.items()}


def start(count: int) -> dict[str, float]:
    """The cost of a start with many units stored, in a new process that has made the units already.

    All of them have the runs of one unit, under their own keys.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder, units, one = Path(scratch) / "out", many_units(count), many_units(1)[0]
        row = encode(one, played(one))
        with Store(folder, lambda unit: CODE) as store:
            for first in range(0, count, 10_000):
                some = units[first : first + 10_000]
                keys = ((unit.world.text, unit.agent.text, unit.first_run, unit.runs, str(unit.seed)) for unit in some)
                names = ("world", "agent", "first_run", "runs", "seed")
                store.save(some, [row._replace(**dict(zip(names, key, strict=True))) for key in keys])
        command = [sys.executable, "-c", START, str(folder), str(count)]
        said = subprocess.check_output(command, text=True, cwd=SCRIPTS)
    return dict(zip(("opening", "looking_up", "megabytes"), map(float, said.split()), strict=True))


def stored() -> Outcome:
    """Print the cost of a tiny unit stored alone or with others, and of a start with very many stored."""
    print("stored: a unit of one run, 100 rounds, 10 arms")
    cost(TOGETHER)  # warms up
    files: dict[str, Any] = {}
    for together in (1, TOGETHER):
        files[str(together)] = each = cost(together)
        print(f"    {together:>3} at once  {each['bytes']:,.0f} bytes  ", end="")
        print("  ".join(f"{name} {each[name]:,.0f} µs" for name in ("encoding", "taking", "loading")))
    starts: dict[str, Any] = {}
    for count in COUNTS:
        starts[str(count)] = each = start(count)
        print(f"    {count:>9,} stored: opening {each['opening']:.2f} s  ", end="")
        print(f"looking all up {each['looking_up']:.2f} s  {each['megabytes']:,.0f} MB", flush=True)
    seconds = starts[str(COUNTS[-1])]["opening"] + starts[str(COUNTS[-1])]["looking_up"]
    within = files[str(TOGETHER)]["bytes"] < MOST_BYTES and seconds < MOST_SECONDS
    return Outcome(within, {"files": files, "starts": starts})


SIDE, WORKERS, HORIZON = 100, 2, 1_000  # a study of SIDE worlds and SIDE agents
LIMITS = {"threads": 2.0, "processes": 2.0, "dask": 5.0}  # milliseconds of overhead for each unit
MOST_MEGABYTES = 30


def compared(side: int, executor: str) -> float:
    """The seconds of one run of each of some agents on each of as many worlds."""
    worlds = [f"abrupt:horizon={HORIZON + each}" for each in range(side)]
    agents = [f"beta-swts:window={100 + each}" for each in range(side)]
    own = None if executor == "threads" else executor
    given = {"rounds": range(10, HORIZON, 10), "n_jobs": WORKERS, "executor": own, "progress": False}
    return seconds_of(lambda: nsb.compare(worlds, agents, runs=1, **given))


def child(executor: str) -> None:
    """Measure one executor, and print the figures."""
    one = partial(nsb.simulate, "abrupt", "beta-swts", runs=1, env_kwargs={"horizon": HORIZON}, n_jobs=1)
    one()  # compiles and loads what is needed
    work = seconds_of(lambda: [one(first_run=run) for run in range(400)]) / 400
    compared(SIDE // 4, executor)
    few, before = compared(SIDE // 4, executor), peak()
    wall = (compared(SIDE, executor) - few) / (SIDE**2 - (SIDE // 4) ** 2)  # without the start of the workers
    print(json.dumps({"work": work * 1e3, "wall": wall * 1e3, "megabytes": peak() - before}))


def tiny_units() -> Outcome:
    """Print the cost of very many tiny units beside the work itself on each executor, and the memory that they take.

    The work is the time of ``simulate`` for such a unit; the overhead is the time of a unit in the whole study beyond
    the work shared by two workers.
    """
    print(f"tiny_units: {SIDE**2:,} units of one run of {HORIZON:,} rounds, {WORKERS} workers")
    found: dict[str, Any] = {}
    for executor, limit in LIMITS.items():
        program = f"if __name__ == '__main__':\n from benchmarks.studies import child; child({executor!r})"
        said = subprocess.check_output([sys.executable, "-c", program], text=True, cwd=SCRIPTS)
        each = json.loads(said.splitlines()[-1])
        found[executor] = each | {"overhead": each["wall"] - each["work"] / WORKERS}
        print(f"    {executor:<10} {each['wall']:.2f} ms a unit, work {each['work']:.2f}, overhead ", end="")
        print(f"{found[executor]['overhead']:.2f} (below {limit:g})  memory {each['megabytes']:+.0f} MB", flush=True)
    within = all(found[executor]["overhead"] < limit for executor, limit in LIMITS.items())
    return Outcome(within and max(each["megabytes"] for each in found.values()) < MOST_MEGABYTES, found)
