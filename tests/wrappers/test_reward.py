"""Standardised rewards have mean 0 and deviation 1, and nothing else changes."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from ns_mab_gym import wrappers


def test_rewards_are_standardised_and_info_is_left_alone() -> None:
    kwargs = {"horizon": 3000, "reward": "gaussian", "scale": 2.0}
    plain, env = (gym.make("NSBandit-Abrupt-v0", **kwargs) for _ in range(2))
    env = wrappers.StandardizeReward(env)
    plain.reset(seed=0)
    env.reset(seed=0)
    raw, standard = [], []
    for t in range(3000):
        observation, reward, *_, info = plain.step(t % 10)
        same_observation, other_reward, *_, same_info = env.step(t % 10)
        np.testing.assert_array_equal(observation, same_observation)
        for key in info:
            np.testing.assert_array_equal(info[key], same_info[key])
        raw.append(float(reward))
        standard.append(float(other_reward))
    assert abs(np.mean(standard[100:])) < 0.1
    assert abs(np.std(standard[100:]) - 1) < 0.1
    expected = (raw[-1] - np.mean(raw)) / np.std(raw)
    assert abs(standard[-1] - expected) < 1e-3


def test_the_vector_wrapper_pools_all_sub_environments() -> None:
    plain, envs = (gym.make_vec("NSBandit-Piecewise-v0", 50, horizon=200) for _ in range(2))
    envs = wrappers.VectorStandardizeReward(envs)
    plain.reset(seed=0)
    envs.reset(seed=0)
    raw = np.array([plain.step(np.zeros(50, int))[1] for _ in range(100)])
    standard = np.array([envs.step(np.zeros(50, int))[1] for _ in range(100)])
    np.testing.assert_allclose(standard[-1], (raw[-1] - raw.mean()) / raw.std(), atol=1e-3)


def test_frozen_moments_stay_as_they_were_set() -> None:
    env = wrappers.StandardizeReward(gym.make("NSBandit-Abrupt-v0"), frozen=True)
    env.standard.moments.mean, env.standard.moments.var = 0.5, 0.25
    env.reset(seed=0)
    assert {round(float(env.step(0)[1]), 3) for _ in range(50)} == {-1.0, 1.0}


def test_a_seed_gives_the_same_rewards_whatever_came_before() -> None:
    env = wrappers.StandardizeReward(gym.make("NSBandit-Abrupt-v0"))
    first, second = ([env.reset(seed=1), [env.step(0)[1] for _ in range(20)]][1] for _ in range(2))
    assert first == second


def test_steps_that_only_reset_count_for_nothing() -> None:
    kwargs = {"horizon": 6, "changes": 1, "reward": "gaussian"}
    plain = gym.make_vec("NSBandit-Piecewise-v0", 2, **kwargs)
    envs = wrappers.VectorStandardizeReward(
        gym.make_vec("NSBandit-Piecewise-v0", 2, autoreset_mode=AutoresetMode.NEXT_STEP, **kwargs)
    )
    plain.reset(seed=0)
    envs.reset(seed=0)
    raw = [plain.step(np.zeros(2, int))[1] for _ in range(12)]
    standard = [envs.step(np.zeros(2, int))[1] for _ in range(13)]
    assert standard.pop(6).tolist() == [0.0, 0.0]  # after the first episode
    for t, now in enumerate(standard[1:], start=2):
        so_far = np.array(raw[:t])
        np.testing.assert_allclose(now, (raw[t - 1] - so_far.mean()) / so_far.std(), rtol=0.02, atol=2e-3)
