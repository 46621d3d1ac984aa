"""A result is computed again when the code that gave it changes, and only then."""

import compileall
import functools
import importlib
import json
import sys
from pathlib import Path

import gymnasium as gym
import pandas as pd
import pytest

from ns_mab_gym import agents, sources, worlds
from ns_mab_gym.experiments import AgentEntry, WorldEntry, identity
from ns_mab_gym.wrappers import DelayedRewards

PLAYER = """
class {name}:
    '''Plays one arm for ever.'''

    def __init__(self, n_arms):
        pass

    def reset(self, seed=None):
        pass  # there is nothing to forget

    def act(self, observation=None):
        return {arm}

    def observe(self, arm, reward):
        pass
"""
WORLD = """
from dataclasses import dataclass
import numpy as np
from ns_mab_gym.worlds import World

GAP = 0.5

@dataclass(frozen=True, kw_only=True)
class Level(World):
    horizon: int = 20

    @property
    def n_arms(self):
        return 2

    def _means(self, rng):
        return np.tile([0.9, 0.9 - GAP], (self.horizon, 1))
"""
# Runs an experiment as the commands do, without the report, and prints what was computed and what was said.
RUN = """
import json, sys, warnings
from functools import partial
warnings.simplefilter("ignore")
from ns_mab_gym import simulate
from ns_mab_gym.experiments import Store, Study, code_versions, collect, run
from ns_mab_gym.experiments.parsing import experiment
from ns_mab_gym.experiments.progress import Lines
from ns_mab_gym.experiments.runner import load

told = []
study = Study("", (experiment(sys.argv[1:2], sys.argv[2:], runs=2),))
with Store("store", code_versions(told.append), told.append) as store:
    outcome = run(study, store, simulate, Lines(sys.stderr))
    [curves] = map(dict, collect(study, partial(load, store)).curves.values())
print(json.dumps({
    "computed": sorted(unit.agent.name for unit in outcome.computed),
    "regret": {label: float(curve.final.mean()) for label, curve in curves.items()},
    "told": told,
}))
"""


@pytest.fixture
def here(tmp_path):
    """A folder with a world of the user's own, whose second arm costs ½ in each of twenty rounds."""
    (tmp_path / "own_world.py").write_text(WORLD)
    return tmp_path


@pytest.fixture
def play(python):
    """A function from agents to what a run of them on the own world, in a fresh process, computed and said."""

    def played(*agents):
        run = python("-c", RUN, "own_world:Level", *agents)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    return played


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def edit(file: Path, old: str, new: str) -> None:
    source = file.read_text()
    assert old in source
    file.write_text(source.replace(old, new))


def test_a_world_that_is_edited_is_played_again_and_the_first_result_is_set_aside(here, python):
    write(here / "one.py", PLAYER.format(name="Second", arm=1))
    words = ["--env", "own_world:Level", "--agents", "one:Second", "--runs", "2", "--out", "out"]
    said = []
    for gap in (0.5, 0.5, 0.25):
        edit(here / "own_world.py", "GAP = 0.5", f"GAP = {gap}")
        run = python("-m", "ns_mab_gym", "evaluate", *words)
        assert run.returncode == 0, run.stderr
        said.append((run.stdout, pd.read_csv(here / "out" / "summary.csv")["final_regret"].item()))
    assert "1 of 1 units computed" in said[0][0]
    assert "0 of 1 units computed" in said[1][0]
    assert "1 of 1 units computed" in said[2][0]
    assert "1 files of other code or another description set aside" in said[2][0]
    assert [regret for _, regret in said] == pytest.approx([20 * 0.5, 20 * 0.5, 20 * 0.25])
    assert len(list((here / "out" / "units").iterdir())) == len(list((here / "out" / "aside").iterdir())) == 1


@pytest.mark.parametrize(
    ("agent", "file", "line"),
    [
        ("alone:Mine", "helper.py", "from helper import ARM"),  # beside it
        ("alone:Mine", "tools/helper.py", "from tools.helper import ARM"),  # in a folder without __init__.py
        ("package.mine:Mine", "package/deep/helper.py", "from .deep.helper import ARM"),  # of its own package
    ],
)
def test_code_that_an_own_agent_imports_counts(agent, file, line, here, play):
    write(here / file, "ARM = 1\n")
    module = here / f"{agent.partition(':')[0].replace('.', '/')}.py"
    write(module, f"{line}\n{PLAYER.format(name='Mine', arm='ARM')}")
    first = play(agent)
    edit(here / file, "ARM = 1", "ARM = 0")
    edited = play(agent)
    assert first["computed"] == edited["computed"] == [agent]
    assert (first["regret"][agent], edited["regret"][agent]) == pytest.approx((10, 0))


def test_comments_and_docstrings_do_not_count_and_other_agents_are_left_alone(here, play):
    write(here / "one.py", PLAYER.format(name="First", arm=0))
    write(here / "other.py", PLAYER.format(name="Second", arm=1))
    named = ("one:First", "other:Second", "random")
    assert play(*named)["computed"] == sorted(named)
    edit(here / "one.py", "Plays one arm for ever.", "Never changes its mind.")
    edit(here / "one.py", "# there is nothing to forget", "# it has no memory")
    edit(here / "one.py", "return 0", "return (\n            0\n        )")
    assert play(*named)["computed"] == []
    edit(here / "one.py", "            0\n", "            1\n")
    edited = play(*named)
    assert edited["computed"] == ["one:First"]
    assert edited["regret"]["one:First"] == pytest.approx(10)
    edit(here / "one.py", "            1\n", "            0\n")
    assert play(*named)["computed"] == []  # the first result, which was set aside, is back


def test_code_that_cannot_be_read_is_played_every_time_and_said_once(here, play):
    write(here / "sealed.py", "FIRST, SECOND = 0, 1\n")
    write(here / "one.py", "from sealed import FIRST\n" + PLAYER.format(name="First", arm="FIRST"))
    write(here / "other.py", "from sealed import SECOND\n" + PLAYER.format(name="Second", arm="SECOND"))
    compileall.compile_file(here / "sealed.py", legacy=True, quiet=1)
    (here / "sealed.py").unlink()
    named = ("one:First", "other:Second", "random")
    line = "the source of sealed cannot be read: what depends on it is computed again every time"
    first, again = play(*named), play(*named)
    assert first["computed"] == sorted(named)
    assert again["computed"] == ["one:First", "other:Second"]
    assert first["told"] == [line]
    assert again["told"].count(line) == 1
    assert again["regret"]["other:Second"] == pytest.approx(10)


def behind(world: str, agent: str, **parameters: str) -> set[str]:
    """The modules behind the result of an agent on a world."""
    modules = identity.modules_of(WorldEntry.of(world, **parameters), AgentEntry.of(agent))
    return set(sources.modules_behind(modules))


@pytest.fixture
def needed(tmp_path):
    """What the worlds need that mean nothing without a parameter."""
    (tmp_path / "means.csv").write_text("0.1,0.9\n")
    return {"table": {"path": str(tmp_path / "means.csv")}}


@pytest.mark.parametrize("agent", agents.names())
def test_an_agent_depends_on_its_own_file_and_on_no_table_of_names(agent, needed):
    for world in worlds.names():
        modules = behind(world, agent, **needed.get(world, {}))
        assert agents.kind(agent).__module__ in modules
        assert worlds.kind(world).__module__ in modules
        assert {"ns_mab_gym.play.engine", "ns_mab_gym.play.loop", "ns_mab_gym.rewards"} <= modules
        tables = {"ns_mab_gym", "ns_mab_gym.agents", "ns_mab_gym.agents.core", "ns_mab_gym.worlds", "ns_mab_gym.envs"}
        assert modules & tables == set()
        rooms = ("cli", "experiments", "figures", "theory", "rl", "wrappers")
        assert [module for module in modules if module.split(".")[1] in rooms] == []


def test_agents_do_not_depend_on_each_other_unless_they_say_so():
    kinds = {agents.kind(name).__module__ for name in agents.names()}
    for name in ("rexp3", "sw-ucb", "random"):
        assert behind("smooth", name) & kinds == {agents.kind(name).__module__}
    assert behind("smooth", "ts") & kinds >= {agents.kind("ts").__module__}


def test_a_saved_model_depends_on_the_bridge_and_on_the_wrappers():
    modules = behind("smooth", "sb3")
    assert {"ns_mab_gym.rl.sb3_agent", "ns_mab_gym.rl.recipe", "ns_mab_gym.rl.vec_env"} <= modules
    assert {"ns_mab_gym.wrappers.windowed_statistics", "ns_mab_gym.wrappers.memory"} <= modules


def test_an_environment_in_wrappers_depends_on_them(monkeypatch):
    late = DelayedRewards(gym.make("NSBandit-Smooth-v0", horizon=20), delay=3)
    monkeypatch.setattr(identity, "as_env", lambda name, kwargs: late)
    assert "ns_mab_gym.wrappers.delay" in behind("late", "random")


MAKER = """
from ns_mab_gym import rewards, worlds
from ns_mab_gym.envs import NSBanditEnv

class Fair(rewards.Bernoulli):
    pass

def own_env(**kwargs):
    return NSBanditEnv(worlds.Abrupt(horizon=50), **kwargs)
"""


@pytest.fixture
def maker(tmp_path, monkeypatch):
    (tmp_path / "own_maker.py").write_text(MAKER)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("own_maker")
    del sys.modules["own_maker"]


@pytest.mark.parametrize("how", ["path", "function", "partial"])
def test_the_function_that_makes_the_environment_of_an_id_counts(maker, how, monkeypatch):
    """The environment it returns is of a class of this package, but what it is made of is decided by the function."""
    entry = {"path": "own_maker:own_env", "function": maker.own_env, "partial": functools.partial(maker.own_env)}[how]
    monkeypatch.setitem(gym.registry, f"Own-{how}-v0", gym.envs.registration.EnvSpec(f"Own-{how}-v0", entry))
    modules = identity.modules_of(WorldEntry(f"Own-{how}-v0"), AgentEntry("ts"))
    assert "own_maker" in modules
    assert "own_maker" not in identity.modules_of(WorldEntry("NSBandit-Abrupt-v0"), AgentEntry("ts"))


def test_a_reward_law_of_the_users_own_counts(maker):
    own = WorldEntry("abrupt", (("reward", "own_maker:Fair"),))
    assert "own_maker" in identity.modules_of(own, AgentEntry("ts"))
