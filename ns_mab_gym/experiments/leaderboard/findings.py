"""Everything that a leaderboard says, computed once: the standings, the guide, and what other rules would say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .guide import Advice, advice_on_topics, general_advice
from .other_orders import orders_of
from .standings import Standings

__all__ = ["TOP", "Findings", "findings_of"]

TOP = 5  # places that are named in short


@dataclass(frozen=True, eq=False)
class Findings:
    """What the table of a leaderboard says.

    Attributes:
        standings: the order of each division.
        general: sentences for those who do not know the kind of their world.
        advice: the best agents on each kind of worlds.
        orders: by division and rule, the first few agents.
        stability: by division, how much the order depends on the luck of the runs.
    """

    standings: Sequence[Standings]
    general: Sequence[str]
    advice: Sequence[Advice]
    orders: dict[str, dict[str, list[str]]]
    stability: dict[str, str]


def findings_of(standings: Sequence[Standings]) -> Findings:
    """What these standings, and the tables behind them, say."""
    orders = {each.division.name: orders_of(each.division) if each.rows else [] for each in standings}
    return Findings(
        standings,
        general_advice(standings),
        advice_on_topics([each.division for each in standings]),
        {name: {rule: order[:TOP] for rule, order in found} for name, found in orders.items()},
        {each.division.name: stability(each) for each in standings},
    )


def stability(standings: Standings) -> str:
    """How much the order depends on the luck of the runs: the two halves of them compared."""
    if standings.halves is None or len(standings.rows) < 2:
        return ""
    first, second = (1 + each.argsort(kind="stable").argsort() for each in standings.halves)
    moved = np.abs(first - second)
    most = int(moved.argmax())
    same = len(set(np.flatnonzero(first <= TOP)) & set(np.flatnonzero(second <= TOP)))
    correlation = float(np.corrcoef(first, second)[0, 1])
    return (
        f"Ranked by the first and by the second half of the runs, the two orders have a rank correlation of "
        f"{correlation:.3f}; {same} of the first {min(TOP, len(first))} are the same; "
        f"{standings.rows[most].label} moves most, by {moved[most]} places."
    )
