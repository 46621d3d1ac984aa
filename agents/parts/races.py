"""Races between posteriors: which arm has the largest sample, found with few draws.

Thompson sampling draws one sample per arm and plays the arm of the largest. Only that largest sample matters: with x
the largest so far, arm i changes anything only if its own sample exceeds x. The lazy races below therefore bound the
probability p that it does, pass over the arm with probability 1 − p without a draw, and otherwise draw from what is
left of its law, so that the winner has exactly the law of the plain race. One uniform serves for many arms: it is
compared with the probability that none of them so far needed a draw.

The race that draws every arm is what those between Beta posteriors fall back on where a sample is 0 or 1. Counts may be
any real numbers, as discounted posteriors have them.
"""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable

from ..core.kernel import BoolArray, FloatArray, IntArray, floor_within, helper, inlined
from .memories import ROUNDS, SEEN

Counts = IntArray | FloatArray

LOG_FACTORIAL = np.array([math.lgamma(n + 1.0) for n in range(256)])
EXP = np.array([math.exp(-m) for m in range(64)])
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
STEPS = 16  # grid points per standard deviation in the table below
BELOW = np.array([1.0 - 0.5 * math.erfc(m / STEPS / math.sqrt(2.0)) for m in range(8 * STEPS + 1)])  # P(Z ≤ m/STEPS)


@inlined
def log_factorial(n: float) -> float:
    """ln Γ(n + 1) for n ≥ 0: from a table for small whole numbers, else by Stirling's series (error about 1e-14).

    Not by ``math.lgamma``, whose last bit differs between Python and compiled code.
    """
    n = max(0.0, n)  # so that the loop below ends whatever n is
    if n >= 256.0:
        return (n + 0.5) * math.log(n) - n + HALF_LOG_2PI + (1.0 - 1.0 / (30.0 * n * n)) / (12.0 * n)
    if n == math.floor(n):
        return LOG_FACTORIAL[floor_within(n, 255.0)]  # type: ignore[no-any-return]
    product = 1.0  # of the factors that shift Γ(n + 1) to where the series is accurate
    while n < 16.0:
        n += 1.0
        product *= n
    r = 1.0 / (n * n)
    tail = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / n
    return (n + 0.5) * math.log(n) - n + HALF_LOG_2PI + tail - math.log(product)


@inlined
def log_norm(successes: float, failures: float) -> float:
    """−ln B(S + 1, F + 1)."""
    return log_factorial(successes + failures + 1.0) - log_factorial(successes) - log_factorial(failures)


@inlined
def largest_beta_plain(pulls: Counts, sums: FloatArray, mask: BoolArray, rng: np.random.Generator) -> int:
    """The available arm with the largest θ_i ~ Beta(S_i + 1, N_i − S_i + 1), by drawing every arm."""
    arm, largest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            theta = rng.beta(sums[i] + 1.0, pulls[i] - sums[i] + 1.0)
            if theta > largest:
                arm, largest = i, theta
    return arm


@inlined
def largest_beta(
    pulls: Counts, sums: FloatArray, means: FloatArray, log_norms: FloatArray, mask: BoolArray, rng: np.random.Generator
) -> int:
    """The available arm with the largest θ_i ~ Beta(S_i + 1, N_i − S_i + 1), with few draws.

    The density f of θ_i is log-concave: beyond x it lies below f(x) exp(−slope (y − x)), slope = −(ln f)'(x) > 0, a
    curve of mass f(x)/slope. With probability 1 − p, for any p of at least that mass, arm i is done without a draw;
    else y is drawn under the curve and kept with probability f(y)/curve(y) · mass/p, which is θ_i's own law beyond x.

    Args:
        pulls: (K,) N_i ≥ S_i.
        sums: (K,) S_i ≥ 0.
        means: (K,) the posterior means (S_i + 1)/(N_i + 2).
        log_norms: (K,) −ln B(S_i + 1, N_i − S_i + 1), or NaN where it is to be computed when first needed.
        mask: (K,) which arms take part.
        rng: the generator from which samples are drawn.
    """
    arm = highest(means, mask)
    x = rng.beta(sums[arm] + 1.0, pulls[arm] - sums[arm] + 1.0)
    if x <= 0.0 or x >= 1.0:
        return largest_beta_plain(pulls, sums, mask, rng)  # the logarithms below would be infinite
    first = arm
    over_x, over_1mx, log_x, log_1mx = 1.0 / x, 1.0 / (1.0 - x), math.log(x), math.log(1.0 - x)
    undisturbed, u = 1.0, rng.random()
    for i in range(mask.size):
        if i == first or not mask[i]:
            continue
        successes = sums[i]
        failures = pulls[i] - successes
        slope = failures * over_1mx - successes * over_x
        log_f = 0.0
        if failures == 0.0:
            p = 1.0 - math.exp((successes + 1.0) * log_x)  # the tail itself: the distribution function is x^(S + 1)
        elif slope <= 0.0:
            p = 1.0
        else:
            if math.isnan(log_norms[i]):
                log_norms[i] = log_norm(successes, failures)
            log_f = successes * log_x + failures * log_1mx + log_norms[i]
            # e^(−⌊−ln f⌋) ≥ f saves an exponential
            f = EXP[floor_within(-log_f, 63.0)] if log_f < -1.0 else math.exp(log_f)
            p = f / slope
        if p > 0.5:
            y = rng.beta(successes + 1.0, failures + 1.0)
        else:
            undisturbed *= 1.0 - p
            if u < undisturbed:
                continue
            undisturbed, u = 1.0, rng.random()
            if failures == 0.0:
                y = math.exp(math.log(1.0 - p * rng.random()) / (successes + 1.0))
            else:
                y = x - math.log(1.0 - rng.random()) / slope
                if y >= 1.0 or rng.random() * p * slope >= math.exp(
                    log_f
                    + successes * math.log(y * over_x)
                    + failures * math.log((1.0 - y) * over_1mx)
                    + slope * (y - x)
                ):
                    continue
        if x < y < 1.0:
            arm, x = i, y
            over_x, over_1mx, log_x, log_1mx = 1.0 / x, 1.0 / (1.0 - x), math.log(x), math.log(1.0 - x)
    return arm


@register_jitable(inline="always")
def largest_gaussian(
    means: FloatArray, roots: FloatArray, first: int, mask: BoolArray, rng: np.random.Generator
) -> int:
    """The available arm with the largest θ_i ~ N(means_i, 1/roots_i²), with few draws.

    Arm i changes anything only if its standard normal Z exceeds z = (x − means_i) roots_i. With a = z rounded down on a
    grid, Z ≤ a has a known probability, and then arm i is done without a draw; else Z is drawn given Z > a.

    Args:
        means: (K,) finite.
        roots: (K,) the roots of the precisions, above 0.
        first: the arm to draw first; the one with the highest mean saves the most draws.
        mask: (K,) which arms take part.
        rng: the generator from which samples are drawn.
    """
    arm = first
    x = means[arm] + rng.standard_normal() / roots[arm]
    undisturbed, u = 1.0, rng.random()
    for i in range(mask.size):
        if i == first or not mask[i]:
            continue
        z = (x - means[i]) * roots[i]
        if z < 1.0:
            normal = rng.standard_normal()
        else:
            step = floor_within(z * STEPS, 8.0 * STEPS)
            undisturbed *= BELOW[step]
            if u < undisturbed:
                continue
            undisturbed, u = 1.0, rng.random()
            normal = normal_beyond(step / STEPS, rng)
        if normal > z:
            arm, x = i, means[i] + normal / roots[i]
    return arm


@inlined
def normal_beyond(a: float, rng: np.random.Generator) -> float:
    """A standard normal draw, given that it exceeds a ≥ 1, by Marsaglia's tail method."""
    while True:
        normal = math.sqrt(a * a - 2.0 * math.log(1.0 - rng.random()))
        if rng.random() * normal < a:
            return normal


FINE_STEPS = 8  # grid points per unit in the table below
FINE_EXP = np.array([math.exp(-m / FINE_STEPS) for m in range(64 * FINE_STEPS)])  # e^(−m/STEPS)


@inlined
def chance_bound(
    successes: float,
    failures: float,
    bounds: FloatArray,
    i: int,
    over_x: float,
    over_1mx: float,
    log_x: float,
    log_1mx: float,
) -> float:
    """An upper bound on P(θ > x) for θ ~ Beta(S + 1, F + 1); 1 where it says nothing.

    The density f is log-concave: where it falls at x, it lies beyond x below f(x) exp(−slope (y − x)), and so below
    f(x). The smaller of the masses of these two is f(x) min{1/slope, 1 − x}.

    Args:
        successes: S.
        failures: F.
        bounds: (any,) at i at least −ln B(S + 1, F + 1), or NaN if it is to be computed.
        i: where the bound stands.
        over_x: 1/x, with x between 0 and 1 where the tail begins.
        over_1mx: 1/(1 − x).
        log_x: ln x.
        log_1mx: ln(1 − x).
    """
    if failures == 0.0:
        return 1.0 - math.exp((successes + 1.0) * log_x)  # the tail itself
    slope = failures * over_1mx - successes * over_x
    if slope <= 0.0:
        return 1.0
    if math.isnan(bounds[i]):
        bounds[i] = log_norm(successes, failures)
    log_f = successes * log_x + failures * log_1mx + bounds[i]
    f = (
        FINE_EXP[floor_within(-log_f * FINE_STEPS, FINE_EXP.size - 1.0)]
        if log_f <= 0.0
        else math.exp(min(log_f, 100.0))
    )
    return f / max(slope, over_1mx)


@helper
def beyond(successes: float, failures: float, p: float, x: float, rng: np.random.Generator) -> float:
    """With probability P(θ > x)/p a draw of θ ~ Beta(S + 1, F + 1), given that it exceeds x; else −1.

    It is drawn under the lower of the two curves of :func:`chance_bound`, and kept with probability f/curve.

    Args:
        successes: S.
        failures: F.
        p: the :func:`chance_bound`, below 1.
        x: where the tail begins.
        rng: the generator from which samples are drawn.
    """
    if failures == 0.0:
        y = math.exp(math.log(1.0 - p * rng.random()) / (successes + 1.0))
        return y if x < y < 1.0 else -1.0
    over_x, over_1mx = 1.0 / x, 1.0 / (1.0 - x)
    slope = failures * over_1mx - successes * over_x
    if slope < over_1mx:
        y, curve = x + (1.0 - x) * rng.random(), p * over_1mx
    else:
        step = -math.log(1.0 - rng.random())
        y, curve = x + step / slope, p * slope * math.exp(-step)
    if y <= x or y >= 1.0:
        return -1.0
    log_f = successes * math.log(y) + failures * math.log(1.0 - y) + log_norm(successes, failures)
    return y if rng.random() * curve < math.exp(log_f) else -1.0


@inlined
def largest_fading_beta(
    pulls: FloatArray, sums: FloatArray, bounds: FloatArray, mask: BoolArray, rng: np.random.Generator
) -> int:
    """The available arm with the largest θ_i ~ Beta(S_i + 1, N_i − S_i + 1), with few draws.

    Args:
        pulls: (K,) N_i ≥ S_i.
        sums: (K,) S_i ≥ 0.
        bounds: (K,) at least −ln B(S_i + 1, N_i − S_i + 1), or NaN where it is to be computed.
        mask: (K,) which arms take part.
        rng: the generator from which samples are drawn.
    """
    first, largest = -1, -1.0
    for i in range(mask.size):
        mean = (sums[i] + 1.0) / (pulls[i] + 2.0)
        if mean > largest and mask[i]:
            first, largest = i, mean
    arm, x = first, rng.beta(sums[first] + 1.0, pulls[first] - sums[first] + 1.0)
    if x <= 0.0 or x >= 1.0:
        return largest_beta_plain(pulls, sums, mask, rng)  # the logarithms below would be infinite
    over_x, over_1mx, log_x, log_1mx = 1.0 / x, 1.0 / (1.0 - x), math.log(x), math.log(1.0 - x)
    undisturbed, u = 1.0, rng.random()
    for i in range(mask.size):
        if i == first or not mask[i]:
            continue
        successes = sums[i]
        failures = pulls[i] - successes
        p = chance_bound(successes, failures, bounds, i, over_x, over_1mx, log_x, log_1mx)
        if p > 0.5:
            y = rng.beta(successes + 1.0, failures + 1.0)
        else:
            undisturbed *= 1.0 - p
            if u < undisturbed:
                continue
            undisturbed, u = 1.0, rng.random()
            y = beyond(successes, failures, p, x, rng)
        if x < y < 1.0:
            arm, x = i, y
            over_x, over_1mx, log_x, log_1mx = 1.0 / x, 1.0 / (1.0 - x), math.log(x), math.log(1.0 - x)
    return arm


def shelf_life(gamma: float) -> int:
    """After how many rounds the bounds are computed anew: while counts shrink by about an eighth.

    >>> [shelf_life(gamma) for gamma in (0.5, 0.99, 0.999, 1.0)]
    [1, 12, 125, 1000000]
    """
    return 10**6 if gamma == 1 else max(1, min(10**6, round(0.125 / (1 - gamma))))


@inlined
def expire(bounds: FloatArray, arm: int, rounds: int, life: int) -> None:
    """Discard the bound of the arm whose counts grew, and at the end of their life all of them."""
    bounds[arm] = math.nan
    if rounds % life == 0:
        for i in range(bounds.size):
            bounds[i] = math.nan


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


WAITING = 1e40  # beyond all means


@inlined
def behind(arm: int, pulls: int, n_arms: int) -> float:
    """The mean of an arm whose first reward is under way: behind all others, the farther the more pulls it has."""
    return -WAITING * (pulls + arm / n_arms)


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
