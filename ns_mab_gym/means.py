"""Facts about a (T, K) matrix of means: best arms, breakpoints, V_T, σ. Engine, tuning and theory build on them.

Conventions of the whole package: ``means[t - 1, i]`` is μ_{i,t} of the paper. A *set* of rounds is a boolean
mask of length T whose entry ``t - 1`` stands for round t; a *list* of rounds (breakpoints, phases) holds
1-based round numbers, as the paper does. Arms are 0-based, as actions are. If several arms are best, i*(t)
is the one with the lowest index.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Sized
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .agents.core.knowledge import Knowledge

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

EXACT = 2**53  # up to here, every whole number is a float
NO_NUMBERS = (str, bytes, bool, np.bool_, np.datetime64, np.timedelta64)
BLOCK = 4096  # rounds at a time: at ten arms a block and its transpose fit the second-level cache


class BadMeansError(ValueError):
    """An array or a file that is no table of means; the message is for its author."""


def as_means(means: npt.ArrayLike, source: str = "means") -> Floats:
    """The given matrix as float64 of shape (T, K), without a copy where it is one already.

    Args:
        means: T rows, one per round, of K numbers, one per arm.
        source: what error messages call it.
    """
    if isinstance(means, Sequence) and len({len(row) for row in means if isinstance(row, Sized)}) > 1:
        raise BadMeansError(f"the rows of {source} differ in length; every round needs one mean for each arm")
    matrix = as_floats(means, source)
    if matrix.size == 0:
        raise BadMeansError(f"{source} is empty; give one row per round and one column per arm")
    if matrix.ndim != 2:
        raise BadMeansError(f"{source} must be a table of T rounds by K arms, got shape {matrix.shape}")
    if matrix.shape[1] < 2:
        raise BadMeansError(f"a bandit needs at least 2 arms, {source} has {matrix.shape[1]} column")
    if not (math.isfinite(matrix.min()) and math.isfinite(matrix.max())):
        row, arm = np.argwhere(~np.isfinite(matrix))[0]
        raise BadMeansError(f"{source} is NaN or infinite at round {row + 1}, arm {arm + 1}; fill or drop such rounds")
    return matrix


def as_floats(values: npt.ArrayLike, source: str) -> Floats:
    """The given numbers as float64, without a copy where they are that already; an error if floats cannot hold them."""
    if np.ma.is_masked(values):
        raise BadMeansError(f"{source} has masked entries; fill or drop such rounds")
    try:
        given = np.asarray(values)
        objects = given.flat if given.dtype.kind == "O" else ()
        if given.dtype.kind not in "iufO" or any(isinstance(cell, NO_NUMBERS) for cell in objects):
            raise TypeError  # NumPy alone would take "0.5" and True for numbers
        with np.errstate(over="ignore"):  # which gives infinity
            floats = np.asarray(given, dtype=np.float64)
    except MemoryError:
        raise
    except Exception:  # whatever strange values raise when NumPy asks them for a number
        raise BadMeansError(f"{source} holds something that is not a number") from None
    if given.dtype.kind in "iu" and given.size and not -EXACT <= int(given.min()) <= int(given.max()) <= EXACT:
        raise BadMeansError(f"{source} holds whole numbers beyond 2**53, which no float can tell apart; scale them")
    return floats


def block_size(n_arms: int, most: int) -> int:
    """The number of rounds in a block of about the memory of ``most`` rounds of ten arms: a multiple of 8.

    >>> block_size(2, 4096), block_size(10, 4096), block_size(1_000, 4096), block_size(10**6, 4096)
    (4096, 4096, 40, 8)
    """
    return max(8, min(most, 10 * most // n_arms // 8 * 8))


def blocks(means: Floats, overlap: int = 0) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of rows as slices and contiguous (K, B) arrays; neighbouring blocks share ``overlap`` rows.

    The arrays are to be read only: where the means lie in memory as they do, they are the means themselves.
    """
    size = block_size(means.shape[1], BLOCK)
    for start in range(0, max(len(means) - overlap, 1), size):
        rows = slice(start, min(start + size + overlap, len(means)))
        yield rows, np.ascontiguousarray(means[rows].T)


class Leaders(NamedTuple):
    """The best arm of each round, its mean, and the best mean of the other arms."""

    arm: Ints  # (T,) i*(t), 0-based, ties to the lowest index
    best: Floats  # (T,) μ_{i*(t),t}
    rival: Floats  # (T,) max of μ_{i,t} over i ≠ i*(t); equals ``best`` where arms tie


def leaders(means: npt.ArrayLike) -> Leaders:
    """The best arm of every round, its mean and the best mean of the others, in one pass.

    >>> leaders([[0.1, 0.9, 0.3], [0.5, 0.5, 0.2]])
    Leaders(arm=array([1, 0]), best=array([0.9, 0.5]), rival=array([0.3, 0.5]))
    """
    matrix = as_means(means)
    arm = np.zeros(len(matrix), dtype=np.intp)
    best, rival = np.empty(len(matrix)), np.empty(len(matrix))
    for rows, columns in blocks(matrix):
        first, second = best[rows], rival[rows]
        first[:], second[:] = columns[0], -np.inf
        for k, challenger in enumerate(columns[1:], start=1):
            arm[rows][challenger > first] = k
            np.maximum(second, np.minimum(first, challenger), out=second)
            np.maximum(first, challenger, out=first)
    return Leaders(arm, best, rival)


def _moves(matrix: Floats) -> Floats:
    """max_i |μ_{i,t+1} − μ_{i,t}| for t = 1..T−1."""
    moves = np.empty(len(matrix) - 1)
    for rows, columns in blocks(matrix, overlap=1):
        steps = np.diff(columns, axis=1)
        np.abs(steps, out=steps)
        steps.max(axis=0, out=moves[rows.start : rows.stop - 1])
    return moves


def breakpoints(means: npt.ArrayLike) -> Ints:
    """The breakpoints b_1 < b_2 < …: rounds t ∈ {2, …, T} at which any arm's mean differs from that in round t − 1.

    Definition 3 of the paper; their number is Υ_T. The paper's later line b_Υ < T would forbid a change in the
    last round; the definition wins.

    >>> breakpoints([[0.2, 0.8], [0.2, 0.8], [0.9, 0.8]])
    array([3])
    """
    return np.flatnonzero(_moves(as_means(means))) + 2


def variation(means: npt.ArrayLike) -> float:
    """V_T = Σ_t max_i |μ_{i,t+1} − μ_{i,t}|, the variation budget (Besbes et al. 2014)."""
    return float(_moves(as_means(means)).sum())


def lipschitz(means: npt.ArrayLike) -> float:
    """σ, the smallest number with |μ_{i,t} − μ_{i,t'}| ≤ σ |t − t'|: the largest move in one round."""
    return float(_moves(as_means(means)).max(initial=0.0))


def best_arms(means: npt.ArrayLike) -> Ints:
    """i*(t) for every round, 0-based arms, ties to the lowest index; shape (T,)."""
    matrix = as_means(means)
    arms = np.empty(len(matrix), dtype=np.intp)
    size = block_size(matrix.shape[1], BLOCK)
    for start in range(0, len(matrix), size):  # in blocks, because argmax copies a read-only array
        arms[start : start + size] = matrix[start : start + size].argmax(axis=1)
    return arms


def best_arm_switches(means: npt.ArrayLike) -> Ints:
    """Rounds t, 1-based, with i*(t) ≠ i*(t − 1).

    >>> best_arm_switches([[0.2, 0.8], [0.8, 0.8], [0.9, 0.8]])  # a tie goes to the lowest index
    array([2])
    """
    arms = best_arms(means)
    return np.flatnonzero(arms[1:] != arms[:-1]) + 2


def knowledge(means: npt.ArrayLike) -> Knowledge:
    """The facts that tuning formulas of the literature need about a world, from its means in one cheap pass.

    ``ns_mab_gym.theory.describe`` computes much more, but is slower.

    >>> knowledge([[0.2, 0.8], [0.2, 0.8], [0.9, 0.8]]).breakpoints
    1
    """
    matrix = as_means(means)
    moves = _moves(matrix)
    return Knowledge(
        horizon=len(matrix),
        n_arms=matrix.shape[1],
        breakpoints=int(np.count_nonzero(moves)),
        variation=float(moves.sum()),
        lipschitz=float(moves.max(initial=0.0)),
        switches=len(best_arm_switches(matrix)),
        means=matrix,
    )
