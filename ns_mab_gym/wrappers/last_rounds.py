"""The last n rounds, appended to the observation."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import RecordConstructorArgs

from ..agents.core.arguments import positive_int
from ..agents.core.memory_limits import ensure_fits, grouped
from .memory import (
    BoolArray,
    Features,
    FloatArray,
    IntArray,
    Memory,
    MemoryObservation,
    VectorMemoryObservation,
    bandit_space,
)

__all__ = ["LastRounds", "RoundsMemory", "VectorLastRounds"]


class RoundsMemory(Memory):
    """The arms and rewards of the last n rounds of N environments, the newest first."""

    def __init__(self, n_envs: int, n_arms: int, n: int, space: Box) -> None:
        n = positive_int("n", n, hint="the number of rounds to remember")
        ensure_fits(f"the last {grouped(n)} rounds", 12 * n_envs * n * (n_arms + 1), "choose a smaller n")
        self._rounds = np.zeros((n_envs, n, n_arms + 1), np.float32)
        self._row = np.arange(n_envs)
        self.low = np.tile(space.low[: n_arms + 1], n)
        self.high = np.tile(space.high[: n_arms + 1], n)

    def forget(self, envs: BoolArray) -> None:
        """Set the rounds of these environments to zero."""
        self._rounds[envs] = 0

    def play(self, arms: IntArray) -> None:
        """Do nothing: a round is remembered when its reward arrives."""

    def receive(self, arms: IntArray, rewards: FloatArray) -> None:
        """Insert a round in front of the others."""
        self._rounds[:, 1:] = self._rounds[:, :-1].copy()
        self._rounds[:, 0] = 0
        self._rounds[self._row, 0, arms] = 1
        self._rounds[:, 0, -1] = rewards

    def features(self) -> Features:
        """K + 1 numbers for each of the n rounds, the newest first."""
        return self._rounds.reshape(len(self._rounds), -1).copy()


class LastRounds(MemoryObservation, RecordConstructorArgs):
    """Appends the last n rounds to the observation: for each the arm, one-hot, and its reward, newest first.

    Rounds that were not played yet are zeros. With late rewards, these are the last n rounds whose rewards arrived.

    Args:
        env: an NSBandit environment, wrapped or not.
        n: the number of rounds.
    """

    def __init__(self, env: gym.Env[Features, Any], n: int = 10) -> None:
        RecordConstructorArgs.__init__(self, n=n)
        space, n_arms = bandit_space(env, env.observation_space, env.action_space)
        MemoryObservation.__init__(self, env, RoundsMemory(1, n_arms, n, space))


class VectorLastRounds(VectorMemoryObservation, RecordConstructorArgs):
    """:class:`LastRounds` for vector environments.

    Args:
        env: a vector environment of NSBandit environments, with any autoreset mode.
        n: the number of rounds.
    """

    def __init__(self, env: gym.vector.VectorEnv[Features, Any, Any], n: int = 10) -> None:
        RecordConstructorArgs.__init__(self, n=n)
        space, n_arms = bandit_space(env, env.single_observation_space, env.single_action_space)
        VectorMemoryObservation.__init__(self, env, RoundsMemory(env.num_envs, n_arms, n, space))
