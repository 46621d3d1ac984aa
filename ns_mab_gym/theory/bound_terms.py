"""What the theorems take from the means: term (A) and the gap, for each window and setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..means import Floats, Ints, Leaders, breakpoints, leaders, lipschitz
from .learners import AssumptionError
from .partitions import general_breakpoints, inside_pseudophases
from .sets import margins_of
from .ties import tie_growth

__all__ = ["DEFINITIONS", "Terms", "abrupt_terms", "check_drift", "general_terms", "pseudophase_gaps", "smooth_terms"]

DEFINITIONS = {"general": 6, "every": 3}  # which breakpoints, and the definition that says so


class Terms(NamedTuple):
    """What the bound of one window is made of, besides the learner."""

    window: int
    missed: float  # term (A)
    gap: float  # infinite if no round but the first, whose window is empty, is left to learn in
    breakpoints: int | None = None  # Υ_T in the abrupt setting


def general_terms(matrix: Floats, windows: list[int], delta: float) -> list[Terms]:
    """|F_τ| and Δ_τ of Theorems 1 and 2; rounds with a margin below ``delta`` join F_τ."""
    terms = {}
    for place, margin in margins_of(leaders(matrix), windows):
        learnable = (margin > 0) & (margin >= delta)
        missed = len(matrix) - int(np.count_nonzero(learnable))
        terms[place] = Terms(windows[place], missed, float(margin.min(where=learnable, initial=np.inf)))
    return [terms[place] for place in range(len(windows))]


def abrupt_terms(matrix: Floats, windows: list[int], which: str) -> list[Terms]:
    """Υ_T τ and Δ_τ of Theorems 3 and 4, both by the same breakpoints: those of Definition 3 or of Definition 6."""
    cuts = _breakpoints(matrix, which)
    terms = {}
    for place, smallest in pseudophase_gaps(leaders(matrix), cuts, windows):
        if smallest == 0:
            raise AssumptionError(
                f"Theorems 3 and 4 want one best arm in every phase that reaches into F*_τ, or else Δ_τ = 0, but two "
                f"arms share the best mean of such a phase (τ = {windows[place]:,}); ask for setting='general', "
                f"which counts its rounds as unlearnable"
            )
        terms[place] = Terms(windows[place], len(cuts) * windows[place], smallest, len(cuts))
    return [terms[place] for place in range(len(windows))]


def _breakpoints(matrix: Floats, which: str) -> Ints:
    if which == "every":
        return breakpoints(matrix)
    try:
        return general_breakpoints(matrix)
    except ValueError as error:
        raise AssumptionError(f"Theorems 3 and 4 want an abruptly changing world; {error}") from None


def pseudophase_gaps(lead: Leaders, cuts: Ints, windows: list[int]) -> Iterator[tuple[int, float]]:
    """Δ_τ over the pseudophases F*_τ for each window, with its index; 0 if some round of them is unlearnable.

    Infinite if F*_τ holds no round but the first.
    """
    for place, margin in margins_of(lead, windows):
        inside = inside_pseudophases(cuts, len(margin), windows[place])
        yield place, float(margin.min(where=inside, initial=np.inf))


def smooth_terms(matrix: Floats, windows: list[int], delta: float, pairs: str) -> list[Terms]:
    """F T^β and Δ′ − 2στ of Theorems 5 and 6."""
    if not delta:
        raise ValueError("the smooth setting needs delta, the Δ′ of Assumption 4; it must exceed 2στ")
    sigma = lipschitz(matrix)
    check_drift(delta, sigma, max(windows))
    missed = tie_growth(matrix, delta, pairs=pairs)(len(matrix))
    return [Terms(window, missed, delta - 2 * sigma * window) for window in windows]


def check_drift(delta: float, sigma: float, window: int) -> None:
    """Raise an AssumptionError unless Δ′ > 2στ.

    Assumption 4 also wants 2στ > 0. Means that never move satisfy Assumption 3 with every σ > 0, so σ = 0 passes.
    """
    if delta <= 2 * sigma * window:
        raise AssumptionError(
            f"Assumption 4 wants Δ′ > 2στ; got Δ′ = {delta:g} and 2στ = {2 * sigma * window:g} (σ = "
            f"{sigma:g}, τ = {window:,}); take a larger delta or a window below {delta / (2 * sigma):,.6g}"
        )
