"""Compiled functions follow every edit of their sources, and give the right numbers whatever became of their cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from examples import HOUSE, example_agent
from numba.core import config

import ns_mab_gym as nsb
from ns_mab_gym import agents, compilation
from ns_mab_gym.agents.core.kernel import states_in
from ns_mab_gym.compilation import compiled
from ns_mab_gym.play.loop import loop_for


def twice(x):
    return 2 * x


def thrice(x):
    return 3 * x


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache that holds both functions."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "CACHE_DIR", str(folder))
        for function in (twice, thrice):
            compiled(function)(1)
    return folder


@pytest.fixture
def folder(filled, tmp_path, monkeypatch):
    """A copy of it to be damaged."""
    shutil.copytree(filled, tmp_path / "cache")
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compilation, "_told", [])
    return tmp_path / "cache"


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "noise": lambda file: file.write_bytes(bytes(range(256)) * 2),
    "text": lambda file: file.write_text("not what it was"),
}


@pytest.mark.parametrize(("damage", "suffix"), [*((each, ".nbi") for each in DAMAGES), ("truncated", ".nbc")])
def test_a_damaged_file_is_replaced_and_one_line_says_so(folder, damage, suffix, caplog):
    (file,) = folder.rglob(f"*twice*{suffix}")
    DAMAGES[damage](file)
    assert compiled(twice)(21) == 42
    (said,) = [record.getMessage() for record in caplog.records]
    assert "NUMBA_CACHE_DIR" in said
    assert "\n" not in said
    again = compiled(twice)
    assert again(21) == 42
    assert again.stats.cache_hits  # loaded: another process need not compile
    assert compiled(thrice)(2) == 6


@pytest.mark.parametrize("method", ["_save_index", "_save_data", "_load_index"])
def test_disks_that_are_full_or_forbidden(folder, method, monkeypatch, caplog):
    def fails(*_):
        raise OSError(28, "No space left on device")

    if method.startswith("_save"):
        shutil.rmtree(folder)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile." + method, fails)
    assert compiled(twice)(21) == 42
    assert len(caplog.records) == 1


@pytest.mark.parametrize("obstacle", ["no place", "a file in the way"])
def test_without_a_folder_to_write_to_functions_are_compiled_and_one_line_says_so(
    obstacle, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(compilation, "_told", [])
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    if obstacle == "no place":
        monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    else:
        monkeypatch.setattr(Path, "mkdir", lambda *_, **__: (tmp_path / "file" / "folder").rmdir())
    assert [made(7) for made in (compiled(twice), compiled(thrice))] == [14, 21]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("compiled code cannot be kept on disk (")


def test_code_that_was_edited_after_it_may_have_been_imported_is_not_kept(folder, monkeypatch, caplog):
    """It would be found under the hash of the edited source."""
    monkeypatch.setattr("ns_mab_gym.IMPORTED_AT", 0.0)  # as if every file were younger than what is loaded
    made = compiled(twice)
    assert made(21) == 42
    assert made.stats.cache_path is None
    (said,) = [record.getMessage() for record in caplog.records]
    assert "was edited after it may have been imported" in said


OWN_HELPER = """
    from numba.extending import register_jitable

    FAVOURITE = 1

    @register_jitable
    def favourite():
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
    """A copy of the package that the test may edit, with an agent of a user's beside it."""
    shutil.copytree(Path(nsb.__file__).parent, tmp_path / "ns_mab_gym", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "own.py").write_text(textwrap.dedent(OWN_AGENT))
    (tmp_path / "own_helper.py").write_text(textwrap.dedent(OWN_HELPER))
    return tmp_path


def played(house: Path, *names: str) -> dict[str, list[str]]:
    """In a process of its own: agent → "compiled" or "loaded", and its pulls."""
    env = os.environ | {"PYTHONPATH": str(house), "NUMBA_CACHE_DIR": str(house / "cache")}
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), *names]
    done = subprocess.run(command, env=env, cwd=house, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("compiling ")]
    rows = {words[0]: words[1:] for words in map(str.split, done.stdout.splitlines())}
    for name, (how, *_) in rows.items():  # compiling is announced in one line, loading is silent
        title = name.rpartition(":")[2].lower()
        assert sum(line.split(":")[0] == f"compiling {title}" for line in said) == (how == "compiled")
    assert [line.endswith(": some seconds for each agent, once on this machine") for line in said] == [
        place == 0
        for place in range(len(said))  # which is said once
    ]
    return rows


def edit(file: Path, old: str, new: str) -> None:
    source = file.read_text()
    assert source.count(old) == 1
    file.write_text(source.replace(old, new))


def pulls_of(arm: int) -> list[str]:
    return ["1000" if each == arm else "0" for each in range(10)]


def test_no_edit_is_served_from_a_stale_loop(house):
    first = played(house, "random", "own:Own")
    assert [row[0] for row in first.values()] == ["compiled", "compiled"]
    assert first["own:Own"][1:] == pulls_of(1)
    again = played(house, "random", "own:Own")
    assert {name: ["loaded", *row[1:]] for name, row in first.items()} == again

    edit(house / "own_helper.py", "FAVOURITE = 1", "FAVOURITE = 2")  # a constant of a function that the rule calls
    changed = played(house, "random", "own:Own")
    assert changed == {"random": again["random"], "own:Own": ["compiled", *pulls_of(2)]}

    edit(house / "own_helper.py", "FAVOURITE = 2", "FAVOURITE = 1")
    assert played(house, "own:Own") == {"own:Own": again["own:Own"]}

    helper = house / "ns_mab_gym/agents/parts/races.py"
    helper.write_text(helper.read_text() + "\n")
    assert played(house, "random") == {"random": first["random"]}  # a helper in a subfolder, which all loops may use


@pytest.mark.parametrize("name", HOUSE)
def test_every_agent_of_the_package_is_kept_on_disk(name):
    kinds = tuple(type(each) for each in states_in(example_agent(name).state))
    loop = loop_for(kinds, name)
    assert loop.stats.cache_path is not None
    assert loop is loop_for(kinds, "another name")


def test_a_loop_that_its_sources_do_not_determine_is_compiled_for_this_process_alone():
    random = type(agents.make("random", 2).state)
    typed = type("MainState", (random,), {"__module__": "__main__"})
    local = type("LocalState", (random,), {"__module__": __name__, "__qualname__": "test.<locals>.LocalState"})
    for kind in (typed, local):
        assert loop_for((kind,), "mine").stats.cache_path is None


def test_every_function_that_is_kept_on_disk_goes_through_here():
    root = Path(compilation.__file__).parent
    files = [*root.rglob("*.py"), *(root / "agents").resolve().rglob("*.py")]
    texts = {file.name: file.read_text() for file in files if file.name != "compilation.py"}
    assert "loop.py" in texts
    assert not [name for name, text in texts.items() if "njit" in text or "cache=True" in text or "import jit" in text]
