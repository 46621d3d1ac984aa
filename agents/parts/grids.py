"""Means of the last h samples for h on a geometric grid, in logarithmic memory and time.

The mean of exactly the last h samples would need all of them. The grid keeps, for each of its windows, the mean of h
consecutive samples that may end a little earlier: it is renewed whenever a block of h samples is full, and the next
block begins with what the next smaller window has collected so far. With ratio 2, the mean of window h is renewed every
h/2 samples and always lies within the last 3h/2 samples.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible
from ..core.kernel import ALL, FloatArray, IntArray, helper, inlined

__all__ = ["Grid", "add_to_grid", "forget_grid", "new_grid", "windows_of"]

LONGEST = 2**40  # windows beyond this are never filled


class Grid(NamedTuple):
    """For each arm and each window of the grid, the latest mean, and the block that will replace it."""

    windows: IntArray  # (J,) h_1 = 1 < h_2 < …
    inverse_roots: FloatArray  # (J,) 1/√h_j
    means: FloatArray  # (K, J) of h_j consecutive samples; row i is valid up to levels[i]
    sums: FloatArray  # (K, J) of the block that is being filled
    counts: IntArray  # (K, J) its samples
    levels: IntArray  # (K,) how many windows have a mean


def _claims(grid: Grid, facts: Facts) -> Claims:
    """There are as many levels as windows, and blocks that are not full; that of one sample may be."""
    yield "levels", grid.levels <= grid.windows.size, "a number of windows"
    yield "counts", grid.counts < np.maximum(grid.windows, 2), "fewer samples than the window has"


admissible(Grid, _claims, constant=("windows", "inverse_roots"))


def windows_of(ratio: float) -> list[int]:
    """The windows of the grid: 1, and from each the next by h ← ⌈ratio · h⌉, without rounding errors.

    >>> windows_of(2.0)[:6], windows_of(1.5)[:6]
    ([1, 2, 4, 8, 16, 32], [1, 2, 3, 5, 8, 12])
    """
    windows = [1]
    while windows[-1] <= LONGEST:
        windows.append(math.ceil(Fraction(str(ratio)) * windows[-1]))
    return windows


def new_grid(n_arms: int, ratio: float) -> Grid:
    """An empty grid."""
    windows = np.array(windows_of(ratio), np.int64)
    shape = (n_arms, windows.size)
    return Grid(
        windows=windows,
        inverse_roots=np.array([1.0 / math.sqrt(h) for h in windows.tolist()]),
        means=np.zeros(shape),
        sums=np.zeros(shape),
        counts=np.zeros(shape, np.int64),
        levels=np.zeros(n_arms, np.int64),
    )


@inlined
def add_to_grid(grid: Grid, arm: int, reward: float) -> None:
    """Add a sample to every block; a full one becomes the mean of its window."""
    windows, means, sums, counts, levels = grid.windows, grid.means, grid.sums, grid.counts, grid.levels
    top = min(levels[arm], windows.size - 1)
    sums[arm, 0] = 0.0
    counts[arm, 0] = 0
    for j in range(top + 1):
        sums[arm, j] += reward
        counts[arm, j] += 1
    for j in range(top, -1, -1):  # from above: a block begins with what the one below held when it was full
        if counts[arm, j] == windows[j]:
            means[arm, j] = sums[arm, j] / windows[j]
            if j == levels[arm]:
                levels[arm] = j + 1
                if j + 1 < windows.size:
                    sums[arm, j + 1] = sums[arm, j]
                    counts[arm, j + 1] = counts[arm, j]
            if j > 0:
                sums[arm, j] = sums[arm, j - 1]
                counts[arm, j] = counts[arm, j - 1]


@helper
def forget_grid(grid: Grid, arm: int) -> None:
    """Empty the grid of one arm, or with ``ALL`` of every arm."""
    for i in range(grid.levels.size):
        if arm == ALL or i == arm:
            grid.means[i, :] = 0.0
            grid.sums[i, :] = 0.0
            grid.counts[i, :] = 0
            grid.levels[i] = 0
