"""Where learning wins and where it loses: differences between trained models and rivals on the same luck.

Several trainings of one algorithm that differ in their seed are S models, all of which play the same R runs. Then
both the seeds and the runs are samples, crossed with each other, and the variance of a mean over both is at most the
variance over the seeds' means, divided by S, plus that over the runs' means, divided by R (the part that belongs to
neither is counted twice). The interval is Student's t with the degrees of freedom of Satterthwaite (1946). With one
model there is nothing to be said about other seeds: then intervals are those of runs, for all rivals together, as in
:func:`ns_mab_gym.compare`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..choosing.leads import FEWEST, LEVEL
from ..means import Floats
from ..resampling import bootstrap_t
from ..run_intervals import Interval
from ..student_t import t_quantile

__all__ = ["Crossed", "Verdict", "crossed", "verdicts_of"]


@dataclass(frozen=True)
class Crossed:
    """The mean over training seeds and runs, its standard error and its 95 % interval; NaN where it cannot be known."""

    mean: float
    se: float
    interval: Interval


@dataclass(frozen=True)
class Verdict:
    """A rival beside the trained models.

    Attributes:
        agent: the rival's label.
        regret: its mean final regret.
        se: the standard error of that over the runs; NaN for a single run.
        more: by how much it exceeds the mean of the models, with its interval: above 0 if learning wins.
    """

    agent: str
    regret: float
    se: float
    more: Interval

    @property
    def word(self) -> str:
        """Whether learning wins, loses, or cannot be told from it."""
        if self.more.low > 0:
            return "wins"
        return "loses" if self.more.high < 0 else "open"


def crossed(samples: Floats) -> Crossed:
    """The mean of (S, R) samples, one row for each training seed and one column for each run that all seeds played."""
    seeds, runs = samples.shape
    mean = float(samples.mean())
    of_seeds = float(samples.mean(axis=1).var(ddof=1)) / seeds if seeds > 1 else math.nan
    of_runs = float(samples.mean(axis=0).var(ddof=1)) / runs if runs > 1 else math.nan
    parts = [(part, size - 1) for part, size in ((of_seeds, seeds), (of_runs, runs)) if size > 1]
    total = sum(part for part, _ in parts)
    if not parts or seeds < 2:
        return Crossed(mean, total**0.5 if parts else math.nan, Interval(mean, math.nan, math.nan))
    if total == 0:
        return Crossed(mean, 0.0, Interval(mean, mean, mean))
    freedom = math.floor(total**2 / sum(part**2 / free for part, free in parts))
    reach = t_quantile((1 - LEVEL) / 2, freedom) * total**0.5
    return Crossed(mean, total**0.5, Interval(mean, mean - reach, mean + reach))


def verdicts_of(models: Floats, rivals: Mapping[str, Floats]) -> list[Verdict]:
    """How every rival ended beside the trained models, the least regret first.

    Args:
        models: (S, R) the final regrets of S models in R runs.
        rivals: (R,) the final regrets of each rival in the same runs.
    """
    intervals = _of_runs(models[0], rivals) if len(models) == 1 else _of_seeds(models, rivals)
    found = [
        Verdict(label, float(final.mean()), _se(final), interval)
        for (label, final), interval in zip(rivals.items(), intervals, strict=True)
    ]
    return sorted(found, key=lambda verdict: verdict.regret)


def _of_seeds(models: Floats, rivals: Mapping[str, Floats]) -> list[Interval]:
    return [crossed(final[None] - models).interval for final in rivals.values()]


def _of_runs(model: Floats, rivals: Mapping[str, Floats]) -> list[Interval]:
    """Intervals that hold for all rivals of one model together: from the largest |t| of bootstrap samples of runs."""
    differences = np.stack([final - model for final in rivals.values()], axis=1)  # (R, rivals)
    means = differences.mean(axis=0)
    if len(model) < FEWEST:
        return [Interval(float(mean), math.nan, math.nan) for mean in means]
    _, errors, t = bootstrap_t(differences)
    reach = float(np.quantile(np.abs(t).max(axis=1), LEVEL)) * errors
    return [Interval(*map(float, (mean, mean - r, mean + r))) for mean, r in zip(means, reach, strict=True)]


def _se(final: Floats) -> float:
    return float(final.std(ddof=1)) / len(final) ** 0.5 if len(final) > 1 else math.nan
