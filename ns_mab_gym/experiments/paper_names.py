"""What the paper's experiments are called in tables, figures and claims: worlds, algorithms, windows."""

from __future__ import annotations

import math

from ..agents.core.tuning import suggested_window

__all__ = ["ALGORITHMS", "ALPHAS", "HORIZON", "RUNS", "SAMPLERS", "SUGGESTED", "WORLDS", "sensitivity_label", "window"]

HORIZON, RUNS = 50_000, 50

ABRUPT, GENERAL, SMOOTH, FAST = "Abrupt", "General abrupt", "Smooth, σ = 0.0001", "Smooth, σ = 0.001"
WORLDS = {
    ABRUPT: "NSBandit-Abrupt-v0",
    GENERAL: "NSBandit-GeneralAbrupt-v0",
    SMOOTH: "NSBandit-Smooth-v0",
    FAST: "NSBandit-SmoothFast-v0",
}

BETA, GAUSS, TS = "Beta-SWTS", "γ-SWGTS", "TS"
SW_UCB, KL_UCB, SW_KL_UCB, REXP3, SER4 = "SW-UCB", "KL-UCB", "SW-KL-UCB", "Rexp3", "Ser4"
ALGORITHMS = {
    BETA: "beta-swts",
    GAUSS: "gamma-swgts",
    TS: "ts",
    SW_UCB: "sw-ucb",
    KL_UCB: "kl-ucb",
    SW_KL_UCB: "sw-kl-ucb",
    REXP3: "rexp3",
    SER4: "ser4",
}
SAMPLERS = (BETA, GAUSS)
ALPHAS = (0.2, 0.4, 0.6, 0.5, 0.8)  # in ascending order of their windows: 0.5 means 4√(T ln T)
SUGGESTED = 0.5

PHASES = ((0, 14_999), (14_999, 30_000), (30_000, 39_999), (39_999, 50_000))  # the last round before, and the last of
CHANGES = tuple(last for _, last in PHASES[:-1])


def window(alpha: float, horizon: int = HORIZON) -> int:
    """τ for α: T^α rounded up, and 4√(T ln T) rounded down for what the paper calls α = 0.5.

    >>> [window(alpha) for alpha in ALPHAS]
    [9, 76, 660, 2942, 5744]
    """
    if alpha == SUGGESTED:
        return suggested_window(horizon)
    return math.ceil(math.pow(horizon, alpha))


def sensitivity_label(sampler: str, alpha: float) -> str:
    """The label of a sampler with the window of α."""
    return f"{sampler} (α = {alpha:g})"
