"""Upper confidence indices: the time they count, the Bernoulli divergence, forced play, and the largest of several."""

from __future__ import annotations

import math

from ..core.kernel import BoolArray, FloatArray, IntArray, inlined
from .memories import ROUNDS, SEEN


@inlined
def unseen(pulls: IntArray | FloatArray, clock: IntArray, mask: BoolArray) -> int:
    """The available arm without an observation in memory that must be played next; -1 if there is none.

    Of several it is the one unseen longest, and of those never seen the first: K new arms are played in turn, and in a
    memory too short for all arms none is forgotten for good.

    Args:
        pulls: (K,) of the window.
        clock: (2 + 2 K,) of the window.
        mask: (K,) which arms can be played.
    """
    arm = -1
    for i in range(pulls.size):
        if mask[i] and pulls[i] == 0 and (arm < 0 or clock[SEEN + i] < clock[SEEN + arm]):
            arm = i
    return arm


@inlined
def highest(values: FloatArray, mask: BoolArray) -> int:
    """The first available arm with the largest value; every value must be above −∞."""
    arm, largest = -1, -math.inf
    for i in range(values.size):
        if values[i] > largest and mask[i]:
            arm, largest = i, values[i]
    return arm


# What the t of an index counts: the rounds with the coming one, the samples in memory, or the rounds since the arm was
# last forgotten. They differ only where a detector makes an agent forget single arms.
FARTHEST = 700.0  # log-odds: e to their power is a finite float
COUNTING = {"rounds": 0, "samples": 1, "arm": 2}
BY_ROUNDS, BY_SAMPLES, BY_ARM = COUNTING.values()


@inlined
def elapsed(clock: IntArray, pulls: IntArray, counting: int) -> int:
    """The t that all arms share: t itself, the number of the coming round, or Σ N_i."""
    t = clock[ROUNDS] + 1
    if counting == BY_SAMPLES:
        t = 0
        for i in range(pulls.size):
            t += pulls[i]
    return t  # type: ignore[no-any-return]


@inlined
def own_time(clock: IntArray, n_arms: int, i: int) -> int:
    """t − r_i, the number of the coming round counted from the restart of arm i; at least 1."""
    return clock[ROUNDS] + 1 - clock[SEEN + n_arms + i]  # type: ignore[no-any-return]


@inlined
def kl_budget(t: int, window: int, c: float) -> float:
    """ln t + c max(0, ln ln t), with min(t, τ) for t where there is a window."""
    if 0 < window < t:
        t = window
    log_t = math.log(t)
    return log_t + c * math.log(log_t) if log_t > 1.0 else log_t


@inlined
def information(known: FloatArray, pulls: IntArray, sums: FloatArray, i: int) -> float:
    """N_i (μ̂_i ln μ̂_i + (1 − μ̂_i) ln(1 − μ̂_i)), computed once after each change of the arm's counts."""
    if math.isnan(known[i]):
        n, s = pulls[i], sums[i]
        known[i] = 0.0
        if s / n > 0.0:  # not s > 0: the smallest positive float divided by 2 is 0
            known[i] += s * math.log(s / n)
        if s < n:
            known[i] += (n - s) * math.log((n - s) / n)
    return known[i]  # type: ignore[no-any-return]


@inlined
def kl_index(odds: FloatArray, n: int, s: float, information: float, budget: float) -> tuple[float, float, float]:
    """The index q = max{q : N d(μ̂, q) ≤ budget}, ln q and ln(1 − q), for an arm with μ̂ = S/N < 1."""
    odds[0] = z = log_odds_bound(s / n, information / n, budget / n, odds[0])
    tail = math.exp(-abs(z))
    log_1mq = -math.log(1.0 + tail) - (z if z > 0.0 else 0.0)
    return (1.0 if z > 0.0 else tail) / (1.0 + tail), log_1mq + z, log_1mq


@inlined
def log_odds_bound(p: float, negentropy: float, budget: float, guess: float) -> float:
    """The z for which q = 1/(1 + e^(−z)) is the largest q with d(p, q) ≤ budget, for p < 1 and budget > 0.

    In z the divergence is negentropy + ln(1 + e^z) − p z, convex, with the derivative q − p, and for large z almost a
    line of slope 1 − p: Newton's method from above reaches the root without overshooting, in about four steps, or in
    two from a good guess (a guess from below overshoots once, and then comes down too).

    Args:
        p: the mean.
        negentropy: p ln p + (1 − p) ln(1 − p).
        budget: the divergence to spend.
        guess: a first guess of the root; any number will do.
    """
    highest = p + math.sqrt(0.5 * budget)  # d(p, q) ≥ 2 (q − p)²
    z = guess
    near = p + 0.1 * (highest - p) < 1.0 / (1.0 + math.exp(-min(max(z, -FARTHEST), FARTHEST))) < highest
    if not near or z > FARTHEST:  # from far beyond, one rounded step could end where q = p, and divide by zero
        z = (budget - negentropy) / (1.0 - p)  # d(p, q) ≥ negentropy + (1 − p) z
        if highest < 1.0:
            z = min(z, math.log(highest / (1.0 - highest)))
    for _ in range(100):
        tail = math.exp(-abs(z))
        q = 1.0 / (1.0 + tail) if z > 0.0 else tail / (1.0 + tail)
        log_1pez = math.log(1.0 + tail) + (z if z > 0.0 else 0.0)
        step = (negentropy + log_1pez - p * z - budget) / (q - p)
        z -= step
        if abs(step) < 1e-6 * (q - p) or abs(step) < 1e-10 * (1.0 + abs(z)):  # the next step is about its square
            break
    return z


@inlined
def highest_mean(pulls: IntArray, sums: FloatArray, mask: BoolArray) -> int:
    """The first available arm with the largest mean; every available arm must have been seen."""
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        if mask[i] and sums[i] / pulls[i] > highest:
            arm, highest = i, sums[i] / pulls[i]
    return arm
