"""Drift of a log beside chance: how means move, and how they would seem to move if they never did.

**Cells.** Time is cut into at most 400 equal cells. The counts and sums of the rewards of each arm in each cell are all
that is used, so that changes within a cell are not seen.

**Logs in which nothing moves.** The counts stay as they are, and the rewards of each arm are dealt anew to its
decisions. If an arm's rewards do not depend on time, every deal is as likely as the log. Rewards of 0 or 1 are dealt
by the multivariate hypergeometric law, others are shuffled. Of rows that are means of several decisions nothing is
known within a row: their distances to the mean of the arm, in standard errors, are shuffled, and the total is kept;
that is exact where all rows have the same trials. Whatever is computed from the log, the choice of the bandwidth
included, is computed from every deal, and p = (1 + deals in which it is at least as large) / (1 + deals).

**Does an arm move?** Its rewards are compared in several ways: before and after every point in time, along a line, in
spells of 1, 2, 4, … cells against the rest, and along waves. Each gives a score test, which is made comparable by the
mean and the standard deviation of all deals; the largest counts. For p-values of single arms, the largest of all arms
in a deal is what an arm is compared with: if nothing moves, the probability that any arm has p ≤ 0.05 is at most 0.05.

**Curves** are kernel estimates: means of the rewards around a time with Gaussian weights. The bandwidth of each arm
is the longest of 10, infinity among them, that predicts the cells from all others as well as the best of them does,
but for one standard error of the difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..agents.core.arguments import escaped, positive_int
from ..means import Floats, Ints
from ..theory.text_tables import table
from .durations import in_words
from .log import Log

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CELLS, BANDWIDTHS = 400, 10
LEVEL, NORMAL = 0.05, 1.959964
MOST_DEALT = 10**9  # decisions up to which NumPy draws from the hypergeometric law
LEAST_SHARE = 1 / 50  # of an arm's decisions, for the variance of a spell; fewer than that are too skewed to judge
PARTS = 1, 2, 5, 10, 15, 30
WIDTHS = *PARTS, *(60 * each for each in PARTS), *(3_600 * each for each in (1, 2, 3, 4, 6, 8, 12, 24, 48))
GAP = 20  # times the mean distance of decisions, and two cells


class Change(NamedTuple):
    """The change of one arm that explains most: its kind, means, and times or the period."""

    kind: str  # "step", "trend", "spell" or "wave"
    before: float  # the mean before it, at the beginning, outside of the spell, or the least of the wave
    after: float
    begin: float = math.nan  # seconds; of a wave, its period
    end: float = math.nan


@dataclass(frozen=True)
class BesideChance:
    """A number of the log, and the same in logs in which nothing moves."""

    value: float
    by_chance: float  # the mean
    most: float  # 95 % of them are below
    p_value: float

    @classmethod
    def of(cls, numbers: Floats) -> BesideChance:
        """Compare the first number, that of the log, with the others."""
        value, others = float(numbers[0]), numbers[1:]
        p_value = float((1 + np.count_nonzero(others >= value - 1e-9 * abs(value) - 1e-15)) / len(numbers))
        return cls(value, float(others.mean()), float(np.quantile(others, 1 - LEVEL)), p_value)


@dataclass(frozen=True, eq=False)
class Drift:
    """How the means of a log's arms move; ``str`` says it in words.

    Attributes:
        log: the log.
        times: (C,) the middles of the cells of time.
        width: of a cell, in seconds.
        counts: (C, K) decisions.
        curves: (C, K) means, estimated.
        low: (C, K) the lower ends of their pointwise 95 % bands, which say nothing of what the bandwidth hides.
        high: (C, K) the upper ends.
        effective: (C, K) how many decisions each estimate amounts to.
        bandwidths: (K,) of the kernels, in seconds; infinite if a constant predicts best.
        gaps: pairs of times between which there is no decision for long.
        changes: the change of each arm that explains most, whether it is beyond noise or not.
        p_values: (K,) of "this arm does not move", for all arms together.
        moves: the largest score of any arm; its p-value is that of "no arm moves".
        switches: of the best arm, by the curves.
        variation: V_T of the curves: the largest change of any arm from cell to cell, summed.
        gain: a decision, of following the best arm of the curves over the best fixed arm.
        permutations: how many logs in which nothing moves were made.
    """

    log: Log
    times: Floats
    width: float
    counts: Floats
    curves: Floats
    low: Floats
    high: Floats
    effective: Floats
    bandwidths: Floats
    gaps: tuple[tuple[float, float], ...]
    changes: tuple[Change, ...]
    p_values: Floats
    moves: BesideChance
    switches: BesideChance
    variation: BesideChance
    gain: BesideChance
    permutations: int

    @property
    def names(self) -> list[str]:
        """The names of the arms, with escapes for what would break a line, a picture or a terminal."""
        return [escaped(name) for name in self.log.names]

    @property
    def best_fixed(self) -> int:
        """The arm with the best mean over all times of the log."""
        return int(np.argmax(self.counts.sum(axis=1) @ self.curves))

    def sentences(self) -> list[str]:
        """What happens to each arm that moves, and which do not."""
        names = self.names
        said = [
            f"{names[arm]} {self._in_words(self.changes[arm])} (p = {self.p_values[arm]:.2g})."
            for arm in np.flatnonzero(self.p_values <= LEVEL)
        ]
        if still := [names[arm] for arm in np.flatnonzero(self.p_values > LEVEL)]:
            listed = still[0] if len(still) == 1 else f"{', '.join(still[:-1])} and {still[-1]}"
            if len(still) > 10:
                listed = f"{', '.join(still[:9])} and {len(still) - 9} more"
            said.append(f"{listed} {'does' if len(still) == 1 else 'do'} not move beyond noise.")
        return said

    def advice(self) -> str:
        """What to do next, as far as drift says."""
        best, gain = self.names[self.best_fixed], self.gain
        if gain.p_value <= LEVEL:
            extra = self.in_points(max(gain.value - gain.by_chance, 0))
            alone = "" if self.moves.p_value <= LEVEL else "No arm by itself moves beyond noise, and yet: "
            times = "once" if self.switches.value == 1 else f"{self.switches.value:.0f} times"
            return (
                f"{alone}The best arm changes beyond noise (p = {gain.p_value:.2g}), {times} by the curves. "
                f"Following it would be worth about {extra} a decision, and a learner that has to find it gets less: "
                f"compare learners that forget with playing {best} all the time."
            )
        if self.moves.p_value <= LEVEL:
            return (
                f"Means move, but no gain of following the best arm is to be seen beyond noise: start with {best} "
                f"all the time or a learner that forgets nothing, and look again when there is more data."
            )
        return (
            f"Nothing moves beyond noise: {best} all the time, or a learner that forgets nothing, is enough as far as "
            f"this log can tell. Small or rare changes may be hidden."
        )

    def about(self) -> list[str]:
        """What the log holds, and how its curves were made."""
        said = [
            f"{self.log.n_arms} arms, {self.log.decisions:,} decisions from {self.when(self.log.times[0])} to "
            f"{self.when(self.log.times[-1])}, in {len(self.times)} cells of {self.lasting(self.width)}."
        ]
        if self.log.dated and self.width > 6 * 3_600:
            said.append(
                "Changes within a cell, by the time of day for one, are not seen; fold the log by the day for these."
            )
        for begin, end in self.gaps[:3]:
            said.append(f"No decision from {self.when(begin)} to {self.when(end)}.")
        if len(self.gaps) > 3:
            said.append(f"{len(self.gaps) - 3} more gaps in time.")
        kernels = [
            f"{name} {'constant' if math.isinf(h) else self.lasting(h)} (from {least:,.0f} decisions)"
            for name, h, least in zip(self.names, self.bandwidths, self.effective.min(axis=0), strict=True)
        ]
        more = f", … and {len(kernels) - 10} more arms" if len(kernels) > 10 else ""
        said.append(
            f"Bandwidths by cross-validation, with the least number of decisions that an estimate amounts to: "
            f"{', '.join(kernels[:10])}{more}."
        )
        return said

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """A table of the log beside chance: what, in the log, by chance on average, at most in 95 %, p."""
        shown = (
            ("switches of the best arm", self.switches, "{:.3g}".format),
            ("V_T, the sum of changes", self.variation, self.in_points),
            ("gain of following the best arm, a decision", self.gain, self.in_points),
        )
        return [
            (what, unit(each.value), unit(each.by_chance), unit(each.most), f"{each.p_value:.3g}")
            for what, each, unit in shown
        ]

    def caution(self) -> str:
        """What p-values rest on."""
        return (
            f"p-values come from {self.permutations} logs in which rewards are dealt anew to the decisions of their "
            f"arm. Rewards that come in clusters, such as many by one visitor or good and bad days, count as drift; so "
            f"may choices that followed the rewards."
        )

    def __str__(self) -> str:
        rows = table([("", "log", "by chance", "95 % below", "p"), *self.rows()])
        lines = [*self.log.notes, *self.about(), "", *self.sentences(), "", rows, "", self.advice(), self.caution()]
        return "\n".join(lines)

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw the curves with their bands; with a path (.png, .svg or .pdf), write the picture there."""
        from ..figures.drift import drift_figure
        from ..figures.style import save_as

        since, until = np.cumsum(self.counts, axis=0), np.cumsum(self.counts[::-1], axis=0)[::-1]
        outside = (since == 0) | (until == 0)  # before an arm came, or after it went
        curves, low, high = (np.where(outside, np.nan, each) for each in (self.curves, self.low, self.high))
        figure = drift_figure(
            self.times, curves, low, high, self.names, self.p_values <= LEVEL,
            dated=self.log.dated, rates=self.log.binary, gaps=self.gaps,
        )  # fmt: skip
        if path is not None:
            save_as(figure, Path(path))
        return figure

    def _in_words(self, change: Change) -> str:
        """A change as the rest of a sentence about an arm."""
        low, high = self.in_units(change.before), self.in_units(change.after)
        verb = "rose" if change.after > change.before else "fell"
        if change.kind == "step":
            return f"{verb} from {low} to {high} around {self.when(change.begin)}"
        if change.kind == "trend":
            return f"{verb} steadily from {low} to {high}"
        if change.kind == "wave":
            period = self.lasting(change.begin).removeprefix("1 ") if self.log.dated else self.lasting(change.begin)
            return f"went up and down between {low} and {high} about every {period}"
        than = "higher" if change.after > change.before else "lower"
        when = f"from {self.when(change.begin)} to {self.when(change.end)}"
        return f"was {than} {when}, {high} against {low} at other times"

    def in_units(self, value: float) -> str:
        """A mean as people write it: in percent if rewards are 0 or 1."""
        if not self.log.binary:
            return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
        return f"{100 * value:.1f} %" if abs(value) >= 0.00995 or abs(value) < 1e-5 else f"{100 * value:.2g} %"

    def in_points(self, value: float) -> str:
        """A difference of means; in percentage points if rewards are 0 or 1."""
        if not self.log.binary:
            return self.in_units(value)
        return f"{100 * value:,.0f} points" if value >= 0.1 else f"{100 * value if value >= 1e-6 else 0:.2g} points"

    def when(self, time: float) -> str:
        """A time as people write it: a date, with the hour if the log is short and the year if it is long."""
        if not self.log.dated:
            return f"{time:,.6g}" if abs(time) < 1e6 else f"{time:,.0f}"
        at = datetime.fromtimestamp(time, UTC)
        year = f" {at.year}" if self.log.span > 300 * 86_400 or time in (self.log.times[0], self.log.times[-1]) else ""
        hour = f" {at:%H:%M}" if self.width < 3_600 else ""
        return f"{at.day} {at:%B}{year}{hour}"

    def lasting(self, seconds: float) -> str:
        """A length of time as people write it."""
        return in_words(seconds) if self.log.dated else f"{seconds:,.3g}"


def drift_of(log: Log, permutations: int = 999, seed: int = 0) -> Drift:
    """Return the drift of a log; see :meth:`Log.drift`."""
    permutations = positive_int("permutations", permutations, least=19, most=20_000)  # fewer cannot tell p = 0.05
    rng = np.random.default_rng(seed)
    shown, arms = np.unique(log.arms, return_inverse=True)
    if len(shown) < log.n_arms:
        never = ", ".join(name for arm, name in enumerate(log.names) if arm not in shown)
        names, notes = tuple(log.names[arm] for arm in shown), (*log.notes, f"Never shown: {never}.")
        log = replace(log, arms=arms, names=names, notes=notes)
    span, steps = log.span, np.diff(log.times)
    unit = float(steps[steps > 0].min())
    width = math.ceil((span / unit + 1) / CELLS) * unit
    if log.dated:
        whole = next((each for each in WIDTHS if each >= width), math.ceil(width / 86_400) * 86_400)
        width = whole if whole <= span else width  # two cells at least
    empty = np.flatnonzero(steps > max(2 * width, GAP * span / int(np.count_nonzero(steps))))
    cells = np.floor((log.times - log.times[0]) / width + 1e-9).astype(np.intp)
    n_cells, n_arms, deals = int(cells[-1]) + 1, log.n_arms, permutations + 1
    rewards = _Rewards(log, cells, n_cells)
    kernels, grid = _kernels(n_cells)
    share = rewards.counts.sum(axis=0) / log.decisions
    scores, changes, drawn = np.empty((deals, n_arms)), [], []
    best, lead = np.full((deals, n_cells), -np.inf), np.zeros((deals, n_cells), np.intp)
    moved, fixed = np.zeros((deals, n_cells - 1)), np.full(deals, -np.inf)
    for arm in range(n_arms):
        sums, counts, centre = rewards.deals(arm, permutations, rng), rewards.counts[arm], rewards.centres[arm]
        found, change = _scores(sums, counts, rewards.variance(arm))
        scores[:, arm] = found.max(axis=1)
        before, after = np.clip(np.array(change[1:3]) + centre, log.rewards.min(), log.rewards.max()).tolist()
        start = 0.0 if change.kind == "wave" else float(log.times[0])  # of a wave, the period alone is told
        changes.append(Change(change.kind, before, after, start + width * change.begin, start + width * change.end))
        curves, chosen = _smoothed(sums, counts, kernels)
        curves += centre
        lead[curves > best] = arm
        np.maximum(best, curves, out=best)
        np.maximum(moved, np.abs(np.diff(curves, axis=1)), out=moved)
        np.maximum(fixed, curves @ share, out=fixed)
        kernel = kernels[chosen]
        weighted = kernel @ counts + counts
        effective = weighted**2 / np.maximum(kernel**2 @ counts + counts, 1e-9)
        drawn.append(
            (curves[0], *_band(rewards, arm, curves[0], effective, log.binary), effective, grid[chosen] * width)
        )
    curve, low, high, effective, bandwidths = (np.stack(each, axis=-1) for each in zip(*drawn, strict=True))
    largest = scores.max(axis=1)
    return Drift(
        log=log,
        times=log.times[0] + (np.arange(n_cells) + 0.5) * width,
        width=width,
        counts=np.ascontiguousarray(rewards.counts.T),
        curves=curve,
        low=low,
        high=high,
        effective=effective,
        bandwidths=bandwidths,
        gaps=tuple(zip(log.times[empty].tolist(), log.times[empty + 1].tolist(), strict=True)),
        changes=tuple(changes),
        p_values=np.array([BesideChance.of(np.append(score, largest[1:])).p_value for score in scores[0]]),
        moves=BesideChance.of(largest),
        switches=BesideChance.of(np.count_nonzero(np.diff(lead, axis=1), axis=1).astype(np.float64)),
        variation=BesideChance.of(moved.sum(axis=1)),
        gain=BesideChance.of(best @ share - fixed),
        permutations=permutations,
    )


class _Rewards:
    """The rewards of a log in cells of time, and the same rewards dealt anew.

    Attributes:
        counts: (K, C) decisions.
        centres: (K,) the most common reward of each arm; 0 if rewards are 0 or 1. So the sums of equal rewards are 0,
            without rounding.
        sums: (K, C) of the rewards minus the centre of their arm.
    """

    def __init__(self, log: Log, cells: Ints, n_cells: int) -> None:
        place, weights = log.arms * n_cells + cells, log.counts.astype(np.float64)
        self._log, self._cells = log, cells
        self._binary = log.binary and log.decisions < MOST_DEALT
        self.centres = np.zeros(log.n_arms)
        for arm in range(0 if self._binary else log.n_arms):
            kinds, times = np.unique(log.rewards[log.arms == arm], return_counts=True)
            self.centres[arm] = kinds[times.argmax()]
        self._values = log.rewards if self._binary else log.rewards - self.centres[log.arms]
        shape = log.n_arms, n_cells
        self.counts = np.bincount(place, weights, shape[0] * shape[1]).reshape(shape)
        self.sums = np.bincount(place, self._values * weights, shape[0] * shape[1]).reshape(shape)
        self._squares = np.bincount(log.arms, self._values**2 * weights, log.n_arms)
        self._rows = np.bincount(log.arms, minlength=log.n_arms)
        if self._binary:
            self.sums = np.round(self.sums)
            self._squares, self._rows = self.sums.sum(axis=1), self.counts.sum(axis=1)

    def variance(self, arm: int, curve: Floats | None = None) -> float:
        """Of one decision's reward, about the mean of its arm or about a curve."""
        counts, sums = self.counts[arm], self.sums[arm]
        means = np.full(len(counts), sums.sum() / counts.sum()) if curve is None else curve - self.centres[arm]
        squares = self._squares[arm] - 2 * means @ sums + means**2 @ counts
        return max(float(squares) / float(self._rows[arm]), 1e-300)

    def deals(self, arm: int, permutations: int, rng: np.random.Generator) -> Floats:
        """(1 + permutations, C) the sums of an arm's rewards: those of the log, then of deals."""
        counts, total = self.counts[arm], self.sums[arm].sum()
        sums = np.empty((permutations + 1, len(counts)))
        sums[0] = self.sums[arm]
        if self._binary:
            sizes = counts.astype(np.int64)
            sums[1:] = rng.multivariate_hypergeometric(sizes, int(total), permutations, method="marginals")
            return sums
        mine = np.flatnonzero(self._log.arms == arm)
        values, cells = self._values[mine], self._cells[mine]
        if self._log.trials is None:  # those that differ from the most common reward fall on decisions at random
            rare, sizes = values[values != 0], counts.astype(np.int64)
            drawn = rng.multivariate_hypergeometric(sizes, len(rare), permutations, method="marginals")
            for deal, falls in zip(sums[1:], drawn, strict=True):
                rng.shuffle(rare)
                added, ends = np.append(0.0, np.cumsum(rare)), np.cumsum(falls)
                deal[:] = added[ends] - added[ends - falls]
        else:
            scale = np.sqrt(self._log.trials[mine])
            rests = (values - total / counts.sum()) * scale
            for deal in sums[1:]:
                rng.shuffle(rests)
                deal[:] = np.bincount(cells, rests * scale, len(counts))
            sums[1:] += (total - sums[1:].sum(axis=1, keepdims=True)) * counts / counts.sum()
        return sums


def _scores(sums: Floats, counts: Floats, variance: float) -> tuple[Floats, Change]:
    """(deals, tests) the standardised scores of an arm, and the change of the log that explains most."""
    total, n_cells, deals = counts.sum(), len(counts), len(sums)
    mean = sums[0].sum() / total
    rests = (sums - mean * counts) / math.sqrt(variance)
    up, before = np.zeros((deals, n_cells + 1)), np.append(0.0, np.cumsum(counts))
    np.cumsum(rests, axis=1, out=up[:, 1:])
    sizes = {0: before[1:-1]} | {2**j: before[2**j :] - before[: -(2**j)] for j in range((n_cells // 2).bit_length())}
    at = np.arange(n_cells) - (np.arange(n_cells) @ counts) / total
    squares = max(float(at**2 @ counts), 1e-300)
    tests, slope = [(rests @ at) ** 2 / squares], (sums[0] @ at) / squares
    changes = [(tests[0][0], Change("trend", mean + slope * at[0], mean + slope * at[-1]))]
    for length, size in sizes.items():
        inside = up[:, 1:-1] if length == 0 else up[:, length:] - up[:, :-length]
        score = inside**2 / np.maximum(size * (total - size) / total, LEAST_SHARE * total)
        tests.append(score.max(axis=1))
        cell = int(score[0].argmax())
        within = float(sums[0, : cell + 1].sum() if length == 0 else sums[0, cell : cell + length].sum())
        here, there = within / max(size[cell], 1), (sums[0].sum() - within) / max(total - size[cell], 1)
        step, spell = Change("step", here, there, cell + 1), Change("spell", there, here, cell, cell + length)
        changes.append((tests[-1][0], spell if length else step))
    if n_cells >= 8:
        waves = np.arange(2, n_cells / 2, 0.5)  # to the span of the log; halves, so that little falls between two
        angles = 2 * math.pi / n_cells * np.outer(np.arange(n_cells) + 0.5, waves)
        score, halves = np.zeros((deals, len(waves))), []
        for turn in (np.cos(angles), np.sin(angles)):
            size = np.maximum(counts @ turn**2 - (counts @ turn) ** 2 / total, LEAST_SHARE * total)
            score += (rests @ turn) ** 2 / size
            halves.append((rests[0] @ turn) * math.sqrt(variance) / size)
        tests.append(score.max(axis=1))
        wave = int(score[0].argmax())
        swing = math.hypot(*(half[wave] for half in halves))
        changes.append((tests[-1][0], Change("wave", mean - swing, mean + swing, n_cells / waves[wave])))
    found = np.stack(tests, axis=1)
    found = (found - found.mean(axis=0)) / np.maximum(found.std(axis=0), 1e-12)
    return found, max(changes, key=lambda each: each[0])[1]


def _kernels(n_cells: int) -> tuple[list[Floats], Floats]:
    """Gaussian weights of other cells, a matrix for each bandwidth, and these in cells; the last is infinite."""
    grid = np.append(np.geomspace(1.0, max(n_cells / 2, 1.5), BANDWIDTHS - 1), np.inf)
    apart = np.arange(n_cells)[:, None] - np.arange(n_cells)
    kernels = [np.exp(-((apart / h) ** 2) / 2) * (apart != 0) for h in grid]
    return kernels, grid


def _smoothed(sums: Floats, counts: Floats, kernels: Sequence[Floats]) -> tuple[Floats, int]:
    """(deals, C) the kernel estimates, each with its bandwidth, and the number of that of the first.

    Where no decision is near, the mean of the arm stands in: it has the weight of a millionth of an average cell.
    """
    played = np.maximum(counts, 1e-9)
    few, mean = 1e-6 * counts.sum() / len(counts), sums[0].sum() / counts.sum()
    sides = [(sums @ kernel + few * mean, counts @ kernel + few) for kernel in kernels]
    errors = np.stack([(sums / played - above / below) ** 2 * counts for above, below in sides])
    every = np.arange(len(sums))
    best = errors.sum(axis=2).argmin(axis=0)
    more = errors - errors[best, every]
    near = more.sum(axis=2) <= np.sqrt((more**2).sum(axis=2))
    chosen = len(kernels) - 1 - near[::-1].argmax(axis=0)
    curves = np.full_like(sums, mean)
    for number, (above, below) in enumerate(sides[:-1]):
        own = chosen == number
        curves[own] = (above[own] + sums[own]) / (below + counts)
    return curves, int(chosen[0])


def _band(rewards: _Rewards, arm: int, curve: Floats, effective: Floats, binary: bool) -> tuple[Floats, Floats]:
    """Pointwise 95 % bands: Wilson's for rates, else normal ones."""
    if not binary:
        half = NORMAL * np.sqrt(rewards.variance(arm, curve) / np.maximum(effective, 1e-9))
        return curve - half, curve + half
    share = NORMAL**2 / np.maximum(effective, 1e-9)
    middle = (curve + share / 2) / (1 + share)
    half = np.sqrt(np.clip(curve * (1 - curve), 0, None) * share + share**2 / 4) / (1 + share)
    return middle - half, middle + half
