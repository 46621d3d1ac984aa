"""Statistics of runs: Student's t, the bootstrap of whole runs, intervals of means and shares, ranks and summaries.

Runs of several agents share their luck, and the parts of one run may depend on each other in any way: so runs are
resampled as a whole, for all agents together, always from the same seed. Quantiles of t and Beta are SciPy's.

One rule says how sure a difference between agents is, wherever it is shown (:data:`INTERVALS`): its interval holds
together with those of all differences that might have been shown instead. Where the best is looked for, these are all
pairs of agents; where a sentence was there before the runs, they are its own comparisons (:func:`intervals_of`).

``tune`` and ``recommend`` are the one exception: of k candidates, a difference has Student's interval
(:func:`estimated`) with the level divided by k − 1 (:class:`ns_mab_gym.tuning.race.HeldOut`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from .means import Floats

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
FEWEST = 5  # runs that an interval is made from: below, bootstrap intervals of pairs are too short (tried)
RESAMPLES = 10_000
SEED = 20_240_905  # of every bootstrap, so that the same runs always give the same interval
PAIRS_AT_ONCE = 64  # pairs of agents that are resampled together, so that memory stays small
MOST_KNOWN = 2_000  # resampled differences that are remembered, 80 kB each

INTERVALS = (  # for readers
    f"The 95 % interval of an agent's mean stands by itself (percentile bootstrap). That of a difference between two "
    f"agents is made from runs with the same luck, and holds for all pairs of agents on a world together (the largest "
    f"|t| of {RESAMPLES:,} bootstrap samples), so that the best and the next may be looked for first; fewer than "
    f"{FEWEST} runs give none."
)

Bounds = tuple[float, float]


def _special() -> Any:
    """SciPy's special functions, loaded on first use."""
    try:
        from scipy import special
    except ImportError as error:
        raise ImportError(
            "intervals need SciPy: pip install 'ns-mab-gym[experiments]', or 'ns-mab-gym[tune]'"
        ) from error
    return special


# Student's t


class Estimated(NamedTuple):
    """A mean, and the ends of its t interval; infinite ends if one run alone was played."""

    mean: float
    low: float
    high: float
    runs: int


@lru_cache(maxsize=4_096)
def t_quantile(tail: float, freedom: int) -> float:
    """The t that a Student variable exceeds with probability ``tail``, at most one half.

    >>> round(t_quantile(0.025, 9), 3)
    2.262
    """
    if not 0 < tail <= 0.5:
        raise ValueError(f"tail must be above 0 and at most 0.5, got {tail}")
    return math.inf if freedom < 1 else 0.0 - float(_special().stdtrit(freedom, tail))


def chi_square_tail(value: float, freedom: int) -> float:
    """The probability that a chi-square variable exceeds a value.

    >>> round(chi_square_tail(3.841, 1), 3)
    0.05
    """
    return float(_special().chdtrc(freedom, value))


def estimated(samples: Floats, level: float = LEVEL) -> Estimated:
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


# The bootstrap


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard deviation, standard error and percentile bootstrap interval."""

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


def estimates(samples: Floats, level: float = LEVEL) -> list[Estimate]:
    """The means of the columns of (R, M) samples with their percentile bootstrap intervals."""
    lows, highs = np.quantile(bootstrap_means(samples), [(1 - level) / 2, (1 + level) / 2], axis=0)
    sds = samples.std(axis=0, ddof=1) if len(samples) > 1 else np.zeros(samples.shape[1])
    ses = sds / len(samples) ** 0.5
    return [Estimate(*map(float, column)) for column in zip(samples.mean(axis=0), sds, ses, lows, highs, strict=True)]


def estimate(samples: Floats, level: float = LEVEL) -> Estimate:
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


def pairwise_factor(finals: Floats) -> float:
    """The number of standard errors that a difference of two of (A, R) regrets may be off, for all pairs together.

    It is the 95 % quantile of the largest |t| of all pairs; NaN for a single agent or fewer than 5 runs.
    """
    if finals.shape[1] < FEWEST or len(finals) < 2:
        return np.nan
    pairs = np.array(list(combinations(range(len(finals)), 2)))
    largest = np.zeros(RESAMPLES)
    for some in np.array_split(pairs, -(-len(pairs) // PAIRS_AT_ONCE)):
        _, _, t = bootstrap_t((finals[some[:, 0]] - finals[some[:, 1]]).T)
        np.maximum(largest, np.abs(t).max(axis=1), out=largest)
    return float(np.quantile(largest, LEVEL))


def differences(finals: Mapping[str, Floats], reference: str) -> dict[str, Estimate]:
    """Return how much larger each final regret (R,) is than the reference's, with intervals as :data:`INTERVALS` says.

    The interval is NaN for fewer than 5 runs; the reference itself is not among them.
    """
    factor, found = pairwise_factor(np.stack(list(finals.values()))), {}
    for label, final in finals.items():
        if label != reference:
            paired = final - finals[reference]
            sd = float(paired.std(ddof=1)) if len(paired) > 1 else np.nan
            mean, se = float(paired.mean()), sd / len(paired) ** 0.5
            found[label] = Estimate(mean, sd, se, mean - factor * se, mean + factor * se)
    return found


def may_be_as_good(agents: Sequence[str]) -> str:
    """A sentence about agents that are not told apart from the best.

    >>> may_be_as_good(["a", "b", "c"])
    'a, b and c may be as good'
    """
    shown = agents if len(agents) <= 5 else (*agents[:5], f"{len(agents) - 5} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) + " may be as good"


class Resampled(NamedTuple):
    """The mean of differences, its standard error, its bootstrap t, and the ends of its own interval."""

    mean: float
    se: float
    t: Floats  # (B,)
    own: Bounds


_KNOWN: dict[bytes, Resampled] = {}


def intervals_of(differences: Sequence[Floats], settled: Callable[[int, Bounds], bool]) -> list[tuple[Bounds, Bounds]]:
    """For each of several (R,) differences its own interval, and the one that holds for several of them together.

    The latter comes from the largest and the least t of all that are not settled, resampled together.

    Args:
        differences: the differences.
        settled: a function from a place and its own interval to True if that difference cannot be a matter of luck, so
            that the others need not be stricter for it.
    """
    tails = [int(TAIL * RESAMPLES), RESAMPLES - 1 - int(TAIL * RESAMPLES)]  # the ranks of the ends
    # Readings of a claim share most of their comparisons, so that resamples are kept and found by the differences.
    keys = [each.tobytes() for each in differences]
    new = {key: each for key, each in zip(keys, differences, strict=True) if key not in _KNOWN}
    if new:
        mean, se, t = bootstrap_t(np.stack(list(new.values()), axis=1))
        rows = t.T.copy()
        ends = np.partition(rows, tails, axis=1)[:, tails]
        for key, m, s, row, (low, high) in zip(new, mean.tolist(), se.tolist(), rows, ends.tolist(), strict=True):
            _KNOWN[key] = Resampled(m, s, row, (m - high * s, m - low * s))
    resampled = [_KNOWN[key] for key in keys]
    while len(_KNOWN) > MOST_KNOWN:
        del _KNOWN[next(iter(_KNOWN))]  # the oldest
    left = [each for place, each in enumerate(resampled) if not settled(place, each.own)] or resampled[:1]
    least, largest = left[0].t.copy(), left[0].t.copy()
    for each in left[1:]:
        np.minimum(least, each.t, out=least)
        np.maximum(largest, each.t, out=largest)
    low, high = (float(np.partition(t, rank)[rank]) for t, rank in zip((least, largest), tails, strict=True))
    return [(each.own, (each.mean - high * each.se, each.mean - low * each.se)) for each in resampled]


# Intervals of means and shares over runs


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


NOTHING = Interval(np.nan, np.nan, np.nan)


def mean_interval(samples: Floats) -> Interval:
    """The mean of (R,) samples with its percentile bootstrap interval, if there are at least 5 samples."""
    if len(samples) < FEWEST:
        return Interval(float(samples.mean()), np.nan, np.nan)
    each = estimate(samples)
    return Interval(each.mean, each.low, each.high)


def mean_of(totals: Floats, counts: Floats) -> Interval:
    """Σ totals / Σ counts over the runs, with the percentile interval of bootstrap samples of whole runs."""
    if not counts.any():
        return NOTHING
    value = float(totals.sum() / counts.sum())
    if np.ptp(totals[counts > 0] / counts[counts > 0]) == 0:
        return Interval(value, np.nan, np.nan)
    top, bottom = bootstrap_means(totals), bootstrap_means(counts)
    low, high = np.quantile(top[bottom > 0] / bottom[bottom > 0], [TAIL, 1 - TAIL])
    return Interval(value, float(low), float(high))


def share_of(counts: Floats, trials: Floats) -> Interval:
    """Σ counts / Σ trials over the runs, with Clopper and Pearson's interval at the effective number of trials.

    That is the number of independent trials worth as much as these, of which those of one run depend on each other
    (Korn and Graubard, 1998).
    """
    if not trials.any():
        return NOTHING
    total, value = float(trials.sum()), float(counts.sum() / trials.sum())
    size = float(total**2 / (trials**2).sum())  # Kish's, the least: as if the trials of a run always ended alike
    if value not in (0, 1) and len(counts) > 1:
        spread = float(((counts - value * trials) ** 2).sum()) / total**2  # the variance of the share over runs
        worth = total if spread == 0 else min(value * (1 - value) / spread, total)
        fewer = (t_quantile(TAIL, int(total) - 1) / t_quantile(TAIL, len(counts) - 1)) ** 2  # the variance is unknown
        size = float(np.clip(fewer * worth, size, total))
    hits, quantile = value * size, _special().betaincinv
    low = float(quantile(hits, size - hits + 1, TAIL)) if hits > 0 else 0.0
    high = float(quantile(hits + 1, size - hits, 1 - TAIL)) if hits < size else 1.0
    return Interval(value, low, high)


# Ranks and summaries of final regrets


def ranks_of(regrets: Floats) -> Floats:
    """(A, M) the rank of each of A agents in each of M columns of regrets; 1 is the least, ties share their ranks.

    >>> ranks_of(np.array([[3.0], [1.0], [3.0]])).ravel().tolist()
    [2.5, 1.0, 2.5]
    """
    less = (regrets[None] < regrets[:, None]).sum(axis=1)
    equal = (regrets[None] == regrets[:, None]).sum(axis=1)
    return np.asarray(less + (equal + 1) / 2)


def improved(agent: Floats, reference: Floats) -> Floats:
    """(R, …) 1 where the agent has less regret than the reference with the same luck, ½ for a tie, else 0.

    Its mean is the probability of improvement.
    """
    return np.where(agent < reference, 1.0, np.where(agent == reference, 0.5, 0.0))


@dataclass(frozen=True)
class Summary:
    """One agent on one world: final regret, and how it compares with the reference on the same luck.

    Attributes:
        label: the agent's label.
        final: regret in round T; the interval is NaN for fewer than 5 runs.
        difference: final regret minus the reference's, run by run; ``None`` for the reference itself.
        improvement: the probability of less regret than the reference; ``None`` for the reference itself.
        rank: mean rank over the runs; 1 is the least regret.
    """

    label: str
    final: Estimate
    difference: Estimate | None
    improvement: Estimate | None
    rank: float


def summarise(finals: Mapping[str, Floats], reference: str) -> list[Summary]:
    """A summary for each agent, given the final regrets (R,) of all, in ascending order of their means."""
    runs = np.stack(list(finals.values()), axis=1)  # (R, A)
    more, own = differences(finals, reference), estimates(runs)
    if len(runs) < FEWEST:
        own = [replace(each, low=np.nan, high=np.nan) for each in own]
    improvements = estimates(improved(runs, finals[reference][:, None]))
    columns = zip(finals, own, improvements, ranks_of(runs.T).mean(axis=1).tolist(), strict=True)
    rows = [
        Summary(label, final, more.get(label), None if label == reference else improvement, rank)
        for label, final, improvement, rank in columns
    ]
    return sorted(rows, key=lambda row: row.final.mean)


def mean_se(values: Floats) -> str:
    """A text with the mean and its standard error."""
    se = float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
    if abs(values.mean()) < 10:
        return f"{values.mean():.3g} ± {se if se > 1e-9 else 0:.1g}"
    return f"{values.mean():,.0f} ± {se:,.{0 if se >= 9.95 else 1}f}"
