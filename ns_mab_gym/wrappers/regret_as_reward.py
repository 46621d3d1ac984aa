"""Rewards without the luck of the draw, for learners that are trained where the means are known."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs

from .memory import VectorWrapper
from .reported_regret import regret_in, rounds_regret

__all__ = ["RegretAsReward", "VectorRegretAsReward"]


class RegretAsReward(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Gives a learner the negative regret of its arm as the reward, and leaves the observation as it is.

    The best policy is the same as with rewards, for any discount: the expected reward is μ of the arm, the negative
    regret is that minus the largest μ of the round, and the difference does not depend on what is played. But it does
    not scatter: a reward of 0 or 1 hides a difference of 0.1 between two arms for hundreds of rounds. It is meant for
    training in a simulation, where the means are known; a trained policy needs observations alone, in which rewards are
    those drawn.

    Args:
        env: any environment that reports ``info["regret"]`` after each step.

    >>> env = RegretAsReward(gym.make("NSBandit-Stationary-v0", mu=[0.25, 0.75], horizon=4))
    >>> obs, info = env.reset(seed=0)
    >>> [env.step(arm)[1] for arm in (0, 1, 0)]
    [-0.5, 0.0, -0.5]
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Pull an arm."""
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, 0.0 - float(regret_in(info, self.env)), terminated, truncated, info


class VectorRegretAsReward(VectorWrapper, RecordConstructorArgs):
    """:class:`RegretAsReward` for vector environments, whatever their autoreset mode.

    Args:
        env: any vector environment that reports ``infos["regret"]`` after each step.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, npt.NDArray[Any]]) -> None:
        RecordConstructorArgs.__init__(self)
        VectorWrapper.__init__(self, env)
        self._over = np.zeros(self.num_envs, np.bool_)  # in the last step

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every sub-environment, or where ``options["reset_mask"]`` is true."""
        self._over = np.zeros(self.num_envs, np.bool_)
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Pull one arm in every sub-environment; a step that only resets one gives 0."""
        observations, _, terminations, truncations, infos = self.env.step(actions)
        over = np.asarray(terminations | truncations)
        regrets = rounds_regret(self.env, infos, over, self._over)
        self._over = over
        return observations, 0.0 - regrets, terminations, truncations, infos
