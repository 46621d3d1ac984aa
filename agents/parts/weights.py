"""Exponential weights that never overflow, for Exp3 and its variants."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from ..core.kernel import FloatArray

__all__ = ["Weights", "multiply", "new_weights", "reset_weights"]

HEADROOM = 300.0  # weights reach at most e^300 times the reference before all of them are rescaled


class Weights(NamedTuple):
    """The weights of K arms: their logarithms, and their values divided by e^reference."""

    logs: FloatArray  # (K,)
    plain: FloatArray  # (K,) exp(logs − reference)
    reference: FloatArray  # (1,)


def new_weights(n_arms: int) -> Weights:
    """Weights of 1 for all arms."""
    return Weights(np.zeros(n_arms), np.ones(n_arms), np.zeros(1))


@register_jitable(inline="always")
def reset_weights(weights: Weights) -> None:
    """Set all weights back to 1."""
    weights.logs[:] = 0.0
    weights.plain[:] = 1.0
    weights.reference[0] = 0.0


@register_jitable(inline="always")
def multiply(weights: Weights, arm: int, log_factor: float) -> None:
    """w_arm ← w_arm · e^log_factor."""
    weights.logs[arm] += log_factor
    if weights.logs[arm] > weights.reference[0] + HEADROOM:
        weights.reference[0] = weights.logs[arm]
        for i in range(weights.logs.size):
            weights.plain[i] = math.exp(weights.logs[i] - weights.reference[0])
    else:
        weights.plain[arm] = math.exp(weights.logs[arm] - weights.reference[0])
