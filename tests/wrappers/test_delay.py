"""Late rewards arrive once, on time, and change nothing but when they are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ns_mab_gym import wrappers

HORIZON = 60


def make() -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Piecewise-v0", n_arms=4, horizon=HORIZON)


def play(env: gym.Env[Any, Any], seed: int = 2) -> list[tuple[Any, ...]]:
    env.reset(seed=seed)
    return [env.step(t % 4) for t in range(HORIZON)]


@pytest.mark.parametrize("delay", [0, 1, 7, (0, 9), (3, 5)])
def test_every_reward_arrives_once_after_its_delay_or_after_the_end(delay: int | Sequence[int]) -> None:
    low, high = (delay, delay) if isinstance(delay, int) else delay
    prompt = [reward for _, reward, *_ in play(make())]
    arrived: dict[int, int] = {}
    for now, (observation, reward, _, _, info) in enumerate(play(wrappers.DelayedRewards(make(), delay)), start=1):
        for then, arm, late in info["feedback"]:
            assert then not in arrived
            arrived[then] = now
            assert low <= now - then <= high
            assert (arm, late) == ((then - 1) % 4, prompt[then - 1])
        assert reward == sum(late for *_, late in info["feedback"]) == observation[4]
        assert [then for then, *_ in info["feedback"]] == sorted(then for then, *_ in info["feedback"])
    assert set(range(1, HORIZON - high + 1)) <= set(arrived)


def test_means_luck_and_regret_are_those_of_the_undelayed_env() -> None:
    for prompt, late in zip(play(make()), play(wrappers.DelayedRewards(make(), (2, 20))), strict=True):
        for key in ("mu", "optimal_arm", "regret", "round"):
            np.testing.assert_array_equal(prompt[-1][key], late[-1][key])


def test_the_delays_are_the_same_whatever_is_played_and_differ_with_the_seed() -> None:
    env = wrappers.DelayedRewards(make(), (0, 20))

    def arrivals(seed: int, arm: int) -> list[list[int]]:
        env.reset(seed=seed)
        return [[then for then, *_ in env.step(arm)[-1]["feedback"]] for _ in range(HORIZON)]

    assert arrivals(1, 0) == arrivals(1, 3)
    assert arrivals(1, 0) != arrivals(2, 0)
    env.reset(seed=1)
    first = [env.step(0) for _ in range(HORIZON)]
    env.reset()
    second = [env.step(0) for _ in range(HORIZON)]
    assert [len(step[-1]["feedback"]) for step in first] != [len(step[-1]["feedback"]) for step in second]


def test_a_reset_forgets_what_was_under_way() -> None:
    env = wrappers.DelayedRewards(make(), 5)
    env.reset(seed=0)
    env.step(0)
    assert env.reset(seed=0)[1]["feedback"] == []
    assert all(env.step(1)[-1]["feedback"] == [] for _ in range(5))


def test_uniform_delays_have_the_mean_they_should_within_4_standard_errors() -> None:
    env = wrappers.DelayedRewards(gym.make("NSBandit-Abrupt-v0", horizon=5000), (10, 30))
    env.reset(seed=0)
    waits = [now - then for now in range(1, 5001) for then, *_ in env.step(0)[-1]["feedback"]]
    assert abs(np.mean(waits) - 20) < 4 * np.sqrt((21**2 - 1) / 12 / len(waits))
