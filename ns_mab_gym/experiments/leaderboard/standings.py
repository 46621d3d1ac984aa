"""Ranks with intervals over worlds: families of worlds have the same weight, and are resampled as a whole.

On a world, agents are ranked by their mean regret. An agent's rank is the mean over the worlds of a family, then over
the families. Its interval says what it would be with other families and other worlds of these kinds: families are
drawn with replacement, and then worlds within each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...resampling import SEED
from ..statistics import ranks_of
from .board_table import Division, Floats

__all__ = ["Standing", "Standings", "family_weights", "resampled_weights", "standings_of", "weighted"]

SAMPLES = 4_000
CLOSE = 2.0  # regret of at most this many times the best is close to it


@dataclass(frozen=True)
class Standing:
    """An agent's place.

    Attributes:
        label: the agent's.
        place: 1 is the best mean rank.
        rank: the mean rank, with its interval from ``low`` to ``high``.
        low: the lower end.
        high: the upper end.
        to_best: the geometric mean of regret divided by the least on each world.
        to_oracle: the same with oracle-restart's, where that has a meaning; NaN if nowhere.
        best_on: on how many worlds it has the least regret.
        close_on: on how many worlds its regret is at most twice the least.
        worst: its largest ratio to the best.
        worst_on: the label of the world where that is.
    """

    label: str
    place: int
    rank: float
    low: float
    high: float
    to_best: float
    to_oracle: float
    best_on: int
    close_on: int
    worst: float
    worst_on: str


@dataclass(frozen=True, eq=False)
class Standings:
    """The order of a division.

    Attributes:
        division: the table behind it.
        rows: the agents that have a place, the best first.
        alike: (A, A) in the same order, whether the interval of the difference of two mean ranks holds 0.
        halves: the mean ranks in the same order by the first and by the second half of the runs; None if there is only
            one run.
    """

    division: Division
    rows: Sequence[Standing]
    alike: npt.NDArray[np.bool_]
    halves: tuple[Floats, Floats] | None

    @property
    def labels(self) -> list[str]:
        """The agents that have a place, the best first."""
        return [row.label for row in self.rows]

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The first and last places of the longest groups of agents that are all alike, of at least two."""
        found: list[tuple[int, int]] = []
        for first in range(len(self.rows)):
            last = first
            while last + 1 < len(self.rows) and self.alike[first : last + 2, first : last + 2].all():
                last += 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def standings_of(division: Division) -> Standings:
    """The order of a division's agents over the worlds that count."""
    ranked, worlds = division.ranked, [division.worlds[number] for number in division.counting]
    ranks = ranks_of(division.means(ranked, worlds))
    mean = weighted(ranks, division.families)
    samples = ranks @ resampled_weights(division.families).T  # (A, B)
    lows, highs = np.quantile(samples, [0.025, 0.975], axis=1)
    order = np.argsort(mean, kind="stable").tolist()
    places = 1 + (mean[None] < mean[:, None] - 1e-12).sum(axis=1)
    rows = [
        Standing(
            ranked[n], int(places[n]), float(mean[n]), float(lows[n]), float(highs[n]), *_ratios(division, ranked[n])
        )
        for n in order
    ]
    return Standings(division, rows, _alike(samples[order]), _halves(division, order))


def family_weights(families: Sequence[str]) -> Floats:
    """(W,) weights of worlds whose sum is the same in every family, and 1 in all.

    >>> family_weights(["a", "b", "b"]).tolist()
    [0.5, 0.25, 0.25]
    """
    names = list(dict.fromkeys(families))
    return np.array([1 / len(names) / families.count(family) for family in families])


def weighted(values: Floats, families: Sequence[str]) -> Floats:
    """(A,) means of (A, W) values in which every family has the same weight."""
    return np.asarray(values @ family_weights(families))


def resampled_weights(families: Sequence[str], samples: int = SAMPLES) -> Floats:
    """(B, W) weights of worlds if families are drawn with replacement, and then worlds within each drawn family."""
    rng = np.random.default_rng(SEED)
    names = list(dict.fromkeys(families))
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=samples)  # (B, F)
    weights = np.zeros((samples, len(families)))
    for times, name in zip(drawn.T, names, strict=True):
        worlds = np.flatnonzero([family == name for family in families])
        counts = rng.multinomial(times * len(worlds), np.full(len(worlds), 1 / len(worlds)))
        weights[:, worlds] = counts / len(names) / len(worlds)
    return weights


def _alike(samples: Floats) -> npt.NDArray[np.bool_]:
    """(A, A) whether the 95 % interval of the difference of two mean ranks, over the same samples, holds 0."""
    found = np.empty((len(samples), len(samples)), np.bool_)
    for number, each in enumerate(samples):
        low, high = np.quantile(samples - each, [0.025, 0.975], axis=1)
        found[number] = (low <= 0) & (high >= 0)
    return np.asarray(found | found.T)


def _ratios(division: Division, label: str) -> tuple[float, float, int, int, float, str]:
    row, counting = division.labels.index(label), division.counting
    ratios = division.to_best[row, counting]
    to_oracle = division.to_oracle[row, counting]
    there = ~np.isnan(to_oracle)
    known = [family for family, has in zip(division.families, there, strict=True) if has]
    worst = int(ratios.argmax())
    return (
        float(np.exp(weighted(np.log(ratios), division.families))),
        float(np.exp(weighted(np.log(to_oracle[there]), known))) if known else float("nan"),
        int((ratios == 1).sum()),
        int((ratios <= CLOSE).sum()),
        float(ratios[worst]),
        division.worlds[counting[worst]].label,
    )


def _halves(division: Division, order: Sequence[int]) -> tuple[Floats, Floats] | None:
    worlds = [division.worlds[number] for number in division.counting]
    if min((len(runs) for runs in division.finals.values()), default=0) < 2:
        return None
    first, second = (
        weighted(ranks_of(division.with_runs(half).means(division.ranked, worlds)), division.families)[order]
        for half in (True, False)
    )
    return first, second
