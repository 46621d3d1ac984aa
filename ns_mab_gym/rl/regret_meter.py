"""Adds up the regret of training episodes, in a form that can be saved in the middle of one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecMonitor

from ..wrappers.memory import VectorWrapper

__all__ = ["LearningCurve", "RegretMeter", "SavedMonitor"]


@dataclass(frozen=True)
class LearningCurve:
    """The mean regret of finished episodes, and the number of steps taken until then."""

    steps: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]


class RegretMeter(VectorWrapper):
    """Adds up the regret of episodes while a learner is trained."""

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._sum = np.zeros(self.num_envs)
        self._steps = 0
        self._points: list[tuple[int, float]] = []

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Pull arms and add their regret."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        over = terminations | truncations
        self._steps += self.num_envs
        self._sum += (infos["final_info"] if over.any() else infos)["regret"]  # the native envs end together
        if over.any():
            self._points.append((self._steps, float(self._sum.mean())))
            self._sum[:] = 0
        return observations, rewards, terminations, truncations, infos

    @property
    def curve(self) -> LearningCurve:
        """The learning curve so far."""
        steps, regret = zip(*self._points, strict=True) if self._points else ((), ())
        return LearningCurve(np.array(steps, np.int64), np.array(regret))

    @property
    def latest(self) -> float | None:
        """The mean regret of the episodes that ended last; None before the first end."""
        return self._points[-1][1] if self._points else None


class SavedMonitor(VecMonitor):  # type: ignore[misc, unused-ignore]
    """Stable-Baselines3's record of episodes, which can be pickled: what is known of its class is left out."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "class_attributes"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, class_attributes=dict(inspect.getmembers(type(self))))
