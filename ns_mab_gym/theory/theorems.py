"""The bounds of Theorems 1 to 6 on E[N_{i,T}], with unit constants: shapes to compare, not guarantees."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive
from ..means import Floats, Ints, Leaders, as_means, leaders, lipschitz
from ..means import breakpoints as every_breakpoint
from .sets import as_windows, general_breakpoints, inside_pseudophases, margins_of, tie_growth
from .text_tables import number, table

LEARNERS = ("beta-swts", "gamma-swgts")
SETTINGS = ("general", "abrupt", "smooth")
DEFINITIONS = {"general": 6, "every": 3}  # the definition of the breakpoints
BERNOULLI = 0.5  # λ: Bernoulli rewards are ¼-subgaussian


class AssumptionError(ValueError):
    """A theorem's assumption does not hold; the message names it."""


@dataclass(frozen=True)
class Learner:
    """A learner as the theorems see it: Beta-SWTS if ``gamma`` is None, else γ-SWGTS."""

    name: str
    gamma: float | None

    def effort(self, window: int, gap: Floats) -> Floats:
        """The number of pulls of a worse arm in every τ learnable rounds, with unit constants: term (B) times τ/T.

        ln τ / Δ² for Beta-SWTS, ln(τΔ² + e⁶) / (γΔ²) for γ-SWGTS; 0 for an infinite gap, which means that there is
        no learnable round to pull in. The gap is positive. Δ² is never formed, because it may underflow or
        overflow and give 0/0 or ∞/∞ where the number of pulls is 0.
        """
        finite = np.isfinite(gap)
        gap = np.where(finite, gap, 1.0)
        with np.errstate(over="ignore"):  # a tiny gap may give an infinite number of pulls
            if self.gamma is None:
                return np.where(finite, math.log(window) / gap / gap, 0.0)
            logarithm = np.logaddexp(math.log(window) + 2 * np.log(gap), 6.0)
            return np.where(finite, logarithm / gap / gap, 0.0) / self.gamma

    @property
    def forced(self) -> float:
        """The number of forced plays of an arm in every τ rounds: term (C) times τ/T."""
        return 0.0 if self.gamma is None else 1.0


def as_learner(agent: str, gamma: float | None, subgaussian: float, means: Floats) -> Learner:
    """The named learner, if the means and γ satisfy what its theorems assume."""
    name = choice("agent of the theorems", agent, LEARNERS)
    if name == "beta-swts":
        if gamma is not None:
            raise ValueError(f"gamma is a parameter of gamma-swgts, not of beta-swts; got gamma={gamma}")
        if means.min() < 0 or means.max() > 1:
            raise AssumptionError(
                f"Theorems 1, 3 and 5 (beta-swts) rest on Assumption 1, Bernoulli rewards, so means must lie "
                f"in [0, 1]; got {means.min():g} to {means.max():g}; rescale them, or ask for agent='gamma-swgts'"
            )
        return Learner(name, None)
    largest = min(1 / (4 * positive("subgaussian (λ)", subgaussian) ** 2), 1.0)
    given = largest if gamma is None else positive("gamma", gamma)
    if given > largest:
        raise AssumptionError(
            f"Theorems 2, 4 and 6 assume γ ≤ min{{1/(4λ²), 1}} = {largest:g} for λ = {subgaussian:g}; "
            f"got gamma={given:g}; lower it, or leave it out to take the largest allowed"
        )
    return Learner(name, given)


Terms = tuple[float, float]  # (A) and the gap, which is infinite if no round but the first is left to learn in


def general_terms(matrix: Floats, windows: list[int], delta: float) -> list[Terms]:
    """|F_τ| and Δ_τ of Theorems 1 and 2; rounds with a margin below ``delta`` join F_τ."""

    def terms(window: int, margin: Floats) -> Terms:
        learnable = (margin > 0) & (margin >= delta)
        missed = len(matrix) - int(np.count_nonzero(learnable))
        return missed, float(margin.min(where=learnable, initial=np.inf))

    return margins_of(leaders(matrix), windows, terms)


def abrupt_terms(matrix: Floats, windows: list[int], cuts: Ints) -> list[Terms]:
    """Υ_T τ and Δ_τ of Theorems 3 and 4, both by the same breakpoints: those of Definition 3 or of Definition 6."""
    gaps = pseudophase_gaps(leaders(matrix), cuts, windows)
    if 0 in gaps:
        raise AssumptionError(
            f"Theorems 3 and 4 want one best arm in every phase that reaches into F*_τ, or else Δ_τ = 0, but two "
            f"arms share the best mean of such a phase (τ = {windows[gaps.index(0)]:,}); ask for setting='general', "
            f"which counts its rounds as unlearnable"
        )
    return [(len(cuts) * window, gap) for window, gap in zip(windows, gaps, strict=True)]


def pseudophase_gaps(lead: Leaders, cuts: Ints, windows: list[int]) -> list[float]:
    """Δ_τ over the pseudophases F*_τ of each window; 0 if some round of them is unlearnable.

    Infinite if F*_τ holds no round but the first.
    """

    def smallest(window: int, margin: Floats) -> float:
        return float(margin.min(where=inside_pseudophases(cuts, len(margin), window), initial=np.inf))

    return margins_of(lead, windows, smallest)


def smooth_terms(matrix: Floats, windows: list[int], delta: float, pairs: str) -> list[Terms]:
    """F T^β and Δ′ − 2στ of Theorems 5 and 6."""
    if not delta:
        raise ValueError("the smooth setting needs delta, the Δ′ of Assumption 4; it must exceed 2στ")
    sigma = lipschitz(matrix)
    check_drift(delta, sigma, max(windows))
    missed = tie_growth(matrix, delta, pairs=pairs)(len(matrix))
    return [(missed, delta - 2 * sigma * window) for window in windows]


def check_drift(delta: float, sigma: float, window: int) -> None:
    """Raise an AssumptionError unless Δ′ > 2στ.

    Assumption 4 also wants 2στ > 0. Means that never move satisfy Assumption 3 with every σ > 0, so σ = 0 passes.
    """
    if delta <= 2 * sigma * window:
        raise AssumptionError(
            f"Assumption 4 wants Δ′ > 2στ; got Δ′ = {delta:g} and 2στ = {2 * sigma * window:g} (σ = "
            f"{sigma:g}, τ = {window:,}); take a larger delta or a window below {delta / (2 * sigma):,.6g}"
        )


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
        text = f"{title}\n{table(rows)}\nunit constants: a shape, not a guarantee"
        if self.definition == 3 and self.unlearnable >= self.horizon:
            return (
                f"{text}; Definition 3 counts {self.breakpoints:,} breakpoints in T = {self.horizon:,} rounds, so (A) "
                "alone is not below T and the bound does not help: such means are not piecewise constant over windows "
                "of τ"
            )
        if self.total >= self.horizon:
            return f"{text}; above T = {self.horizon:,}, which is true of every agent: it does not help"
        return f"{text}; no round but the first is learnable: it does not help" if math.isinf(self.gap) else text


def bound(means: npt.ArrayLike, window: int, agent: str = "beta-swts", **options: Any) -> Bound:
    """The terms of the paper's bound for one window; the options are those of `bounds`.

    >>> print(bound([[0.9, 0.1]] * 50 + [[0.1, 0.9]] * 50, window=10))
    Theorem 1, beta-swts, τ = 10, gap 0.8
    (A) unlearnable rounds            10
    (B) pulls in learnable rounds  35.98
    (C) forced plays                   0
    total                          45.98
    unit constants: a shape, not a guarantee
    """
    return bounds(means, [window], agent, **options)[0]


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
    """The terms (A), (B), (C) of the paper's bound on E[N_{i,T}], with every constant set to one, for each window.

    The paper states orders of magnitude, O(…). These terms have the same shapes, good for comparing windows and worlds;
    they are no guarantee. The proofs take τ ≥ e: for τ = 1 the term (B) of Beta-SWTS vanishes with ln τ. It does too
    if no round but the first, whose window is empty, is learnable: Δ_τ, the smallest of no numbers, is then infinite.

    Args:
        means: the (T, K) matrix of means.
        windows: each a τ.
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
    """
    matrix = as_means(means)
    taus = as_windows(windows, len(matrix))
    learner = as_learner(agent, gamma, subgaussian, matrix)
    choice("setting", setting, SETTINGS)
    threshold = 0.0 if delta is None else positive("delta (Δ′)", delta, any_size=True)
    choice("breakpoints", breakpoints, DEFINITIONS)
    cuts: Ints | None = None
    if setting == "smooth":
        terms = smooth_terms(matrix, taus, threshold, pairs)
    elif setting == "abrupt":
        try:
            cuts = general_breakpoints(matrix) if breakpoints == "general" else every_breakpoint(matrix)
        except ValueError as error:
            raise AssumptionError(f"Theorems 3 and 4 want an abruptly changing world; {error}") from None
        terms = abrupt_terms(matrix, taus, cuts)
    else:
        terms = general_terms(matrix, taus, threshold)
    return [
        Bound(
            agent=learner.name,
            setting=setting,
            horizon=len(matrix),
            window=window,
            gap=gap,
            unlearnable=float(missed),
            learnable=len(matrix) / window * float(learner.effort(window, np.array(gap))),
            forced=len(matrix) / window * learner.forced,
            breakpoints=None if cuts is None else len(cuts),
            definition=None if cuts is None else DEFINITIONS[breakpoints],
        )
        for window, (missed, gap) in zip(taus, terms, strict=True)
    ]
