"""The regret orders of the paper beside each other, evaluated at one world, in one table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy.typing as npt

from ..agents.core.knowledge import Knowledge, MissingKnowledgeError
from .learners import AssumptionError
from .order_inputs import SYMBOLS, OrderFacts, order_facts
from .regret_orders import REGRET_ORDERS, RegretOrder
from .text_tables import number, table

__all__ = ["ComparedOrder", "ComparedOrders", "compare_orders"]

CROWDED = (
    "With Υ_T > T/e breakpoints the means change in nearly every round, and the world is not piecewise constant in "
    "earnest: √(Υ_T T ln(T/Υ_T)) even falls as Υ_T grows."
)
TRIVIAL = "Not below T, and no regret exceeds T if means lie in [0, 1]: it says nothing."


@dataclass(frozen=True)
class ComparedOrder:
    """One order at one world.

    Attributes:
        order: the row of `REGRET_ORDERS`.
        value: its value with a unit constant; None if it has none.
        reason: why it has no value, or why the value says nothing; empty otherwise.
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
        notes: list[str] = []
        lines: list[tuple[str, ...]] = [("algorithm", "setting", "order", "value", "stated in", "notes")]
        lines += [self._line(row, notes) for row in self.rows]
        below = "\n".join(f"({place}) {note}" for place, note in enumerate(notes, start=1))
        return f"{self._title()}\n{table(lines)}\n{below}"

    def _title(self) -> str:
        known = {symbol: getattr(self.facts, name) for name, symbol in SYMBOLS.items()}
        seen = ", ".join(f"{symbol} = {number(value)}" for symbol, value in known.items() if value is not None)
        at = f" (Δ_τ at τ = {number(self.facts.gap_window)})" if self.facts.gap_window else ""
        return f"{seen}{at}\nvalues with unit constants: shapes, not guarantees"

    def _line(self, row: ComparedOrder, notes: list[str]) -> tuple[str, ...]:
        """The cells of a row; notes that no row before it has are added to the list."""
        own = [*row.order.notes, *([row.reason] if row.reason else [])]
        notes += [note for note in own if note not in notes]
        marks = ", ".join(str(place) for place in sorted(notes.index(note) + 1 for note in own))
        order = row.order
        return ", ".join(order.algorithms), order.setting, order.order, number(row.value), order.where, marks


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
    return ComparedOrders(facts, tuple(_compared(order, facts) for order in REGRET_ORDERS))


def _compared(order: RegretOrder, facts: OrderFacts) -> ComparedOrder:
    try:
        value = order.value(facts)
    except (AssumptionError, MissingKnowledgeError) as error:
        return ComparedOrder(order, None, f"No value: {error}.")
    return ComparedOrder(order, value, _warning(order, value, facts))


def _warning(order: RegretOrder, value: float, facts: OrderFacts) -> str:
    """A text that says why the value says nothing; empty if it says something."""
    if order.setting == "abrupt" and (facts.breakpoints or 0) > facts.horizon / math.e:
        return CROWDED
    return TRIVIAL if value >= facts.horizon else ""
