"""Sets of rounds and gaps: learnable rounds (Definitions 1, 2), phases (3 to 6), near-ties (Assumption 4).

The learnable set of a window and its gap rest on one observation. If i*(t)'s smallest mean in a window exceeds every
other arm's largest, then i*(t) is the only best arm in each of the window's rounds. So a round is learnable if and only
if its best arm has led through the whole window and the smallest leading mean exceeds the largest mean of a rival.
Three vectors of length T (`leaders`) decide everything: the K arms are looked at once, whatever the number of windows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive, positive_int
from ..agents.core.knowledge import suggested_window
from ..means import Floats, Ints, Leaders, Mask, as_means, blocks, breakpoints, leaders

X = TypeVar("X")
Windows = int | Sequence[int]
PAIRS = ("all", "best")  # of arms that may nearly tie
NOTHING: dict[np.ufunc, float] = {np.minimum: np.inf, np.maximum: -np.inf}  # the extremes of an empty window


def as_windows(window: int | Iterable[int], horizon: int) -> list[int]:
    """The given window or windows as a list of positive Python ints."""
    hint = f"the paper suggests 4*sqrt(T*ln T) = {suggested_window(horizon)}" if horizon > 1 else ""
    listed = isinstance(window, Iterable) and not isinstance(window, str | bytes) and getattr(window, "ndim", 1) != 0
    several: list[Any] = list(window) if listed else [window]  # type: ignore[arg-type]
    if not several:
        raise ValueError("window must be a positive integer or several of them, got an empty sequence")
    return [positive_int("window", each, hint=hint) for each in several]


def trailing(signal: Floats, extreme: np.ufunc, windows: Sequence[int]) -> Iterator[Floats]:
    """The extreme of the rounds t − τ, …, t − 1 for every round t, for each τ of ``windows``, in ascending order.

    Windows are clipped at round 1. The first entry belongs to the empty window: it is +∞ for ``np.minimum`` and
    −∞ for ``np.maximum``.
    """
    for ladder, more in _ladders(signal, extreme, windows):
        result = np.empty(len(signal))
        result[0], result[1:] = NOTHING[extreme], ladder
        if more > 0:
            extreme(ladder[more:], ladder[:-more], out=result[1 + more :])
        yield result


def trailing_at(signal: Floats, extreme: np.ufunc, windows: Sequence[int], places: Ints) -> Iterator[Floats]:
    """The entries of `trailing` at some places, 0-based, at little more than the cost of the doublings."""
    late = places[places > 0] - 1
    for ladder, more in _ladders(signal, extreme, windows):
        result = np.full(len(places), NOTHING[extreme])
        result[places > 0] = extreme(ladder[late], ladder[np.maximum(late - max(more, 0), 0)])
        yield result


def _ladders(signal: Floats, extreme: np.ufunc, windows: Sequence[int]) -> Iterator[tuple[Floats, int]]:
    """For each window, the extremes over the largest power of two of rounds in it, and how many rounds it is longer."""
    length, ladder = 1, signal[:-1].copy()  # ladder[s]: the extreme of the last ``length`` entries up to s
    for window in (min(window, len(ladder)) for window in windows):
        while 2 * length <= window:
            extreme(ladder[length:], ladder[:-length], out=ladder[length:])
            length *= 2
        yield ladder, window - length


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
    mask = np.array(margins_of(leaders(matrix), windows, lambda _, margin: margin == 0.0))
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
    smallest = np.array(margins_of(leaders(matrix), windows, lambda _, margin: smallest_positive(margin)))
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
    """The margins by which best arms stand out: min_i Δ_{i,t,τ} in learnable rounds, 0 in the others.

    Shape (T,). Infinite in round 1. Thresholds on it give the supersets of F′_τ that Definition 1 allows.
    """
    matrix = as_means(means)
    [margin] = margins_of(leaders(matrix), as_windows(window, len(matrix)), lambda _, margin: margin)
    return margin


def margins_of(lead: Leaders, windows: list[int], fact: Callable[[int, Floats], X]) -> list[X]:
    """The fact about each window and its (T,) margins, in the order of ``windows``, which may be any."""
    order = sorted(range(len(windows)), key=windows.__getitem__)
    ascending = [windows[place] for place in order]
    lows = trailing(lead.best, np.minimum, ascending)
    highs = trailing(lead.rival, np.maximum, ascending)
    seen = np.arange(len(lead.arm))  # rounds before t
    since = np.zeros_like(seen)
    since[1:] = np.where(lead.arm[1:] != lead.arm[:-1], seen[1:], 0)
    history = seen - np.maximum.accumulate(since)  # rounds just before t that i*(t) has led without interruption
    facts: dict[int, X] = {}
    for place, window, margin, high in zip(order, ascending, lows, highs, strict=True):
        margin -= high
        np.maximum(margin, 0.0, out=margin)
        margin[history < np.minimum(seen, window)] = 0.0
        facts[place] = fact(window, margin)
    return [facts[place] for place in range(len(windows))]


def smallest_positive(values: Floats) -> float:
    """The smallest of the values above 0; infinite if there are none."""
    return float(values.min(where=values > 0, initial=np.inf))


def phases(means: npt.ArrayLike, *, general: bool = False) -> list[range]:
    """The phases F_1, F_2, …: the stretches of rounds between breakpoints (Definition 4), as ranges.

    The paper sets b_{Υ+1} = T, which would leave round T outside the last phase although phases are to
    partition the horizon; here b_{Υ+1} = T + 1.

    Args:
        means: the (T, K) matrix of means.
        general: cut at the general breakpoints (Definition 6) instead of those of Definition 3.

    >>> phases([[0.2, 0.8], [0.2, 0.8], [0.9, 0.8]])
    [range(1, 3), range(3, 4)]
    """
    matrix = as_means(means)
    edges = [1, *_cuts(matrix, general).tolist(), len(matrix) + 1]
    return [range(first, after) for first, after in itertools.pairwise(edges)]


def pseudophases(means: npt.ArrayLike, window: int, *, general: bool = False) -> list[range]:
    """The pseudophases F*_{ψ,τ} (Definition 5): each phase, except the first, without its first τ rounds.

    A pseudophase is empty if its phase has at most τ rounds. In a pseudophase a window of τ rounds sees one phase only.
    """
    first, *later = phases(means, general=general)
    [tau] = as_windows(window, first.stop)
    return [first, *(range(min(phase.start + tau, phase.stop), phase.stop) for phase in later)]


def pseudophase_set(means: npt.ArrayLike, window: int, *, general: bool = False) -> Mask:
    """F*_τ, the union of the pseudophases, as a mask of length T."""
    matrix = as_means(means)
    [tau] = as_windows(window, len(matrix))
    return inside_pseudophases(_cuts(matrix, general), len(matrix), tau)


def inside_pseudophases(cuts: Ints, horizon: int, window: int) -> Mask:
    """The mask of F*_τ for given breakpoints."""
    latest = np.zeros(horizon, dtype=np.intp)  # the breakpoint at or before each round, 0 for none
    latest[cuts - 1] = cuts
    np.maximum.accumulate(latest, out=latest)
    mask: Mask = (latest == 0) | (np.arange(1, horizon + 1) - latest >= window)
    return mask


def general_breakpoints(means: npt.ArrayLike) -> Ints:
    """The fewest general breakpoints b_1 < b_2 < … (Definition 6), found by a sweep from left to right.

    Between two of them the best arm's smallest mean exceeds every other arm's largest. Each phase is made as
    long as possible, which gives the fewest breakpoints, because any part of a phase is itself admissible. As in
    `phases`, the last phase ends with round T.

    Raises:
        ValueError: if two arms share the best mean in some round, because no phase can contain that round.

    >>> general_breakpoints([[0.9, 0.5], [0.6, 0.4], [0.7, 0.3], [0.5, 0.4], [0.4, 0.8]])
    array([4, 5])
    """
    lead = leaders(means)
    tied = np.flatnonzero(lead.best == lead.rival)
    if len(tied):
        raise ValueError(
            f"no general breakpoints exist: Definition 6 wants one best arm strictly above the others, "
            f"but two share the best mean in {len(tied):,} rounds, the first of them round {tied[0] + 1:,}"
        )
    cuts: list[int] = []
    arm, low, high = -1, np.inf, -np.inf  # of the phase so far: the best arm, its smallest mean and the rivals' largest
    for t, (best_arm, best, rival) in enumerate(zip(*(each.tolist() for each in lead), strict=True), start=1):
        low, high = min(low, best), max(high, rival)
        if best_arm != arm or low <= high:
            cuts.append(t)
            arm, low, high = best_arm, best, rival
    return np.array(cuts[1:], dtype=np.intp)


def _cuts(matrix: Floats, general: bool) -> Ints:
    return general_breakpoints(matrix) if general else breakpoints(matrix)


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
    if choice("pairs", pairs, PAIRS) == "best":
        _, best, rival = leaders(matrix)
        closest = best - rival
    else:
        closest = np.empty(len(matrix))
        for rows, columns in blocks(matrix):
            np.diff(np.sort(columns, axis=0), axis=0).min(axis=0, out=closest[rows])
    return closest < positive("delta (Δ′)", delta, any_size=True)


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
    beta = 0.0
    if np.count_nonzero(counts) > 1:
        x, y = np.log(grid[counts > 0]), np.log(counts[counts > 0])
        x -= x.mean()
        beta = float(np.clip(x @ y / (x @ x), 0.0, 1.0))
    factor = float(np.max(grown / np.arange(1, horizon + 1) ** beta))
    return TieGrowth(F=factor, beta=beta, delta=float(delta), horizons=grid, counts=counts)
