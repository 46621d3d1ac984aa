"""Somebody else's bandit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np


class Lottery(gym.Env[int, int]):
    """Three arms, the first of them worse; actions from ``start``, an end by ``terminated``.

    Args:
        start: the first action.
        tells: whether its means are in ``info``.
        length: rounds of an episode; drawn from 10 to 59 if None.
    """

    def __init__(self, start: int = 1, tells: bool = True, length: int | None = 12) -> None:
        self.action_space = gym.spaces.Discrete(3, start=start)
        self.observation_space = gym.spaces.Discrete(2)
        self.mu, self.tells, self.length = np.array([0.2, 0.7, 0.7]), tells, length
        self.actions: list[int] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.actions = []
        self.rounds = self.length or int(self.np_random.integers(10, 60))
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.actions.append(int(action))
        arm = int(action - self.action_space.start)
        info = {"mu": self.mu.copy()} if self.tells else {}
        return 1, float(self.np_random.random() < self.mu[arm]), len(self.actions) == self.rounds, False, info
