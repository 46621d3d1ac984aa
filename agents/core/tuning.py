"""Tuning formulas that several algorithms share."""

from __future__ import annotations

import math

__all__ = ["drift_window", "suggested_window"]


def suggested_window(horizon: int, changes: int = 1) -> int:
    """τ = 4√(T ln T / Υ), rounded down, at least 1; with Υ = 1 the window of the paper's experiments.

    Args:
        horizon: T.
        changes: Υ, the number of breakpoints, if it is known.

    >>> suggested_window(50_000)
    2942
    """
    return max(1, math.floor(4 * math.sqrt(horizon * math.log(horizon) / changes)))


def drift_window(lipschitz: float) -> int:
    """τ = σ^(−4/5), rounded up: the window of Combes and Proutière for means that drift.

    Args:
        lipschitz: σ > 0, the largest move of a mean in one round.

    >>> [drift_window(sigma) for sigma in (1e-3, 1e-4, 1e-5)]
    [252, 1585, 10000]
    """
    return math.ceil(math.pow(lipschitz, -0.8) * (1 - 1e-12))  # so that rounding does not lift a whole number
