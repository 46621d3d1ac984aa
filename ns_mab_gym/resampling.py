"""The bootstrap of runs that share their luck: runs are resampled as a whole, always from the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["Estimate", "bootstrap_means", "bootstrap_t", "estimate", "estimates"]

Floats = npt.NDArray[np.float64]

RESAMPLES = 10_000
SEED = 20_240_905  # of every bootstrap, so that the same runs always give the same interval


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard deviation, standard error and interval."""

    mean: float
    sd: float
    se: float
    low: float
    high: float


@lru_cache(maxsize=16)
def _weights(runs: int) -> Floats:
    """(B, R) how often each run is in each bootstrap sample, divided by R."""
    return np.random.default_rng(SEED).multinomial(runs, np.full(runs, 1 / runs), size=RESAMPLES) / runs


def bootstrap_means(samples: Floats) -> Floats:
    """(B, …) the means of bootstrap samples of (R, …) samples; the R rows are resampled as a whole."""
    flat = samples.reshape(len(samples), -1)
    return np.asarray(_weights(len(samples)) @ flat).reshape(RESAMPLES, *samples.shape[1:])


def estimates(samples: Floats, level: float = 0.95) -> list[Estimate]:
    """The means of the columns of (R, M) samples with their percentile bootstrap intervals."""
    lows, highs = np.quantile(bootstrap_means(samples), [(1 - level) / 2, (1 + level) / 2], axis=0)
    sds = samples.std(axis=0, ddof=1) if len(samples) > 1 else np.zeros(samples.shape[1])
    ses = sds / len(samples) ** 0.5
    return [Estimate(*map(float, column)) for column in zip(samples.mean(axis=0), sds, ses, lows, highs, strict=True)]


def estimate(samples: Floats, level: float = 0.95) -> Estimate:
    """The mean of (R,) samples with its percentile bootstrap interval.

    >>> e = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> e.mean, e.low <= e.mean <= e.high
    (2.5, True)
    """
    return estimates(samples[:, None], level)[0]


def bootstrap_t(samples: Floats) -> tuple[Floats, Floats, Floats]:
    """The means of the columns of (R, M) samples, their standard errors, and (B, M) bootstrap t of the means.

    Intervals from quantiles of t stay accurate for few or skewed samples, where percentile intervals do not. All
    columns are resampled together, so that the largest t of several columns takes their dependence into account.
    """
    mean, se = samples.mean(axis=0), samples.std(axis=0, ddof=1) / len(samples) ** 0.5
    means = bootstrap_means(samples)
    variances = bootstrap_means((samples - mean) ** 2) - (means - mean) ** 2
    spread = np.sqrt(np.maximum(variances, 0) / (len(samples) - 1))
    # Where most samples are equal, some resamples have no spread at all, which would make their t infinite.
    return mean, se, (means - mean) / np.maximum(np.maximum(spread, se / 5), np.finfo(np.float64).tiny)
