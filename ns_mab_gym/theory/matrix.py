"""The matrix of means: its check, and one pass over it in blocks that stay in the cache.

Conventions of the whole package: ``means[t - 1, i]`` is μ_{i,t} of the paper. A *set* of rounds is a boolean
mask of length T whose entry ``t - 1`` stands for round t; a *list* of rounds (breakpoints, phases) holds
1-based round numbers, as the paper does. Arms are 0-based, as actions are. Of several best arms, i*(t) is the
one of lowest index.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Floats", "Ints", "Leaders", "Mask", "as_means", "leaders"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

BLOCK = 4096  # rounds at a time: at ten arms a block and its transpose fit the second-level cache


def as_means(means: npt.ArrayLike) -> Floats:
    """The given matrix as float64 of shape (T, K), without a copy where it is one already."""
    try:
        matrix = np.asarray(means, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"means must be a (T, K) matrix of numbers: {error}") from None
    if matrix.ndim != 2:
        raise ValueError(
            f"means must be a (T, K) matrix, one row a round and one column an arm; got shape {matrix.shape}"
        )
    rounds, arms = matrix.shape
    if rounds < 1 or arms < 2:
        raise ValueError(
            f"means must have at least 1 round (row) and 2 arms (columns); got {rounds} rounds, {arms} arms"
        )
    if not (math.isfinite(matrix.min()) and math.isfinite(matrix.max())):
        row, arm = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(
            f"means must be finite; got {matrix[row, arm]} for arm {arm + 1} at round {row + 1}; "
            f"fill or drop such rounds first"
        )
    return matrix


def blocks(means: Floats, overlap: int = 0) -> Iterator[tuple[slice, Floats]]:
    """Rows of the matrix, a block at a time, as contiguous (K, B) columns; ``overlap`` rows are repeated."""
    for start in range(0, max(len(means) - overlap, 1), BLOCK):
        rows = slice(start, min(start + BLOCK + overlap, len(means)))
        yield rows, np.ascontiguousarray(means[rows].T)


class Leaders(NamedTuple):
    """The race at the top: who leads in each round, with which mean, and the best mean of the others."""

    arm: Ints  # (T,) i*(t), 0-based, ties to the lowest index
    best: Floats  # (T,) μ_{i*(t),t}
    rival: Floats  # (T,) max of μ_{i,t} over i ≠ i*(t); equals ``best`` where arms tie


def leaders(means: npt.ArrayLike) -> Leaders:
    """The best arm of every round, its mean and the best of the others, in one pass.

    >>> leaders([[0.1, 0.9, 0.3], [0.5, 0.5, 0.2]])
    Leaders(arm=array([1, 0]), best=array([0.9, 0.5]), rival=array([0.3, 0.5]))
    """
    matrix = as_means(means)
    arm = np.zeros(len(matrix), dtype=np.intp)
    best, rival = np.empty(len(matrix)), np.empty(len(matrix))
    for rows, columns in blocks(matrix):
        _race(columns, arm[rows], best[rows], rival[rows])
    return Leaders(arm, best, rival)


def _race(columns: Floats, arm: Ints, best: Floats, rival: Floats) -> None:
    best[:], rival[:] = columns[0], -np.inf
    for k, challenger in enumerate(columns[1:], start=1):
        arm[challenger > best] = k
        np.maximum(rival, np.minimum(best, challenger), out=rival)
        np.maximum(best, challenger, out=best)
