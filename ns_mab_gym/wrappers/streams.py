"""Generators of the wrappers' own, so that a wrapped environment meets the same means and luck as a bare one."""

from __future__ import annotations

import numpy as np

__all__ = ["OwnGenerator"]


class OwnGenerator:
    """A generator that follows the seeds of ``reset`` but shares no stream with the environment's.

    Args:
        key: a number that tells this wrapper's stream from those of others with the same seed.
    """

    def __init__(self, key: int) -> None:
        self._key = key
        self._rng: np.random.Generator | None = None

    def reset(self, seed: int | None) -> np.random.Generator:
        """The generator for the episode that begins: a new one if seeded, else the old one goes on."""
        if seed is not None:
            self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(self._key, 0)))
        elif self._rng is None:
            self._rng = np.random.default_rng()
        return self._rng
