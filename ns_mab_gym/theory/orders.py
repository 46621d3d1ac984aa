"""The orders of the regret that the paper states, its own and those of other algorithms, as a table of data.

They come from its sections "Related works", "Regret Analysis for Abruptly Changing Environments" (after Theorem 4)
and "Regret Analysis for Smoothly Changing Environments" (after Theorem 6). An order hides a constant; these functions
set it to one, so that their values are shapes, not guarantees, and a smaller value does not mean a better algorithm.
Where the paper states an order twice, both statements are rows, and notes say how they differ. Its log and ln
are both the natural logarithm. The bounds on pulls, Theorems 1 to 6, are in `ns_mab_gym.theory.theorems`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any

import numpy.typing as npt

from ..agents.core.arguments import fraction, positive, positive_int
from ..agents.core.knowledge import Knowledge, MissingKnowledgeError
from ..means import as_means, blocks, breakpoints, knowledge, leaders
from .sets import as_windows, smallest_positive, tie_growth
from .text_tables import number, table
from .theorems import AssumptionError, check_drift, pseudophase_gaps

# The paper's symbols of the facts, for messages.
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
class OrderFacts(Knowledge):
    """The facts that the paper's regret orders depend on; None where unknown.

    Its ``breakpoints`` are Υ_T by Definition 3, because the orders are compared in piecewise-constant worlds.

    Attributes:
        horizon: T.
        gap: Δ_τ over the pseudophases of these breakpoints: 0 if two arms share the best mean there, infinite if no
            pseudophase holds a round but the first.
        gap_window: the τ of that gap.
        window: τ of the smooth orders.
        delta: Δ′ of Assumption 4.
        tie_factor: F of Assumption 4.
        tie_power: β of Assumption 4.
        smallest_distance: Δ, the smallest non-zero distance between a round's best mean and another arm's; infinite
            if all arms are always alike.
    """

    horizon: int
    gap: float | None = None
    gap_window: int | None = None
    window: int | None = None
    delta: float | None = None
    tie_factor: float | None = None
    tie_power: float | None = None
    smallest_distance: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window is not None:
            positive_int("window (τ)", self.window)
        if self.delta is not None:
            positive("delta (Δ′)", self.delta, any_size=True)
        if self.tie_factor is not None:
            positive("tie_factor (F)", self.tie_factor, allow_zero=True, any_size=True)
        if self.tie_power is not None:
            fraction("tie_power (β)", self.tie_power)


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
        if matrix.min() < 0 or matrix.max() > 1:
            raise AssumptionError(
                f"the paper compares the orders of the regret for Bernoulli rewards (Assumption 1), whose means lie in "
                f"[0, 1]; got {matrix.min():g} to {matrix.max():g}; rescale them"
            )
        horizon, known = len(matrix), knowledge(matrix)
    tau = window if window is None else as_windows(window, horizon)[0]
    facts: dict[str, Any] = {name: getattr(known, name) for name in ("breakpoints", "variation", "lipschitz")}
    if known.means is not None:
        means, changes = known.means, known.breakpoints or 0
        suggested = max(1, math.isqrt(int(horizon * math.log(horizon) / changes))) if changes else horizon
        [gap] = pseudophase_gaps(leaders(means), breakpoints(means), [tau or suggested])
        smallest = min(smallest_positive(columns.max(axis=0) - columns) for _, columns in blocks(means))
        facts |= {"gap": gap, "gap_window": tau or suggested, "smallest_distance": smallest}
        if delta is not None:
            growth = tie_growth(means, delta)
            facts |= {"tie_factor": growth.F, "tie_power": growth.beta}
    return OrderFacts(horizon=horizon, window=tau, delta=delta, **facts)


def check_facts(pieces: Mapping[str, Any]) -> None:
    """Raise an AssumptionError if a known fact is outside of what the paper's orders assume."""
    changes, horizon = pieces.get("breakpoints", 1), pieces["horizon"]
    if "breakpoints" in pieces and not 1 <= changes < horizon:
        raise AssumptionError(  # the paper has Υ_T ∈ {1, …, T}, and round 1 is no breakpoint
            f"the abrupt orders are for 1 ≤ Υ_T < T; got Υ_T = {changes:,} and T = {horizon:,}; at Υ_T = 0 they would "
            f"be 0, which bounds nothing: learning a world that never changes has a cost too"
        )
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


def _windowed(horizon: int, changes: int, gap: float = 1.0) -> float:
    return sqrt(changes * horizon * log(horizon)) / gap / gap


def _detected(horizon: int, changes: int, gap: float = 1.0) -> float:
    return sqrt(changes * horizon * log(horizon / changes)) / gap / gap


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
        ("Discounted-TS", "DUCB"), "abrupt", "O(√(Υ_T T) log(T))", RELATED, CHANGES,
        lambda horizon, changes: sqrt(changes * horizon) * log(horizon), (UNCOMPARED,)
    ),
    RegretOrder(("SW-UCB",), "abrupt", "O(√(Υ_T T log(T)))", RELATED, CHANGES, _windowed, (FACTOR,)),
    RegretOrder(("CUSUM-UCB", "BR-MAB"), "abrupt", "O(√(Υ_T T log(T/Υ_T)))", RELATED, CHANGES, _detected, (FACTOR,)),
    RegretOrder(("GLR-klUCB",), "abrupt", "O(√(Υ_T T log(T)))", RELATED, CHANGES, _windowed, (FACTOR,)),
    RegretOrder(
        ("RExp3",), "variation", "O(V_T^(1/3) T^(2/3))", RELATED, ("horizon", "variation"),
        lambda horizon, variation: float(variation ** (1 / 3) * horizon ** (2 / 3)), (KNOWN,)
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


CROWDED = (
    "With Υ_T > T/e breakpoints the means change in nearly every round, and the world is not piecewise constant in "
    "earnest: √(Υ_T T ln(T/Υ_T)) even falls as Υ_T grows."
)
TRIVIAL = "Not below T, and no regret exceeds T if means lie in [0, 1]: it does not help."


@dataclass(frozen=True)
class ComparedOrder:
    """One order at one world.

    Attributes:
        order: the row of `REGRET_ORDERS`.
        value: its value with a unit constant; None if it has none.
        reason: why it has no value, or why the value does not help; empty otherwise.
    """

    order: RegretOrder
    value: float | None
    reason: str


@dataclass(frozen=True)
class ComparedOrders:
    """All orders of the paper at one world; it prints as a table with notes."""

    facts: OrderFacts
    rows: tuple[ComparedOrder, ...]

    def __str__(self) -> str:
        known = {symbol: getattr(self.facts, name) for name, symbol in SYMBOLS.items()}
        seen = ", ".join(f"{symbol} = {number(value)}" for symbol, value in known.items() if value is not None)
        at = f" (Δ_τ at τ = {number(self.facts.gap_window)})" if self.facts.gap_window else ""
        notes: list[str] = []  # each once, in the order of the rows
        lines: list[tuple[str, ...]] = [("algorithm", "setting", "order", "value", "stated in", "notes")]
        for row in self.rows:
            own = [*row.order.notes, *([row.reason] if row.reason else [])]
            notes += [note for note in own if note not in notes]
            marks = ", ".join(str(place) for place in sorted(notes.index(note) + 1 for note in own))
            order = row.order
            algorithms = ", ".join(order.algorithms)
            lines.append((algorithms, order.setting, order.order, number(row.value), order.where, marks))
        below = "\n".join(f"({place}) {note}" for place, note in enumerate(notes, start=1))
        return f"{seen}{at}\nvalues with unit constants: shapes, not guarantees\n{table(lines)}\n{below}"


def compare_orders(
    world: npt.ArrayLike | Knowledge, *, window: int | None = None, delta: float | None = None
) -> ComparedOrders:
    """Evaluate every regret order that the paper states at one world, with unit constants.

    An order that a world gives no value to, because an assumption fails or a fact is unknown, has None and the reason.

    Args:
        world: the (T, K) matrix of means, or what is known about it.
        window: τ of the smooth orders and of Δ_τ; see `order_facts`.
        delta: Δ′ of the smooth orders.

    >>> compared = compare_orders([[0.9, 0.1]] * 500 + [[0.1, 0.9]] * 500)
    >>> [(row.order.algorithms[0], round(row.value)) for row in compared.rows if row.value]
    [('Discounted-TS', 218), ('SW-UCB', 83), ('CUSUM-UCB', 83), ('GLR-klUCB', 83), ('RExp3', 93), ...]
    """
    facts = order_facts(world, window=window, delta=delta)
    crowded = (facts.breakpoints or 0) > facts.horizon / math.e
    compared: list[ComparedOrder] = []
    for order in REGRET_ORDERS:
        try:
            value = order.value(facts)
            reason = TRIVIAL if value >= facts.horizon else ""
            compared.append(ComparedOrder(order, value, CROWDED if crowded and order.setting == "abrupt" else reason))
        except (AssumptionError, MissingKnowledgeError) as error:
            compared.append(ComparedOrder(order, None, f"No value: {error}."))
    return ComparedOrders(facts, tuple(compared))
