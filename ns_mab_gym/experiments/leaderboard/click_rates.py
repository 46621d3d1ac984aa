"""A world of click rates: random phases whose means are all small."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...agents.core.arguments import fraction
from ...worlds.drawn import Piecewise
from ...worlds.world import FloatArray

__all__ = ["ClickRates"]


@dataclass(frozen=True, kw_only=True)
class ClickRates(Piecewise):
    """Random phases with rare successes: the piecewise world, with its means moved from [0, 1] to [least, most].

    >>> bool(ClickRates(horizon=100).means(0).max() <= 0.08)
    True

    Attributes:
        least: the smallest possible mean.
        most: the largest possible mean.
    """

    least: float = 0.01
    most: float = 0.08
    name: str = field(init=False, repr=False, default="ns_mab_gym.experiments.leaderboard.click_rates:ClickRates")

    def __post_init__(self) -> None:
        """Check the two ends."""
        super().__post_init__()
        if fraction("least", self.least) >= fraction("most", self.most):
            raise ValueError(f"least must be below most, got {self.least} and {self.most}")

    def _means(self, rng: np.random.Generator) -> FloatArray:
        return self.least + (self.most - self.least) * super()._means(rng)
