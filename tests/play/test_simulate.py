"""``simulate``: every compiled run equals the interpreted episode with its seeds, bit for bit; its record and luck."""

from __future__ import annotations

import os
import tracemalloc
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from examples import HOUSE, WINDOWED
from interpreted_runs import assert_equal_runs, assert_same_runs, fitting, interpreted, is_tried

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, theory, worlds
from ns_mab_gym.agents.core.arguments import job_count, usable_cores
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.bandit import streams
from ns_mab_gym.play.loop import BETA, draw, draw_beta, law_code
from ns_mab_gym.play.simulate import LINES, Pairing, apart
from ns_mab_gym.runs import Runs, seed_pair

every_agent = pytest.mark.parametrize("name", HOUSE)
PAIRS = [(name, law) for law in rewards.names() for name in HOUSE if is_tried(name, law)]


@pytest.fixture
def players(monkeypatch) -> list[agents.Agent]:
    """The agents that a simulation makes, in order: after it, as they stand at the end of their runs."""
    made: list[agents.Agent] = []
    agent_for = Pairing.agent_for

    def remember(match: Pairing, known: agents.Knowledge) -> agents.Agent:
        made.append(agent_for(match, known))
        return made[-1]

    monkeypatch.setattr(Pairing, "agent_for", remember)
    return made


@pytest.mark.parametrize(("name", "law"), PAIRS)
def test_compiled_equals_interpreted(name, law, players):
    """Arms, rewards, regret, pulls and N_{i,T}, over 2 seeds and 3 000 rounds; and what the agent knows at the end."""
    world, told = worlds.Abrupt(horizon=3_000), fitting(name, law)
    kwargs = {"runs": 2, "seed": 11, "env_kwargs": {"reward": law}, "agent_kwargs": told, "n_jobs": 1}
    runs = nsb.simulate(world, name, record="all", **kwargs)
    assert runs.arms.shape == runs.rewards.shape == (2, 3_000)
    for r, player in enumerate(players[-2:]):
        played, agent = interpreted(world, law, name, runs.seeds[r], **told)
        assert_equal_runs(runs, r, played)
        np.testing.assert_array_equal(runs.alarms and runs.alarms[r], played.alarms)
        saved, other = agent.state_dict(), player.state_dict()
        assert saved.keys() == other.keys()
        for key in saved:  # parameters, memory, and where the generator stands
            np.testing.assert_array_equal(saved[key], other[key], err_msg=key)


def test_arrays_that_threads_write_to_share_no_cache_line():
    given = [np.ones(size, kind) for size in (0, 1, 10) for kind in (np.int64, np.float64, np.bool_)] * 20
    own = [apart(each) for each in given]
    for one, other in zip(given, own, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    spans = sorted((each.ctypes.data, each.ctypes.data + each.nbytes) for each in own)
    assert all(begin - end >= LINES for (_, end), (begin, _) in pairwise(spans))


RESTARTING = {
    "base": "kl-ucb(c=1)", "detector": "glr(delta=0.01, every=3)", "restart": "local", "exploration": "uniform",
    "rate": 0.2, "counting": "samples",
}  # fmt: skip
# Windows shorter than K, equal to K, around the horizon, beyond it; and states of another form than the usual one.
FORMS: list[tuple[str, dict[str, Any]]] = [
    *((name, {"window": window}) for name in WINDOWED for window in (1, 3, 10, 60, 999, 1_000, 5_000)),
    *(("switching-ts", {"restart": "arm", "hazard": hazard, "hypotheses": 20}) for hazard in (0.0, 1e-3, 0.1)),
    *((name, form) for name in ("raw-ucb", "fewa") for form in ({"grid": "geometric", "ratio": 1.2}, {"horizon": 50})),
    ("restarting", RESTARTING),
]


@pytest.mark.parametrize(("name", "told"), FORMS)
def test_compiled_equals_interpreted_for_other_parameters(name, told):
    world, law = worlds.Abrupt(horizon=1_000), "gaussian" if agents.kind(name).accepts == "real" else "bernoulli"
    runs = nsb.simulate(world, name, runs=2, seed=3, env_kwargs={"reward": law}, agent_kwargs=told, record="all")
    for r in range(2):
        assert_equal_runs(runs, r, interpreted(world, law, name, runs.seeds[r], **told)[0])


@every_agent
def test_a_random_world_and_tuning_for_each_instance(name):
    """Each run has its own instance, and an agent given by name is tuned from what is true of that instance."""
    world = worlds.Piecewise(horizon=600, n_arms=4, changes=3)
    runs = nsb.simulate(world, name, runs=3, seed=5, record="all")
    for r in range(3):
        played, agent = interpreted(world, "bernoulli", name, runs.seeds[r])
        assert_equal_runs(runs, r, played)
        assert runs.parameters[r] == {k: v for k, v in agent.parameters.items() if k != "means"}


def test_the_authors_sigma_tunes_on_smooth_worlds():
    """1585 for σ = 1e-4, although no mean moves by more than 0.45 σ per round; and 252 for σ = 1e-3."""
    runs = nsb.simulate("NSBandit-Smooth-v0", "sw-kl-ucb", runs=1, env_kwargs={"horizon": 2_000})
    assert runs.parameters[0]["window"] == 1585
    runs = nsb.simulate("NSBandit-SmoothFast-v0", "sw-kl-ucb", runs=1, env_kwargs={"horizon": 2_000})
    assert runs.parameters[0]["window"] == 252


@pytest.mark.parametrize(("scale", "gamma"), [(0.5, 1.0), (1.0, 0.25)])
def test_the_laws_scale_tunes_gamma_swgts(scale, gamma):
    kwargs = {"horizon": 50, "reward": "gaussian", "scale": scale}
    assert nsb.simulate("NSBandit-Abrupt-v0", "gamma-swgts", runs=1, env_kwargs=kwargs).parameters[0]["gamma"] == gamma


# The luck of a run.


every_law = pytest.mark.parametrize("law", rewards.names())


@pytest.mark.parametrize("name", ["beta-swts", "ser4", "oracle"])
@pytest.mark.parametrize("world", [worlds.Abrupt(horizon=700), worlds.RandomWalk(horizon=700)], ids=lambda w: w.name)
def test_threads_change_nothing(name, world):
    one = nsb.simulate(world, name, runs=7, seed=2, record="all", n_jobs=1)
    for jobs in (2, 5, None):
        other = nsb.simulate(world, name, runs=7, seed=2, record="all", n_jobs=jobs)
        assert_same_runs(one, other)
        assert one.parameters == other.parameters


def test_blocks_and_prefixes_are_the_same_runs():
    kwargs = {"seed": 9, "record": "all", "env_kwargs": {"horizon": 300}}
    whole = nsb.simulate("NSBandit-Piecewise-v0", "beta-swts", runs=6, **kwargs)
    first = nsb.simulate("NSBandit-Piecewise-v0", "beta-swts", runs=2, **kwargs)
    rest = nsb.simulate("NSBandit-Piecewise-v0", "beta-swts", runs=4, first_run=2, **kwargs)
    for field in ("regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
        np.testing.assert_array_equal(
            getattr(whole, field), np.concatenate([getattr(first, field), getattr(rest, field)])
        )
    assert whole.seeds == first.seeds + rest.seeds == [seed_pair(9, r) for r in range(6)]
    assert whole.parameters == first.parameters + rest.parameters


@every_law
def test_agents_that_share_a_seed_share_their_luck(law):
    """In a round in which two agents play the same arm they get the same reward; Gaussian noise is the same anyway."""
    world = worlds.Piecewise(horizon=800, n_arms=3)
    games = [
        nsb.simulate(
            world, name, runs=2, seed=4, env_kwargs={"reward": law}, agent_kwargs=fitting(name, law), record="all"
        )
        for name in agents.names()
        if is_tried(name, law)
    ]
    for one in games:
        for other in games:
            assert one.seeds == other.seeds
            same = one.arms == other.arms
            assert same.any()
            np.testing.assert_array_equal(one.rewards[same], other.rewards[same])
    if law == "gaussian":
        env = NSBanditEnv(world)
        for r, (env_seed, _) in enumerate(games[0].seeds):
            env.reset(seed=env_seed)
            noise = [g.rewards[r] - env.means[np.arange(800), g.arms[r]] for g in games]
            np.testing.assert_allclose(noise, np.broadcast_to(noise[0], (len(games), 800)), atol=1e-12)


def test_the_environments_luck_does_not_depend_on_the_agent():
    """Rewards of the oracle, which draws nothing, equal those recomputed from the world's means and the seed alone."""
    runs = nsb.simulate(worlds.Abrupt(horizon=400), "oracle", runs=3, seed=8, record="all")
    means = worlds.Abrupt(horizon=400).means()
    for r, (env_seed, _) in enumerate(runs.seeds):
        _, luck = streams(np.random.default_rng(env_seed))
        np.testing.assert_array_equal(runs.arms[r], means.argmax(axis=1))
        np.testing.assert_array_equal(runs.rewards[r], luck.random(400) < means.max(axis=1))
    assert not runs.regret.any()
    assert not runs.suboptimal_pulls.any()


# The record of a run.


RECORDED = worlds.Abrupt(horizon=1_300)
ENVS = [NSBanditEnv(RECORDED), gym.wrappers.RecordEpisodeStatistics(NSBanditEnv(RECORDED))]


@pytest.mark.filterwarnings("ignore:.*generic Python loop")
@pytest.mark.parametrize("env", ENVS, ids=["compiled", "generic"])
@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({"record": "regret"}, list(range(1, 1_301))),
        ({"rounds": [7, 8, 1_299, 300, 8]}, [7, 8, 300, 1_299, 1_300]),
        ({"record": "all", "rounds": [3]}, [3, 1_300]),
    ],
)
def test_the_regret_that_is_kept_is_that_of_the_episode(env, asked, kept):
    runs = nsb.simulate(env, "ts", runs=3, seed=4, **asked)
    assert runs.rounds.tolist() == kept
    assert (runs.arms is None) == (runs.rewards is None) == (asked.get("record") != "all")
    for row, seeds in zip(runs.regret, runs.seeds, strict=True):
        episode = nsb.run_episode(NSBanditEnv(RECORDED), agents.TS(10), seeds)
        np.testing.assert_array_equal(row, episode.regret[runs.rounds - 1])


def test_ties_for_the_best_arm_are_not_suboptimal() -> None:
    runs = nsb.simulate(worlds.Stationary(mu=(0.5, 0.2, 0.5), horizon=300), "random", runs=1)
    assert runs.suboptimal_pulls[0].tolist() == [0, runs.pulls[0, 1], 0]


@pytest.mark.parametrize("name", ["random", "oracle"])
def test_a_curve_keeps_nothing_of_the_size_of_runs_times_rounds(name: str) -> None:
    """40 runs of 20 000 rounds, each on its own instance: the arms of all runs would take 6.4 MB, the means 64 MB."""
    world = worlds.Piecewise(horizon=20_000, n_arms=10)
    nsb.simulate(world, name, runs=1)
    tracemalloc.start()
    runs = nsb.simulate(world, name, runs=40, n_jobs=1)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert runs.arms is None
    assert runs.rewards is None
    assert kept < 1e6
    assert peak < 10e6


@pytest.mark.parametrize("horizon", [1, 2, 499, 500, 501, 1_234])
def test_the_rounds_of_a_curve(horizon):
    """At most 500, rising, the last of them T; all of them where T is no more."""
    runs = nsb.simulate(worlds.Stationary(mu=(0.2, 0.5), horizon=horizon), "random", runs=2)
    assert runs.rounds[-1] == horizon
    assert len(runs.rounds) == min(horizon, 500)
    assert (np.diff(runs.rounds) > 0).all()
    assert runs.rounds[0] >= 1
    assert runs.regret.shape == (2, len(runs.rounds))
    np.testing.assert_allclose(runs.regret[:, -1], 0.3 * runs.pulls[:, 0], rtol=1e-12)
    np.testing.assert_array_equal(runs.pulls[:, 0], runs.suboptimal_pulls[:, 0])
    assert runs.seconds > 0


# Arguments and defaults.


@every_agent
def test_an_agent_object_is_left_alone(name):
    """It plays as it does by its name, cloned for every run: what it knew stays, and does not leak into the runs."""
    world = worlds.Abrupt(horizon=200)
    expected = nsb.simulate(world, name, runs=2, seed=1, record="all")
    agent = agents.make(name, knowledge=theory.knowledge(world.means()))
    agent.reset(seed=3)
    for _ in range(50):
        agent.observe(agent.act(), 1.0)
    before = agent.state_dict()
    again = nsb.simulate(world, agent, runs=2, seed=1, record="all")
    np.testing.assert_array_equal(expected.arms, again.arms)
    for key, value in agent.state_dict().items():
        np.testing.assert_array_equal(value, before[key])


@dataclass(frozen=True, kw_only=True)
class Elsewhere(worlds.World):
    """Its means come from NumPy's global generator."""

    n_arms = 2
    horizon: int = 20

    def _means(self, rng):
        return np.random.random((self.horizon, 2))  # noqa: NPY002


@dataclass(frozen=True, kw_only=True)
class ElsewhereAnew(Elsewhere):
    """The same, drawn anew for every run."""

    random = True


@pytest.mark.parametrize("world", [Elsewhere, ElsewhereAnew])
def test_a_world_that_draws_from_a_global_generator_is_noticed(world):
    with pytest.raises(ValueError, match="are not the same each time they are made from one seed, so that no run can"):
        nsb.simulate(world(), "ts", runs=1)


def test_an_environment_that_was_given_means_forgets_them_as_an_episode_does():
    """reset(options={"means": …}) is for one episode: the next reset plays the world again."""
    world = worlds.Stationary(mu=(0.2, 0.8), horizon=100)
    env = NSBanditEnv(world)
    env.reset(seed=0, options={"means": np.tile([0.9, 0.1], (100, 1))})
    runs = nsb.simulate(env, "oracle", runs=1, seed=0, record="all")
    assert (runs.arms == 1).all()
    played = nsb.run_episode(env, agents.Oracle(2, means=world.means()), runs.seeds[0])
    np.testing.assert_array_equal(runs.rewards[0], played.rewards)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"agent": "beta-swtz"}, ValueError, r"unknown agent 'beta-swtz'; did you mean 'beta-swts'\?"),
        ({"agent_kwargs": {"windw": 3}}, TypeError, "'beta-swts' has no parameter 'windw'; did you mean 'window'"),
        ({"agent_kwargs": {"window": 0}}, ValueError, "window must be a positive integer, got 0; the paper suggests"),
        ({"agent": agents.TS(10), "agent_kwargs": {"binarize": True}}, TypeError, "agent_kwargs go with an agent"),
        ({"agent": agents.TS(3)}, ValueError, "the agent was made for 3 arms, the environment has 10"),
        ({"env": NSBanditEnv(horizon=5), "env_kwargs": {"horizon": 9}}, TypeError, "env_kwargs go with an id or a"),
        ({"env": 3}, TypeError, "env must be an id .*; got 3"),
        ({"env": "NSBandit-Abrubt-v0"}, ValueError, "did you mean 'NSBandit-Abrupt-v0'"),
        ({"env_kwargs": {"horizn": 9}}, TypeError, r"has no parameter 'horizn'; did you mean 'horizon'\?"),
        ({"runs": 0}, ValueError, "runs must be a positive integer, got 0"),
        ({"runs": 2.0}, TypeError, "runs must be a positive integer, got 2.0"),
        ({"seed": -1}, ValueError, "seed must be an integer of at least 0, got -1"),
        ({"first_run": -1}, ValueError, "first_run must be an integer of at least 0, got -1"),
        ({"record": "al"}, ValueError, r"unknown record 'al'; did you mean 'all'\?"),
        ({"record": "regret", "rounds": [3]}, ValueError, r'record="regret" keeps .* and rounds= chooses some .*leave'),
        ({"rounds": [50_001]}, ValueError, "between 1 and the horizon, 50,000; got 50,001"),
        ({"rounds": [0]}, ValueError, "each of rounds must be .*got 0"),
        ({"rounds": [1.5]}, TypeError, "got 1.5"),
        (
            {"env_kwargs": {"horizon": 50, "reward": "gaussian"}},
            UnsuitableRewardsError,
            r"beta-swts takes rewards that are 0 or 1, got rewards in \[-inf, inf\]; use gamma-swgts, .* reward$",
        ),
        (
            {"env": worlds.Piecewise(horizon=50), "env_kwargs": {"reward": "beta"}},
            UnsuitableRewardsError,
            r"beta-swts takes rewards that are 0 or 1, got rewards in \[0, 1\]; use gamma-swgts, .* or binarize=True",
        ),
        (
            {"agent": agents.KLUCB(10), "env_kwargs": {"horizon": 50, "reward": "gaussian"}},
            UnsuitableRewardsError,
            r"kl-ucb takes rewards in \[0, 1\], got rewards in \[-inf, inf\]",
        ),
    ],
)
def test_bad_input(arguments, error, words):
    given = {"env": "NSBandit-Abrupt-v0", "agent": "beta-swts", "runs": 1} | arguments
    with pytest.raises(error, match=words):
        nsb.simulate(**given)


def test_fifty_runs_from_seed_0() -> None:
    runs = nsb.simulate(worlds.Abrupt(horizon=40), "random")
    assert runs.seeds == [seed_pair(0, run) for run in range(50)]
    assert runs.regret.shape == (50, 40)
    assert runs.arms is runs.rewards is None


@pytest.mark.parametrize(("given", "expected"), [(1, 1), (1_000, 1_000), (np.int64(3), 3), (None, 5), (-1, 5)])
def test_what_is_allowed(given: Any, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(5)), raising=False)
    assert job_count(given) == expected


@pytest.mark.parametrize("given", [0, -2, 1.5, 2.0, True, False, np.True_, "two", "2", [2]], ids=repr)
def test_what_is_refused_before_anything_is_done(given: Any) -> None:
    with pytest.raises(
        (TypeError, ValueError), match=r"n_jobs must be a positive integer, got .*; (-1 means all cores|write 2)$"
    ):
        job_count(given)
    with pytest.raises((TypeError, ValueError), match="n_jobs must be a positive integer"):
        nsb.simulate("no such world", "no such agent", n_jobs=given)


def test_the_cores_that_are_granted_count_where_the_system_tells_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 7}, raising=False)
    assert usable_cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert usable_cores() == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1


class Fixed:
    """A generator whose next number is known."""

    def __init__(self, luck: float) -> None:
        self.luck = luck

    def random(self) -> float:
        return self.luck

    def standard_normal(self) -> float:
        return self.luck


SEEN = (rewards.Empirical(values=(0.0, 0.0, 1.5, 7.0, 0.1)), rewards.Empirical(values=(-1.0, 0.0, 0.3)))


@pytest.mark.parametrize(
    "law", [rewards.Bernoulli(), rewards.Gaussian(scale=0.3), rewards.Beta(concentration=3.0), *SEEN], ids=repr
)
@pytest.mark.parametrize("mu", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("luck", [0.0, 0.25, 0.5, 1 - 2**-53])
def test_a_draw_equals_the_reward_of_the_law(law: rewards.Law, mu: float, luck: float) -> None:
    code = law_code(law)
    assert code is not None
    drawn = draw_beta(code[1], mu, Fixed(luck)) if code[0] == BETA else draw(*code, mu, Fixed(luck))  # type: ignore[arg-type]
    assert drawn == law.reward(mu, luck)


def record(rounds: list[int], regret: list[list[float]]) -> Runs:
    none = np.zeros((len(regret), 2), np.int64)
    pairs = [(0, 0) for _ in regret]
    return Runs(np.array(rounds), np.array(regret), none, none, pairs, [{} for _ in regret], 0.0)


@pytest.mark.parametrize("round_", [0, 3, 10, 12.5, 20, 31, 40])
def test_regret_at_a_round_is_interpolated_from_nought_at_the_start(round_):
    runs = record([10, 20, 40], [[1.0, 5.0, 6.0], [0.0, 2.0, 8.0]])
    expected = [np.interp(round_, [0, 10, 20, 40], [0.0, *row]) for row in runs.regret]
    np.testing.assert_allclose(runs.at(round_), expected, rtol=1e-14)
    np.testing.assert_allclose(runs.between(round_, 40), runs.final - expected, rtol=1e-14)


def test_an_episode_of_one_round():
    runs = record([1], [[0.25]])
    assert (runs.horizon, runs.steps, len(runs)) == (1, 1, 1)
    assert [runs.at(0)[0], runs.at(1)[0], runs.final[0]] == [0.0, 0.25, 0.25]


def test_an_argument_of_the_environment_is_shown_its_place():
    words = r"simulate has no argument 'horizon'; for the environment write env_kwargs=\{'horizon': 100\}"
    with pytest.raises(TypeError, match=words):
        nsb.simulate("NSBandit-Abrupt-v0", "ts", horizon=100)
