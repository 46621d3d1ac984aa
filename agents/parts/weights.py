"""Exponential weights that never overflow, for Exp3 and its variants."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from ..core.admission import Claims, Facts, admissible, close
from ..core.kernel import FloatArray, inlined

__all__ = ["Weights", "draw_arm", "multiply", "new_weights", "probability_claims", "reset_weights"]

HEADROOM = 300.0  # weights reach at most e^300 times the reference before all of them are rescaled


class Weights(NamedTuple):
    """The weights of K arms: their logarithms, and their values divided by e^reference."""

    logs: FloatArray  # (K,)
    plain: FloatArray  # (K,) exp(logs − reference)
    reference: FloatArray  # (1,)


def _claims(weights: Weights, facts: Facts) -> Claims:
    """The values are those of the logarithms, none of them overflows, and not all of them vanish."""
    logs, reference = weights.logs, weights.reference[0]
    yield "logs", (logs >= 0) & (logs <= reference + HEADROOM), "a logarithm within reach of the reference"
    yield "reference", weights.reference <= logs.max(), "at most the largest logarithm"
    yield "plain", close(weights.plain, np.exp(logs - reference)), "exp(logs - reference)"


admissible(Weights, _claims)


def probability_claims(probabilities: FloatArray, gamma: float) -> Claims:
    """They are at least γ/K, and add up to 1 but for rounding."""
    least = gamma / probabilities.size * (1.0 - 1e-9)
    yield "probabilities", (probabilities >= least) & (probabilities <= 1.0 + 1e-9), "a probability of at least gamma/K"
    yield "probabilities", abs(probabilities.sum() - 1.0) <= 1e-6, "probabilities that add up to 1"


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


@inlined
def draw_arm(plain: FloatArray, probabilities: FloatArray, gamma: float, rng: np.random.Generator) -> int:
    """Draw an arm from p_i = (1 − γ) w_i/Σw + γ/K, and note the probabilities.

    Args:
        plain: (K,) the weights, up to a common factor.
        probabilities: (K,) where the p_i are written.
        gamma: γ, the share of uniform exploration.
        rng: the generator that gives one uniform.
    """
    k = plain.size
    total = 0.0
    for i in range(k):
        total += plain[i]
    u = rng.random()
    arm, cumulated = -1, 0.0
    for i in range(k):
        probabilities[i] = (1.0 - gamma) * (plain[i] / total) + gamma / k
        cumulated += probabilities[i]
        if arm < 0 and u < cumulated:
            arm = i
    return arm if arm >= 0 else k - 1
