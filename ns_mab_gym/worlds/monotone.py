"""Rising and rotting restless worlds: every mean only grows, or only falls, no matter what is played."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..agents.core.arguments import positive
from .synthetic import ManyArms
from .world import FloatArray

__all__ = ["Rising", "Rotting"]


@dataclass(frozen=True, kw_only=True)
class Rising(ManyArms):
    """Rising restless world: concave increasing means with random parameters.

    Arm i follows c (1 − e^(−r x)) or c (1 − (1 + r x)^(−1/2)), x = t/T, with equal probability (the exponential and
    the polynomial family of Metelli et al., "Stochastic Rising Bandits", 2022). The ceiling c is uniform on
    [0, 1] and the rate r log-uniform on [1, ``fastest``]: slow arms with high ceilings overtake fast starters.

    Attributes:
        fastest: the largest rate, in units of 1/T.
    """

    random: ClassVar[bool] = True

    fastest: float = 100.0
    name: str = field(init=False, repr=False, default="rising")

    def __post_init__(self) -> None:
        """Check the rate."""
        super().__post_init__()
        if positive("fastest", self.fastest) < 1:
            raise ValueError(f"fastest must be at least 1, the slowest rate, got {self.fastest}")

    def _means(self, rng: np.random.Generator) -> FloatArray:
        ceiling = rng.random(self.n_arms)
        rate = self.fastest ** rng.random(self.n_arms)
        exponential = rng.random(self.n_arms) < 0.5

        def formula(t: FloatArray) -> FloatArray:
            x = t[:, None] / self.horizon
            decay = np.where(exponential, np.exp(-rate * x), 1 / np.sqrt(1 + rate * x))
            return np.asarray(ceiling * (1 - decay))

        return self._by_blocks(formula)


@dataclass(frozen=True, kw_only=True)
class Rotting(Rising):
    """Rotting restless world: the rising world mirrored, μ = 1 − rising, so that every mean falls."""

    name: str = field(init=False, repr=False, default="rotting")

    def _means(self, rng: np.random.Generator) -> FloatArray:
        means = super()._means(rng)
        return np.subtract(1, means, out=means)
