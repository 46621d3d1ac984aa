"""Lazy races between Beta posteriors whose counts fade in every round.

As in :mod:`.races`, with x the largest sample so far, an arm changes anything only if its own sample exceeds x, and is
passed over without a draw with a probability of at most that it does not. That probability needs −ln B(S + 1, F + 1),
which changes in every round as S and F shrink by a common factor. But B(cS + 1, cF + 1) = ∫ (y^S (1 − y)^F)^c dy grows
as c shrinks: a value computed some rounds ago is still an upper bound, and an upper bound is all that passing over
needs. The exact value is computed for the few arms that are not passed over.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.admission import Claims
from ..core.kernel import BoolArray, FloatArray, floor_within, helper, inlined
from .races import largest_beta_plain, log_norm

__all__ = ["beyond", "bound_claims", "chance_bound", "expire", "largest_fading_beta", "leader", "shelf_life"]

STEPS = 8  # grid points per unit in the table below
EXP = np.array([math.exp(-m / STEPS) for m in range(64 * STEPS)])  # e^(−m/STEPS)


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
    f = EXP[floor_within(-log_f * STEPS, EXP.size - 1.0)] if log_f <= 0.0 else math.exp(min(log_f, 100.0))
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
def leader(pulls: FloatArray, sums: FloatArray, mask: BoolArray) -> int:
    """The first available arm with the largest posterior mean (S + 1)/(N + 2)."""
    arm, highest = -1, -1.0
    for i in range(mask.size):
        mean = (sums[i] + 1.0) / (pulls[i] + 2.0)
        if mean > highest and mask[i]:
            arm, highest = i, mean
    return arm


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
    first = leader(pulls, sums, mask)
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


def bound_claims(bounds: FloatArray, pulls: FloatArray, sums: FloatArray) -> Claims:
    """A bound is unknown, or at least −ln B(S + 1, F + 1), and not much more."""
    exact = np.array([log_norm(float(s), float(n - s)) for n, s in zip(pulls, sums, strict=True)])
    possible = (bounds >= exact - 1e-6 * (1.0 + np.abs(exact))) & (bounds <= 2.0 * pulls + 10.0)
    yield "bounds", np.isnan(bounds) | possible, "NaN, or a bound on the logarithm of the posterior's normaliser"
