"""Held-out instances around a world whose means are always the same."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..worlds.paper import Abrupt
from ..worlds.world import FloatArray, World

__all__ = ["Shuffled"]


@dataclass(frozen=True, kw_only=True)
class Shuffled(World):
    """Another world's means with the arms in another order, begun at another round, drawn anew for every run.

    Round t of an instance is round t + s of the base, where s is drawn from 0 to T − 1 and the base is played in a
    circle; arm i is arm π(i) of the base. What is always true of the base stays true: how far arms are apart, how fast
    they move, how long phases last; but for the one jump where the end of the base meets its beginning. What a
    learner could know by heart does not: which arm is good, and when.

    Attributes:
        horizon: T, that of the base.
        base: a world that is not random.
    """

    random = True

    base: World = field(default_factory=Abrupt)

    def __post_init__(self) -> None:
        """Take the horizon of the base."""
        if self.base.random:
            raise ValueError(f"{self.base.name!r} draws its instances anew already; play it as it is")
        object.__setattr__(self, "horizon", self.base.horizon)
        super().__post_init__()

    @property
    def n_arms(self) -> int:
        """K, that of the base."""
        return self.base.n_arms

    def _means(self, rng: np.random.Generator) -> FloatArray:
        arms, start = rng.permutation(self.n_arms), int(rng.integers(self.horizon))
        return np.roll(self.base.instance()[:, arms], -start, axis=0)
