"""Generators for wrappers, so that a wrapped environment has the same means and luck as an unwrapped one."""

from __future__ import annotations

import numpy as np

__all__ = ["OwnGenerator"]


class OwnGenerator:
    """A generator that follows the seeds of ``reset`` but shares no stream with the environment's.

    Args:
        key: a number that makes this wrapper's stream differ from those of others with the same seed.
    """

    def __init__(self, key: int) -> None:
        self._key = key
        self._rng: np.random.Generator | None = None

    def reset(self, seed: int | None) -> np.random.Generator:
        """The generator for the next episode: a new one if a seed is given, else the old one continues."""
        if seed is not None:
            self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(self._key, 0)))
        elif self._rng is None:
            self._rng = np.random.default_rng()
        return self._rng
