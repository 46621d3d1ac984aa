"""Seeds of N sub-environments and their streams of luck: those that N single environments would spawn."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import positive_int, seed_number
from ..means import Floats, Ints
from ..rewards import Law

AT_A_TIME = 64  # generators, which are made faster one after the other than between other work
SEED_BITS = 128  # of a seed that nobody gave, as in NumPy


def seeds_of(given: Any, n_envs: int) -> list[int | None]:
    """The seed of each sub-environment: s + i for a number s, as Gymnasium has it; one each from a list."""
    if given is None:
        return [None] * n_envs
    if isinstance(given, list | tuple | range) or (isinstance(given, np.ndarray) and given.ndim > 0):
        seeds = [seed_number(each, "each of the seeds") for each in given]
        if len(seeds) != n_envs:
            raise ValueError(f"a list of seeds must have one for each of the {n_envs} envs, got {len(seeds)}")
        return seeds
    first = positive_int("seed", given, least=0, most=None, hint="or give a list, one for each sub-environment")
    return list(range(first, first + n_envs))


@dataclass(frozen=True)
class Children:
    """Seeds of streams: each that of a sub-environment, and the number of the child that its generator spawns.

    Attributes:
        entropy: n seeds.
        keys: (n,) numbers of children.
    """

    entropy: list[int]
    keys: Ints

    def generators(self) -> Iterator[np.random.Generator]:
        """The generators that ``spawn`` of the sub-environments' generators returns."""
        for start in range(0, len(self.entropy), AT_A_TIME):
            some = slice(start, start + AT_A_TIME)
            pairs = zip(self.entropy[some], self.keys[some].tolist(), strict=True)
            sequences = [np.random.SeedSequence(entropy, spawn_key=(key,)) for entropy, key in pairs]
            yield from [np.random.Generator(np.random.PCG64(sequence)) for sequence in sequences]

    def next(self) -> Children:
        """The child after each of these."""
        return Children(self.entropy, self.keys + 1)


class EnvSeeds:
    """Seeds of N sub-environments, and the number of streams that each has spawned.

    The single environment has a generator that spawns two children in each episode: one for the means, one for luck.
    The children follow from the seed and their number alone, so that no generator is made for them until it is asked
    for.

    Args:
        n_envs: N.
    """

    def __init__(self, n_envs: int) -> None:
        self._seeds: list[int] = []
        self._spawned = np.zeros(n_envs, np.int64)
        self._generators: list[np.random.Generator] = []  # empty until they are asked for

    def seed(self, seeds: list[int | None], envs: npt.NDArray[np.bool_]) -> None:
        """Seed the sub-environments where the mask is true; None lets one go on, or draws its first seed."""
        if not self._seeds:
            self._seeds = [secrets.randbits(SEED_BITS) if seed is None else seed for seed in seeds]
            return
        for i in np.flatnonzero(envs).tolist():
            if (seed := seeds[i]) is not None:
                self._seeds[i], self._spawned[i] = seed, 0
                if self._generators:
                    self._generators[i] = self._generator(i)

    def _generator(self, i: int) -> np.random.Generator:
        sequence = np.random.SeedSequence(self._seeds[i], n_children_spawned=self._spawned.item(i))
        return np.random.Generator(np.random.PCG64(sequence))

    @property
    def generators(self) -> tuple[np.random.Generator, ...]:
        """The N generators; from now on, children that others spawn from them count too."""
        if not self._generators:
            self._generators = [self._generator(i) for i in range(len(self._seeds))]
        return tuple(self._generators)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The N seeds."""
        return tuple(self._seeds)

    def next_episode(self, envs: Ints) -> Children:
        """The streams of the means of the next episode; those of its luck are the next children."""
        for i in envs.tolist() if self._generators else ():
            sequence: Any = self._generators[i].bit_generator.seed_seq
            self._spawned[i] = sequence.n_children_spawned
            sequence.spawn(2)
        keys = self._spawned[envs]
        self._spawned[envs] += 2
        return Children([self._seeds[i] for i in envs.tolist()], keys)


class Luck:
    """The streams of luck of the running episodes: a generator for each sub-environment, one draw per round."""

    def __init__(self, n_envs: int, law: Law) -> None:
        self._law = law
        self._streams: list[np.random.Generator | None] = [None] * n_envs

    def begin(self, envs: Ints, children: Children, rounds: Ints) -> None:
        """Begin streams.

        Args:
            envs: the sub-environments.
            children: the seeds of their streams.
            rounds: the number of rounds that lie behind each, whose luck is left out.
        """
        for i, generator, behind in zip(envs.tolist(), children.generators(), rounds.tolist(), strict=True):
            self._streams[i] = generator
            if behind:
                self._law.luck(generator, behind)

    def draw(self, envs: Ints, rounds: int) -> Floats:
        """The luck of the next rounds, (rounds, n)."""
        streams = [stream for i in envs.tolist() if (stream := self._streams[i]) is not None]
        return np.stack([self._law.luck(stream, rounds) for stream in streams], axis=1)
