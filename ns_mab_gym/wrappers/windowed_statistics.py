"""Windowed statistics of every arm, appended to the observation."""

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

__all__ = ["VectorWindowedStatistics", "WindowMemory", "WindowedStatistics"]


class WindowMemory(Memory):
    """Counts and sums of the last ``window`` rewards of N environments, in a ring."""

    def __init__(self, n_envs: int, n_arms: int, window: int, space: Box) -> None:
        self.window = positive_int("window", window, hint="the number of rounds that the statistics look back")
        ensure_fits(f"a window of {grouped(self.window)} rounds", 16 * n_envs * self.window, "choose a shorter one")
        least, most = min(float(space.low[n_arms]), 0.0), max(float(space.high[n_arms]), 0.0)
        bounds = [(0.0, 1.0), (least, most), (0.0, 1.0)]  # share, mean, time since the last pull
        self.low = np.repeat([low for low, _ in bounds], n_arms).astype(np.float32)
        self.high = np.repeat([high for _, high in bounds], n_arms).astype(np.float32)

        self._row = np.arange(n_envs)
        self._arms = np.zeros((n_envs, window), np.int64)
        self._rewards = np.zeros((n_envs, window))
        self._received = np.zeros(n_envs, np.int64)
        self._counts = np.zeros((n_envs, n_arms))
        self._sums = np.zeros((n_envs, n_arms))
        self._since = np.full((n_envs, n_arms), float(window))  # rounds, at most the window

    def forget(self, envs: BoolArray) -> None:
        """Empty the windows of these environments."""
        self._received[envs] = 0
        self._counts[envs] = 0
        self._sums[envs] = 0
        self._since[envs] = self.window

    def play(self, arms: IntArray) -> None:
        """Count the rounds since the last pull of each arm."""
        np.minimum(self._since + 1, self.window, out=self._since)
        self._since[self._row, arms] = 0

    def receive(self, arms: IntArray, rewards: FloatArray) -> None:
        """Put a reward into the window, and take out the one that leaves it."""
        slot = self._received % self.window
        full = self._received >= self.window
        leaving = self._arms[self._row, slot]
        self._counts[self._row, leaving] -= full
        self._sums[self._row, leaving] -= np.where(full, self._rewards[self._row, slot], 0.0)
        self._arms[self._row, slot] = arms
        self._rewards[self._row, slot] = rewards
        self._counts[self._row, arms] += 1
        self._sums[self._row, arms] += rewards
        self._received += 1

    def features(self) -> Features:
        """Share, mean and time since the last pull of every arm."""
        # The errors of the float64 sums are below the precision of the float32 shown; an empty mean is exactly 0.
        means = np.where(self._counts > 0, self._sums, 0.0) / np.maximum(self._counts, 1)
        parts = [self._counts / self.window, means, self._since / self.window]
        return np.clip(np.concatenate(parts, axis=1).astype(np.float32), self.low, self.high)


class WindowedStatistics(MemoryObservation, RecordConstructorArgs):
    """Appends 3K numbers to the observation: statistics of each arm in the last ``window`` rounds.

    First the K shares of the window's rounds that went to each arm (they add up to min(t, window)/window); then the K
    means of its rewards, 0 if there are none; then the K times since its last pull, in units of ``window``, at most 1.
    Stack two of them to look at two windows.

    Args:
        env: an NSBandit environment, wrapped or not.
        window: the number of rounds to look back.
    """

    def __init__(self, env: gym.Env[Features, Any], window: int = 100) -> None:
        RecordConstructorArgs.__init__(self, window=window)
        space, n_arms = bandit_space(env, env.observation_space, env.action_space)
        MemoryObservation.__init__(self, env, WindowMemory(1, n_arms, window, space))


class VectorWindowedStatistics(VectorMemoryObservation, RecordConstructorArgs):
    """:class:`WindowedStatistics` for vector environments.

    Args:
        env: a vector environment of NSBandit environments, with any autoreset mode.
        window: the number of rounds to look back.
    """

    def __init__(self, env: gym.vector.VectorEnv[Features, Any, Any], window: int = 100) -> None:
        RecordConstructorArgs.__init__(self, window=window)
        space, n_arms = bandit_space(env, env.single_observation_space, env.single_action_space)
        VectorMemoryObservation.__init__(self, env, WindowMemory(env.num_envs, n_arms, window, space))
