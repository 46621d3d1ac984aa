"""Times two functions in turns, so that other load on the machine slows both alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import NamedTuple


class Ratio(NamedTuple):
    """Medians over the repeats; that of the ratio is over the ratios of consecutive timings."""

    ours: float
    theirs: float
    ratio: float


def interleaved(ours: Callable[[], float], theirs: Callable[[], float], repeats: int = 15) -> Ratio:
    """Call both in turns, each returning the seconds of one unit of work; the first turn only warms up."""
    pairs = [(ours(), theirs()) for _ in range(repeats + 1)][1:]
    return Ratio(
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )
