"""The engine: every run equals, bit for bit, the episode that the interpreted loop plays with its seeds."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from examples import HOUSE, WINDOWED

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, theory, worlds
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.bandit import streams
from ns_mab_gym.play.episode import seed_pair
from ns_mab_gym.play.match import Match

every_agent = pytest.mark.parametrize("name", HOUSE)
every_law = pytest.mark.parametrize("law", rewards.names())


ON_BETA = ("ts", "beta-swts", "gamma-swgts", "sw-ucb", "kl-ucb", "ucb1", "rexp3", "d-ucb", "glr-klucb", "sw-lb-sda")


def is_tried(name: str, law: str) -> bool:
    """Whether an agent is tried on a law.

    Beta laws have a loop of their own, which takes seconds to compile. It differs from the other in how a reward is
    drawn, and knows nothing of the agent: some of every kind stand for all.
    """
    return law != "beta" or name in ON_BETA


PAIRS = [(name, law) for law in rewards.names() for name in HOUSE if is_tried(name, law)]


def fitting(name: str, law: str) -> dict[str, Any]:
    """What the agent needs to be told to play this law: nothing, or to binarize."""
    made = rewards.make(law)
    in_unit = made.support[0] >= 0 and made.support[1] <= 1
    fits = {"binary": made.binary, "unit": in_unit, "real": True}[agents.kind(name).accepts]
    return {} if fits else {"binarize": True}


def interpreted(world: worlds.World, law: str, name: str, seeds: tuple[int, int], **parameters: Any):
    """The episode in pure Python, and the agent as it stands at its end."""
    env = NSBanditEnv(world, reward=law)
    env.reset(seed=seeds[0])
    known = replace(theory.knowledge(env.means), subgaussian=env.law.subgaussian)
    agent = agents.make(name, knowledge=known, **parameters)
    return nsb.run_episode(env, agent, seeds), agent


@pytest.fixture
def players(monkeypatch) -> list[agents.Agent]:
    """The agents that a simulation makes, in order: after it, as they stand at the end of their runs."""
    made: list[agents.Agent] = []
    agent_for = Match.agent_for

    def remember(match: Match, known: agents.Knowledge) -> agents.Agent:
        made.append(agent_for(match, known))
        return made[-1]

    monkeypatch.setattr(Match, "agent_for", remember)
    return made


def assert_equal_runs(runs: nsb.Runs, r: int, played: nsb.Trajectory) -> None:
    np.testing.assert_array_equal(runs.arms[r], played.arms)
    np.testing.assert_array_equal(runs.rewards[r], played.rewards)
    np.testing.assert_array_equal(runs.regret[r], played.regret[runs.rounds - 1])
    np.testing.assert_array_equal(runs.pulls[r], played.pulls)
    np.testing.assert_array_equal(runs.suboptimal_pulls[r], played.suboptimal_pulls)


@pytest.mark.parametrize(("name", "law"), PAIRS)
def test_compiled_equals_interpreted(name, law, players):
    """Arms, rewards, regret, pulls and N_{i,T}, over 5 seeds and 3 000 rounds; and what the agent knows at the end."""
    world, told = worlds.Abrupt(horizon=3_000), fitting(name, law)
    kwargs = {"runs": 5, "seed": 11, "env_kwargs": {"reward": law}, "agent_kwargs": told, "n_jobs": 1}
    runs = nsb.simulate(world, name, record="all", **kwargs)
    assert runs.arms.shape == runs.rewards.shape == (5, 3_000)
    for r, player in enumerate(players[-5:]):
        played, agent = interpreted(world, law, name, runs.seeds[r], **told)
        assert_equal_runs(runs, r, played)
        saved, other = agent.state_dict(), player.state_dict()
        assert saved.keys() == other.keys()
        for key in saved:  # parameters, memory, and where the generator stands
            np.testing.assert_array_equal(saved[key], other[key], err_msg=key)


@pytest.mark.parametrize("name", WINDOWED)
@pytest.mark.parametrize("window", [1, 3, 10, 60, 999, 1_000, 5_000])
def test_compiled_equals_interpreted_for_several_windows(name, window):
    """Shorter than K, equal to K, around the horizon, beyond it."""
    world, law = worlds.Abrupt(horizon=1_000), "gaussian" if agents.kind(name).accepts == "real" else "bernoulli"
    kwargs = {"window": window}
    runs = nsb.simulate(world, name, runs=2, seed=3, env_kwargs={"reward": law}, agent_kwargs=kwargs, record="all")
    for r in range(2):
        assert_equal_runs(runs, r, interpreted(world, law, name, runs.seeds[r], window=window)[0])


@every_agent
def test_a_random_world_and_tuning_for_each_instance(name):
    """Each run has its own instance, and an agent given by name is tuned from what is true of that instance."""
    world = worlds.Piecewise(horizon=600, n_arms=4, changes=3)
    runs = nsb.simulate(world, name, runs=3, seed=5, record="all")
    for r in range(3):
        played, agent = interpreted(world, "bernoulli", name, runs.seeds[r])
        assert_equal_runs(runs, r, played)
        assert runs.parameters[r] == {k: v for k, v in agent.parameters.items() if k != "means"}


def test_tuning_differs_from_instance_to_instance():
    runs = nsb.simulate(worlds.Piecewise(horizon=600, n_arms=4), "rexp3", runs=4, seed=5)
    batches = []
    for env_seed, _ in runs.seeds:
        env = NSBanditEnv(worlds.Piecewise(horizon=600, n_arms=4))
        env.reset(seed=env_seed)
        variation = np.abs(np.diff(env.means, axis=0)).max(axis=1).sum()
        batches.append(int(np.ceil((4 * np.log(4)) ** (1 / 3) * (600 / variation) ** (2 / 3))))
    assert [p["batch"] for p in runs.parameters] == batches
    assert len(set(batches)) > 1


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


@pytest.mark.parametrize("name", ["beta-swts", "ser4", "oracle"])
@pytest.mark.parametrize("world", [worlds.Abrupt(horizon=700), worlds.RandomWalk(horizon=700)], ids=lambda w: w.name)
def test_threads_change_nothing(name, world):
    one = nsb.simulate(world, name, runs=7, seed=2, record="all", n_jobs=1)
    for jobs in (2, 5, None):
        other = nsb.simulate(world, name, runs=7, seed=2, record="all", n_jobs=jobs)
        for field in ("rounds", "regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
        assert one.seeds == other.seeds
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


def test_runs_differ():
    runs = nsb.simulate(worlds.Abrupt(horizon=300), "ts", runs=20, seed=1, record="all")
    assert len({row.tobytes() for row in runs.rewards}) == 20
    assert len({row.tobytes() for row in runs.arms}) == 20


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


def test_ties_for_the_best_arm_are_not_suboptimal():
    runs = nsb.simulate(worlds.Stationary(mu=(0.5, 0.2, 0.5), horizon=300), "random", runs=1)
    assert runs.suboptimal_pulls[0].tolist() == [0, runs.pulls[0, 1], 0]


@pytest.mark.parametrize("name", ["random", "oracle"])
def test_a_curve_keeps_nothing_of_the_size_of_runs_times_rounds(name):
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


def test_what_a_simulation_takes():
    """An id, a world or an environment; a name or an agent: the same runs."""
    world = worlds.Abrupt(horizon=250)
    expected = nsb.simulate(world, "sw-ucb", runs=3, seed=6, record="all")
    window = agents.make("sw-ucb", 10, 250).window
    for env in ("NSBandit-Abrupt-v0", world, gym.make("NSBandit-Abrupt-v0", horizon=250), NSBanditEnv(world)):
        for agent in ("sw-ucb", agents.SWUCB(10, window=window)):
            kwargs = {"horizon": 250} if env == "NSBandit-Abrupt-v0" else {}
            runs = nsb.simulate(env, agent, runs=3, seed=6, record="all", env_kwargs=kwargs)
            np.testing.assert_array_equal(runs.arms, expected.arms)
            np.testing.assert_array_equal(runs.rewards, expected.rewards)
            assert runs.parameters == expected.parameters


@every_agent
def test_an_agent_object_is_left_alone(name):
    """It is cloned for every run: what it knew stays, and does not leak into the runs."""
    world = worlds.Abrupt(horizon=200)
    agent = agents.make(name, knowledge=theory.knowledge(world.means()))
    expected = nsb.simulate(world, agent, runs=2, seed=1, record="all")
    agent.reset(seed=3)
    for _ in range(50):
        agent.observe(agent.act(), 1.0)
    before = agent.state_dict()
    again = nsb.simulate(world, agent, runs=2, seed=1, record="all")
    np.testing.assert_array_equal(expected.arms, again.arms)
    for key, value in agent.state_dict().items():
        np.testing.assert_array_equal(value, before[key])


def test_an_environment_that_was_given_means_forgets_them_as_an_episode_does():
    """reset(options={"means": …}) is for one episode: the next reset plays the world again."""
    world = worlds.Stationary(mu=(0.2, 0.8), horizon=100)
    env = NSBanditEnv(world)
    env.reset(seed=0, options={"means": np.tile([0.9, 0.1], (100, 1))})
    runs = nsb.simulate(env, "oracle", runs=1, seed=0, record="all")
    assert (runs.arms == 1).all()
    played = nsb.run_episode(env, agents.Oracle(2, means=world.means()), runs.seeds[0])
    np.testing.assert_array_equal(runs.rewards[0], played.rewards)


class Alternating:
    """A plain-Python agent."""

    def reset(self, seed=None):
        self.t = 0

    def act(self, observation=None):
        self.t += 1
        return self.t % 3

    def observe(self, arm, reward):
        pass

    def __repr__(self):
        return "Alternating()"


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
        (
            lambda: gym.wrappers.RecordEpisodeStatistics(NSBanditEnv(worlds.Abrupt(horizon=90))),
            "ts",
            "the environment is wrapped in RecordEpisodeStatistics",
        ),
        (lambda: gym.make("NSBandit-Abrupt-v0", horizon=90, max_episode_steps=40), "ts", "is wrapped in TimeLimit"),
        (lambda: NSBanditEnv(worlds.Abrupt(horizon=90)), Alternating(), r"Alternating\(\) has no compiled form"),
        (lambda: Shifted(worlds.Abrupt(horizon=90)), "ts", "is not one of the suite's own environments"),
        (
            lambda: NSBanditEnv(worlds.Abrupt(horizon=90), reward=Coin()),
            "ts",
            r"the reward law Coin\(\) has no compiled",
        ),
        (
            lambda: gym.wrappers.RecordEpisodeStatistics(NSBanditEnv(worlds.Piecewise(horizon=90))),
            "rexp3",
            "the environment is wrapped in RecordEpisodeStatistics",
        ),
    ],
    ids=["wrapper", "time limit", "own agent", "subclass", "own law", "random world"],
)
def test_what_has_no_compiled_form_goes_through_the_generic_loop_with_one_warning(env, agent, reason):
    with pytest.warns(
        UserWarning, match=rf"{reason}.*: playing through the generic Python loop, which is sl"
    ) as warned:
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


def test_a_wrapper_that_changes_nothing_changes_nothing():
    plain = nsb.simulate(worlds.Abrupt(horizon=200), "beta-swts", runs=2, seed=2, record="all")
    wrapped = gym.wrappers.RecordEpisodeStatistics(NSBanditEnv(worlds.Abrupt(horizon=200)))
    with pytest.warns(UserWarning, match="generic Python loop"):
        generic = nsb.simulate(wrapped, "beta-swts", runs=2, seed=2, record="all")
    for field in ("rounds", "regret", "pulls", "suboptimal_pulls", "arms", "rewards"):
        np.testing.assert_array_equal(getattr(plain, field), getattr(generic, field))
    assert plain.parameters == generic.parameters


class Elsewhere(gym.Env):
    """Somebody else's bandit of 30 rounds; says its means or not."""

    def __init__(self, tells: bool = True, varies: bool = False) -> None:
        self.action_space, self.observation_space = gym.spaces.Discrete(2, start=1), gym.spaces.Discrete(1)
        self.tells, self.varies = tells, varies

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.length = int(self.np_random.integers(10, 60)) if self.varies else 30
        return 0, {}

    def step(self, action):
        self.t += 1
        info = {"mu": np.array([0.3, 0.6])} if self.tells else {}
        return 0, float(self.np_random.random() < 0.3 * action), self.t == self.length, False, info


def test_an_environment_from_elsewhere():
    with pytest.warns(UserWarning, match="is not one of the suite's own environments: playing through the generic"):
        runs = nsb.simulate(Elsewhere(), "beta-swts", runs=3, agent_kwargs={"window": 20})
    assert runs.rounds.tolist() == list(range(1, 31))
    np.testing.assert_allclose(runs.regret[:, -1], 0.3 * runs.pulls[:, 0])
    with (
        pytest.warns(UserWarning, match="generic Python loop"),
        pytest.raises(ValueError, match="does not tell its means: its info needs 'mu' for simulate to account regret"),
    ):
        nsb.simulate(Elsewhere(tells=False), "ts", runs=1)
    with (
        pytest.warns(UserWarning, match="generic Python loop"),
        pytest.raises(ValueError, match=r"one episode took \d+ rounds, another \d+; simulate compares"),
    ):
        nsb.simulate(Elsewhere(varies=True), "ts", runs=5)
    with (
        pytest.warns(UserWarning, match="generic Python loop"),
        pytest.raises(agents.MissingKnowledgeError, match=r"beta-swts .* needs `horizon` \(T\)"),
    ):
        nsb.simulate(Elsewhere(), "beta-swts", runs=1)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"agent": "beta-swtz"}, ValueError, r"unknown agent 'beta-swtz'; did you mean 'beta-swts'\?"),
        (
            {"agent_kwargs": {"windw": 3}},
            TypeError,
            r"agent 'beta-swts' has no parameter 'windw'; did you mean 'window'",
        ),
        ({"agent_kwargs": {"window": 0}}, ValueError, "window must be a positive integer, got 0; the paper suggests"),
        (
            {"agent": agents.TS(10), "agent_kwargs": {"binarize": True}},
            TypeError,
            "agent_kwargs go with an agent given",
        ),
        ({"agent": agents.TS(3)}, ValueError, "the agent was made for 3 arms, the environment has 10"),
        (
            {"env": NSBanditEnv(horizon=5), "env_kwargs": {"horizon": 9}},
            TypeError,
            "env_kwargs go with an id or a world",
        ),
        ({"env": 3}, TypeError, "env must be an id, a world or an environment, got 3"),
        ({"env": "NSBandit-Abrubt-v0"}, gym.error.NameNotFound, "Did you mean: `NSBandit-Abrupt`"),
        ({"env_kwargs": {"horizn": 9}}, TypeError, r"has no parameter 'horizn'; did you mean 'horizon'\?"),
        ({"runs": 0}, ValueError, "runs must be a positive integer, got 0"),
        ({"runs": 2.0}, TypeError, "runs must be a positive integer, got 2.0"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be a positive integer, got 0; -1 means all cores"),
        ({"seed": -1}, ValueError, "seed must be an integer of at least 0, got -1"),
        ({"first_run": -1}, ValueError, "first_run must be an integer of at least 0, got -1"),
        ({"record": "al"}, ValueError, r"unknown record 'al'; did you mean 'all'\?"),
        (
            {"env_kwargs": {"horizon": 50, "reward": "gaussian"}},
            UnsuitableRewardsError,
            r"beta-swts takes rewards that are 0 or 1, got rewards in \[-inf, inf\]; use gamma-swgts, .*binarize=True",
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


def test_a_subclass_that_acts_otherwise_is_played_as_it_acts():
    class Stubborn(agents.TS):
        def act(self, observation=None, *, mask=None):
            return 3

    with pytest.warns(UserWarning, match="has no compiled form: playing through the generic Python loop"):
        runs = nsb.simulate("NSBandit-Abrupt-v0", Stubborn(10), runs=2, env_kwargs={"horizon": 50})
    assert (runs.pulls[:, 3] == 50).all()
    assert runs.arms is None
