"""The generic loop in several processes, or many runs at once: the same runs to the last bit, whatever goes wrong."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from foreign_bandit import Lottery
from interpreted_runs import assert_equal_runs, assert_same_runs

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, theory, worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.parallel import Done, Error, Failed
from ns_mab_gym.play import simulate as generic
from ns_mab_gym.play.simulate import Pairing, Round, processes
from ns_mab_gym.runs import seed_pair

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


def processes_left() -> list[Any]:
    """The processes that play runs; those of a cluster, which other tests share, are none of them."""
    return [process for process in multiprocessing.active_children() if process.name.startswith("Loky")]


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
        agents.core.registry.AGENTS.remove("worried")
    assert_same_runs(alone, spread)
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
    assert_same_runs(alone, spread)
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
    assert processes_left() == []


@pytest.mark.usefixtures("eager")
def test_a_process_that_dies_is_an_error_that_says_what_to_do(cell):
    agent = cell["Cell"](10, when=THIRD, trick=cell["die"])
    with pytest.raises(RuntimeError, match=r"has died: its memory may have .*n_jobs=1 plays all runs in") as caught:
        nsb.simulate(WORLD, agent, runs=6, n_jobs=2)
    assert "EXIT(7)" in caught.value.__notes__[0]
    assert processes_left() == []


@pytest.mark.usefixtures("eager", "ctrl_c")
def test_ctrl_c_leaves_no_process_behind_and_waits_for_none(cell, tmp_path):
    def interrupt(done: int, total: int) -> None:
        if done == 2:
            assert len(processes_left()) == 2
            os.kill(os.getpid(), signal.SIGINT)

    mark = tmp_path / "of the last run"
    last = cell["Lazy"](10, when=seed_pair(0, 39)[1], trick=lambda: mark.write_text(""))
    with pytest.raises(KeyboardInterrupt):
        nsb.simulate(WORLD, last, runs=40, n_jobs=2, progress=interrupt)
    assert processes_left() == []
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
    with pytest.warns(UserWarning, match=r"went otherwise: .* global .*: playing 3 runs in this process") as told:
        spread = nsb.simulate(WORLD, module.Shifted, runs=4, n_jobs=2, record="all")
    assert told[-1].filename == __file__
    assert (expected.arms[:, 0] == 5).all()
    assert_same_runs(expected, spread)
    assert processes_left() == []


# --- no process is started below ---


class Fixed:
    """Plays an arm that depends on its seed."""

    def reset(self, seed: int | None = None) -> None:
        self.arm = (seed or 0) % 10

    def act(self, observation: Any = None) -> int:
        return self.arm

    def observe(self, arm: int, reward: float) -> None:
        """Learn nothing."""


class Holding(Fixed):
    """Holds something that cannot be pickled, but can be copied."""

    def __init__(self) -> None:
        self.numbers = (number for number in range(3))

    def __deepcopy__(self, memo: dict[int, Any]) -> Holding:
        return Holding()


@pytest.fixture
def stand_in(monkeypatch):
    """A function that has runs played here, last run first, by a function of the run's number and its result."""

    def stand_for_processes(sent):
        def backwards(pool, play, seeds, retries):
            for run, pair in reversed(list(enumerate(seeds))):
                found = sent(run, *play(pair))
                yield Failed(pair, 1, found) if isinstance(found, Error) else Done([pair], [found])

        monkeypatch.setattr(generic.parallel, "map_unordered", backwards)

    return stand_for_processes


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (Holding(), r"the agent or the environment cannot be pickled \(TypeError: .*: playing 4 runs in this process"),
        (Fixed(), r"need loky, pip install 'ns-mab-gym\[experiments\]': playing 4 runs in this process.*n_jobs=1"),
    ],
    ids=["cannot be pickled", "no loky"],
)
def test_what_cannot_go_elsewhere_is_played_here_with_a_warning(agent, words, monkeypatch):
    if type(agent) is Fixed:
        monkeypatch.setattr(generic, "find_spec", lambda name: None)
    expected = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=1)
    with pytest.warns(UserWarning, match=words) as told:
        played = nsb.simulate(WORLD, agent, runs=5, n_jobs=2)
    assert len([each for each in told if "generic Python loop" not in str(each.message)]) == 1
    np.testing.assert_array_equal(played.regret, expected.regret)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("failing", [0, 1, 3])
def test_a_run_that_fails_elsewhere_alone_is_played_here(failing, stand_in):
    stand_in(lambda run, runs, caught: Error("OSError: no disk", "") if run == failing else (runs, caught))
    expected = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=1)
    left = 4 - failing
    with pytest.warns(UserWarning, match=rf"failed .*\(OSError: no disk\).*: playing {left} runs in this process"):
        played = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)
    np.testing.assert_array_equal(played.regret, expected.regret)
    np.testing.assert_array_equal(played.pulls, expected.pulls)


@pytest.mark.usefixtures("eager")
def test_the_seconds_and_parameters_of_runs_played_elsewhere_are_those_sent(stand_in):
    stand_in(lambda run, runs, caught: (replace(runs, seconds=0.5, parameters=[{"run": run}]), caught))
    runs = nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)
    assert 2.0 < runs.seconds < 3.0  # half a second each, and the first one, which was played here
    assert runs.parameters == [{}] + [{"run": run} for run in range(1, 5)]


@pytest.mark.usefixtures("eager")
def test_a_warning_of_another_process_obeys_the_filters_of_this_one(stand_in):
    caught = ("division by zero", RuntimeWarning, "theirs.py", 3)
    stand_in(lambda run, runs, _: (runs, [caught] if run else []))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)
    (issued,) = told[1:]
    assert (str(issued.message), issued.filename, issued.lineno) == ("division by zero", "theirs.py", 3)
    with pytest.raises(RuntimeWarning, match="division by zero"):  # an error, as these tests say of all warnings
        nsb.simulate(WORLD, Fixed(), runs=5, n_jobs=2)


@pytest.mark.parametrize(
    ("jobs", "runs", "seconds", "expected"),
    [
        (8, 50, 1.0, 4),  # four cores
        (2, 50, 1.0, 2),
        (8, 4, 10.0, 3),  # no more than runs that are left
        (1, 50, 1.0, 1),
        (8, 1, 1e6, 1),
        (8, 2, 1e6, 1),  # one run is left, which this process plays as fast
        (8, 50, 0.08, 1),  # 49 · 0.08 − 13 · 0.08 = 2.88 seconds
        (8, 50, 0.09, 4),  # 3.24 seconds
        (2, 3, 1e6, 1),  # two runs here, or with the first one again two in a row there
    ],
)
def test_processes_must_save_three_seconds(jobs, runs, seconds, expected, monkeypatch):
    monkeypatch.setattr(generic, "usable_cores", lambda: 4)
    assert processes(Pairing(NSBanditEnv(WORLD), Fixed(), {}), jobs, runs, seconds) == expected


def test_who_stays_in_this_process(monkeypatch):
    """Networks, windows and pictures, and whoever plays in a process that shares work with others already."""
    monkeypatch.setattr(generic, "usable_cores", lambda: 4)
    plain = Pairing(NSBanditEnv(WORLD), Fixed(), {})
    network = type("Network", (Fixed,), {"only_generic": True})
    assert processes(plain, 4, 50, 10.0) == 4
    assert processes(Pairing(NSBanditEnv(WORLD), network(), {}), 4, 50, 10.0) == 1
    assert processes(Pairing(NSBanditEnv(WORLD, render_mode="ansi"), Fixed(), {}), 4, 50, 10.0) == 1
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())  # as in a pool of the user
    assert processes(plain, 4, 50, 10.0) == 1


SMALL = {"n_arms": 3, "horizon": 12}


class InTurn:
    """Plays the arms in turn, beginning with one that its seed decides; at most ``at_once`` runs together."""

    only_generic = True
    parameters: dict[str, Any] = {"beginning": "seeded", "table": np.zeros(3)}  # noqa: RUF012

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once

    def reset(self, seed: int | None = None) -> None:
        self.next = (seed or 0) % 3

    def act(self, observation: Any = None) -> int:
        self.next += 1
        return (self.next - 1) % 3

    def observe(self, arm: int, reward: float) -> None:
        pass

    def runs_at_once(self, env: gym.Env[Any, Any]) -> int:
        return self.at_once

    def play_at_once(self, env: gym.Env[Any, Any], seeds: list[tuple[int, int]]) -> Iterator[Round]:
        envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=len(seeds), **SMALL)
        envs.reset(seed=[each for each, _ in seeds])  # type: ignore[arg-type]
        first = np.array([own % 3 for _, own in seeds])
        for t in range(SMALL["horizon"]):
            arms = (first + t) % 3
            _, rewards, _, truncated, infos = envs.step(arms)
            yield Round(arms, rewards, (infos["final_info"] if truncated[0] else infos)["regret"])


@pytest.mark.parametrize("at_once", [1, 2, 5, 100])
def test_runs_at_once_are_recorded_as_those_of_the_generic_loop(at_once: int) -> None:
    given: dict[str, Any] = {"runs": 5, "env_kwargs": SMALL, "record": "all", "rounds": [1, 5]}
    together = nsb.simulate("NSBandit-Piecewise-v0", InTurn(at_once), **given)
    alone = nsb.simulate("NSBandit-Piecewise-v0", InTurn(0), **given)
    assert_same_runs(together, alone)
    assert together.parameters == alone.parameters == [{"beginning": "seeded"}] * 5
    assert together.parameters[0] is not together.parameters[1]


# Without a compiled form.


def recorded(world: worlds.World) -> gym.Env[Any, Any]:
    return gym.wrappers.RecordEpisodeStatistics(NSBanditEnv(world))


class Shifted(NSBanditEnv):
    """A subclass that plays in its own way: each arm does what the next one would."""

    def step(self, action):
        return super().step((action + 1) % 10)


class Coin(rewards.Bernoulli):
    """A law that the compiled loop does not know."""

    def reward(self, mu, luck):
        return 1.0 if luck > 1 - mu else 0.0


@pytest.mark.parametrize(
    ("env", "agent", "reason"),
    [
        (lambda: recorded(worlds.Abrupt(horizon=90)), "ts", "the environment is wrapped in RecordEpisodeStatistics"),
        (lambda: gym.make("NSBandit-Abrupt-v0", horizon=90, max_episode_steps=40), "ts", "is wrapped in TimeLimit"),
        (lambda: NSBanditEnv(worlds.Abrupt(horizon=90)), Fixed(), "Fixed object at .* has no compiled form"),
        (lambda: Shifted(worlds.Abrupt(horizon=90)), "ts", "is not one of the suite's own environments"),
        (lambda: NSBanditEnv(worlds.Abrupt(horizon=90), reward=Coin()), "ts", r"reward law Coin\(\) has no compiled"),
        (lambda: recorded(worlds.Piecewise(horizon=90)), "rexp3", "is wrapped in RecordEpisodeStatistics"),
    ],
    ids=["wrapper", "time limit", "own agent", "subclass", "own law", "random world"],
)
def test_what_has_no_compiled_form_goes_through_the_generic_loop_with_one_warning(env, agent, reason):
    with pytest.warns(UserWarning, match=rf"{reason}.*: playing through the generic Python loop") as warned:
        runs = nsb.simulate(env(), agent, runs=3, seed=2, record="all")
    assert len(warned) == 1
    assert warned[0].filename == __file__
    for r in range(3):
        made = env()
        player = agent
        if isinstance(agent, str):
            made.reset(seed=runs.seeds[r][0])
            player = agents.make(agent, knowledge=theory.knowledge(made.unwrapped.means))
        assert_equal_runs(runs, r, nsb.run_episode(made, player, runs.seeds[r]))


def test_an_environment_from_elsewhere():
    with pytest.warns(UserWarning, match="is not one of the suite's own environments: playing through the generic"):
        runs = nsb.simulate(Lottery(), "beta-swts", runs=3, agent_kwargs={"window": 20})
    assert runs.rounds.tolist() == list(range(1, 13))
    np.testing.assert_allclose(runs.regret[:, -1], 0.5 * runs.pulls[:, 0])
    assert nsb.simulate(Lottery(), InTurn(9), runs=2).horizon == 12  # one by one, although it can play many at once


@pytest.mark.parametrize(
    ("env", "agent", "error", "words"),
    [
        (Lottery(tells=False), "ts", ValueError, "does not tell its means: its info needs 'mu' for simulate to acc"),
        (Lottery(length=None), "ts", ValueError, r"one episode took \d+ rounds, another \d+; simulate compares"),
        (Lottery(), "beta-swts", agents.MissingKnowledgeError, r"beta-swts .* needs `horizon` \(T\)"),
    ],
)
def test_an_environment_from_elsewhere_that_cannot_be_simulated(env, agent, error, words):
    with pytest.raises(error, match=words):
        nsb.simulate(env, agent, runs=5)
