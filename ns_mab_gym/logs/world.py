"""A random world of the histories that a log leaves plausible.

The log is cut into cells of equally many decisions. The mean of an arm may stand still, drift (a Gaussian random walk)
or jump (levels that hold until a change, which comes with a constant probability); each of the three with several sizes
and rates. Given the normal errors of the cells' means, the evidence of each is known in closed form (a Kalman filter;
sums over the last change, as in Fearnhead, "Exact and efficient Bayesian inference for multiple changepoint problems",
2006). With a prior probability of ½ all arms stand still, with ¼ all jump at the same times, and with ¼ each moves as
it does, where standing still has a probability of ½, and what the arms show together is the prior of each. An instance
draws one of these, and then a history given the log: noise does not become drift, and an arm that was rarely shown is
uncertain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .. import rewards
from ..agents.core.arguments import positive, positive_int
from ..means import Floats, Mask
from ..rewards import Bernoulli, Beta, Empirical, Gaussian, Law
from ..worlds.world import World
from .log import Log

CELLS = 8, 300  # the fewest and the most
PER_CELL = 10  # decisions of an arm, on average, where the log is short
TOGETHER = np.array([0.5, 0.25, 0.25])  # prior: all stand still, all jump at the same times, each moves alone
STILL, DRIFTS, JUMPS = 0.5, 0.25, 0.25  # and of an arm that moves alone
LEVELS = np.geomspace(1 / 32, 2, 5)  # standard deviations of levels, as shares of the spread of all cells' means
WALKS = np.geomspace(1 / 16, 16, 7)  # of walks over the whole log, likewise
CHANGES = np.array([1.0, 4.0, 16.0, 64.0])  # expected jumps in the whole log
VALUES = 1_000  # of an empirical law
CURVES = 32  # histories whose mean is the expected one
KEPT_BYTES = 2e8  # of histories that are kept
FEW = 10  # rows of an arm, below which the scatter of its rewards is that of all


class Fit(NamedTuple):
    """The evidence of all ways to move.

    Attributes:
        together: the posterior probabilities that all arms stand still, all jump at the same times, each moves alone.
        weights: (K, M) those of each arm if it moves alone: of standing still (by level), drifting (by level and walk)
            and jumping (by level and rate).
        levels: (M,) the standard deviation of levels.
        walks: (M,) the variance of one step of a walk; 0 for other ways.
        hazards: (M,) the probability of a jump between two cells; 0 for other ways.
        ahead: (levels, rates, K + 1, G + 1) the log evidence of all cells from one on, if a jump is before it; the last
            of the arms stands for all at once.
    """

    together: Floats
    weights: Floats
    levels: Floats
    walks: Floats
    hazards: Floats
    ahead: Floats


@dataclass(frozen=True, kw_only=True)
class LogWorld(World):
    """Histories that a log leaves plausible, another one in each run; ``log.world()`` makes one.

    Attributes:
        horizon: T, the decisions that the span of the log is played with.
        pulls: (G, K) the log's decisions in each cell, for each arm.
        rates: (G, K) their mean rewards; 0 where there is none.
        scatter: (K,) the variance of one reward.
        law: the reward law.
        seconds: the span of the log.
        arm_names: the names of the arms.
    """

    random: ClassVar[bool] = True

    pulls: tuple[tuple[float, ...], ...]
    rates: tuple[tuple[float, ...], ...]
    scatter: tuple[float, ...]
    law: Law | Mapping[str, Any]
    seconds: float
    arm_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Read what :meth:`to_dict` wrote."""
        super().__post_init__()
        object.__setattr__(self, "law", rewards.make(self.law))
        for table in ("pulls", "rates"):
            object.__setattr__(self, table, tuple(tuple(map(float, row)) for row in getattr(self, table)))
        object.__setattr__(self, "scatter", tuple(map(float, self.scatter)))
        object.__setattr__(self, "arm_names", tuple(self.arm_names))

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.scatter)

    @property
    def own_law(self) -> Law:
        """The reward law."""
        return rewards.make(self.law)

    @property
    def rate(self) -> float:
        """Decisions a second."""
        return self.horizon / self.seconds

    @cached_property
    def shares(self) -> Floats:
        """(G, K) the shares of the arms in the log's decisions."""
        pulls = np.array(self.pulls)
        return np.asarray(pulls / pulls.sum(axis=1, keepdims=True))

    @cached_property
    def still(self) -> Floats:
        """(K,) the probability that the mean of an arm stands still."""
        fit = self._fit
        return np.asarray(fit.together[0] + fit.together[2] * fit.weights[:, : len(LEVELS)].sum(axis=1))

    @cached_property
    def _data(self) -> tuple[float, Floats, Floats]:
        """The centre of all arms' means; and of each cell its precision, and its mean minus the centre."""
        pulls, rates = np.array(self.pulls), np.array(self.rates)
        shown = pulls.sum(axis=0) > 0
        centre = float(((pulls * rates).sum(axis=0)[shown] / pulls.sum(axis=0)[shown]).mean())
        return centre, pulls / np.array(self.scatter), np.where(pulls > 0, rates - centre, 0.0)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """(G + 1, K) sums over the cells before each, of precisions and of precisions times means."""
        _, precision, y = self._data
        before = np.zeros((2, len(y) + 1, self.n_arms))
        np.cumsum([precision, precision * y], axis=1, out=before[:, 1:])
        return before[0], before[1]

    @cached_property
    def _fit(self) -> Fit:
        _, precision, y = self._data
        cells, n_arms = y.shape
        spread = math.sqrt(float((precision * y**2).sum() / precision.sum())) or 1e-9
        tau, steps = spread * LEVELS, (spread * WALKS) ** 2 / cells
        hazard = np.minimum(CHANGES / cells, 0.5)
        # Drifts; all evidence is divided by that of means which equal the centre.
        variance = np.broadcast_to((tau**2)[:, None, None], (len(tau), len(steps), n_arms)).copy()
        mean, drifting = np.zeros_like(variance), np.zeros_like(variance)
        for a, seen in zip(precision, y, strict=True):
            gain = variance / (1 + a * variance)
            drifting += 0.5 * (a * seen**2 - np.log1p(a * variance) - a * (seen - mean) ** 2 / (1 + a * variance))
            mean, variance = mean + a * gain * (seen - mean), gain + steps[None, :, None]
        # Jumps, from the last cell to the first.
        ahead = np.zeros((len(tau), len(hazard), n_arms + 1, cells + 1))
        stay, change = np.log1p(-hazard)[None, :, None, None], np.log(hazard)[None, :, None, None]
        for start in range(cells - 1, -1, -1):
            lasts = np.arange(cells - start)
            terms = self._segments(start, tau)[:, None] + stay * lasts
            terms[..., :-1] += change + ahead[..., start + 1 : cells]
            most = terms.max(axis=-1, keepdims=True)
            ahead[..., start] = most[..., 0] + np.log(np.exp(terms - most).sum(axis=-1))
        jumping = ahead[..., 0].reshape(-1, n_arms + 1)
        evidence = [self._segments(0, tau)[:, :-1, -1], drifting.reshape(-1, n_arms), jumping[:, :-1]]
        prior = np.concatenate(
            [np.full(len(e), p / len(e)) for e, p in zip(evidence, (STILL, DRIFTS, JUMPS), strict=True)]
        )
        logs = np.concatenate(evidence).T
        likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
        alone = likelihood * prior
        at_once = float(np.logaddexp.reduce(jumping[:, -1]) - math.log(len(jumping)) - logs.max(axis=1).sum())
        still = np.log(np.maximum(likelihood[:, : len(tau)].mean(axis=1), 1e-300)).sum()
        common = np.array([still, at_once, np.log(alone.sum(axis=1)).sum()])
        together = TOGETHER * np.exp(common - common.max())
        prior = (prior + (alone / alone.sum(axis=1, keepdims=True)).sum(axis=0)) / (1 + n_arms)
        weights = likelihood * prior
        many = len(tau)
        return Fit(
            together / together.sum(),
            weights / weights.sum(axis=1, keepdims=True),
            np.concatenate([tau, np.repeat(tau, len(steps)), np.repeat(tau, len(hazard))]),
            np.concatenate([np.zeros(many), np.tile(steps, many), np.zeros(many * len(hazard))]),
            np.concatenate([np.zeros(many), np.zeros(many * len(steps)), np.tile(hazard, many)]),
            ahead,
        )

    def _segments(self, start: int, tau: Floats) -> Floats:
        """(levels, K + 1, G − start) the log evidence of one level from a cell up to each later one; at last of all."""
        total, weighted = self._sums
        a, b = (total[start + 1 :] - total[start]).T, (weighted[start + 1 :] - weighted[start]).T
        square = (tau**2)[:, None, None]
        each = 0.5 * (square * b**2 / (1 + square * a) - np.log1p(square * a))
        return np.concatenate([each, each.sum(axis=1, keepdims=True)], axis=1)

    def paths(self, rng: np.random.Generator) -> tuple[Floats, Mask]:
        """(G, K) the means of a history in each cell, and (K,) which arms drift in it."""
        fit, (centre, precision, y) = self._fit, self._data
        total, weighted = self._sums
        cells, jumps = len(y), fit.ahead[..., 0, 0].size
        path, drifts = np.empty((cells, self.n_arms)), np.zeros(self.n_arms, np.bool_)
        mode = rng.choice(3, p=fit.together)
        if mode == 1:
            chances = np.exp(fit.ahead[..., -1, 0].ravel() - fit.ahead[..., -1, 0].max())
            common = len(fit.levels) - jumps + int(rng.choice(jumps, p=chances / chances.sum()))
            edges = self._edges(common, -1, rng)
        for arm in range(self.n_arms):
            if mode == 1:
                way = common
            else:
                weights = fit.weights[arm, : len(LEVELS) if mode == 0 else None]
                way = int(rng.choice(len(weights), p=weights / weights.sum()))
                edges = self._edges(way, arm, rng) if fit.hazards[way] > 0 else [0, cells]
            tau, step = fit.levels[way], fit.walks[way]
            drifts[arm] = step > 0
            if drifts[arm]:
                path[:, arm] = _walk(precision[:, arm], y[:, arm], tau**2, step, rng)
                continue
            for first, last in pairwise(edges):
                certainty = total[last, arm] - total[first, arm] + 1 / tau**2
                at = (weighted[last, arm] - weighted[first, arm]) / certainty
                path[first:last, arm] = rng.normal(at, 1 / math.sqrt(certainty))
        low, high = self.own_law.support
        return np.clip(path + centre, low, high), drifts

    def _edges(self, way: int, arm: int, rng: np.random.Generator) -> list[int]:
        """The cells with which levels begin, and G: of one arm, or for −1 of all at once; drawn from the first on."""
        fit, cells, edges = self._fit, len(self.pulls), [0]
        level, rate = divmod(way - len(fit.levels) + fit.ahead[..., 0, 0].size, len(CHANGES))
        hazard = fit.hazards[way]
        while edges[-1] < cells:
            lasts = np.arange(cells - edges[-1])
            terms = self._segments(edges[-1], fit.levels[way : way + 1])[0, arm] + np.log1p(-hazard) * lasts
            terms[:-1] += np.log(hazard) + fit.ahead[level, rate, arm, edges[-1] + 1 : cells]
            chances = np.exp(terms - terms.max())
            edges.append(edges[-1] + 1 + int(rng.choice(len(lasts), p=chances / chances.sum())))
        return edges

    def _means(self, rng: np.random.Generator) -> Floats:
        path, drifts = self.paths(rng)
        cells, means = len(path), np.empty((self.horizon, self.n_arms))
        cell = np.arange(self.horizon) * cells // self.horizon
        place = (np.arange(self.horizon) + 0.5) * cells / self.horizon - 0.5
        for arm in range(self.n_arms):
            means[:, arm] = np.interp(place, np.arange(cells), path[:, arm]) if drifts[arm] else path[cell, arm]
        return means

    def instance(self, rng: np.random.Generator | int | None = None) -> Floats:
        """The means of a history, read-only; the last ones are kept, since the next agent plays the same."""
        if not isinstance(rng, np.random.Generator):
            return super().instance(rng)
        state, kept = repr(rng.bit_generator.state), _DRAWN.setdefault(self, {})
        if (found := kept.get(state)) is None:
            found = kept[state] = super().instance(rng)
            if len(kept) * found.nbytes > KEPT_BYTES:
                kept.pop(next(iter(kept)), None)
        return found

    def expected(self) -> Floats:
        """(G, K) the mean of some histories, in each cell."""
        rng = np.random.default_rng(0)
        return np.asarray(np.mean([self.paths(rng)[0] for _ in range(CURVES)], axis=0))


_DRAWN: WeakKeyDictionary[LogWorld, dict[str, Floats]] = WeakKeyDictionary()  # histories by the generator's state


def _walk(precision: Floats, y: Floats, start: float, step: float, rng: np.random.Generator) -> list[float]:
    """A walk given the cells' means: filtered forwards, drawn backwards."""
    mean, variance, filtered = 0.0, start, []
    for a, seen in zip(precision.tolist(), y.tolist(), strict=True):
        gain = variance / (1 + a * variance)
        mean += a * gain * (seen - mean)
        filtered.append((mean, gain))
        variance = gain + step
    luck = rng.standard_normal(len(filtered)).tolist()
    mean, variance = filtered[-1]
    path = [mean + math.sqrt(variance) * luck[-1]]
    for (mean, variance), z in zip(filtered[-2::-1], luck[-2::-1], strict=True):
        share = variance / (variance + step)
        path.append(mean + share * (path[-1] - mean) + math.sqrt(variance * (1 - share)) * z)
    return path[::-1]


def world_of(log: Log, horizon: int | None = None, decisions_per_day: float | None = None) -> LogWorld:
    """Return the random world of a log; see :meth:`ns_mab_gym.Log.world`."""
    if horizon is not None and decisions_per_day is not None:
        raise ValueError("give horizon or decisions_per_day, not both: one follows from the other")
    if decisions_per_day is not None:
        horizon = max(1, round(positive("decisions_per_day", decisions_per_day) * log.span / 86_400))
    rounds = positive_int("horizon", log.decisions if horizon is None else horizon, least=2)
    _, moment = np.unique(log.times, return_inverse=True)
    at_once = np.bincount(moment, weights=log.counts)  # rows of one time lie in one cell
    cells = int(np.clip(log.decisions / (PER_CELL * log.n_arms), *CELLS))
    cell = ((np.cumsum(at_once) - at_once / 2) / log.decisions * cells).astype(int)[moment]
    place = np.unique(cell, return_inverse=True)[1] * log.n_arms + log.arms
    size = (int(place.max()) // log.n_arms + 1) * log.n_arms
    pulls = np.bincount(place, weights=log.counts, minlength=size).reshape(-1, log.n_arms)
    sums = np.bincount(place, weights=log.counts * log.rewards, minlength=size).reshape(-1, log.n_arms)
    rates = np.divide(sums, pulls, out=np.zeros_like(sums), where=pulls > 0)
    made = LogWorld(
        horizon=rounds,
        pulls=tuple(map(tuple, pulls.tolist())),
        rates=tuple(map(tuple, rates.tolist())),
        scatter=tuple(_scatter(log).tolist()),
        law=Bernoulli() if log.binary else Empirical(values=(-1.0, 1.0)),
        seconds=log.span,
        arm_names=log.names,
    )
    if log.binary:
        return made
    expected = made.expected()[place // log.n_arms, log.arms]
    mean = float(np.average(log.rewards, weights=log.counts))
    low, high = float(log.rewards.min()), float(log.rewards.max())
    if low >= 0 and high <= 1:
        variance = float(np.average(np.array(made.scatter)[log.arms], weights=log.counts))
        within = float(np.average(expected * (1 - expected), weights=log.counts))
        return replace(made, law=Beta(concentration=float(np.clip(within / variance - 1, *rewards.CONCENTRATIONS))))
    paid = expected > 1e-6 * mean
    values = log.rewards[paid] / expected[paid] * mean if low >= 0 else log.rewards - expected + mean
    values = np.sort(np.maximum(values, 0) if low >= 0 else values)
    if len(values) > VALUES:
        values = np.array([part.mean() for part in np.array_split(values, VALUES)])
    if len(values) < 2 or values[0] == values[-1]:  # rewards of an arm that never vary
        return replace(made, law=Gaussian(scale=math.sqrt(max(made.scatter))))
    return replace(made, law=Empirical(values=tuple(values.tolist())))


def _scatter(log: Log) -> Floats:
    """(K,) the variance of one reward of each arm, from the differences between its successive rows."""
    rows = np.bincount(log.arms, minlength=log.n_arms)
    total = np.bincount(log.arms, weights=log.counts, minlength=log.n_arms)
    if log.binary:
        wins = np.bincount(log.arms, weights=log.counts * log.rewards, minlength=log.n_arms)
        p = (wins + wins.sum() / total.sum()) / (total + 1)
        return np.asarray(np.maximum(p * (1 - p), 1e-9))
    order = np.argsort(log.arms, kind="stable")
    arms, values, size = log.arms[order], log.rewards[order], log.counts[order]
    same = arms[1:] == arms[:-1]
    squares = (np.diff(values) ** 2 / (1 / size[1:] + 1 / size[:-1]))[same]
    pooled = max(float(squares.mean()) if len(squares) else 0.0, 1e-12)
    own = np.bincount(arms[1:][same], weights=squares, minlength=log.n_arms) / np.maximum(rows - 1, 1)
    return np.where(rows > FEW, np.maximum(own, 1e-3 * pooled), pooled)
