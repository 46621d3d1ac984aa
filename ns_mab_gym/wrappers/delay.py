"""Rewards that arrive late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import RecordConstructorArgs

from ..agents.core.arguments import positive_int, shown
from .memory import Features, bandit_space
from .streams import OwnGenerator

__all__ = ["DelayedRewards"]

STREAM = 0xDE1A


class DelayedRewards(gym.Wrapper[Features, Any, Features, Any], RecordConstructorArgs):
    """Every reward arrives some rounds after its arm was pulled.

    ``info["feedback"]`` lists the rewards that arrive with a step, as (round, arm, reward), oldest round first; it is
    empty after a reset and whenever nothing arrives, and its length varies: recorders that keep infos in arrays of one
    shape have to leave it out. The step's own reward, and the reward in the observation, is the
    sum of what arrives, which does not say to which arms it belongs;
    :class:`~ns_mab_gym.wrappers.WindowedStatistics` around this wrapper credits late rewards to their arms. Rewards due
    after the last round never arrive. ``mu``, ``optimal_arm`` and ``regret`` are about the round just played, as
    without the wrapper.

    The delays have a generator of their own: for a seed, means and luck are those of the undelayed environment, and the
    delay of a round is the same whatever is played.

    Args:
        env: an NSBandit environment, wrapped or not.
        delay: d ≥ 0, the number of rounds; or (low, high), to draw each from low, …, high uniformly.
    """

    delays_rewards: ClassVar[bool] = True  # read by the episode loop before it begins

    def __init__(self, env: gym.Env[Features, Any], delay: int | Sequence[int] = 10) -> None:
        RecordConstructorArgs.__init__(self, delay=delay)
        gym.Wrapper.__init__(self, env)
        space, self._n_arms = bandit_space(env, env.observation_space, env.action_space)
        self._shortest, self._longest = _bounds(delay)
        self.observation_space = self._summed(space)
        self._generator = OwnGenerator(STREAM)

    def _summed(self, space: Box) -> Box[np.float32]:
        """The observation space, widened for a reward that is the sum of all that can arrive at once, or 0."""
        k, most = self._n_arms, self._longest - self._shortest + 1
        low, high = space.low.copy(), space.high.copy()
        low[k], high[k] = min(most * low[k], 0.0), max(most * high[k], 0.0)
        return Box(low, high, dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Begin an episode with no reward pending."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._rng = self._generator.reset(seed)
        self._under_way: defaultdict[int, list[tuple[int, int, float]]] = defaultdict(list)
        self._round = 0
        return observation, info | {"feedback": []}

    def step(self, action: Any) -> tuple[Features, float, bool, bool, dict[str, Any]]:
        """Pull an arm, and receive the rewards that are due."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._round += 1
        arm = int(observation[: self._n_arms].argmax())
        delay = int(self._rng.integers(self._shortest, self._longest + 1))
        self._under_way[self._round + delay].append((self._round, arm, float(reward)))
        arrived = self._under_way.pop(self._round, [])
        total = sum((late for _, _, late in arrived), 0.0)
        observation = observation.copy()
        observation[self._n_arms] = total
        return observation, total, terminated, truncated, info | {"feedback": arrived}


def _bounds(delay: int | Sequence[int]) -> tuple[int, int]:
    hint = "a number of rounds, or a pair (low, high)"
    if isinstance(delay, list | tuple):
        if len(delay) != 2:
            raise ValueError(f"delay must be a number of rounds or a pair (low, high), got {shown(delay)}")
        shortest, longest = (positive_int("delay", d, least=0, hint=hint) for d in delay)
    else:
        shortest = longest = positive_int("delay", delay, least=0, hint=hint)
    if shortest > longest:
        raise ValueError(f"delay must be a pair (low, high) with low <= high, got {shown(delay)}; swap them")
    return shortest, longest
