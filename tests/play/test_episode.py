"""The generic loop: any agent on any environment with a discrete action space."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from examples import HOUSE
from foreign_bandit import Lottery

import ns_mab_gym as nsb
from ns_mab_gym import agents, worlds, wrappers
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.runs import seed_pair


class Scripted:
    """A plain-Python agent that plays what it is told and writes down what it sees."""

    def __init__(self, script: list[int]) -> None:
        self.script = script

    def reset(self, seed=None):
        self.seed = seed
        self.log: list[tuple] = []

    def act(self, observation=None):
        self.log.append(("act", observation))
        return self.script[sum(kind == "act" for kind, *_ in self.log) - 1]

    def observe(self, arm, reward):
        self.log.append(("observe", arm, reward))


def test_the_loop_acts_steps_and_observes():
    """The agent gets the observation of the step before; what it observes is the arm it played and its reward."""
    env, agent = NSBanditEnv(worlds.Stationary(mu=(0.2, 0.5, 0.7), horizon=6)), Scripted([0, 2, 1, 1, 0, 2])
    played = nsb.run_episode(env, agent, seed=(3, 4))
    assert agent.seed == 4
    env.reset(seed=3)
    expected = [env.step(arm) for arm in agent.script]
    assert played.arms.tolist() == agent.script
    assert played.rewards.tolist() == [reward for _, reward, *_ in expected]
    seen = [observation for kind, observation, *_ in agent.log if kind == "act"]
    np.testing.assert_array_equal(seen[0], np.zeros(5))
    np.testing.assert_array_equal(seen[1:], [observation for observation, *_ in expected[:-1]])
    observed = [(arm, reward) for kind, arm, *rest in agent.log if kind == "observe" for reward in rest]
    assert observed == list(zip(played.arms, played.rewards, strict=True))
    assert [kind for kind, *_ in agent.log] == ["act", "observe"] * 6


def test_regret_pulls_and_suboptimal_pulls_by_hand():
    """Means (0.2, 0.5, 0.7) for 3 rounds, then (0.9, 0.5, 0.9): arms 0 and 2 tie, and neither is suboptimal then.

    N_{i,T} counts the pulls of i while i is not optimal; of arms that tie for the best, each is.
    """
    rows = [[0.2, 0.5, 0.7]] * 3 + [[0.9, 0.5, 0.9]] * 3
    played = nsb.run_episode(NSBanditEnv("table", rows=rows), Scripted([0, 1, 2, 0, 1, 2]), seed=1)
    np.testing.assert_allclose(played.regret, np.cumsum([0.5, 0.2, 0, 0, 0.4, 0]), atol=1e-15)
    assert played.pulls.tolist() == [2, 2, 2]
    assert played.suboptimal_pulls.tolist() == [1, 2, 0]
    assert played.arms.dtype == played.pulls.dtype == played.suboptimal_pulls.dtype == np.int64


@pytest.mark.parametrize("start", [0, 1, -4])
def test_an_environment_from_elsewhere(start):
    """Arms are counted from 0, actions from the start of the space; regret comes from info["mu"]."""
    env, agent = Lottery(start), Scripted([0, 1, 2] * 4)
    played = nsb.run_episode(env, agent, seed=(1, 2))
    assert env.actions == [arm + start for arm in agent.script]
    assert played.arms.tolist() == agent.script
    np.testing.assert_allclose(played.regret, np.cumsum([0.5, 0, 0] * 4))
    assert played.suboptimal_pulls.tolist() == [4, 0, 0]
    assert len(played.arms) == 12


def test_an_environment_that_keeps_its_means_to_itself():
    played = nsb.run_episode(Lottery(tells=False), Scripted([0] * 12), seed=1)
    assert played.regret is None
    assert played.suboptimal_pulls is None
    assert played.pulls.tolist() == [12, 0, 0]


def test_seeds():
    """A pair is the environment's and the agent's; one number gives the first pair of simulate; none, fresh ones."""
    env = NSBanditEnv(worlds.Abrupt(horizon=200))
    agent = agents.make("ts", 10)
    one = nsb.run_episode(env, agent, seed=7)
    for same in (nsb.run_episode(env, agent, seed=seed_pair(7)), nsb.run_episode(env, agent, seed=np.int64(7))):
        np.testing.assert_array_equal(one.arms, same.arms)
        np.testing.assert_array_equal(one.rewards, same.rewards)
    other_agent = nsb.run_episode(env, agent, seed=(seed_pair(7)[0], 1))
    assert not np.array_equal(one.arms, other_agent.arms)
    fresh = [nsb.run_episode(env, agent).rewards for _ in range(2)]
    assert not np.array_equal(*fresh)


def test_seed_pairs_are_apart_and_fit_into_63_bits():
    pairs = {seed_pair(seed, run) for seed in range(30) for run in range(30)}
    assert len(pairs) == 900
    assert len({word for pair in pairs for word in pair}) == 1_800
    assert all(0 <= word < 2**63 and type(word) is int for pair in pairs for word in pair)
    for words in zip(*pairs, strict=True):  # 900 words of 63 random bits: each bit is 0 in some and 1 in others
        assert all(0 < sum(word >> bit & 1 for word in words) < 900 for bit in range(63))
    assert seed_pair(4) == seed_pair(4, 0)


@pytest.mark.parametrize(
    "space",
    [gym.spaces.Box(0, 1, (2,)), gym.spaces.MultiDiscrete([2, 3]), gym.spaces.MultiBinary(2)],
    ids=lambda space: type(space).__name__,
)
def test_an_environment_without_discrete_actions(space):
    env = Lottery()
    env.action_space = space
    with pytest.raises(TypeError, match=r"a bandit agent needs a Discrete action space, <.*> has (Box|Multi)"):
        nsb.run_episode(env, agents.make("ts", 3))
    with pytest.raises(TypeError, match="a bandit agent needs a Discrete action space"):
        nsb.simulate(env, "ts", runs=1)


def test_an_agent_for_another_number_of_arms():
    with pytest.raises(ValueError, match="the agent was made for 4 arms, the environment has 10"):
        nsb.run_episode(NSBanditEnv(horizon=20), agents.make("ts", 4))


@pytest.mark.parametrize("name", HOUSE)
@pytest.mark.parametrize("reward", ["bernoulli", "gaussian", "beta"])
def test_rewards_that_the_agent_cannot_take_are_refused_before_the_run(name, reward):
    env = NSBanditEnv(worlds.Abrupt(horizon=20), reward=reward)
    known = nsb.theory.knowledge(env.means)
    agent = agents.make(name, knowledge=known)
    fits = {"binary": reward == "bernoulli", "unit": reward != "gaussian", "real": True}[agent.accepts]
    if not fits:
        support = {"gaussian": r"\[-inf, inf\]", "beta": r"\[0, 1\]"}[reward]
        words = (
            f"{name} takes rewards .*, got rewards in {support}; use gamma-swgts, which takes any subgaussian reward"
        )
        if reward == "beta":
            words += ", or binarize=True, which draws"
        with pytest.raises(UnsuitableRewardsError, match=words):
            nsb.run_episode(env, agent)
        agent = agents.make(name, knowledge=known, binarize=True)
    if not fits and reward == "gaussian":
        with pytest.raises(UnsuitableRewardsError, match="with binarize=True draws a Bernoulli"):
            nsb.run_episode(env, agent)
        return
    assert len(nsb.run_episode(env, agent, seed=1).arms) == 20


def test_late_rewards_are_observed_when_they_arrive():
    """With a delay of 2 the agent sees round 1 with the third step, and never sees the last two."""
    env = wrappers.DelayedRewards(NSBanditEnv(worlds.Stationary(mu=(1.0, 0.0), horizon=5)), delay=2)
    agent = Scripted([0, 1, 0, 0, 1])
    agent.handles_delay = True
    nsb.run_episode(env, agent, seed=1)
    observed = [entry for entry in agent.log if entry[0] == "observe"]
    assert observed == [("observe", 0, 1.0), ("observe", 1, 0.0), ("observe", 0, 1.0)]
    first_seen = [kind for kind, *_ in agent.log].index("observe")
    assert first_seen == 3


def test_a_progress_bar_when_asked(capsys):
    env, agent = NSBanditEnv(worlds.Abrupt(horizon=50)), agents.make("random", 10)
    nsb.run_episode(env, agent, seed=1)
    assert capsys.readouterr().err == ""
    nsb.run_episode(env, agent, seed=1, progress=True)
    assert "50/50" in capsys.readouterr().err
