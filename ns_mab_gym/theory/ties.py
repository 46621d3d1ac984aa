"""Near-ties between arms and how their number grows with the horizon (Assumption on smoothness)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive
from ..means import Floats, Ints, Mask, as_means, blocks, leaders

__all__ = ["TieGrowth", "near_ties", "tie_growth"]

PAIRS = ("all", "best")


def near_ties(means: npt.ArrayLike, delta: float, *, pairs: str = "all") -> Mask:
    """F_{Δ′,T}: rounds in which two arms differ by less than Δ′, as a mask of length T.

    Args:
        means: the (T, K) matrix of means.
        delta: Δ′ > 0.
        pairs: "all" compares any two arms, as the paper's assumption does; "best" compares only the best arm
            with the others: the paper's proof uses no more, and among many arms some two always nearly tie.

    >>> near_ties([[0.9, 0.2, 0.21], [0.9, 0.4, 0.2]], delta=0.1)
    array([ True, False])
    """
    matrix = as_means(means)
    return _closest(matrix, choice("pairs", pairs, PAIRS)) < positive("delta (Δ′)", delta, any_size=True)


def _closest(matrix: Floats, pairs: str) -> Floats:
    """The smallest difference between two arms in each round."""
    if pairs == "best":
        _, best, rival = leaders(matrix)
        return best - rival
    smallest = np.empty(len(matrix))
    for rows, columns in blocks(matrix):
        np.diff(np.sort(columns, axis=0), axis=0).min(axis=0, out=smallest[rows])
    return smallest


@dataclass(frozen=True, eq=False)
class TieGrowth:
    """F and β with |F_{Δ′,n}| ≤ F n^β for n = 1, …, T.

    Attributes:
        F: the factor, the smallest that satisfies the inequality with this β at every horizon n.
        beta: β ∈ [0, 1], the slope of ln |F_{Δ′,n}| over ln n.
        delta: Δ′.
        horizons: the horizons at which the slope was fitted.
        counts: |F_{Δ′,n}| at these horizons.
    """

    F: float
    beta: float
    delta: float
    horizons: Ints
    counts: Ints

    def __call__(self, horizon: float) -> float:
        """F n^β."""
        return float(self.F * horizon**self.beta)


def tie_growth(means: npt.ArrayLike, delta: float, *, pairs: str = "all") -> TieGrowth:
    """Fit |F_{Δ′,n}| ≤ F n^β to the growing horizons n = 1, …, T of one world: its first n rounds.

    β is the least-squares slope of ln |F_{Δ′,n}| over ln n on a geometric grid of horizons from T/100 on,
    held to [0, 1]; given β, F is the smallest that makes the inequality true at every n. Both are 0 without
    near-ties.
    """
    grown = np.cumsum(near_ties(means, delta, pairs=pairs), dtype=np.intp)  # |F_{Δ′,n}| for n = 1, …, T
    horizon = len(grown)
    grid = np.unique(np.geomspace(max(1, horizon // 100), horizon, 50).round().astype(np.intp))
    counts = grown[grid - 1]
    beta = _slope(grid[counts > 0], counts[counts > 0])
    factor = float(np.max(grown / np.arange(1, horizon + 1) ** beta))
    return TieGrowth(F=factor, beta=beta, delta=float(delta), horizons=grid, counts=counts)


def _slope(horizons: Ints, counts: Ints) -> float:
    """The least-squares slope in logarithms, held to [0, 1]."""
    if len(horizons) < 2:
        return 0.0
    x, y = np.log(horizons), np.log(counts)
    x -= x.mean()
    return float(np.clip(x @ y / (x @ x), 0.0, 1.0))
