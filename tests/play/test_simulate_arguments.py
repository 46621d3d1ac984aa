"""What ``simulate`` takes: worlds and agents in every form, which it leaves as they are; what it refuses, and how."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from examples import HOUSE

import ns_mab_gym as nsb
from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError
from ns_mab_gym.envs import NSBanditEnv

every_agent = pytest.mark.parametrize("name", HOUSE)


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
