"""Who has the least regret, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..means import Floats
from ..resampling import bootstrap_t, estimate
from ..run_intervals import Interval

__all__ = ["FEWEST", "Best", "Standing", "best_of", "standings_of"]

FEWEST = 5  # runs that an interval is made from: below, bootstrap intervals of pairs are too short (tried)
LEVEL = 0.95
AT_ONCE = 64  # pairs that are resampled together, so that memory stays small


@dataclass(frozen=True)
class Standing:
    """How an agent ended on a world.

    Attributes:
        agent: its label.
        place: 1 has the least mean regret; equal means share the better place.
        regret: the mean final regret, with its own 95 % interval (percentile bootstrap).
        sd: the standard deviation of the final regret; NaN for a single run.
        se: the standard error of its mean; NaN for a single run.
        more: by how much its mean exceeds that of the best, run by run on the same luck; the intervals of all pairs of
            agents hold together with 95 %, so that they are right whoever turns out to be the best and the next.
    """

    agent: str
    place: int
    regret: Interval
    sd: float
    se: float
    more: Interval


def standings_of(finals: Mapping[str, Floats]) -> list[Standing]:
    """The standing of each agent, given the final regrets (R,) of all; the least mean first."""
    means = {label: float(final.mean()) for label, final in finals.items()}
    ranked = sorted(means, key=means.__getitem__)
    best = finals[ranked[0]]
    factor = _factor(np.stack(list(finals.values())))
    return [
        _standing(label, 1 + sum(mean < means[label] for mean in means.values()), finals[label], best, factor)
        for label in ranked
    ]


def _standing(label: str, place: int, final: Floats, best: Floats, factor: float) -> Standing:
    runs = len(final)
    sd = float(final.std(ddof=1)) if runs > 1 else np.nan
    paired = final - best
    more, error = float(paired.mean()), float(paired.std(ddof=1)) / runs**0.5 if runs > 1 else np.nan
    if final is best:
        interval = Interval(0.0, np.nan, np.nan)
    else:
        interval = Interval(more, more - factor * error, more + factor * error)
    return Standing(label, place, _mean(final), sd, sd / runs**0.5, interval)


def _mean(final: Floats) -> Interval:
    if len(final) < FEWEST:
        return Interval(float(final.mean()), np.nan, np.nan)
    each = estimate(final)
    return Interval(each.mean, each.low, each.high)


def _factor(finals: Floats) -> float:
    """How many standard errors a difference of two of (A, R) regrets may be off, for all pairs together.

    It is the 95 % quantile of the largest |t| of all pairs, over bootstrap samples of whole runs.
    """
    if finals.shape[1] < FEWEST or len(finals) < 2:
        return np.nan
    pairs = np.array(list(combinations(range(len(finals)), 2)))
    largest: Floats | None = None
    for some in np.array_split(pairs, -(-len(pairs) // AT_ONCE)):
        _, _, t = bootstrap_t((finals[some[:, 0]] - finals[some[:, 1]]).T)
        sizes = np.abs(t).max(axis=1)
        largest = sizes if largest is None else np.maximum(largest, sizes)
    assert largest is not None
    return float(np.quantile(largest, LEVEL))


@dataclass(frozen=True)
class Best:
    """The agent of least mean final regret on a world, and what can be said of its lead.

    Attributes:
        world: the world's label.
        agent: the agent's label.
        runs: how many runs each agent played.
        regret: its mean final regret with a 95 % interval; NaN where there are fewer than 5 runs. The best of several
            agents has been lucky more often than not, so that it will do a little worse on other seeds.
        runner_up: the label of the next; None if there is no other agent.
        lead: by how much the next one's mean is larger, with an interval that holds for all pairs of agents together.
        alike: the agents that cannot be told from the best by that interval.
    """

    world: str
    agent: str
    runs: int
    regret: Interval
    runner_up: str | None
    lead: Interval | None
    alike: tuple[str, ...]

    @property
    def is_clear(self) -> bool | None:
        """Whether the best is told from every other agent; None if there are too few runs, or no other agent."""
        if self.lead is None or self.runs < FEWEST:
            return None
        return not self.alike

    def __str__(self) -> str:
        runs = "1 run" if self.runs == 1 else f"{self.runs:,} runs"
        first = f"{self.agent} has the least regret on {self.world}: {_text(self.regret)}, the mean of {runs}."
        return " ".join([first, *self._about_lead()])

    def _about_lead(self) -> list[str]:
        if self.lead is None:
            return ["No other agent played."]
        said = [f"Next is {self.runner_up}, with {_text(self.lead)} more."]
        if self.is_clear is None:
            return [*said, f"How sure that is cannot be said: play at least {FEWEST} runs."]
        if self.is_clear:
            return [*said, "The lead is clear: with 95 % certainty it is no luck."]
        return [*said, f"The lead may be luck: {_listed(self.alike)} may be as good; play more runs to know."]


def best_of(world: str, standings: list[Standing], runs: int) -> Best:
    """The best of agents, given how they ended, the best first."""
    first, *others = standings
    runner_up = others[0] if others else None
    alike = tuple(each.agent for each in others if not each.more.low > 0)
    return Best(
        world,
        first.agent,
        runs,
        first.regret,
        runner_up.agent if runner_up else None,
        runner_up.more if runner_up else None,
        alike,
    )


def _text(interval: Interval) -> str:
    """The value, and its interval where there is one."""
    digits = 0 if abs(interval.value) >= 100 or interval.value == 0 else 1 if abs(interval.value) >= 10 else 2
    value, low, high = (f"{part + 0.0:,.{digits}f}".replace("-", "−") for part in interval)
    return value if np.isnan(interval.low) else f"{value} ({low} to {high})"


def _listed(labels: tuple[str, ...], most: int = 5) -> str:
    if len(labels) <= most:
        return " and ".join(filter(None, [", ".join(labels[:-1]), labels[-1]]))
    return f"{', '.join(labels[:most])} and {len(labels) - most} more"
