"""The bounds of Theorems 1 to 6 on E[N_{i,T}], with unit constants: shapes to compare, not guarantees."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive
from ..means import as_means
from .bound_terms import DEFINITIONS, Terms, abrupt_terms, general_terms, smooth_terms
from .extremes import as_windows
from .learners import BERNOULLI, Learner, as_learner
from .text_tables import number, table

__all__ = ["SETTINGS", "Bound", "bound", "bounds"]

SETTINGS = ("general", "abrupt", "smooth")


@dataclass(frozen=True)
class Bound:
    """The terms of a bound on the expected pulls of one worse arm, all constants set to one.

    Attributes:
        agent: "beta-swts" or "gamma-swgts".
        setting: "general" (Theorems 1, 2), "abrupt" (3, 4) or "smooth" (5, 6).
        horizon: T.
        window: τ.
        gap: Δ_τ, or Δ′ − 2στ in the smooth setting; infinite if no round but the first is learnable.
        unlearnable: (A), the unlearnable rounds: |F_τ|, Υ_T τ or F T^β.
        learnable: (B), pulls in learnable rounds.
        forced: (C), forced plays; 0 for Beta-SWTS.
        breakpoints: Υ_T in the abrupt setting, else None.
        definition: the definition that Υ_T counts by, 3 or 6, in the abrupt setting, else None.
    """

    agent: str
    setting: str
    horizon: int
    window: int
    gap: float
    unlearnable: float
    learnable: float
    forced: float
    breakpoints: int | None = None
    definition: int | None = None

    @property
    def total(self) -> float:
        """(A) + (B) + (C)."""
        return self.unlearnable + self.learnable + self.forced

    @property
    def theorem(self) -> int:
        """The theorem's number, 1 to 6."""
        return 1 + 2 * SETTINGS.index(self.setting) + (self.agent == "gamma-swgts")

    def __str__(self) -> str:
        rows = [
            ("(A) unlearnable rounds", number(self.unlearnable)),
            ("(B) pulls in learnable rounds", number(self.learnable)),
            ("(C) forced plays", number(self.forced)),
            ("total", number(self.total)),
        ]
        cuts = "" if self.breakpoints is None else f", Υ_T = {self.breakpoints:,} (Definition {self.definition})"
        title = f"Theorem {self.theorem}, {self.agent}, τ = {self.window:,}, gap {number(self.gap)}{cuts}"
        return f"{title}\n{table(rows)}\nunit constants: a shape, not a guarantee{self._emptiness()}"

    def _emptiness(self) -> str:
        """A text that says why the bound says nothing; empty if it says something."""
        if self.definition == 3 and self.unlearnable >= self.horizon:
            return (
                f"; Definition 3 counts {self.breakpoints:,} breakpoints in T = {self.horizon:,} rounds, so (A) alone "
                "is not below T and the bound says nothing: such means are not piecewise constant over windows of τ"
            )
        if self.total >= self.horizon:
            return f"; above T = {self.horizon:,}, so it says nothing"
        return "; no round but the first is learnable, so it says nothing" if math.isinf(self.gap) else ""


def bound(
    means: npt.ArrayLike,
    window: int,
    agent: str = "beta-swts",
    *,
    setting: str = "general",
    gamma: float | None = None,
    subgaussian: float = BERNOULLI,
    delta: float | None = None,
    pairs: str = "all",
    breakpoints: str = "general",
) -> Bound:
    """The terms (A), (B), (C) of the paper's bound on E[N_{i,T}], with every constant set to one.

    The paper states orders of magnitude, O(…). These terms have the same shapes, good for comparing windows and worlds;
    they are no guarantee, and for τ = 1 the term (B) of Beta-SWTS vanishes with ln τ. It vanishes too if no round but
    the first, whose window is empty, is learnable: Δ_τ, the smallest of no numbers, is then infinite.

    Args:
        means: the (T, K) matrix of means.
        window: τ.
        agent: "beta-swts" or "gamma-swgts".
        setting: "general": |F_τ| and Δ_τ of Definitions 1 and 2. "abrupt": Υ_T τ, and Δ_τ over the pseudophases
            F*_τ. "smooth": F T^β and Δ′ − 2στ.
        gamma: γ of gamma-swgts, at most min{1/(4λ²), 1}, which is the default.
        subgaussian: λ of the rewards; ½ for Bernoulli.
        delta: Δ′, needed in the smooth setting. In the general setting, where *any* superset of F′_τ may
            stand for F_τ, rounds with a margin below it count as unlearnable too, so that Δ_τ ≥ delta.
        pairs: which near-ties count in the smooth setting; see `near_ties`.
        breakpoints: which breakpoints Υ_T and F*_τ take in the abrupt setting. "every": each round at which a mean
            changes (Definition 3), the piecewise-constant worlds for which Theorems 3 and 4 are stated.
            "general": the fewest general breakpoints (Definition 6), for which the paper says that the theorems
            hold too, and for which its proofs are written; the default, because they also exist where means move within
            phases, and because changes that leave the best arm clearly ahead do not count.

    Raises:
        AssumptionError: if an assumption of the theorem fails; the message names it.

    >>> print(bound([[0.9, 0.1]] * 50 + [[0.1, 0.9]] * 50, window=10))
    Theorem 1, beta-swts, τ = 10, gap 0.8
    (A) unlearnable rounds            10
    (B) pulls in learnable rounds  35.98
    (C) forced plays                   0
    total                          45.98
    unit constants: a shape, not a guarantee
    """
    several = bounds(
        means,
        [window],
        agent,
        setting=setting,
        gamma=gamma,
        subgaussian=subgaussian,
        delta=delta,
        pairs=pairs,
        breakpoints=breakpoints,
    )
    return several[0]


def bounds(
    means: npt.ArrayLike,
    windows: Iterable[int],
    agent: str = "beta-swts",
    *,
    setting: str = "general",
    gamma: float | None = None,
    subgaussian: float = BERNOULLI,
    delta: float | None = None,
    pairs: str = "all",
    breakpoints: str = "general",
) -> list[Bound]:
    """`bound` for many windows, in one pass over the means."""
    matrix = as_means(means)
    taus = as_windows(windows, len(matrix))
    learner = as_learner(agent, gamma, subgaussian, matrix)
    choice("setting", setting, SETTINGS)
    threshold = 0.0 if delta is None else positive("delta (Δ′)", delta, any_size=True)
    choice("breakpoints", breakpoints, DEFINITIONS)
    if setting == "smooth":
        terms = smooth_terms(matrix, taus, threshold, pairs)
    elif setting == "abrupt":
        terms = abrupt_terms(matrix, taus, breakpoints)
    else:
        terms = general_terms(matrix, taus, threshold)
    definition = DEFINITIONS[breakpoints] if setting == "abrupt" else None
    return [_assemble(learner, setting, len(matrix), term, definition) for term in terms]


def _assemble(learner: Learner, setting: str, horizon: int, terms: Terms, definition: int | None) -> Bound:
    """Terms (B) and (C) from the gap; (A) is given."""
    per_window = horizon / terms.window
    return Bound(
        agent=learner.name,
        setting=setting,
        horizon=horizon,
        window=terms.window,
        gap=terms.gap,
        unlearnable=float(terms.missed),
        learnable=per_window * float(learner.effort(terms.window, np.array(terms.gap))),
        forced=per_window * learner.forced,
        breakpoints=terms.breakpoints,
        definition=definition,
    )
