"""What a compiled loop depends on: its own functions, however deep, and nothing else."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from examples import HOUSE, example_agent

import ns_mab_gym as nsb
from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import functions_of, states_in
from ns_mab_gym.play.fingerprints import fingerprint
from ns_mab_gym.play.loop import loop_for

OWN_HELPER = """
    from numba.extending import register_jitable

    FAVOURITE = 1

    @register_jitable
    def favourite():
        "Which arm it likes."
        return FAVOURITE
    """
OWN_AGENT = """
    from dataclasses import dataclass
    from typing import NamedTuple

    import numpy as np

    from ns_mab_gym.agents import Agent, rule
    from own_helper import favourite

    class OwnState(NamedTuple):
        rounds: np.ndarray

    def act(state, mask, rng):
        return favourite()

    def observe(state, arm, reward):
        state.rounds[0] += 1

    rule(OwnState, act, observe)

    @dataclass(eq=False)
    class Own(Agent):
        name = "own"

        def _new_state(self):
            return OwnState(np.zeros(1, np.int64))
    """
# Plays the agents named, and prints for each its pulls, and whether its loop was loaded or compiled.
PROGRAM = """
    import sys
    import ns_mab_gym as nsb
    from ns_mab_gym import agents, worlds
    from ns_mab_gym.play import loop
    for name in sys.argv[1:]:
        pulls = nsb.simulate(worlds.Abrupt(horizon=1_000), name, runs=1).pulls[0]
        stats = list(loop._LOOPS.values())[-1].stats
        print(name, "compiled" if stats.cache_misses else "loaded", *pulls)
    """


@pytest.fixture
def house(tmp_path):
    """A copy of the package that the test may edit, with an agent of somebody else's beside it."""
    shutil.copytree(Path(nsb.__file__).parent, tmp_path / "ns_mab_gym", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "own.py").write_text(textwrap.dedent(OWN_AGENT))
    (tmp_path / "own_helper.py").write_text(textwrap.dedent(OWN_HELPER))
    return tmp_path


def run(house: Path, *names: str) -> dict[str, list[str]]:
    """In a process of its own: agent → "compiled" or "loaded", and its pulls."""
    env = os.environ | {"PYTHONPATH": str(house), "NUMBA_CACHE_DIR": str(house / "cache")}
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), *names]
    done = subprocess.run(command, env=env, cwd=house, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("compiling ")]
    rows = {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines())}
    for name, (how, *_) in rows.items():  # compiling is announced in one line, loading is silent
        title = name.rpartition(":")[2].lower()
        assert (f"compiling {title}: some seconds, once on this machine" in said) == (how == "compiled")
    return rows


def edit(file: Path, old: str, new: str) -> None:
    source = file.read_text()
    assert source.count(old) == 1
    file.write_text(source.replace(old, new))


def test_an_edit_recompiles_the_loops_that_are_made_of_it_and_no_other(house):
    folder = house / "ns_mab_gym" / "agents"
    first = run(house, "random", "own:Own")
    assert [row[0] for row in first.values()] == ["compiled", "compiled"]
    assert first["own:Own"][1:] == ["0", "1000", "0", "0", "0", "0", "0", "0", "0", "0"]

    again = run(house, "random", "own:Own")
    assert [row[0] for row in again.values()] == ["loaded", "loaded"]
    assert [row[1:] for row in again.values()] == [row[1:] for row in first.values()]

    edit(house / "own_helper.py", "FAVOURITE = 1", "FAVOURITE = 2")  # a constant of a function that the rule calls
    changed = run(house, "random", "own:Own")
    assert changed["random"] == again["random"]
    assert changed["own:Own"] == ["compiled", "0", "0", "1000", "0", "0", "0", "0", "0", "0", "0"]

    edit(house / "own_helper.py", "Which arm it likes.", "The arm that it likes.")  # words are not code
    edit(folder / "uniform.py", "place = rng.integers(0, available)", "place = 7")
    (folder / "another.py").write_text("x = 1\n")
    edit(folder / "__init__.py", '    "ts": "ts:TS",\n', '    "ts": "ts:TS",\n    "another": "another:Another",\n')
    edited = run(house, "random", "own:Own")
    assert edited["random"] == ["compiled", "0", "0", "0", "0", "0", "0", "0", "1000", "0", "0"]
    assert edited["own:Own"] == ["loaded", *changed["own:Own"][1:]]

    (house / "own.py").unlink()  # what was compiled for it must not stand in the way of those who do not have it
    assert run(house, "random")["random"] == ["loaded", *edited["random"][1:]]
    kept = [file.name for file in (house / "cache").rglob("loop.play_*.nbi")]
    assert len(kept) == 2  # one for each agent: what older versions left is gone


def test_a_loop_of_parts_is_recompiled_when_a_part_changes(house):
    """A helper in a subfolder counts: the race of Beta-SWTS is a function of agents/parts/races.py."""
    assert run(house, "ts", "random")["ts"][0] == "compiled"
    edit(house / "ns_mab_gym/agents/parts/races.py", "undisturbed *= 1.0 - p\n", "undisturbed *= 1.0 - 1.0 * p\n")
    rows = run(house, "ts", "random")
    assert (rows["ts"][0], rows["random"][0]) == ("compiled", "loaded")


@pytest.mark.parametrize("name", HOUSE)
def test_every_agent_of_the_house_is_kept_on_disk(name):
    state = example_agent(name).state
    loop = loop_for(tuple(type(each) for each in states_in(state)), name)
    assert loop.stats.cache_path is not None
    assert loop is loop_for(tuple(type(each) for each in states_in(state)), "another name")


def made_of(name: str):
    """The functions of an agent's state and of those nested in it, and the classes of all of these."""
    kinds = tuple(type(each) for each in states_in(example_agent(name).state))
    return tuple(function for kind in kinds for function in functions_of(kind)), kinds


def test_fingerprints_tell_agents_apart_and_are_the_same_twice():
    """Two agents have one if and only if they are made of the same states, as ``ts`` and ``beta-swts`` are."""
    parts = {name: made_of(name) for name in HOUSE}
    prints = {name: fingerprint(*each) for name, each in parts.items()}
    assert prints == {name: fingerprint(*made_of(name)) for name in HOUSE}
    for one, other in itertools.product(HOUSE, HOUSE):
        assert (prints[one] == prints[other]) == (parts[one][1] == parts[other][1]), (one, other)
    assert prints["ts"] == prints["beta-swts"]
    assert len(set(prints.values())) > len(HOUSE) / 2


TABLE = np.array([1.0, 2.0])


def uses_a_table(i):
    return TABLE[i]


@pytest.mark.parametrize(
    ("before", "after"), [(1.0, 2.0), ((1, 2), (1, 3)), (np.array([1.0]), np.array([2.0])), (np.ones(2), np.ones(3))]
)
def test_a_constant_that_a_function_reads_is_part_of_it(before, after, monkeypatch):
    monkeypatch.setitem(uses_a_table.__globals__, "TABLE", before)
    first = fingerprint([uses_a_table], [])
    monkeypatch.setitem(uses_a_table.__globals__, "TABLE", after)
    assert fingerprint([uses_a_table], []) != first


def test_a_loop_for_a_class_of_the_main_program_is_compiled_for_this_process_alone():
    kind = type("MainState", (type(agents.make("random", 2).state),), {"__module__": "__main__"})
    assert loop_for((kind,), "mine").stats.cache_path is None
