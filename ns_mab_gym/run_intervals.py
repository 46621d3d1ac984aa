"""Intervals of means and shares over runs, where what belongs to one run may depend on itself in any way.

Means: percentile bootstrap of whole runs. Shares: Clopper and Pearson's interval, with the effective number of trials
of Korn and Graubard (1998).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .means import Floats
from .quantile import beta_quantile
from .student_t import t_quantile

__all__ = ["Interval", "mean_of", "share_of"]

LEVEL = 0.95
RESAMPLES = 10_000
SEED = 20_240_905  # of every bootstrap, so that the same runs always give the same interval


class Interval(NamedTuple):
    """An estimate with its 95 % interval; NaN where there is nothing to estimate it from."""

    value: float
    low: float
    high: float

    def as_number(self) -> str:
        """The estimate as text.

        >>> Interval(12.34, 9.0, np.nan).as_number(), Interval(1234.0, 1000.0, 2000.0).as_number()
        ('12.3', '1,234 (1,000 to 2,000)')
        """
        if np.isnan(self.value):
            return "–"
        value, low, high = (f"{part:,.0f}" if abs(part) >= 100 else f"{part:.3g}" for part in self)
        return value if np.isnan(self.low + self.high) else f"{value} ({low} to {high})"

    def as_share(self) -> str:
        """The estimate of a share as text.

        >>> Interval(0.125, 0.0, 0.5).as_share()
        '12.5 % (0.0 to 50.0 %)'
        """
        if np.isnan(self.value):
            return "–"
        return f"{100 * self.value:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f} %)"


def mean_of(totals: Floats, counts: Floats) -> Interval:
    """Σ totals / Σ counts over the runs, with the percentile interval of bootstrap samples of whole runs."""
    if not counts.any():
        return Interval(np.nan, np.nan, np.nan)
    value = float(totals.sum() / counts.sum())
    if np.ptp(totals[counts > 0] / counts[counts > 0]) == 0:
        return Interval(value, np.nan, np.nan)
    weights = _weights(len(totals))
    top, bottom = weights @ totals, weights @ counts
    low, high = np.quantile(top[bottom > 0] / bottom[bottom > 0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high))


@lru_cache(maxsize=4)
def _weights(runs: int) -> Floats:
    """(B, R) how often each run is in each bootstrap sample."""
    return np.random.default_rng(SEED).multinomial(runs, np.full(runs, 1 / runs), size=RESAMPLES).astype(np.float64)


def share_of(counts: Floats, trials: Floats) -> Interval:
    """Σ counts / Σ trials over the runs, with Clopper and Pearson's interval at the effective number of trials."""
    if not trials.any():
        return Interval(np.nan, np.nan, np.nan)
    value = float(counts.sum() / trials.sum())
    size = _effective(counts, trials)
    hits, tail = value * size, (1 - LEVEL) / 2
    low = beta_quantile(tail, hits, size - hits + 1)
    return Interval(value, low, beta_quantile(1 - tail, hits + 1, size - hits))


def _effective(counts: Floats, trials: Floats) -> float:
    """How many independent trials would be worth as much as these, of which those of one run depend on each other."""
    total, value = trials.sum(), counts.sum() / trials.sum()
    least = float(total**2 / (trials**2).sum())  # Kish's: as if the trials of a run always ended alike
    spread = float(((counts - value * trials) ** 2).sum()) / total**2  # the variance of the share over runs
    if value in (0, 1) or len(counts) == 1:
        return least
    size = total if spread == 0 else min(value * (1 - value) / spread, total)
    tail = (1 - LEVEL) / 2
    fewer = (t_quantile(tail, int(total) - 1) / t_quantile(tail, len(counts) - 1)) ** 2  # for not knowing the variance
    return float(np.clip(fewer * size, least, total))
