"""Closed arms are not played, and regret is against those that were open."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction

from ns_mab_gym import wrappers

K, HORIZON = 4, 200


def make(**kwargs: Any) -> wrappers.ArmAvailability:
    return wrappers.ArmAvailability(gym.make("NSBandit-Piecewise-v0", n_arms=K, horizon=HORIZON), **kwargs)


def test_mask_regret_and_observation_tell_the_same_story() -> None:
    env, rng = make(probability=0.4), np.random.default_rng(0)
    observation, info = env.reset(seed=1)
    for _ in range(HORIZON):
        mask = info["mask"]
        assert mask.any()
        np.testing.assert_array_equal(observation[-K:], mask)
        np.testing.assert_array_equal(env.action_masks(), mask)
        arm = int(rng.choice(np.flatnonzero(mask)))
        observation, _, _, _, info = env.step(arm)
        best = max(np.flatnonzero(mask), key=lambda i: info["mu"][i])
        assert info["optimal_arm"] == best
        assert info["regret"] == info["mu"][best] - info["mu"][arm] >= 0


def test_a_closed_arm_raises_and_nothing_is_lost() -> None:
    env = make(probability=0.0)  # one arm open in every round
    _, info = env.reset(seed=1)
    closed = int(np.flatnonzero(~info["mask"])[0])
    with pytest.raises(InvalidAction, match=rf"arm {closed} cannot be played in this round, only \[\d\] can"):
        env.step(closed)
    assert env.step(int(info["mask"].argmax()))[-1]["round"] == 1


def test_a_closed_arm_is_substituted_by_the_next_open_one() -> None:
    env = make(probability=0.4, if_masked="substitute")
    _, info = env.reset(seed=1)
    for t in range(HORIZON):
        wanted, mask = t % K, info["mask"]
        observation, _, _, _, info = env.step(wanted)
        expected = next(arm % K for arm in range(wanted, wanted + K) if mask[arm % K])
        assert observation[:K].argmax() == expected
        assert info["regret"] >= 0


def test_masks_have_their_own_stream_and_do_not_depend_on_what_is_played() -> None:
    bare, env = gym.make("NSBandit-Piecewise-v0", n_arms=K, horizon=HORIZON), make(if_masked="substitute")
    bare.reset(seed=1)
    env.reset(seed=1)
    np.testing.assert_array_equal(bare.unwrapped.means, env.unwrapped.means)  # type: ignore[attr-defined]
    masks = [env.step(0)[-1]["mask"] for _ in range(HORIZON)]
    env.reset(seed=1)
    np.testing.assert_array_equal(masks, [env.step(3)[-1]["mask"] for _ in range(HORIZON)])
    env.reset(seed=2)
    assert not np.array_equal(masks, [env.step(3)[-1]["mask"] for _ in range(HORIZON)])


def test_arms_are_open_as_often_as_asked_within_4_standard_errors() -> None:
    env = make(probability=0.7, if_masked="substitute")
    masks = []
    for seed in range(20):
        env.reset(seed=seed)
        masks += [env.step(0)[-1]["mask"] for _ in range(HORIZON)]
    rate = 0.7 + 0.3**K / K  # the arm that is opened when all are closed
    margin = 4 * np.sqrt(rate * (1 - rate) / len(masks))
    np.testing.assert_allclose(np.mean(masks, axis=0), rate, atol=margin)


def test_the_arm_that_is_opened_when_all_are_closed_is_uniform_within_4_standard_errors() -> None:
    env = make(probability=0.0, if_masked="substitute")
    masks = []
    for seed in range(20):
        masks.append(env.reset(seed=seed)[1]["mask"])
        masks += [env.step(0)[-1]["mask"] for _ in range(HORIZON)]
    assert (np.sum(masks, axis=1) == 1).all()
    margin = 4 * np.sqrt(1 / K * (1 - 1 / K) / len(masks))
    np.testing.assert_allclose(np.mean(masks, axis=0), 1 / K, atol=margin)


def test_all_arms_open_is_the_bare_env() -> None:
    bare, env = gym.make("NSBandit-Piecewise-v0", n_arms=K, horizon=HORIZON), make(probability=1.0)
    bare.reset(seed=3)
    env.reset(seed=3)
    for t in range(HORIZON):
        (_, reward, *_, info), (_, same, *_, same_info) = bare.step(t % K), env.step(t % K)
        assert (reward, info["regret"], info["optimal_arm"]) == (same, same_info["regret"], same_info["optimal_arm"])
