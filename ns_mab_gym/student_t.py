"""Student's t: quantiles without SciPy, and intervals for means of few runs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Estimated", "estimated", "lower_bound", "t_quantile"]

Floats = npt.NDArray[np.float64]

LARGEST = 2_000  # degrees of freedom beyond which the quantile is taken from here: it is 0.05 % too large at most


class Estimated(NamedTuple):
    """A mean, and the ends of its interval; infinite ends if one run alone was played."""

    mean: float
    low: float
    high: float
    runs: int


def upper_tail(t: float, freedom: int) -> float:
    """P(T > t) for t ≥ 0: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    theta = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for j in range(2 + odd, freedom - 1, 2):
        term *= cosine * cosine * (j - 1) / j
        total += term
    inside = 2 / math.pi * (theta + sine * total) if odd else sine * total
    return (1.0 - inside) / 2


@lru_cache(maxsize=4_096)
def t_quantile(tail: float, freedom: int) -> float:
    """The t that a Student variable exceeds with probability ``tail``, at most one half.

    >>> round(t_quantile(0.025, 9), 3)
    2.262
    """
    if not 0 < tail <= 0.5:
        raise ValueError(f"tail must be above 0 and at most 0.5, got {tail}")
    if freedom < 1:
        return math.inf
    known = min(freedom, LARGEST)
    low, high = 0.0, 1.0
    while upper_tail(high, known) > tail and high < 1e12:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, known) > tail else (low, middle)
    return high


def estimated(samples: Floats, level: float = 0.95) -> Estimated:
    """The mean of (R,) samples with its t interval."""
    mean, reach = float(samples.mean()), _reach(samples, (1 - level) / 2)
    return Estimated(mean, mean - reach, mean + reach, len(samples))


def lower_bound(samples: Floats, tail: float) -> float:
    """A number that the true mean lies below with probability ``tail`` at most, if the samples are normal."""
    return float(samples.mean()) - _reach(samples, tail) if len(samples) else -math.inf


def _reach(samples: Floats, tail: float) -> float:
    if len(samples) < 2:
        return math.inf
    spread = float(samples.std(ddof=1))
    return t_quantile(tail, len(samples) - 1) * spread / math.sqrt(len(samples)) if spread > 0 else 0.0
