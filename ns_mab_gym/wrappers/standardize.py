"""Rewards with mean 0 and standard deviation 1, for learners that need them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.utils import RunningMeanStd

from .memory import VectorWrapper

__all__ = ["StandardizeReward", "VectorStandardizeReward"]


class _Standard:
    """Standardises rewards by the running mean and deviation of all rewards so far."""

    def __init__(self, frozen: bool) -> None:
        self.frozen = frozen
        self.moments: Any = RunningMeanStd()  # type: ignore[no-untyped-call]

    def restart(self, seed: Any) -> None:
        """Start again at a seeded reset, so that a seed gives the same rewards whatever came before."""
        if seed is not None and not self.frozen:
            self.moments = RunningMeanStd()  # type: ignore[no-untyped-call]

    def __call__(self, rewards: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if not self.frozen:
            self.moments.update(rewards)
        return np.asarray((rewards - self.moments.mean) / np.sqrt(self.moments.var + 1e-8))


class StandardizeReward(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Subtracts the running mean of the rewards and divides by their running deviation.

    Only the reward changes: ``info`` (means, regret) and the reward within the observation stay in their own units. The
    moments are kept over episodes, and restart with a seeded reset.

    Args:
        env: any environment.
        frozen: keep the moments as they are (mean 0, deviation 1, or those you set in ``env.standard.moments``).
    """

    def __init__(self, env: gym.Env[Any, Any], frozen: bool = False) -> None:
        RecordConstructorArgs.__init__(self, frozen=frozen)
        gym.Wrapper.__init__(self, env)
        self.standard = _Standard(frozen)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self.standard.restart(seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Pull an arm."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(self.standard(np.array([reward]))[0]), terminated, truncated, info


class VectorStandardizeReward(VectorWrapper, RecordConstructorArgs):
    """:class:`StandardizeReward` for vector environments: one mean and one deviation for all of them.

    Args:
        env: any vector environment.
        frozen: keep the moments as they are.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, npt.NDArray[Any]], frozen: bool = False) -> None:
        RecordConstructorArgs.__init__(self, frozen=frozen)
        VectorWrapper.__init__(self, env)
        self.standard = _Standard(frozen)
        self._over = np.zeros(self.num_envs, np.bool_)  # in the last step

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every sub-environment."""
        self.standard.restart(seed)
        self._over = np.zeros(self.num_envs, np.bool_)
        return self.env.reset(seed=seed, options=options)

    def step(self, actions: Any) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Pull one arm in every sub-environment; a step that only resets one counts for nothing."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        played = ~(self._over & (self.autoreset_mode is AutoresetMode.NEXT_STEP))
        self._over = np.asarray(terminations | truncations)
        standard = np.zeros(self.num_envs)
        if played.any():
            standard[played] = self.standard(rewards[played])
        return observations, standard, terminations, truncations, infos
