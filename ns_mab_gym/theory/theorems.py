"""The bounds of Theorems 1 to 6 on E[N_{i,T}], with unit constants: shapes to compare, not guarantees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive
from ..means import Floats, as_means, leaders, lipschitz
from .extremes import as_windows
from .learners import BERNOULLI, AssumptionError, Learner, as_learner
from .partitions import general_breakpoints, inside_pseudophases
from .sets import margins_of
from .text_tables import number, table
from .ties import tie_growth

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
        gap: Δ_τ, or Δ′ − 2στ in the smooth setting.
        unlearnable: (A), the unlearnable rounds: |F_τ|, Υ_T τ or F T^β.
        learnable: (B), pulls in learnable rounds.
        forced: (C), forced plays; 0 for Beta-SWTS.
    """

    agent: str
    setting: str
    horizon: int
    window: int
    gap: float
    unlearnable: float
    learnable: float
    forced: float

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
        note = f"; above T = {self.horizon:,}, so it says nothing" if self.total >= self.horizon else ""
        title = f"Theorem {self.theorem}, {self.agent}, τ = {self.window:,}, gap {self.gap:.4g}"
        return f"{title}\n{table(rows)}\nunit constants: a shape, not a guarantee{note}"


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
) -> Bound:
    """The terms (A), (B), (C) of the paper's bound on E[N_{i,T}], with every constant set to one.

    The paper states orders of magnitude, O(…). These terms have the same shapes, good for comparing windows and worlds;
    they are no guarantee, and for τ = 1 the term (B) of Beta-SWTS vanishes with ln τ.

    Args:
        means: the (T, K) matrix of means.
        window: τ.
        agent: "beta-swts" or "gamma-swgts".
        setting: "general": |F_τ| and Δ_τ of Definitions 1 and 2. "abrupt": Υ_T τ, with Υ_T the number of
            general breakpoints, and Δ_τ over the pseudophases F*_τ. "smooth": F T^β and Δ′ − 2στ.
        gamma: γ of gamma-swgts, at most min{1/(4λ²), 1}, which is the default.
        subgaussian: λ of the rewards; ½ for Bernoulli.
        delta: Δ′, needed in the smooth setting. In the general setting, where *any* superset of F′_τ may
            stand for F_τ, rounds with a margin below it count as unlearnable too, so that Δ_τ ≥ delta.
        pairs: which near-ties count in the smooth setting; see `near_ties`.

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
) -> list[Bound]:
    """`bound` for many windows, in one pass over the means."""
    matrix = as_means(means)
    taus = as_windows(list(windows), len(matrix))
    learner = as_learner(agent, gamma, subgaussian, matrix)
    choice("setting", setting, SETTINGS)
    threshold = 0.0 if delta is None else positive("delta (Δ′)", delta)
    if setting == "smooth":
        terms = _smooth(matrix, taus, threshold, pairs)
    elif setting == "abrupt":
        terms = _abrupt(matrix, taus)
    else:
        terms = _general(matrix, taus, threshold)
    return [_assemble(learner, setting, len(matrix), *term) for term in terms]


def _assemble(learner: Learner, setting: str, horizon: int, window: int, missed: float, gap: float) -> Bound:
    """Terms (B) and (C) from the gap; (A) is given."""
    return Bound(
        agent=learner.name,
        setting=setting,
        horizon=horizon,
        window=window,
        gap=gap,
        unlearnable=float(missed),
        learnable=horizon / window * float(learner.effort(window, np.array(gap))),
        forced=horizon / window * learner.forced,
    )


Terms = list[tuple[int, float, float]]  # for each window: τ, term (A), the gap


def _general(matrix: Floats, windows: list[int], delta: float) -> Terms:
    terms = {}
    for place, margin in margins_of(leaders(matrix), windows):
        learnable = (margin > 0) & (margin >= delta)
        missed = len(matrix) - int(np.count_nonzero(learnable))
        terms[place] = (windows[place], missed, float(margin.min(where=learnable, initial=np.inf)))
    return [terms[place] for place in range(len(windows))]


def _abrupt(matrix: Floats, windows: list[int]) -> Terms:
    try:
        cuts = general_breakpoints(matrix)
    except ValueError as error:
        raise AssumptionError(f"Theorems 3 and 4 want an abruptly changing world; {error}") from None
    terms = {}
    for place, margin in margins_of(leaders(matrix), windows):
        inside = inside_pseudophases(cuts, len(matrix), windows[place])
        smallest = float(margin.min(where=inside, initial=np.inf))
        terms[place] = (windows[place], len(cuts) * windows[place], smallest)
    return [terms[place] for place in range(len(windows))]


def _smooth(matrix: Floats, windows: list[int], delta: float, pairs: str) -> Terms:
    if not delta:
        raise ValueError("the smooth setting needs delta, the Δ′ of Assumption 4; it must exceed 2στ")
    sigma, longest = lipschitz(matrix), max(windows)
    if delta <= 2 * sigma * longest:
        raise AssumptionError(
            f"Assumption 4 wants Δ′ > 2στ; got Δ′ = {delta:g} and 2στ = {2 * sigma * longest:g} (σ = "
            f"{sigma:g}, τ = {longest:,}); take a larger delta or a window below {delta / (2 * sigma):,.6g}"
        )
    missed = tie_growth(matrix, delta, pairs=pairs)(len(matrix))
    return [(window, missed, delta - 2 * sigma * window) for window in windows]
