"""Observation wrappers: the last rounds, or windowed statistics of every arm, appended to the observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..agents.core.arguments import positive_int
from ..means import Floats, Ints, Mask

Features = npt.NDArray[np.float32]
VectorStep = tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]

if TYPE_CHECKING:
    _VectorWrapper = gym.vector.VectorWrapper[Any, Any, Any, Any, npt.NDArray[Any]]
else:
    _VectorWrapper = gym.vector.VectorWrapper  # accepts type parameters only from Gymnasium 1.4 on


class VectorWrapper(_VectorWrapper, RecordConstructorArgs):
    """A wrapper of vector environments that knows which of them are over, and how those are reset."""

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, npt.NDArray[Any]], **arguments: Any) -> None:
        RecordConstructorArgs.__init__(self, **arguments)
        _VectorWrapper.__init__(self, env)
        self._over: Mask = np.zeros(self.num_envs, np.bool_)  # in the last step

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """The mode in which sub-environments that end are reset: that of the metadata, or Gymnasium's default."""
        mode: AutoresetMode = self.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP)
        return mode

    @property
    def only_reset(self) -> Mask:
        """(N,) the sub-environments that the coming step resets instead of playing a round."""
        return self._over & (self.autoreset_mode is AutoresetMode.NEXT_STEP)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every sub-environment, or where ``options["reset_mask"]`` is true."""
        self._over &= ~self._reset_mask(options)
        return self.env.reset(seed=seed, options=options)

    def _reset_mask(self, options: dict[str, Any] | None) -> Mask:
        return np.array((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))


def bandit_space(env: Any, observations: gym.Space[Any], actions: gym.Space[Any]) -> tuple[Box, int]:
    """The observation space and the number of arms, if observations begin with K one-hot numbers and a reward."""
    if isinstance(observations, Box) and isinstance(actions, Discrete):
        k = int(actions.n)
        fits = len(observations.shape) == 1 and observations.shape[0] >= k + 2
        if fits and not observations.low[:k].any() and (observations.high[:k] == 1).all():
            return observations, k
    raise TypeError(
        f"{env} has observations {observations} and actions {actions}; this wrapper needs those of an NSBandit "
        f"environment (the last arm, one-hot, the last reward, then anything): apply it before any other shape"
    )


def arms_and_rewards(observations: npt.NDArray[Any], n_arms: int) -> tuple[Ints, Floats]:
    """The last arms and rewards, read from (N, …) observations."""
    return observations[:, :n_arms].argmax(axis=1), observations[:, n_arms].astype(np.float64)


def extended(space: Box, low: Features, high: Features) -> Box[np.float32]:
    """The space of observations with numbers between these bounds appended."""
    return Box(np.concatenate([space.low, low]), np.concatenate([space.high, high]), dtype=np.float32)


class RoundsMemory:
    """The arms and rewards of the last n rounds of N environments, the newest first.

    Attributes:
        low: (F,) lower bounds of the :meth:`features`, as every memory has them.
        high: (F,) upper bounds.
    """

    def __init__(self, n_envs: int, n_arms: int, space: Box, n: int) -> None:
        n = positive_int("n", n, hint="the number of rounds to remember")
        self._rounds = np.zeros((n_envs, n, n_arms + 1), np.float32)
        self._row = np.arange(n_envs)
        self.low = np.tile(space.low[: n_arms + 1], n).astype(np.float32)
        self.high = np.tile(space.high[: n_arms + 1], n).astype(np.float32)

    def forget(self, envs: Mask) -> None:
        """Set the rounds of these environments to zero."""
        self._rounds[envs] = 0

    def play(self, arms: Ints) -> None:
        """Do nothing when a round is played: it is remembered when its reward arrives."""

    def receive(self, arms: Ints, rewards: Floats) -> None:
        """Insert a round in front of the others."""
        self._rounds[:, 1:] = self._rounds[:, :-1].copy()
        self._rounds[:, 0] = 0
        self._rounds[self._row, 0, arms] = 1
        self._rounds[:, 0, -1] = rewards

    def features(self) -> Features:
        """K + 1 numbers for each of the n rounds, the newest first."""
        return self._rounds.reshape(len(self._rounds), -1).copy()


class WindowMemory:
    """Counts and sums of the last ``window`` rewards of N environments, in a ring."""

    def __init__(self, n_envs: int, n_arms: int, space: Box, window: int) -> None:
        self.window = positive_int("window", window, hint="the number of rounds that the statistics look back")
        least, most = min(float(space.low[n_arms]), 0.0), max(float(space.high[n_arms]), 0.0)
        self.low = np.repeat([0.0, least, 0.0], n_arms).astype(np.float32)  # share, mean, time since the last pull
        self.high = np.repeat([1.0, most, 1.0], n_arms).astype(np.float32)

        self._row = np.arange(n_envs)
        self._arms = np.zeros((n_envs, window), np.int64)
        self._rewards = np.zeros((n_envs, window))
        self._received = np.zeros(n_envs, np.int64)
        self._counts = np.zeros((n_envs, n_arms))
        self._sums = np.zeros((n_envs, n_arms))
        self._since = np.full((n_envs, n_arms), float(window))  # rounds, at most the window

    def forget(self, envs: Mask) -> None:
        """Empty the windows of these environments."""
        self._received[envs] = 0
        self._counts[envs] = 0
        self._sums[envs] = 0
        self._since[envs] = self.window

    def play(self, arms: Ints) -> None:
        """Count the rounds since the last pull of each arm."""
        np.minimum(self._since + 1, self.window, out=self._since)
        self._since[self._row, arms] = 0

    def receive(self, arms: Ints, rewards: Floats) -> None:
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


Memory = RoundsMemory | WindowMemory


class MemoryObservation(gym.Wrapper[Features, Any, Features, Any], RecordConstructorArgs):
    """Appends the content of a memory to the observations of one environment; its size is ``n`` or ``window``."""

    def __init__(self, env: gym.Env[Features, Any], memory: Callable[..., Memory], **size: Any) -> None:
        RecordConstructorArgs.__init__(self, **size)
        gym.Wrapper.__init__(self, env)
        space, self._n_arms = bandit_space(env, env.observation_space, env.action_space)
        self._memory = memory(1, self._n_arms, space, **size)
        self.observation_space = extended(space, self._memory.low, self._memory.high)

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
    """:class:`MemoryObservation` for vector environments, ``final_obs`` included."""

    def __init__(
        self, env: gym.vector.VectorEnv[Features, Any, npt.NDArray[Any]], memory: Callable[..., Memory], **size: Any
    ) -> None:
        super().__init__(env, **size)
        space, self._n_arms = bandit_space(env, env.single_observation_space, env.single_action_space)
        self._memory = memory(self.num_envs, self._n_arms, space, **size)
        self.single_observation_space = extended(space, self._memory.low, self._memory.high)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _extend(self, observations: Features) -> Features:
        return np.concatenate([observations, self._memory.features()], axis=1)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Features, dict[str, Any]]:
        """Begin with nothing remembered, in every sub-environment or where ``options["reset_mask"]`` is true."""
        envs = self._reset_mask(options)  # before the environment takes it out of the options
        observations, infos = super().reset(seed=seed, options=options)
        if "feedback" in infos:
            raise TypeError("with rewards that arrive late, wrap each sub-environment: make_vec(…, wrappers=[…])")
        self._memory.forget(envs)
        return self._extend(observations), infos

    def step(self, actions: Any) -> VectorStep:
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
        self._memory.forget(self.only_reset)
        self._over = over
        if any_final:
            final_obs, extended_last = infos["final_obs"].copy(), self._extend(last)
            for i in np.flatnonzero(over).tolist():
                final_obs[i] = extended_last[i]
            infos = infos | {"final_obs": final_obs}
            self._memory.forget(over)
        return self._extend(observations), rewards, terminations, truncations, infos


class LastRounds(MemoryObservation):
    """Appends the last n rounds to the observation: for each the arm, one-hot, and its reward, newest first.

    Rounds that were not played yet are zeros. With late rewards, these are the last n rounds whose rewards arrived.

    Args:
        env: an NSBandit environment, wrapped or not.
        n: the number of rounds.
    """

    def __init__(self, env: gym.Env[Features, Any], n: int = 10) -> None:
        super().__init__(env, RoundsMemory, n=n)


class VectorLastRounds(VectorMemoryObservation):
    """:class:`LastRounds` for vector environments.

    Args:
        env: a vector environment of NSBandit environments, with any autoreset mode.
        n: the number of rounds.
    """

    def __init__(self, env: gym.vector.VectorEnv[Features, Any, Any], n: int = 10) -> None:
        super().__init__(env, RoundsMemory, n=n)


class WindowedStatistics(MemoryObservation):
    """Appends 3K numbers to the observation: statistics of each arm in the last ``window`` rounds.

    First the K shares of the window's rounds that went to each arm (they add up to min(t, window)/window); then the K
    means of its rewards, 0 if there are none; then the K times since its last pull, in units of ``window``, at most 1.
    Stack two of them to look at two windows.

    Args:
        env: an NSBandit environment, wrapped or not.
        window: the number of rounds to look back.
    """

    def __init__(self, env: gym.Env[Features, Any], window: int = 100) -> None:
        super().__init__(env, WindowMemory, window=window)


class VectorWindowedStatistics(VectorMemoryObservation):
    """:class:`WindowedStatistics` for vector environments.

    Args:
        env: a vector environment of NSBandit environments, with any autoreset mode.
        window: the number of rounds to look back.
    """

    def __init__(self, env: gym.vector.VectorEnv[Features, Any, Any], window: int = 100) -> None:
        super().__init__(env, WindowMemory, window=window)
