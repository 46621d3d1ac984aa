"""The learnable and unlearnable set of a window, and the gap a windowed learner faces (Definitions 1 and 2).

Both rest on one observation. If i*(t)'s smallest mean in a window exceeds every other arm's largest, then
i*(t) is the only best arm in each of the window's rounds. So a round is learnable if and only if its best
arm has led through the whole window and the smallest leading mean exceeds the largest mean of a rival. Three
vectors of length T (`leaders`) decide everything: the K arms are looked at once, whatever the number of
windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from ..means import Floats, Ints, Leaders, Mask, as_means, leaders
from .extremes import Windows, as_windows, trailing

__all__ = ["gap", "gaps", "learnable_set", "margins", "margins_of", "unlearnable_set"]


def unlearnable_set(means: npt.ArrayLike, window: Windows) -> Mask:
    """F′_τ: rounds whose best arm did not stand out in the last τ rounds (Definition 1).

    Round t is unlearnable if an arm i ≠ i*(t) has max μ_i ≥ min μ_{i*(t)} over rounds t − τ, …, t − 1,
    clipped at round 1. The window of round 1 is empty, and so round 1 is learnable. The paper calls *any*
    superset of F′_τ an unlearnable set; this is the smallest.

    In the paper, F_τ of a piecewise-constant world is the union of the τ rounds from each breakpoint on. By
    the definition this holds if every breakpoint changes the best arm and no phase has two best arms: a
    breakpoint that keeps the best arm need not cost a round, and a phase with a tie is unlearnable throughout.
    The definition wins here; the paper's union is the complement of `pseudophase_set`.

    Args:
        means: the (T, K) matrix of means.
        window: τ, or a sequence of W of them.

    Returns:
        A mask of shape (T,), or (W, T) for a sequence; entry ``t - 1`` stands for round t.

    >>> unlearnable_set([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8]], window=1)
    array([False, False,  True, False, False])
    """
    matrix = as_means(means)
    windows = as_windows(window, len(matrix))
    mask = np.empty((len(windows), len(matrix)), dtype=np.bool_)
    for row, margin in margins_of(leaders(matrix), windows):
        np.equal(margin, 0.0, out=mask[row])
    return mask[0] if np.ndim(window) == 0 else mask


def learnable_set(means: npt.ArrayLike, window: Windows) -> Mask:
    """The complement of `unlearnable_set`: rounds whose best arm stood out in all of the last τ rounds."""
    return ~unlearnable_set(means, window)


@overload
def gap(means: npt.ArrayLike, window: int) -> float: ...
@overload
def gap(means: npt.ArrayLike, window: Sequence[int]) -> Floats: ...
def gap(means: npt.ArrayLike, window: Windows) -> float | Floats:
    """Δ_τ, the smallest margin of a learnable round (Definition 2); shape (W,) for a sequence of windows.

    Infinite if no round except the first, whose window is empty, is learnable.
    """
    matrix = as_means(means)
    windows = as_windows(window, len(matrix))
    smallest = np.empty(len(windows))
    for row, margin in margins_of(leaders(matrix), windows):
        smallest[row] = margin.min(where=margin > 0, initial=np.inf)
    return float(smallest[0]) if np.ndim(window) == 0 else smallest


def gaps(means: npt.ArrayLike, window: int) -> Floats:
    """Δ_{i,t,τ} = min μ_{i*(t)} − max μ_i, both over rounds t − τ, …, t − 1, for every arm and round.

    Positive for all i in learnable rounds, at most 0 for some i in the others. Infinite for i = i*(t), which
    has no gap to itself, and in round 1, whose window is empty. Shape (T, K).
    """
    matrix = as_means(means)
    windows = as_windows(window, len(matrix))
    best: Ints = matrix.argmax(axis=1)
    lowest, result = np.full(len(matrix), np.inf), np.empty_like(matrix, order="F")
    for arm, mean in enumerate(np.ascontiguousarray(column) for column in matrix.T):
        result[:, arm] = next(trailing(mean, np.maximum, windows))
        np.copyto(lowest, next(trailing(mean, np.minimum, windows)), where=best == arm)
    np.subtract(lowest[:, None], result, out=result)
    result[np.arange(len(matrix)), best] = np.inf
    return result


def margins(means: npt.ArrayLike, window: int) -> Floats:
    """How clearly each round's best arm stands out: min_i Δ_{i,t,τ} in learnable rounds, 0 in the others.

    Shape (T,). Infinite in round 1. Thresholds on it give the supersets of F′_τ that Definition 1 allows.
    """
    matrix = as_means(means)
    [(_, margin)] = margins_of(leaders(matrix), as_windows(window, len(matrix)))
    return margin


def margins_of(lead: Leaders, windows: list[int]) -> Iterator[tuple[int, Floats]]:
    """The margins of each window, with its index in ``windows``, in ascending order of the windows."""
    order = sorted(range(len(windows)), key=windows.__getitem__)
    ascending = [windows[place] for place in order]
    history = _history(lead.arm)
    lows = trailing(lead.best, np.minimum, ascending)
    highs = trailing(lead.rival, np.maximum, ascending)
    seen = np.arange(len(lead.arm))  # rounds before t
    for place, window, margin, high in zip(order, ascending, lows, highs, strict=True):
        margin -= high
        np.maximum(margin, 0.0, out=margin)
        margin[history < np.minimum(seen, window)] = 0.0
        yield place, margin


def _history(arm: Ints) -> Ints:
    """For every round t, the number of rounds just before it that i*(t) has led without interruption."""
    rounds = np.arange(len(arm))
    since = np.zeros_like(rounds)
    since[1:] = np.where(arm[1:] != arm[:-1], rounds[1:], 0)
    history: Ints = rounds - np.maximum.accumulate(since)
    return history
