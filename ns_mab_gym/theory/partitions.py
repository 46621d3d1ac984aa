"""Phases, pseudophases and general breakpoints (Definitions 3 to 6)."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from ..means import Floats, Ints, Leaders, Mask, as_means, breakpoints, leaders
from .extremes import as_windows

__all__ = ["general_breakpoints", "general_breakpoints_of", "phases", "pseudophase_set", "pseudophases"]


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
    return general_breakpoints_of(lead)


def general_breakpoints_of(lead: Leaders) -> Ints:
    """The sweep of `general_breakpoints`, for means without ties.

    The best arm must not change within a phase, so every change of it is a breakpoint; only runs of one best
    arm in which some leading mean is at most some rival's mean need to be searched.
    """
    starts = np.concatenate(([0], np.flatnonzero(lead.arm[1:] != lead.arm[:-1]) + 1))
    lowest, highest = np.minimum.reduceat(lead.best, starts), np.maximum.reduceat(lead.rival, starts)
    stops = np.append(starts[1:], len(lead.arm))
    cuts = [starts]
    for run in np.flatnonzero(lowest <= highest):
        inside = slice(starts[run], stops[run])
        cuts.append(starts[run] + _sweep(lead.best[inside], lead.rival[inside]))
    return np.sort(np.concatenate(cuts))[1:] + 1


def _sweep(best: Floats, rival: Floats) -> Ints:
    """The places, 0-based, at which a phase must end because min(best) > max(rival) would fail."""
    cuts = []
    low, high = np.inf, -np.inf
    for place, (lead, other) in enumerate(zip(best.tolist(), rival.tolist(), strict=True)):
        low, high = min(low, lead), max(high, other)
        if low <= high:
            cuts.append(place)
            low, high = lead, other
    return np.array(cuts, dtype=np.intp)


def _cuts(matrix: Floats, general: bool) -> Ints:
    return general_breakpoints(matrix) if general else breakpoints(matrix)
