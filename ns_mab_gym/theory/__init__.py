"""What makes a world hard: the paper's sets, gaps and bounds as functions of a (T, K) matrix of means."""

from .facts import best_arm_switches, best_arms, breakpoints, knowledge, lipschitz, variation
from .matrix import Leaders, as_means, leaders

__all__ = [
    "Leaders",
    "as_means",
    "best_arm_switches",
    "best_arms",
    "breakpoints",
    "knowledge",
    "leaders",
    "lipschitz",
    "variation",
]
