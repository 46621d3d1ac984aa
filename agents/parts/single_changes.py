"""The belief that each arm changes by itself: when it last did, and how often it does.

Arms have nothing to do with each other. Each has a rate q of changes, one of a grid, and for each q hypotheses on its
last change: before one of the rounds since it was last seen, or earlier. So an arm that is hardly seen remains one that
may change often, however still the others stand.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.kernel import FloatArray, IntArray, inlined

RATES = tuple(np.geomspace(1e-5, 2e-3, 6).tolist())  # q, the probability that an arm changes before a round
KEPT_CHANGES = 20  # hypotheses on the last change of an arm
PULLS, SUMS = 0, 1  # columns of what was seen
MEAN, SQUARE = 0, 1  # rows of the moments
TAILS = 5.0  # degrees of freedom of the predictive law of real rewards
SHARPEST = 1e9  # the largest squared distance of a reward from its prediction, in units of the scale, that counts


class SingleChanges(NamedTuple):
    """Hypotheses on the last change of each arm, with weights for each rate."""

    seen: FloatArray  # (K, L, 2) PULLS and SUMS since each possible last change, the prior's observations among them
    weights: FloatArray  # (K, L, Q) of these, adding up to 1 for each rate
    held: IntArray  # (K,) the number of hypotheses
    moments: FloatArray  # (Q, 2, K) MEAN and SQUARE: E[θ_i] and E[θ_i²] for each rate, when the arm was last seen
    kept: FloatArray  # (Q, K) (1 − q)^n, n being the rounds since arm i was seen
    rates: FloatArray  # (Q,) q
    shares: FloatArray  # (K, Q) the probability of each rate of an arm
    evidence: FloatArray  # (Q,) the probability that each gave to the reward just observed
    lasting: FloatArray  # (Q,) the rounds that what is learnt of an arm will last by each rate


def new_single_changes(n_arms: int) -> SingleChanges:
    """A belief without hypotheses: every arm needs a :func:`start`."""
    rates = np.array(RATES)
    k, n, q = n_arms, KEPT_CHANGES, rates.size
    return SingleChanges(
        np.zeros((k, n, 2)), np.zeros((k, n, q)), np.zeros(k, np.int64), np.zeros((q, 2, k)), np.ones((q, k)), rates,
        np.full((k, q), 1.0 / q), np.zeros(q), np.zeros(q),
    )  # fmt: skip


@inlined
def square_of(pulls: float, total: float, variance: float) -> float:
    """E[θ²] after these observations: of a Gaussian posterior, or of a Beta one if rewards have no variance given."""
    mean = total / pulls
    return mean * mean + variance / pulls if variance > 0.0 else mean * (total + 1.0) / (pulls + 1.0)


@inlined
def likelihood(x: float, mean: float, square: float, variance: float) -> float:
    """The probability of a reward of 0 or 1; the density of a real one, Student's t, up to a factor all have alike."""
    if variance > 0.0:
        widened = variance + max(square - mean * mean, 0.0)
        distance = 1.0 + min((x - mean) * (x - mean), SHARPEST * widened) / widened / TAILS
        return math.sqrt(variance / widened) / (distance * distance * distance)  # ^ (TAILS + 1)/2
    return mean if x == 1.0 else 1.0 - mean


@inlined
def start(state: SingleChanges, arm: int, pulls: float, total: float, variance: float) -> None:
    """Leave of an arm one hypothesis, of no change yet, with these observations."""
    state.held[arm] = 1
    state.seen[arm] = 0.0
    state.seen[arm, 0, PULLS], state.seen[arm, 0, SUMS] = pulls, total
    state.weights[arm] = 0.0
    for q in range(state.rates.size):
        state.weights[arm, 0, q] = 1.0
        state.shares[arm, q] = 1.0 / state.rates.size
        state.kept[q, arm] = 1.0
    look(state, arm, variance)


@inlined
def look(state: SingleChanges, arm: int, variance: float) -> None:
    """Write E[θ] and E[θ²] of an arm by each rate."""
    for q in range(state.rates.size):
        state.moments[q, MEAN, arm] = 0.0
        state.moments[q, SQUARE, arm] = 0.0
    for j in range(state.held[arm]):
        pulls, total = state.seen[arm, j, PULLS], state.seen[arm, j, SUMS]
        square = square_of(pulls, total, variance)
        for q in range(state.rates.size):
            state.moments[q, MEAN, arm] += state.weights[arm, j, q] * (total / pulls)
            state.moments[q, SQUARE, arm] += state.weights[arm, j, q] * square


@inlined
def pass_round(state: SingleChanges, arm: int) -> None:
    """Let one more round pass: this arm was seen in it, the others were not."""
    for q in range(state.rates.size):
        state.kept[q, arm] = 1.0
        for i in range(state.held.size):
            state.kept[q, i] *= 1.0 - state.rates[q]


@inlined
def expected(state: SingleChanges, i: int, centre: float, spread: float) -> tuple[float, float]:
    """E[θ] and E[θ²] of an arm in the coming round, with this mean and variance if it changed since it was seen."""
    mean, square = 0.0, 0.0
    for q in range(state.rates.size):
        kept, share = state.kept[q, i], state.shares[i, q]
        mean += share * (kept * state.moments[q, MEAN, i] + (1.0 - kept) * centre)
        square += share * (kept * state.moments[q, SQUARE, i] + (1.0 - kept) * (spread + centre * centre))
    return mean, square


@inlined
def lasting(state: SingleChanges, i: int) -> float:
    """Rounds that what is learnt of an arm will last."""
    rounds = 0.0
    for q in range(state.rates.size):
        rounds += state.shares[i, q] * state.lasting[q]
    return rounds


@inlined
def weigh(state: SingleChanges, arm: int, x: float, pulls: float, total: float, variance: float) -> float:
    """Take in the reward of an arm; return its probability (density) before it was known.

    Args:
        state: the belief.
        arm: the arm.
        x: its reward.
        pulls: the number of observations that the prior of an arm after a change is worth.
        total: their sum.
        variance: that of the rewards of the arm, if they are real; 0 if they are 0 or 1.
    """
    place = _bear(state, arm)
    weights, seen, shares, n_rates = state.weights, state.seen, state.shares, state.rates.size
    seen[arm, place, PULLS], seen[arm, place, SUMS] = pulls, total
    state.evidence[:] = 0.0
    for j in range(state.held[arm]):
        mean = seen[arm, j, SUMS] / seen[arm, j, PULLS]
        chance = likelihood(x, mean, square_of(seen[arm, j, PULLS], seen[arm, j, SUMS], variance), variance)
        seen[arm, j, PULLS] += 1.0
        seen[arm, j, SUMS] += x
        for q in range(n_rates):
            weights[arm, j, q] *= chance
            state.evidence[q] += weights[arm, j, q]
    whole = 0.0
    for q in range(n_rates):
        shares[arm, q] *= state.evidence[q]
        whole += shares[arm, q]
    for q in range(n_rates):
        shares[arm, q] /= whole
        for j in range(state.held[arm]):
            weights[arm, j, q] /= state.evidence[q]
    look(state, arm, variance)
    return whole


@inlined
def _bear(state: SingleChanges, arm: int) -> int:
    """Return the place of a new hypothesis, of a change since the arm was seen; it may be that of the lightest."""
    weights = state.weights
    place: int = state.held[arm]
    full = place == weights.shape[1]
    if full:
        least = math.inf
        for j in range(place):
            weight = 0.0
            for q in range(state.rates.size):
                weight += state.shares[arm, q] * weights[arm, j, q]
            if weight < least:
                place, least = j, weight
    else:
        state.held[arm] += 1
    for q in range(state.rates.size):
        left = 1.0 - weights[arm, place, q] if full else 1.0
        kept = state.kept[q, arm] if left > 1e-9 else 0.0  # nothing is left of what is dropped
        for j in range(state.held[arm]):
            weights[arm, j, q] *= kept / max(left, 1e-9)
        weights[arm, place, q] = 1.0 - kept
    return place
