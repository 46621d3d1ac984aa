"""Promises beside the ids: given instances, fresh and read-only arrays, shared luck, any integer action, unwrapping."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_overloads

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import wrappers
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.envs.vector import NSBanditVectorEnv

RNG = np.random.default_rng(0)
GIVEN = RNG.random((200, 10))


def rewards_of(env, arms, **reset):
    env.reset(**reset)
    return [env.step(arm)[1] for arm in arms]


@pytest.mark.parametrize("world", ["abrupt", "piecewise"])
def test_given_means_are_played_with_the_luck_of_the_seed(world):
    env = NSBanditEnv(world, horizon=200, reward="gaussian", scale=0.25)
    env.reset(seed=9)
    before, arms = env.means.copy(), [t % 10 for t in range(200)]
    noise = rewards_of(env, arms, seed=9, options={"means": np.zeros((200, 10))})  # means of 0 bare the luck
    given = rewards_of(env, arms, seed=9, options={"means": GIVEN})
    assert given == [GIVEN[t, arm] + noise[t] for t, arm in enumerate(arms)]
    np.testing.assert_array_equal(env.means, GIVEN)
    own = rewards_of(env, arms, seed=9)  # a plain reset returns to the world's own means
    np.testing.assert_array_equal(env.means, before)
    assert own == [env.means[t, arm] + noise[t] for t, arm in enumerate(arms)]


def test_given_means_are_copied():
    for given in (GIVEN.copy(), pd.DataFrame(GIVEN.copy())):
        env = NSBanditEnv(horizon=200)
        env.reset(options={"means": given})
        given *= 0
        np.testing.assert_array_equal(env.means, GIVEN)


def test_a_refused_reset_leaves_the_episode_as_it_was():
    env, twin = NSBanditEnv(horizon=200), NSBanditEnv(horizon=200)
    for e in (env, twin):
        e.reset(seed=2)
        e.step(0)
    with pytest.raises(ValueError, match="shape"):
        env.reset(seed=3, options={"means": GIVEN[:5]})
    assert [env.step(9)[1] for _ in range(150)] == [twin.step(9)[1] for _ in range(150)]


def test_arrays_are_fresh_and_means_read_only():
    env = NSBanditEnv(horizon=50)
    env.reset(seed=0)
    observation, _, _, _, info = env.step(1)
    kept = (observation.copy(), info["mu"].copy())
    info["mu"][:] = 7
    following, _, _, _, later = env.step(1)
    assert later["mu"] is not info["mu"]
    assert following is not observation
    np.testing.assert_array_equal(observation, kept[0])
    np.testing.assert_array_equal(later["mu"], kept[1])
    with pytest.raises(ValueError, match="read-only"):
        env.means[0, 0] = 1.0


@pytest.mark.parametrize("action", [3, np.int64(3), np.uint8(3), np.array(3), np.int32(3)])
def test_any_integer_is_an_action(action):
    env = NSBanditEnv(horizon=5)
    env.reset(seed=0)
    assert env.step(action)[0][3] == 1.0


def test_observation_bounds_are_those_of_the_law():
    for name, (low, high) in {"bernoulli": (0, 1), "beta": (0, 1), "gaussian": (-np.inf, np.inf)}.items():
        space = NSBanditEnv(reward=name, horizon=5).observation_space
        assert (space.low[10], space.high[10]) == (low, high)
        assert space.shape == (12,)


def test_the_bandit_is_found_under_wrappers() -> None:
    env = gym.make("NSBandit-Piecewise-v0", horizon=20)
    stacked = wrappers.ArmAvailability(wrappers.LastRounds(env))
    assert nsb.bandit_of(stacked) is env.unwrapped
    assert type(nsb.bandit_of(env)) is NSBanditEnv
    envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=2, horizon=20)
    assert nsb.bandit_of(wrappers.VectorLastRounds(envs)) is envs
    assert type(nsb.bandit_of(envs)) is NSBanditVectorEnv


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gym.make("CartPole-v1"), r'CartPole.*; make one with gym\.make\("NSBandit'),
        (lambda: 3, "no bandit of this package in 3"),
        (lambda: gym.make_vec("NSBandit-Abrupt-v0", 2, vectorization_mode="sync"), r"SyncVectorEnv.*get_attr"),
    ],
)
def test_other_things_are_refused_with_the_way_out(make: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        nsb.bandit_of(make())


def test_type_checkers_know_which_bandit_it_is() -> None:
    """The repository's own strict check covers the bodies; users read the overloads."""
    told = [(each.__annotations__["env"], each.__annotations__["return"]) for each in get_overloads(nsb.bandit_of)]
    assert told == [
        ("gym.Env[Any, Any]", "NSBanditEnv"),
        ("gym.vector.VectorEnv[Any, Any, Any]", "NSBanditVectorEnv"),
    ]
    assert (Path(nsb.__file__).parent / "py.typed").is_file()
