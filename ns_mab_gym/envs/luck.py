"""The luck of N sub-environments: a stream for each, one draw per round."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from ..rewards import Law
from .origins import Children

__all__ = ["Luck", "luck_of", "packs"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MANY = 20_000  # sub-environments from which on it is worth the time to load compiled code


class Luck(ABC):
    """The streams of luck of the running episodes."""

    @abstractmethod
    def begin(self, envs: IntArray, children: Children, rounds: IntArray) -> None:
        """Begin streams.

        Args:
            envs: which sub-environments.
            children: the seeds of their streams.
            rounds: how many rounds lie behind each, whose luck is left out.
        """

    @abstractmethod
    def draw(self, envs: IntArray, rounds: int) -> FloatArray:
        """The luck of the next rounds, (rounds, n)."""


class GeneratorLuck(Luck):
    """A generator for each sub-environment, from which the law draws."""

    def __init__(self, n_envs: int, law: Law) -> None:
        self._law = law
        self._streams: list[np.random.Generator | None] = [None] * n_envs

    def begin(self, envs: IntArray, children: Children, rounds: IntArray) -> None:
        """Make new generators."""
        for i, generator, behind in zip(envs.tolist(), children.generators(), rounds.tolist(), strict=True):
            self._streams[i] = generator
            if behind:
                self._law.luck(generator, behind)

    def draw(self, envs: IntArray, rounds: int) -> FloatArray:
        """Draw from each generator in turn."""
        streams = [stream for i in envs.tolist() if (stream := self._streams[i]) is not None]
        return np.stack([self._law.luck(stream, rounds) for stream in streams], axis=1)


class PackedLuck(Luck):
    """Uniform luck of very many sub-environments: the same numbers, from states in one array."""

    def __init__(self, n_envs: int) -> None:
        self._states = np.zeros((n_envs, 4), np.uint64)

    def begin(self, envs: IntArray, children: Children, rounds: IntArray) -> None:
        """Set up new states."""
        from .packed_streams import seed_streams, skip_draws  # imported here, because few envs do not need numba

        states = np.empty((len(envs), 4), np.uint64)
        seed_streams(children.words(), children.keys.astype(np.uint64), states)
        self._states[envs] = states
        if rounds.any():
            skip_draws(self._states, envs, rounds)

    def draw(self, envs: IntArray, rounds: int) -> FloatArray:
        """Draw from each state in turn."""
        from .packed_streams import draw_uniforms

        luck = np.empty((rounds, len(envs)))
        draw_uniforms(self._states, envs, luck)
        return luck


def packs(n_envs: int, law: Law) -> bool:
    """Whether the luck of so many sub-environments is drawn by compiled code: uniform luck of many."""
    return n_envs >= MANY and not law.normal and type(law).luck is Law.luck


def luck_of(n_envs: int, law: Law) -> Luck:
    """The luck of N sub-environments, in the form that suits their number; the numbers are the same."""
    return PackedLuck(n_envs) if packs(n_envs, law) else GeneratorLuck(n_envs, law)
