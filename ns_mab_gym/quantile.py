"""The quantile function of the Beta distribution, compiled: it turns one uniform draw into one Beta variate."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from .compilation import compiled

FloatArray = npt.NDArray[np.float64]

TINY = 1e-300
CLOSE = 1e-8  # a Newton step that is relatively so small leaves an error of the order of its square


@compiled
def _continued_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete Beta function, by Lentz's method (DLMF 8.17.22)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > TINY else TINY)
    h = d
    for m in range(1, 10_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + numerator * d
            d = 1.0 / (d if abs(d) > TINY else TINY)
            c = 1.0 + numerator / c
            c = c if abs(c) > TINY else TINY
            h *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return h


@compiled
def beta_cdf(x: float, a: float, b: float, log_beta: float) -> float:
    """The regularised incomplete Beta function I_x(a, b), given ln B(a, b)."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _continued_fraction(x, a, b) / a
    return 1.0 - front * _continued_fraction(1.0 - x, b, a) / b


@compiled
def _first_guess(u: float, a: float, b: float) -> float:
    """The mean; or for a density with one hump, the quantile if the log-odds were logistic with about their spread."""
    mean = a / (a + b)
    if a < 1.0 or b < 1.0 or not 0.0 < u < 1.0:
        return mean
    spread = (a + b) / math.sqrt(a * b * (a + b + 1.0))
    odds = math.log(a / b) + spread * math.log(u / (1.0 - u)) / 1.702
    guess = 1.0 / (1.0 + math.exp(-odds))
    return guess if 0.0 < guess < 1.0 else mean


@compiled
def beta_quantile(u: float, a: float, b: float) -> float:
    """The x with I_x(a, b) = u: Newton's method inside a shrinking bracket.

    It differs from SciPy's by less than 1e-11 for a + b from 0.1 to 500, means from 0.001 to 0.999 and u at least 1e-6
    away from 0 and 1 (tested); closer to them, u itself has too few digits.
    A parameter of 0 means a point mass: at 0 for a = 0, at 1 for b = 0.
    """
    if a <= 0.0:
        return 0.0
    if b <= 0.0:
        return 1.0
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    low, high, x = 0.0, 1.0, _first_guess(u, a, b)
    for _ in range(200):
        excess = beta_cdf(x, a, b, log_beta) - u
        if excess > 0.0:
            high = x
        else:
            low = x
        if high - low < 1e-14:
            break
        density = math.exp((a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) - log_beta)
        step = x - excess / density if density > 0.0 else -1.0
        if low < step < high and abs(step - x) * (1.0 + a + b) < CLOSE * min(step, 1.0 - step):
            return step
        following = step if low < step < high else 0.5 * (low + high)
        if abs(following - x) < 1e-15:
            break
        x = following
    return x


@compiled
def beta_quantiles(u: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """:func:`beta_quantile`, elementwise and to the same bit."""
    x = np.empty(u.size)
    for i in range(u.size):
        x[i] = beta_quantile(u[i], a[i], b[i])
    return x
