"""Reward wrappers: standardised rewards, regret as a reward, and records of regret."""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs
from gymnasium.wrappers.utils import RunningMeanStd

from ..agents.core.arguments import positive_int
from ..means import Floats, Mask
from .observations import VectorStep, VectorWrapper


class _Standard:
    """Standardises rewards by the running mean and deviation of all rewards so far."""

    def __init__(self, frozen: bool) -> None:
        self.frozen = frozen
        self.moments: Any = RunningMeanStd()  # type: ignore[no-untyped-call]

    def restart(self, seed: Any) -> None:
        """Start again at a seeded reset, so that a seed gives the same rewards whatever came before."""
        if seed is not None and not self.frozen:
            self.moments = RunningMeanStd()  # type: ignore[no-untyped-call]

    def __call__(self, rewards: Floats) -> Floats:
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


class VectorStandardizeReward(VectorWrapper):
    """:class:`StandardizeReward` for vector environments: one mean and one deviation for all of them.

    Args:
        env: any vector environment.
        frozen: keep the moments as they are.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, npt.NDArray[Any]], frozen: bool = False) -> None:
        super().__init__(env, frozen=frozen)
        self.standard = _Standard(frozen)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every sub-environment, or where ``options["reset_mask"]`` is true."""
        self.standard.restart(seed)
        return super().reset(seed=seed, options=options)

    def step(self, actions: Any) -> VectorStep:
        """Pull one arm in every sub-environment; a step that only resets one counts for nothing."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        played = ~self.only_reset
        self._over = np.asarray(terminations | truncations)
        standard = np.zeros(self.num_envs)
        if played.any():
            standard[played] = self.standard(rewards[played])
        return observations, standard, terminations, truncations, infos


def regret_in(info: dict[str, Any], env: Any) -> Any:
    """The regret that an info reports; raises a TypeError if there is none."""
    if "regret" not in info:
        raise TypeError(
            f'{env} does not report info["regret"], only {sorted(info)}; this wrapper needs the regret of each round, '
            f"as the environments of this package report it"
        )
    return info["regret"]


def rounds_regret(wrapper: VectorWrapper, infos: dict[str, Any], over: Mask) -> Floats:
    """The regret of the round that each sub-environment played in a step; 0 where the step only reset it.

    Where an episode is over with ``SAME_STEP``, its last round is in the final info. The wrapper still remembers which
    were over in the step before.
    """
    ended = over & ("final_info" in infos)
    regrets = np.zeros(len(over))
    for source, played in ((infos.get("final_info", {}), ended), (infos, ~(wrapper.only_reset | ended))):
        if played.any():
            regrets[played] = np.asarray(regret_in(source, wrapper.env))[played]
    return regrets


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


class VectorRegretAsReward(VectorWrapper):
    """:class:`RegretAsReward` for vector environments, whatever their autoreset mode.

    Args:
        env: any vector environment that reports ``infos["regret"]`` after each step.
    """

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, npt.NDArray[Any]]) -> None:
        super().__init__(env)

    def step(self, actions: Any) -> VectorStep:
        """Pull one arm in every sub-environment; a step that only resets one gives 0."""
        observations, _, terminations, truncations, infos = self.env.step(actions)
        over = np.asarray(terminations | truncations)
        regrets = rounds_regret(self, infos, over)
        self._over = over
        return observations, 0.0 - regrets, terminations, truncations, infos


class _RegretSums:
    """Sums of regret over the episodes of N environments, and those of the last finished ones."""

    def __init__(self, n_envs: int, buffer_length: int) -> None:
        length = positive_int("buffer_length", buffer_length, hint="the number of finished episodes to remember")
        self.regrets: deque[float] = deque(maxlen=length)
        self.optimal_shares: deque[float] = deque(maxlen=length)
        self.totals: Floats = np.zeros(n_envs)
        self.optimal = np.zeros(n_envs, np.int64)
        self.rounds = np.zeros(n_envs, np.int64)

    def clear(self, envs: Mask) -> None:
        """Begin an episode where the mask is true."""
        self.totals[envs], self.optimal[envs], self.rounds[envs] = 0.0, 0, 0

    def add(self, regret: Floats) -> None:
        """Add the regret of a round in every environment."""
        self.totals += regret
        self.optimal += regret == 0.0
        self.rounds += 1

    def finish(self, envs: Mask) -> None:
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
        self._sums = _RegretSums(1, buffer_length)
        self.regret_queue, self.optimal_queue = self._sums.regrets, self._sums.optimal_shares

    def _with_sums(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"total_regret": self._sums.totals.item(0), "optimal_rounds": self._sums.optimal.item(0)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode without regret."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._sums.clear(np.ones(1, np.bool_))
        return observation, self._with_sums(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Pull an arm and add its regret."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._sums.add(np.array([regret_in(info, self.env)], np.float64))
        if terminated or truncated:
            self._sums.finish(np.ones(1, np.bool_))
        return observation, reward, terminated, truncated, self._with_sums(info)


class VectorRecordRegret(VectorWrapper):
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
        super().__init__(env, buffer_length=buffer_length)
        self._sums = _RegretSums(self.num_envs, buffer_length)
        self.regret_queue, self.optimal_queue = self._sums.regrets, self._sums.optimal_shares

    def _with_sums(self, infos: dict[str, Any], envs: Mask) -> dict[str, Any]:
        sums = {"total_regret": self._sums.totals, "optimal_rounds": self._sums.optimal}
        added = {key: np.where(envs, values, 0) for key, values in sums.items()}
        return infos | added | {f"_{key}": envs.copy() for key in added}

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode without regret in every sub-environment, or where ``options["reset_mask"]`` is true."""
        envs = self._reset_mask(options)  # before the environment takes it out of the options
        observations, infos = super().reset(seed=seed, options=options)
        self._sums.clear(envs)
        return observations, self._with_sums(infos, envs)

    def step(self, actions: Any) -> VectorStep:
        """Pull arms and add their regret; a step that only resets a sub-environment is no round of it."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        over = np.asarray(terminations | truncations)
        self._sums.add(rounds_regret(self, infos, over))
        self._sums.clear(self.only_reset)
        self._sums.finish(over)
        if "final_info" in infos:
            infos = infos | {"final_info": self._with_sums(infos["final_info"], over)}
            self._sums.clear(over)
        self._over = over
        return observations, rewards, terminations, truncations, self._with_sums(infos, np.ones_like(over))
