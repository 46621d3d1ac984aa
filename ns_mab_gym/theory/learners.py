"""The two learners of the theorems: what they assume, and what a learnable round costs them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..agents.core.arguments import choice, positive
from ..means import Floats

__all__ = ["BERNOULLI", "LEARNERS", "AssumptionError", "Learner", "as_learner"]

LEARNERS = ("beta-swts", "gamma-swgts")
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
            pulls = np.where(finite, self._log(window, gap) / gap / gap, 0.0)
            return pulls / (self.gamma or 1.0)

    def _log(self, window: int, gap: Floats) -> Floats:
        """ln τ, or ln(τΔ² + e⁶)."""
        if self.gamma is None:
            return np.full_like(gap, math.log(window))
        return np.logaddexp(math.log(window) + 2 * np.log(gap), 6.0)

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
        _check_bernoulli(means)
        return Learner(name, None)
    largest = min(1 / (4 * positive("subgaussian (λ)", subgaussian) ** 2), 1.0)
    given = largest if gamma is None else positive("gamma", gamma)
    if given > largest:
        raise AssumptionError(
            f"Theorems 2, 4 and 6 assume γ ≤ min{{1/(4λ²), 1}} = {largest:g} for λ = {subgaussian:g}; "
            f"got gamma={given:g}; lower it, or leave it out to take the largest allowed"
        )
    return Learner(name, given)


def _check_bernoulli(means: Floats) -> None:
    if means.min() < 0 or means.max() > 1:
        raise AssumptionError(
            f"Theorems 1, 3 and 5 (beta-swts) rest on Assumption 1, Bernoulli rewards, so means must lie "
            f"in [0, 1]; got {means.min():g} to {means.max():g}; rescale them, or ask for agent='gamma-swgts'"
        )
