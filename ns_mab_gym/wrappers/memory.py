"""What the observation wrappers have in common: a memory of past rounds whose content they append."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

__all__ = [
    "Memory",
    "MemoryObservation",
    "VectorMemoryObservation",
    "VectorWrapper",
    "arms_and_rewards",
    "bandit_space",
    "extended",
]

BoolArray = npt.NDArray[np.bool_]
Features = npt.NDArray[np.float32]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

if TYPE_CHECKING:
    _VectorWrapper = gym.vector.VectorWrapper[Any, Any, Any, Any, npt.NDArray[Any]]
else:
    _VectorWrapper = gym.vector.VectorWrapper  # accepts type parameters only from Gymnasium 1.4 on


class VectorWrapper(_VectorWrapper):
    """A wrapper of vector environments that says how they are reset also where some trainers look for it."""

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When sub-environments that end are reset: what the metadata says, or Gymnasium's default."""
        mode: AutoresetMode = self.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        return mode


class Memory(ABC):
    """Numbers about the past of N environments.

    Attributes:
        low: (F,) lower bounds of what :meth:`features` returns.
        high: (F,) upper bounds.
    """

    low: Features
    high: Features

    @abstractmethod
    def forget(self, envs: BoolArray) -> None:
        """Forget the past of the environments where the mask is true."""

    @abstractmethod
    def play(self, arms: IntArray) -> None:
        """Note that a round was played, before its reward is known."""

    @abstractmethod
    def receive(self, arms: IntArray, rewards: FloatArray) -> None:
        """Take in the reward of one round in every environment."""

    @abstractmethod
    def features(self) -> Features:
        """The content of the memory, as a new (N, F) array."""


def bandit_space(env: Any, observations: gym.Space[Any], actions: gym.Space[Any]) -> tuple[Box, int]:
    """The observation space and the number of arms, if observations begin with K one-hot numbers and a reward."""
    if not isinstance(observations, Box) or not isinstance(actions, Discrete) or not _shows_arm(observations, actions):
        raise TypeError(
            f"{env} has observations {observations} and actions {actions}; this wrapper needs those of an NSBandit "
            f"environment (the last arm, one-hot, the last reward, then anything): apply it before any other shape"
        )
    return observations, int(actions.n)


def _shows_arm(observations: Box, actions: Discrete) -> bool:
    k = int(actions.n)
    fits = len(observations.shape) == 1 and observations.shape[0] >= k + 2
    return fits and not observations.low[:k].any() and bool((observations.high[:k] == 1).all())


def arms_and_rewards(observations: npt.NDArray[Any], n_arms: int) -> tuple[IntArray, FloatArray]:
    """The last arms and rewards, read from (N, …) observations."""
    return observations[:, :n_arms].argmax(axis=1), observations[:, n_arms].astype(np.float64)


def extended(space: Box, low: Features, high: Features) -> Box[np.float32]:
    """The space of observations with numbers between these bounds appended."""
    return Box(np.concatenate([space.low, low]), np.concatenate([space.high, high]), dtype=np.float32)


class MemoryObservation(gym.Wrapper[Features, Any, Features, Any]):
    """Appends the content of a memory to the observations of one environment."""

    def __init__(self, env: gym.Env[Features, Any], memory: Memory) -> None:
        super().__init__(env)
        space, self._n_arms = bandit_space(env, env.observation_space, env.action_space)
        self._memory = memory
        self.observation_space = extended(space, memory.low, memory.high)

    def _extend(self, observation: Features) -> Features:
        return np.concatenate([observation, self._memory.features()[0]])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Features, dict[str, Any]]:
        """Begin an episode with nothing remembered."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._memory.forget(np.ones(1, np.bool_))
        return self._extend(observation), info

    def step(self, action: Any) -> tuple[Features, Any, bool, bool, dict[str, Any]]:
        """Pull an arm and remember what was observed; late rewards are remembered when they arrive."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        arms, rewards = arms_and_rewards(observation[None], self._n_arms)
        self._memory.play(arms)
        if "feedback" in info:
            for _, arm, late_reward in info["feedback"]:
                self._memory.receive(np.array([arm]), np.array([late_reward]))
        else:
            self._memory.receive(arms, rewards)
        return self._extend(observation), reward, terminated, truncated, info


class VectorMemoryObservation(VectorWrapper):
    """Appends the content of a memory to the observations of a vector environment, ``final_obs`` included."""

    def __init__(self, env: gym.vector.VectorEnv[Features, Any, npt.NDArray[Any]], memory: Memory) -> None:
        super().__init__(env)
        space, self._n_arms = bandit_space(env, env.single_observation_space, env.single_action_space)
        self._memory = memory
        self.single_observation_space = extended(space, memory.low, memory.high)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._over = np.zeros(self.num_envs, np.bool_)  # in the last step

    def _extend(self, observations: Features) -> Features:
        return np.concatenate([observations, self._memory.features()], axis=1)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Features, dict[str, Any]]:
        """Begin with nothing remembered, in every sub-environment or where ``options["reset_mask"]`` is true."""
        envs = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        observations, infos = self.env.reset(seed=seed, options=options)
        if "feedback" in infos:
            raise TypeError("with rewards that arrive late, wrap each sub-environment: make_vec(…, wrappers=[…])")
        self._memory.forget(envs)
        self._over &= ~envs
        return self._extend(observations), infos

    def step(
        self, actions: Any
    ) -> tuple[Features, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Pull arms and remember what was observed; a step that only resets a sub-environment is no round of it."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        over = np.asarray(terminations | truncations)
        last = observations
        if any_final := "final_obs" in infos:
            last = observations.copy()
            last[over] = np.stack(list(infos["final_obs"][over]))
        arms, observed = arms_and_rewards(last, self._n_arms)
        self._memory.play(arms)
        self._memory.receive(arms, observed)
        if self.autoreset_mode is AutoresetMode.NEXT_STEP and self._over.any():
            self._memory.forget(self._over)
        self._over = over
        if any_final:
            final_obs = infos["final_obs"].copy()
            final_obs[over] = _objects(self._extend(last)[over])
            infos = infos | {"final_obs": final_obs}
            self._memory.forget(over)
        return self._extend(observations), rewards, terminations, truncations, infos


def _objects(rows: Features) -> npt.NDArray[Any]:
    """The rows of a matrix as a one-dimensional array of arrays."""
    objects = np.empty(len(rows), dtype=object)
    objects[:] = list(rows)
    return objects
