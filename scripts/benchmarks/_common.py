"""Results of benchmarks, and timings: of one function, and of two in turns."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """Whether all figures are within their limits, and the figures as plain values that JSON can hold."""

    within: bool
    figures: dict[str, Any]


class Ratio(NamedTuple):
    """Medians over the repeats; that of the ratio is over the ratios of consecutive timings."""

    ours: float
    theirs: float
    ratio: float


def seconds_of(work: Callable[[], object]) -> float:
    """The duration of a call."""
    began = perf_counter()
    work()
    return perf_counter() - began


def interleaved(ours: Callable[[], float], theirs: Callable[[], float], repeats: int = 15) -> Ratio:
    """Call both in turns, so that other load slows both alike; each returns seconds, and the first turn warms up."""
    pairs = [(ours(), theirs()) for _ in range(repeats + 1)][1:]
    return Ratio(
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )
