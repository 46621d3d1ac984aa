"""An environment N times, in arrays: the native vector environment with the twins of the single one's wrappers.

Run i of a batch shows what the single environment shows after ``reset(seed=seeds[i])``, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.wrappers import FlattenObservation, FrameStackObservation, OrderEnforcing, PassiveEnvChecker

from ..agents.core.memory_limits import available_memory
from ..envs.bandit import NSBanditEnv
from ..envs.vector import NSBanditVectorEnv
from ..wrappers import LastRounds, VectorLastRounds, VectorWindowedStatistics, WindowedStatistics
from .observation_layers import inside_out

__all__ = ["Batch", "Plan", "Seen"]

Array = npt.NDArray[Any]
MOST = 512  # runs in a batch; more of them do not make a run cheaper
SHARE = 4  # a batch may take this part of the free memory
RUN_BYTES, ARM_BYTES, NUMBER_BYTES = 50_000, 100, 200  # of a run, each of its arms and each number of its observation
TWINS: dict[type, Callable[..., Any]] = {
    WindowedStatistics: VectorWindowedStatistics,
    LastRounds: VectorLastRounds,
}
TRANSPARENT = (OrderEnforcing, PassiveEnvChecker)  # which gym.make adds by itself


class Frames:
    """The last observations of N environments; what :class:`~gymnasium.wrappers.FrameStackObservation` shows of one.

    Args:
        wrapper: the wrapper around a single environment.
    """

    def __init__(self, wrapper: Any) -> None:
        self._n, self._padding = int(wrapper.stack_size), wrapper.padding_type

    def begin(self, observations: Array) -> Array:
        """Start with the first observations, and what stands for those before them."""
        before = observations if self._padding == "reset" else np.zeros_like(observations)
        self._frames = [before] * (self._n - 1) + [observations]
        return np.stack(self._frames, axis=1)

    def follow(self, observations: Array) -> Array:
        """Add the next observations, and drop the oldest."""
        self._frames = [*self._frames[1:], observations]
        return np.stack(self._frames, axis=1)


class Flat:
    """The observations of N environments as rows; what :class:`~gymnasium.wrappers.FlattenObservation` makes of one.

    Args:
        wrapper: the wrapper around a single environment.
    """

    def __init__(self, wrapper: Any) -> None:
        self._size = int(wrapper.observation_space.shape[0])

    def begin(self, observations: Array) -> Array:
        """The first observations as rows."""
        return observations.reshape(-1, self._size)

    follow = begin


SHAPES: dict[type, Callable[[Any], Any]] = {FrameStackObservation: Frames, FlattenObservation: Flat}


class Seen(NamedTuple):
    """What a round of N environments brings.

    Attributes:
        observations: (N, …) what they show next.
        rewards: (N,)
        gaps: (N,) μ* − μ_arm.
    """

    observations: Array
    rewards: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Plan:
    """How to build an environment N times.

    Attributes:
        bandit: the environment without wrappers.
        memories: the wrappers that remember rounds, the innermost first.
        shapes: the wrappers that arrange observations, around the others.
        size: how many numbers an observation has.
    """

    bandit: NSBanditEnv
    memories: tuple[gym.Wrapper[Any, Any, Any, Any], ...]
    shapes: tuple[gym.Wrapper[Any, Any, Any, Any], ...]
    size: int

    @classmethod
    def of(cls, env: gym.Env[Any, Any]) -> Plan | None:
        """The plan of an environment; None if it is a foreign one, is rendered, or has a wrapper without a twin."""
        bandit, layers = env.unwrapped, [layer for layer in inside_out(env) if not isinstance(layer, TRANSPARENT)]
        kinds = [type(layer) for layer in layers]
        inner = sum(kind in TWINS for kind in kinds)
        if type(bandit) is not NSBanditEnv or bandit.render_mode is not None:
            return None
        if not all(kind in TWINS for kind in kinds[:inner]) or not all(kind in SHAPES for kind in kinds[inner:]):
            return None
        if any(getattr(layer, "padding_type", None) == "_custom" for layer in layers):
            return None
        size = int(np.prod(env.observation_space.shape or ()))
        return cls(bandit, tuple(layers[:inner]), tuple(layers[inner:]), size)

    def runs_at_once(self) -> int:
        """How many runs a batch has room for; at least one."""
        world = self.bandit.world
        each = RUN_BYTES + ARM_BYTES * world.n_arms + NUMBER_BYTES * self.size
        windows = [int(layer._saved_kwargs.get("window", 0)) for layer in self.memories]  # type: ignore[attr-defined]
        each += 16 * sum(windows)
        if world.random:
            each += 16 * world.n_arms * world.horizon  # the instance, and what its world needs to draw it
        return int(min(max(available_memory() / SHARE // each, 1), MOST))


class Batch:
    """N environments that play one episode.

    Args:
        plan: how to build one of them.
        n: how many.
    """

    def __init__(self, plan: Plan, n: int) -> None:
        self.horizon = plan.bandit.world.horizon
        self._envs: Any = NSBanditVectorEnv(n, world=plan.bandit.world, reward=plan.bandit.law)
        for wrapper in plan.memories:
            self._envs = TWINS[type(wrapper)](self._envs, **wrapper._saved_kwargs)  # type: ignore[attr-defined]
        self._shapes = [SHAPES[type(wrapper)](wrapper) for wrapper in plan.shapes]

    def begin(self, seeds: Sequence[int]) -> Array:
        """The first observations of environments with these seeds."""
        observations, _ = self._envs.reset(seed=list(seeds))
        for shape in self._shapes:
            observations = shape.begin(observations)
        return np.asarray(observations)

    def play(self, arms: npt.NDArray[np.int64]) -> Seen:
        """Pull an arm in each; after the last round, the observations are those of a new episode."""
        observations, rewards, _, truncated, infos = self._envs.step(arms)
        told = infos["final_info"] if truncated[0] else infos
        for shape in self._shapes:
            observations = shape.follow(observations)
        return Seen(observations, rewards, told["regret"])
