"""What the paper's regret orders are evaluated at: T, Υ_T, V_T, Δ_τ and the like, of a world or as given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import fraction, positive, positive_int
from ..agents.core.knowledge import Knowledge
from ..means import Floats, as_means, blocks, breakpoints, knowledge, leaders
from .bound_terms import check_drift, pseudophase_gaps
from .extremes import as_windows
from .learners import AssumptionError
from .ties import tie_growth

__all__ = ["SYMBOLS", "OrderFacts", "check_facts", "order_facts"]

# What each fact is called in the paper, for messages.
SYMBOLS = {
    "horizon": "T",
    "breakpoints": "Υ_T",
    "variation": "V_T",
    "gap": "Δ_τ",
    "window": "τ",
    "delta": "Δ′",
    "lipschitz": "σ",
    "tie_factor": "F",
    "tie_power": "β",
    "smallest_distance": "Δ",
}


@dataclass(frozen=True, kw_only=True)
class OrderFacts:
    """What the paper's regret orders depend on; None where unknown.

    Attributes:
        horizon: T.
        breakpoints: Υ_T by Definition 3, because the orders are compared in piecewise-constant worlds.
        variation: V_T.
        gap: Δ_τ over the pseudophases of these breakpoints: 0 if two arms share the best mean there, infinite if no
            pseudophase holds a round but the first.
        gap_window: the τ of that gap.
        window: τ of the smooth orders.
        delta: Δ′ of Assumption 4.
        lipschitz: σ.
        tie_factor: F of Assumption 4.
        tie_power: β of Assumption 4.
        smallest_distance: Δ, the smallest non-zero distance between a round's best mean and another arm's; infinite
            if all arms are always alike.
    """

    horizon: int
    breakpoints: int | None = None
    variation: float | None = None
    gap: float | None = None
    gap_window: int | None = None
    window: int | None = None
    delta: float | None = None
    lipschitz: float | None = None
    tie_factor: float | None = None
    tie_power: float | None = None
    smallest_distance: float | None = None

    def __post_init__(self) -> None:
        positive_int("horizon (T)", self.horizon)
        if self.breakpoints is not None:
            positive_int("breakpoints (Υ_T)", self.breakpoints, least=0)
        if self.window is not None:
            positive_int("window (τ)", self.window)
        if self.delta is not None:
            positive("delta (Δ′)", self.delta, any_size=True)
        if self.tie_power is not None:
            fraction("tie_power (β)", self.tie_power)
        for name in ("variation", "lipschitz", "tie_factor"):
            if getattr(self, name) is not None:
                positive(f"{name} ({SYMBOLS[name]})", getattr(self, name), allow_zero=True, any_size=True)


def order_facts(
    world: npt.ArrayLike | Knowledge, *, window: int | None = None, delta: float | None = None
) -> OrderFacts:
    """The facts of a world that the paper's regret orders depend on.

    Args:
        world: the (T, K) matrix of means, or what is known about it; without means, Δ_τ, F, β and Δ stay unknown.
        window: τ of the smooth orders and of the gap Δ_τ. If None, the smooth orders stay without a window, and the
            gap takes the window of the abrupt orders, τ = √(T ln T/Υ_T), rounded down, at least 1.
        delta: Δ′ of the smooth orders; None leaves them without it.

    Raises:
        AssumptionError: if a mean lies outside [0, 1]: the paper compares orders for Bernoulli rewards.
    """
    if isinstance(world, Knowledge) and world.means is None:
        [horizon] = world.need("an order of the regret", "horizon")
        known = world
    else:
        matrix = as_means(world.means if isinstance(world, Knowledge) else world)  # type: ignore[arg-type]
        _check_bernoulli(matrix)
        horizon, known = len(matrix), knowledge(matrix)
    tau = window if window is None else as_windows(window, horizon)[0]
    facts = {"breakpoints": known.breakpoints, "variation": known.variation, "lipschitz": known.lipschitz}
    if known.means is not None:
        facts |= _facts_of_means(known.means, tau or _abrupt_window(horizon, known.breakpoints or 0), delta)
    return OrderFacts(horizon=horizon, window=tau, delta=delta, **facts)  # type: ignore[arg-type]


def _check_bernoulli(matrix: Floats) -> None:
    if matrix.min() < 0 or matrix.max() > 1:
        raise AssumptionError(
            f"the paper compares the orders of the regret for Bernoulli rewards (Assumption 1), whose means lie in "
            f"[0, 1]; got {matrix.min():g} to {matrix.max():g}; rescale them"
        )


def _abrupt_window(horizon: int, changes: int) -> int:
    """τ = √(T ln T/Υ_T), the paper's proportionality with a unit constant; T without breakpoints."""
    return max(1, math.isqrt(int(horizon * math.log(horizon) / changes))) if changes else horizon


def _facts_of_means(matrix: Floats, window: int, delta: float | None) -> dict[str, float | None]:
    [(_, gap)] = pseudophase_gaps(leaders(matrix), breakpoints(matrix), [window])
    facts: dict[str, float | None] = {"gap": gap, "gap_window": window, "smallest_distance": _smallest_distance(matrix)}
    if delta is not None:
        growth = tie_growth(matrix, delta)
        facts |= {"tie_factor": growth.F, "tie_power": growth.beta}
    return facts


def _smallest_distance(matrix: Floats) -> float:
    smallest = np.inf
    for _, columns in blocks(matrix):
        behind = columns.max(axis=0) - columns
        smallest = min(smallest, float(behind.min(where=behind > 0, initial=np.inf)))
    return smallest


def check_facts(pieces: Mapping[str, Any]) -> None:
    """Raise an AssumptionError if a known fact is outside of what the paper's orders assume."""
    if "breakpoints" in pieces:
        _check_changes(pieces["breakpoints"], pieces["horizon"])
    if "gap" in pieces and not 0 < pieces["gap"] < math.inf:
        raise AssumptionError(
            f"the orders with 1/Δ_τ² want Δ_τ positive and finite; got {pieces['gap']:g}, which is 0 if two arms share "
            f"the best mean of a pseudophase, and infinite if no pseudophase holds a round but the first; try a "
            f"shorter window"
        )
    if "variation" in pieces and pieces["variation"] == 0:
        raise AssumptionError("the order in V_T is for V_T > 0; at V_T = 0 it would be 0, which bounds nothing")
    if "smallest_distance" in pieces and not 0 < pieces["smallest_distance"] < math.inf:
        raise AssumptionError("the order in Δ wants two arms that differ in some round; here all are always alike")
    if "delta" in pieces:
        check_drift(pieces["delta"], pieces["lipschitz"], pieces["window"])


def _check_changes(changes: int, horizon: int) -> None:
    """Raise an AssumptionError unless 1 ≤ Υ_T < T: the paper has Υ_T ∈ {1, …, T}, and round 1 is no breakpoint."""
    if not 1 <= changes < horizon:
        raise AssumptionError(
            f"the abrupt orders are for 1 ≤ Υ_T < T; got Υ_T = {changes:,} and T = {horizon:,}; at Υ_T = 0 they would "
            f"be 0, which bounds nothing: learning a world that never changes has a cost too"
        )
