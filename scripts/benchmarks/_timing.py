"""Two things timed in turns, so that whatever else the machine does slows both alike."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import NamedTuple


class Ratio(NamedTuple):
    """Medians over the repeats; the ratio's is taken over the ratios of neighbours."""

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
