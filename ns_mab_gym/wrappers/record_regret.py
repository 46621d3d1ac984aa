"""The regret of episodes, summed and remembered for any environment that reports it round by round."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode

from ..agents.core.arguments import positive_int
from .memory import BoolArray, FloatArray, VectorWrapper
from .reported_regret import regret_in, rounds_regret

__all__ = ["RecordRegret", "VectorRecordRegret"]


class _Ledger:
    """Sums of N environments, and what the last finished episodes came to."""

    def __init__(self, n_envs: int, buffer_length: int) -> None:
        length = positive_int("buffer_length", buffer_length, hint="the number of finished episodes to remember")
        self.regrets: deque[float] = deque(maxlen=length)
        self.optimal_shares: deque[float] = deque(maxlen=length)
        self.totals: FloatArray = np.zeros(n_envs)
        self.optimal = np.zeros(n_envs, np.int64)
        self.rounds = np.zeros(n_envs, np.int64)

    def clear(self, envs: BoolArray) -> None:
        """Begin an episode where the mask is true."""
        self.totals[envs], self.optimal[envs], self.rounds[envs] = 0.0, 0, 0

    def add(self, regret: FloatArray) -> None:
        """Add the regret of a round in every environment."""
        self.totals += regret
        self.optimal += regret == 0.0
        self.rounds += 1

    def finish(self, envs: BoolArray) -> None:
        """Remember the episodes that ended where the mask is true."""
        self.regrets.extend(self.totals[envs].tolist())
        self.optimal_shares.extend((self.optimal[envs] / self.rounds[envs]).tolist())


class RecordRegret(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Sums the regret of each episode, and remembers what the last episodes came to.

    Every info has ``total_regret``, the sum of ``info["regret"]`` over the episode so far (environments of this package
    report it themselves; here it is added for others), and ``optimal_rounds``, the number of rounds so far without
    regret. In the last step of an episode these are about the whole of it; after a reset they are 0.

    Args:
        env: any environment that reports ``info["regret"]`` after each step.
        buffer_length: the number of finished episodes to remember.

    Attributes:
        regret_queue: the regret of the last finished episodes, the latest at the end.
        optimal_queue: the share of rounds without regret in each of them.

    >>> env = RecordRegret(gym.make("NSBandit-Stationary-v0", mu=[0.25, 0.75], horizon=4))
    >>> obs, info = env.reset(seed=0)
    >>> infos = [env.step(arm)[-1] for arm in (0, 1, 0, 1)]
    >>> infos[-1]["total_regret"], infos[-1]["optimal_rounds"]
    (1.0, 2)
    >>> env.regret_queue, env.optimal_queue
    (deque([1.0], maxlen=100), deque([0.5], maxlen=100))
    """

    def __init__(self, env: gym.Env[Any, Any], buffer_length: int = 100) -> None:
        RecordConstructorArgs.__init__(self, buffer_length=buffer_length)
        gym.Wrapper.__init__(self, env)
        self._ledger = _Ledger(1, buffer_length)
        self.regret_queue, self.optimal_queue = self._ledger.regrets, self._ledger.optimal_shares

    def _with_sums(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"total_regret": self._ledger.totals.item(0), "optimal_rounds": self._ledger.optimal.item(0)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode without regret."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._ledger.clear(np.ones(1, np.bool_))
        return observation, self._with_sums(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm and add its regret."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._ledger.add(np.array([regret_in(info, self.env)], np.float64))
        if terminated or truncated:
            self._ledger.finish(np.ones(1, np.bool_))
        return observation, reward, terminated, truncated, self._with_sums(info)


class VectorRecordRegret(VectorWrapper, RecordConstructorArgs):
    """:class:`RecordRegret` for vector environments, whatever their autoreset mode.

    With ``SAME_STEP`` autoreset, what the finished episodes came to is in ``infos["final_info"]``, like everything else
    about their last round.

    Args:
        env: any vector environment that reports ``infos["regret"]`` after each step.
        buffer_length: the number of finished episodes to remember, of all sub-environments together.

    Attributes:
        regret_queue: the regret of the last finished episodes, the latest at the end.
        optimal_queue: the share of rounds without regret in each of them.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, npt.NDArray[Any]], buffer_length: int = 100) -> None:
        RecordConstructorArgs.__init__(self, buffer_length=buffer_length)
        VectorWrapper.__init__(self, env)
        self._ledger = _Ledger(self.num_envs, buffer_length)
        self.regret_queue, self.optimal_queue = self._ledger.regrets, self._ledger.optimal_shares
        self._over = np.zeros(self.num_envs, np.bool_)  # in the last step

    def _with_sums(self, infos: dict[str, Any], envs: BoolArray) -> dict[str, Any]:
        sums = {"total_regret": self._ledger.totals, "optimal_rounds": self._ledger.optimal}
        added = {key: np.where(envs, values, 0) for key, values in sums.items()}
        return infos | added | {f"_{key}": envs.copy() for key in added}

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode without regret in every sub-environment, or where ``options["reset_mask"]`` is true."""
        envs = np.array((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        observations, infos = self.env.reset(seed=seed, options=options)
        self._ledger.clear(envs)
        self._over &= ~envs
        return observations, self._with_sums(infos, envs)

    def step(self, actions: Any) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Pull arms and add their regret; a step that only resets a sub-environment is no round of it."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        over = np.asarray(terminations | truncations)
        began = self._over & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        self._ledger.add(rounds_regret(self.env, infos, over, self._over))
        self._ledger.clear(began)
        self._ledger.finish(over)
        if "final_info" in infos:
            infos = infos | {"final_info": self._with_sums(infos["final_info"], over)}
            self._ledger.clear(over)
        self._over = over
        return observations, rewards, terminations, truncations, self._with_sums(infos, np.ones_like(over))
