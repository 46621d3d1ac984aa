"""The generic loop in several processes: the same runs to the last bit, and what happens when something goes wrong."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.play.episode import seed_pair

pytestmark = pytest.mark.filterwarnings("ignore:.*playing through the generic Python loop")
WORLD = worlds.Abrupt(horizon=120)
THIRD = seed_pair(0, 2)[1]  # the agent's seed in the third run

# Classes of a script or a notebook, which no other process can import.
CELL = '''
import os
import time
import warnings
import numpy as np

class Cell:
    """Draws arms; logs how often it acted in a variable of its own process."""
    def __init__(self, n_arms, when=None, trick=lambda: None):
        self.n_arms, self.when, self.trick = n_arms, when, trick
    def reset(self, seed=None):
        self.seed, self.rng, self.pid = seed, np.random.default_rng(seed), os.getpid()
    def act(self, observation=None):
        if self.seed == self.when:
            self.trick()
        return int(self.rng.integers(self.n_arms))
    def observe(self, arm, reward):
        pass
    @property
    def parameters(self):
        return {"pid": self.pid}

class Worried(Cell):
    """Warns in every run, and of something else in the third."""
    def act(self, observation=None):
        warnings.warn("in every run", RuntimeWarning)
        if self.seed == self.when:
            warnings.warn("in one run", RuntimeWarning)
        return super().act(observation)

class Lazy(Cell):
    """Takes its time, and leaves a mark in one run."""
    def reset(self, seed=None):
        super().reset(seed)
        time.sleep(0.2)
        if seed == self.when:
            self.trick()

class Odd(Exception):
    """An error that cannot be sent to another process: it is made of two things and keeps one."""
    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")

def fail():
    raise Odd("this", "that")

def die():
    os._exit(7)
'''


@pytest.fixture
def cell() -> dict[str, Any]:
    """What the code of a notebook's cell defines."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(CELL, scope)
    return scope


def assert_same(one: nsb.Runs, other: nsb.Runs) -> None:
    for field in ("rounds", "regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)
    assert one.seeds == other.seeds
    assert (one.alarms is None) == (other.alarms is None)
    for mine, theirs in zip(one.alarms or [], other.alarms or [], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def texts(told: Iterable[warnings.WarningMessage]) -> Counter[str]:
    """How often each text was issued as a RuntimeWarning."""
    return Counter(str(each.message) for each in told if each.category is RuntimeWarning)


@pytest.mark.usefixtures("eager")
def test_a_notebooks_class_by_its_name_on_an_id_of_the_notebook(cell):
    """Neither the name nor the id is known to a new process; lambdas come along too; warnings are shown once."""
    gym.register("Mine/Wrapped-v0", lambda: gym.wrappers.RecordEpisodeStatistics(NSBanditEnv(WORLD)))
    agents.register("worried", cell["Worried"])
    asked: dict[str, Any] = {"runs": 5, "record": "all", "agent_kwargs": {"when": THIRD}}
    try:
        with pytest.warns(RuntimeWarning) as once:
            alone = nsb.simulate("Mine/Wrapped-v0", "worried", n_jobs=1, **asked)
        told: list[tuple[int, int]] = []
        with pytest.warns(RuntimeWarning) as again:
            spread = nsb.simulate(
                "Mine/Wrapped-v0", "worried", n_jobs=2, progress=lambda *now: told.append(now), **asked
            )
    finally:
        gym.registry.pop("Mine/Wrapped-v0")
        agents.core.zoo.AGENTS.remove("worried")
    assert_same(alone, spread)
    players = [each["pid"] for each in spread.parameters]
    assert players[0] == os.getpid()
    assert os.getpid() not in players[1:]
    assert told == [(done, 5) for done in range(1, 6)]
    assert texts(once) == {"in every run": 5 * 120, "in one run": 120}  # under the filters of a test, which hide none
    assert texts(again) == {"in every run": 120, "in one run": 1}  # by the first run, which is played here; and there


@pytest.mark.usefixtures("eager")
def test_an_agent_with_alarms_on_a_wrapped_environment():
    """Also with a thousand jobs, which are no more processes than cores; agent and environment stay as they are."""
    world = worlds.Table(rows=[[0.95, 0.05]] * 60 + [[0.05, 0.95]] * 60)
    agent = agents.make("glr-ts", knowledge=nsb.theory.describe(world.means()))
    agent.reset(seed=1)
    agent.observe(1, 1.0)
    before = agent.state_dict()
    env = gym.wrappers.TimeLimit(NSBanditEnv(world), 110)
    luck = env.unwrapped.np_random.bit_generator.state
    alone = nsb.simulate(env, agent, runs=4, seed=3, n_jobs=1, record="regret")
    spread = nsb.simulate(env, agent, runs=4, seed=3, n_jobs=1_000, record="regret")
    assert alone.alarms is not None
    assert all(len(each) > 0 for each in alone.alarms)
    assert alone.regret.shape == (4, 110)
    assert_same(alone, spread)
    assert alone.parameters == spread.parameters
    for key, value in agent.state_dict().items():
        np.testing.assert_array_equal(value, before[key])
    assert env.unwrapped.np_random.bit_generator.state == luck


@pytest.mark.usefixtures("eager")
def test_an_error_in_another_process_is_the_error_of_this_one(cell):
    """Of the run that would have failed first, of the same class and with the same words; nobody goes on playing."""
    agent = cell["Cell"](10, when=THIRD, trick=cell["fail"])
    with pytest.raises(cell["Odd"], match=r"^this and that$"):
        nsb.simulate(WORLD, agent, runs=6, n_jobs=2)
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("eager")
def test_a_process_that_dies_is_an_error_that_says_what_to_do(cell):
    agent = cell["Cell"](10, when=THIRD, trick=cell["die"])
    with pytest.raises(
        RuntimeError, match=r"has died \(.*EXIT\(7\).*memory may have run out.*n_jobs=1 plays all runs in"
    ):
        nsb.simulate(WORLD, agent, runs=6, n_jobs=2)
    assert multiprocessing.active_children() == []


@pytest.mark.usefixtures("eager", "ctrl_c")
def test_ctrl_c_leaves_no_process_behind_and_waits_for_none(cell, tmp_path):
    def interrupt(done: int, total: int) -> None:
        if done == 2:
            assert len(multiprocessing.active_children()) == 2
            os.kill(os.getpid(), signal.SIGINT)

    mark = tmp_path / "of the last run"
    last = cell["Lazy"](10, when=seed_pair(0, 39)[1], trick=lambda: mark.write_text(""))
    with pytest.raises(KeyboardInterrupt):
        nsb.simulate(WORLD, last, runs=40, n_jobs=2, progress=interrupt)
    assert multiprocessing.active_children() == []
    assert not mark.exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("eager")
def test_what_another_process_would_play_otherwise_is_played_here(tmp_path, monkeypatch):
    """A variable of a module that was set by hand, which a new process does not know."""
    code = """
        SHIFT = 0
        class Shifted:
            def reset(self, seed=None): self.rounds = 0
            def act(self, observation=None): return (self.rounds + SHIFT) % 10
            def observe(self, arm, reward): self.rounds += 1
    """
    (tmp_path / "module_with_a_global.py").write_text(textwrap.dedent(code))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("module_with_a_global")
    module.SHIFT = 5
    expected = nsb.simulate(WORLD, module.Shifted, runs=4, n_jobs=1, record="all")
    with pytest.warns(
        UserWarning, match=r"went otherwise: .* global variable .*: playing 3 runs in this process"
    ) as told:
        spread = nsb.simulate(WORLD, module.Shifted, runs=4, n_jobs=2, record="all")
    assert told[-1].filename == __file__
    assert (expected.arms[:, 0] == 5).all()
    assert_same(expected, spread)
    assert multiprocessing.active_children() == []
