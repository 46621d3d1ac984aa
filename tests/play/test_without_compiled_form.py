"""What has no compiled form is played through the generic loop, as it acts by itself, and with one warning."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from interpreted_runs import assert_equal_runs

import ns_mab_gym as nsb
from ns_mab_gym import agents, rewards, theory, worlds
from ns_mab_gym.envs import NSBanditEnv


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


def test_a_subclass_that_acts_otherwise_is_played_as_it_acts():
    class Stubborn(agents.TS):
        def act(self, observation=None, *, mask=None):
            return 3

    with pytest.warns(UserWarning, match="has no compiled form: playing through the generic Python loop"):
        runs = nsb.simulate("NSBandit-Abrupt-v0", Stubborn(10), runs=2, env_kwargs={"horizon": 50})
    assert (runs.pulls[:, 3] == 50).all()
    assert runs.arms is None
