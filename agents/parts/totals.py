"""Running totals of every arm's rewards, from which the sum of its last n rewards is one subtraction away."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible
from ..core.kernel import ALL, FloatArray, IntArray, helper, inlined
from ..core.memory_limits import ensure_fits, grouped

__all__ = ["Totals", "add_to_totals", "forget_totals", "last_sum", "new_totals"]


class Totals(NamedTuple):
    """A ring for each arm, which holds the total of its rewards after each of the latest of them."""

    values: FloatArray  # (K, capacity + 1)
    ends: IntArray  # (K,) the place of the latest total


def _claims(totals: Totals, facts: Facts) -> Claims:
    yield "ends", totals.ends < totals.values.shape[1], "a place of the ring"


admissible(Totals, _claims)


def new_totals(n_arms: int, capacity: int) -> Totals:
    """Empty rings for the last ``capacity`` rewards of each arm.

    Rows that stay empty cost address space, not memory: the system hands out a page when it is first written to.
    """
    ensure_fits(f"the totals of {grouped(capacity)} rewards", 8 * capacity, "choose a smaller horizon or window")
    return Totals(np.zeros((n_arms, capacity + 1)), np.zeros(n_arms, np.int64))


@inlined
def add_to_totals(totals: Totals, arm: int, reward: float) -> None:
    """Add a reward. At the end of a lap the totals of the arm start from 0, so that rounding errors never pile up."""
    values, ends = totals.values, totals.ends
    total = values[arm, ends[arm]] + reward
    ends[arm] += 1
    if ends[arm] == values.shape[1]:
        ends[arm] = 0
        for place in range(values.shape[1]):
            values[arm, place] -= total
        total = 0.0
    values[arm, ends[arm]] = total


@inlined
def last_sum(values: FloatArray, ends: IntArray, arm: int, n: int) -> float:
    """The sum of the last n rewards of an arm with at least that many, n at most the capacity."""
    end = ends[arm]
    start = end - n
    if start < 0:
        start += values.shape[1]
    return values[arm, end] - values[arm, start]  # type: ignore[no-any-return]


@helper
def forget_totals(totals: Totals, arm: int) -> None:
    """Return the ring of one arm, or with ``ALL`` of every arm, to what it was at first; rewards left are not read."""
    for i in range(totals.ends.size):
        if arm == ALL or i == arm:
            totals.values[i, 0] = 0.0
            totals.ends[i] = 0
