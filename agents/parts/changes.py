"""How many changes a detector is tuned for."""

from __future__ import annotations

from ..core.knowledge import Knowledge
from .discounted import long_phases

__all__ = ["assumed_changes"]


def assumed_changes(knowledge: Knowledge) -> int:
    """Υ, at least 1; and 1 where it is unknown, or where phases last fewer than 16 rounds on average.

    A world that stands still is tuned for as one with a single change: with Υ = 0 thresholds would be infinite. Where
    means drift in every round the theory of piecewise-stationary worlds has nothing to say: with Υ = T thresholds would
    be 0.
    """
    return max(1, long_phases(knowledge) or 1)
