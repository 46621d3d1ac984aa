"""The orders of the regret that the paper states, its own and those of other algorithms, as a table of data.

They come from its sections "Related works", "Regret Analysis for Abruptly Changing Environments" (after Theorem 4)
and "Regret Analysis for Smoothly Changing Environments" (after Theorem 6). An order hides a constant; these functions
set it to one, so that their values are shapes, not guarantees, and a smaller value does not mean a better algorithm.
Where the paper states an order twice, both statements are rows, and notes say how they differ. Its log and ln
are both the natural logarithm. The bounds on pulls, Theorems 1 to 6, are in `ns_mab_gym.theory.theorems`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log, sqrt

from ..agents.core.knowledge import MissingKnowledgeError
from .order_inputs import SYMBOLS, OrderFacts, check_facts

__all__ = ["REGRET_ORDERS", "RegretOrder"]


@dataclass(frozen=True)
class RegretOrder:
    """One order of the regret, as one place of the paper states it.

    Attributes:
        algorithms: the algorithms that the statement is about, by the paper's names.
        setting: "abrupt" (piecewise-constant), "smooth", or "variation" (any world of known V_T).
        order: the order as the paper prints it.
        where: the section that states it.
        needs: the facts that it depends on, names of `OrderFacts`.
        notes: what the paper assumes, and how this statement differs from another one.
    """

    algorithms: tuple[str, ...]
    setting: str
    order: str
    where: str
    needs: tuple[str, ...]
    shape: Callable[..., float] = field(repr=False)
    notes: tuple[str, ...] = ()

    def value(self, facts: OrderFacts) -> float:
        """The order with a unit constant, at these facts.

        Raises:
            MissingKnowledgeError: if a fact is unknown.
            AssumptionError: if a fact is outside of what the paper assumes.
        """
        pieces = {name: getattr(facts, name) for name in self.needs}
        missing = [f"{name} ({SYMBOLS[name]})" for name, piece in pieces.items() if piece is None]
        if missing:
            raise MissingKnowledgeError(
                f"the order needs {', '.join(missing)}, unknown here; give the matrix of means, and window= and delta= "
                f"for the smooth orders"
            )
        check_facts(pieces)
        return self.shape(*pieces.values())


def _discounted(horizon: int, changes: int) -> float:
    return sqrt(changes * horizon) * log(horizon)


def _windowed(horizon: int, changes: int, gap: float = 1.0) -> float:
    return sqrt(changes * horizon * log(horizon)) / gap / gap


def _detected(horizon: int, changes: int, gap: float = 1.0) -> float:
    return sqrt(changes * horizon * log(horizon / changes)) / gap / gap


def _varying(horizon: int, variation: float) -> float:
    return float(variation ** (1 / 3) * horizon ** (2 / 3))


def _drifting(horizon: int, window: int, delta: float, sigma: float, factor: float, power: float) -> float:
    return float(delta * factor * horizon**power) + _learnt(horizon, window, delta - 2 * sigma * window)


def _learnt(horizon: int, window: int, gap: float) -> float:
    return horizon / window * log(window) / gap / gap


RELATED, ABRUPT, SMOOTH = "related works", "abrupt section", "smooth section"
OURS = ("Beta-SWTS", "γ-SWGTS")
CHANGES = ("horizon", "breakpoints")
WITH_GAP = (*CHANGES, "gap")
DRIFT = ("horizon", "window", "delta", "lipschitz", "tie_factor", "tie_power")

CONSTANT = "Δ_τ is taken as constant in T: from one world that cannot be checked."
FACTOR = (
    "Stated twice: with the factor 1/Δ_τ² in the abrupt section, without it among the related works. As Δ_τ is taken "
    "as constant in T, the two agree in T and Υ_T; their values do not."
)
WINDOWLESS = "Such an algorithm has no window τ, and yet the paper writes its gap as Δ_τ."
UNCOMPARED = "Stated without a gap, and only here: not on one scale with the orders that carry 1/Δ_τ²."
TUNED = "At τ ∝ √(T ln(T)/Υ_T); the paper neglects γ."
KNOWN = "For means in [0, 1] and a learner who knows V_T."
OPEN = "The paper does not give H(Δ, T), which depends on the world; the value is that of the second term alone."
GAPS = (
    "Stated twice: the related works print SW-KL-UCB's gap as Δ, the smallest non-zero distance to the best arm, and "
    "leave H(Δ, T) open; the smooth section says that its own order, with Δ′ F T^β and the gap Δ′ − 2στ, matches it."
)
CHARGED = (
    "Near-ties are charged Δ′ per round, although Assumption 4 counts those of any two arms, and a pull of a third arm "
    "may then cost more than Δ′."
)
DROPPED = "For γ-SWGTS, the factor 1/γ, the e⁶ in the logarithm and the term T/τ of Theorem 6 are left out."

REGRET_ORDERS = (
    RegretOrder(
        ("Discounted-TS", "DUCB"), "abrupt", "O(√(Υ_T T) log(T))", RELATED, CHANGES, _discounted, (UNCOMPARED,)
    ),
    RegretOrder(("SW-UCB",), "abrupt", "O(√(Υ_T T log(T)))", RELATED, CHANGES, _windowed, (FACTOR,)),
    RegretOrder(("CUSUM-UCB", "BR-MAB"), "abrupt", "O(√(Υ_T T log(T/Υ_T)))", RELATED, CHANGES, _detected, (FACTOR,)),
    RegretOrder(("GLR-klUCB",), "abrupt", "O(√(Υ_T T log(T)))", RELATED, CHANGES, _windowed, (FACTOR,)),
    RegretOrder(
        ("RExp3",), "variation", "O(V_T^(1/3) T^(2/3))", RELATED, ("horizon", "variation"), _varying, (KNOWN,)
    ),
    RegretOrder(
        ("SW-KL-UCB",), "smooth", "O(H(Δ, T) + T log(τ)/(Δ² τ))", RELATED, ("horizon", "window", "smallest_distance"),
        _learnt, (OPEN, GAPS)
    ),
    RegretOrder(OURS, "abrupt", "O(1/Δ_τ² √(Υ_T T ln(T)))", ABRUPT, WITH_GAP, _windowed, (TUNED, CONSTANT)),
    RegretOrder(("SW-UCB",), "abrupt", "O(1/Δ_τ² √(Υ_T T ln(T)))", ABRUPT, WITH_GAP, _windowed, (CONSTANT, FACTOR)),
    RegretOrder(
        ("GLR-klUCB",), "abrupt", "O(1/Δ_τ² √(Υ_T T ln(T)))", ABRUPT, WITH_GAP, _windowed,
        (CONSTANT, FACTOR, WINDOWLESS)
    ),
    RegretOrder(
        ("CUSUM-UCB", "BR-MAB"), "abrupt", "O(1/Δ_τ² √(Υ_T T ln(T/Υ_T)))", ABRUPT, WITH_GAP, _detected,
        (CONSTANT, FACTOR, WINDOWLESS)
    ),
    RegretOrder(
        OURS, "smooth", "O(Δ′ F T^β + T ln(τ)/((Δ′ − 2στ)² τ))", SMOOTH, DRIFT, _drifting, (CHARGED, DROPPED)
    ),
    RegretOrder(
        ("SW-KL-UCB",), "smooth", "O(Δ′ F T^β + T ln(τ)/((Δ′ − 2στ)² τ))", SMOOTH, DRIFT, _drifting, (CHARGED, GAPS)
    ),
)  # fmt: skip
