"""Rewards that are computed at once are those that a law gives one by one, to the bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ns_mab_gym import rewards
from ns_mab_gym.envs.batched_rewards import AT_ONCE, rewards_of

RNG = np.random.default_rng(0)
MEANS = np.concatenate([[0.0, 0.0, 1.0, 1.0, 0.5], RNG.random(2_000), 1e-9 * RNG.random(50), 1 - 1e-9 * RNG.random(50)])
LAWS = [
    rewards.Bernoulli(),
    rewards.Gaussian(scale=0.3),
    *(rewards.Beta(concentration=c) for c in (0.001, 0.5, 3, 10.0, 1e4)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_rewards_at_once_are_those_one_by_one(law: rewards.Law) -> None:
    luck = law.luck(np.random.default_rng(1), MEANS.size)
    luck[:2] = 0.0
    at_once = rewards_of(law, MEANS, luck)
    assert at_once.tolist() == [law.reward(mu, u) for mu, u in zip(MEANS.tolist(), luck.tolist(), strict=True)]


def test_every_law_of_the_house_is_computed_at_once() -> None:
    assert {rewards.kind(name).reward for name in ("bernoulli", "gaussian", "beta")} == set(AT_ONCE)


@pytest.mark.parametrize("base", [rewards.Bernoulli, rewards.Gaussian, rewards.Beta])
def test_a_law_that_is_derived_from_one_of_these_plays_by_its_own_rule(base: Any) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Own(base):  # type: ignore[misc]
        def reward(self, mu: float, luck: float) -> float:
            return 0.25 if luck > 0.5 else mu

    mean, luck = np.array([0.1, 0.9]), np.array([0.7, 0.2])
    assert rewards_of(Own(), mean, luck).tolist() == [0.25, 0.9]
