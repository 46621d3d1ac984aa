"""Agents for means that decay: RAW-UCB and FEWA, on windows of every length or on a geometric grid of them.

The mean of exactly the last h samples would need all of them. The grid keeps, for each of its windows, the mean of h
consecutive samples that may end a little earlier: it is renewed whenever a block of h samples is full, and the next
block begins with what the next smaller window has collected so far. With ratio 2, the mean of window h is renewed every
h/2 samples and always lies within the last 3h/2 samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import check_subgaussian, choice, positive, positive_int
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, floor_within, forgotten, helper, inlined, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .parts import memories
from .parts.races import unseen

LONGEST = 2**40  # windows beyond this are never filled
NO_MORE = -1  # the round in which a search is not to be repeated


class Grid(NamedTuple):
    """For each arm and each window of the grid, the latest mean, and the block that will replace it."""

    windows: IntArray  # (J,) h_1 = 1 < h_2 < …
    inverse_roots: FloatArray  # (J,) 1/√h_j
    means: FloatArray  # (K, J) of h_j consecutive samples; row i is valid up to levels[i]
    sums: FloatArray  # (K, J) of the block that is being filled
    counts: IntArray  # (K, J) its samples
    levels: IntArray  # (K,) how many windows have a mean


def windows_of(ratio: float) -> list[int]:
    """The windows of the grid: 1, and from each the next by h ← ⌈ratio · h⌉, without rounding errors.

    >>> windows_of(2.0)[:6], windows_of(1.5)[:6]
    ([1, 2, 4, 8, 16, 32], [1, 2, 3, 5, 8, 12])
    """
    windows = [1]
    while windows[-1] <= LONGEST:
        windows.append(math.ceil(Fraction(str(ratio)) * windows[-1]))
    return windows


def new_grid(n_arms: int, ratio: float) -> Grid:
    """An empty grid."""
    windows = np.array(windows_of(ratio), np.int64)
    shape = (n_arms, windows.size)
    return Grid(
        windows=windows,
        inverse_roots=np.array([1.0 / math.sqrt(h) for h in windows.tolist()]),
        means=np.zeros(shape),
        sums=np.zeros(shape),
        counts=np.zeros(shape, np.int64),
        levels=np.zeros(n_arms, np.int64),
    )


@inlined
def add_to_grid(grid: Grid, arm: int, reward: float) -> None:
    """Add a sample to every block; a full one becomes the mean of its window."""
    windows, means, sums, counts, levels = grid.windows, grid.means, grid.sums, grid.counts, grid.levels
    top = min(levels[arm], windows.size - 1)
    sums[arm, 0] = 0.0
    counts[arm, 0] = 0
    for j in range(top + 1):
        sums[arm, j] += reward
        counts[arm, j] += 1
    for j in range(top, -1, -1):  # from above: a block begins with what the one below held when it was full
        if counts[arm, j] == windows[j]:
            means[arm, j] = sums[arm, j] / windows[j]
            if j == levels[arm]:
                levels[arm] = j + 1
                if j + 1 < windows.size:
                    sums[arm, j + 1] = sums[arm, j]
                    counts[arm, j + 1] = counts[arm, j]
            if j > 0:
                sums[arm, j] = sums[arm, j - 1]
                counts[arm, j] = counts[arm, j - 1]


@helper
def forget_grid(grid: Grid, arm: int) -> None:
    """Empty the grid of one arm, or with ``ALL`` of every arm."""
    for i in forgotten(arm, grid.levels.size):
        grid.means[i, :] = 0.0
        grid.sums[i, :] = 0.0
        grid.counts[i, :] = 0
        grid.levels[i] = 0


GRIDS = ("exact", "geometric")


@dataclass(eq=False)
class RottingAgent(Agent):
    """An agent that looks at windows of every length, or at those of a geometric grid.

    Attributes:
        alpha: α; the larger, the more it explores.
        subgaussian: λ, the scale of the rewards, which is the rule's σ.
        grid: ``"exact"`` for all windows, ``"geometric"`` for a grid of them.
        ratio: m, the ratio of neighbouring windows of the geometric grid.
        horizon: T, how many rewards of each arm the exact form remembers; not needed on the grid.
    """

    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    alpha: float = field(default=1.0, kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)
    grid: str = field(default="exact", kw_only=True)
    ratio: float = field(default=2.0, kw_only=True)
    horizon: int | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        self.alpha = positive("alpha", self.alpha)
        self.subgaussian = check_subgaussian(self.subgaussian)
        self.grid = choice("grid", self.grid, GRIDS)
        hint = "the sources take 2; for every window, choose grid='exact'"
        self.ratio = positive("ratio", self.ratio, least=1.01, hint=hint)
        if self.grid == "exact" or self.horizon is not None:
            self.horizon = positive_int("horizon", self.horizon, hint="grid='geometric' needs none")

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """σ = λ, ½ where it is unknown; and T for the memory of the exact form."""
        tuned: dict[str, Any] = {"subgaussian": knowledge.scale}
        if given.get("grid", "exact") == "exact" and "horizon" not in given:
            (tuned["horizon"],) = knowledge.need(cls.name, "horizon")
        return tuned


class RawState(NamedTuple):
    """Running totals of all rewards, and for each arm the window that had the lowest bound when it was last sought."""

    window: memories.Window  # without end
    totals: memories.Totals
    lows: FloatArray  # (K,) the lowest reward
    spans: IntArray  # (K,) that window, h
    means: FloatArray  # (K,) the mean of the last h rewards
    sought: IntArray  # (K,) the round of that search
    scale: float  # 2 α σ²


class RawGridState(NamedTuple):
    """Counts of everything, and means on a geometric grid of windows."""

    window: memories.Window  # without end
    grid: Grid
    scale: float  # 2 α σ²


def act_raw(state: RawState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax_i min_h of the mean of the last h plus √(2ασ² ln t / h); an unseen arm comes first.

    A bound for any one h is at least the minimum. So the search for the lowest is needed only for arms that would win
    with the window that was lowest when they were last searched.
    """
    pulls, clock = state.window.pulls, state.window.clock
    spans, means, sought = state.spans, state.means, state.sought
    t = clock[memories.ROUNDS] + 1
    width = state.scale * math.log(t)
    arm = unseen(pulls, clock, mask)
    settled = arm >= 0
    while not settled:
        arm, highest = -1, -math.inf
        for i in range(mask.size):
            if mask[i]:
                bound = means[i] + math.sqrt(width / spans[i])
                if bound > highest:
                    arm, highest = i, bound
        settled = sought[arm] == t or sought[arm] == NO_MORE
        if not settled:
            _seek(state, width, arm)
            sought[arm] = t
    return arm


@helper
def _seek(state: RawState, width: float, arm: int) -> None:
    """Find the window with the lowest bound, without looking at windows that cannot have it.

    With v the lowest bound so far and S_h the sum of the last h rewards, S_h + √(width h) − v h is how far window h is
    above v, times h. One window further this falls by at most v − x, x the lowest reward: windows that it cannot have
    fallen below 0 for are skipped.
    """
    values, ends = state.totals.values, state.totals.ends
    n, low = min(state.window.pulls[arm], values.shape[1] - 1), state.lows[arm]
    span = state.spans[arm]
    mean = memories.last_sum(values, ends, arm, span) / span
    lowest = mean + math.sqrt(width / span)
    average = memories.last_sum(values, ends, arm, n) / n
    bound = average + math.sqrt(width / n)
    if bound < lowest:
        span, mean, lowest = n, average, bound
    h = 1
    while h < n:
        average = memories.last_sum(values, ends, arm, h) / h
        bound = average + math.sqrt(width / h)
        if bound < lowest:
            span, mean, lowest = h, average, bound
        elif lowest > low:
            h += floor_within(h * (bound - lowest) / (lowest - low), float(n))
        else:
            h = n  # no mean of any window is below the lowest reward
        h += 1
    state.spans[arm] = span
    state.means[arm] = mean


def observe_raw(state: RawState, arm: int, reward: float) -> None:
    """Add to the totals; the window that was lowest grows with the new sample until the next search."""
    memories.slide(state.window, arm, reward)
    memories.add_to_totals(state.totals, arm, reward)
    span = min(state.spans[arm] + 1, state.window.pulls[arm], state.totals.values.shape[1] - 1)
    state.spans[arm] = span
    state.means[arm] = memories.last_sum(state.totals.values, state.totals.ends, arm, span) / span
    state.lows[arm] = min(state.lows[arm], reward)


def forget_raw(state: RawState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    memories.forget_rounds(state.window, arm)
    memories.forget_totals(state.totals, arm)
    for i in forgotten(arm, state.spans.size):
        state.spans[i] = 1
        state.means[i] = 0.0
        state.lows[i] = math.inf
        state.sought[i] = 0


def expect_raw(state: RawState, arm: int, pulls: int) -> None:
    """Let the window with the lowest bound grow as it would if the arm showed its mean there."""
    if state.window.pulls[arm] == 0:
        state.spans[arm] = 0
    else:
        _seek(state, state.scale * math.log(state.window.clock[memories.ROUNDS] + 1), arm)
    state.spans[arm] += pulls
    state.sought[arm] = NO_MORE
    memories.expect_rounds(state.window, arm, pulls)


rule(RawState, act_raw, observe_raw, forget_raw, expect_raw)


def act_raw_on_grid(state: RawGridState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax_i min_h of the mean of h samples plus √(2ασ² ln t / h), h on the grid; an unseen arm comes first."""
    means, levels, inverse_roots = state.grid.means, state.grid.levels, state.grid.inverse_roots
    root = math.sqrt(state.scale * math.log(state.window.clock[memories.ROUNDS] + 1))
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        if mask[i]:
            lowest = math.inf
            for j in range(levels[i]):
                lowest = min(lowest, means[i, j] + root * inverse_roots[j])
            if lowest > highest:
                arm, highest = i, lowest
    forced = unseen(state.window.pulls, state.window.clock, mask)
    return forced if forced >= 0 else arm


def observe_on_grid(state: RawGridState, arm: int, reward: float) -> None:
    """Update the counts and the grid."""
    memories.slide(state.window, arm, reward)
    add_to_grid(state.grid, arm, reward)


def forget_on_grid(state: RawGridState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    memories.forget_rounds(state.window, arm)
    forget_grid(state.grid, arm)


def expect_raw_on_grid(state: RawGridState, arm: int, pulls: int) -> None:
    """Narrow the bound of every window as if it had so many samples more."""
    means, levels, windows = state.grid.means, state.grid.levels, state.grid.windows
    memories.expect_rounds(state.window, arm, pulls)
    root = math.sqrt(state.scale * math.log(state.window.clock[memories.ROUNDS] + 1))
    levels[arm] = max(levels[arm], 1)  # the mean of an arm without a reward is 0 on the grid
    for j in range(levels[arm]):
        means[arm, j] += root * (1.0 / math.sqrt(windows[j] + pulls) - state.grid.inverse_roots[j])


rule(RawGridState, act_raw_on_grid, observe_on_grid, forget_on_grid, expect_raw_on_grid)


@dataclass(eq=False)
class RAWUCB(RottingAgent):
    """RAW-UCB: for each arm the lowest upper confidence bound of all windows, for means that only fall.

    Source:
        Seznec, Ménard, Lazaric, Valko, "A single algorithm for both restless and rested rotting bandits", AISTATS 2020.
    Rule:
        Play argmax_i min_{1≤h≤N_i} of (mean of the last h rewards of arm i) + √(2ασ² ln t / h); every arm is played
        once first. While an arm's mean falls, a long window has too high a mean and a short one too wide a bonus: the
        minimum finds the compromise.
    Tuning:
        σ = λ, the subgaussian scale of the rewards, ½ for rewards in [0, 1] and where it is not given;
        α = 1, the default of the authors' public code, whose experiments take 1.4 and 4. No breakpoints are needed.
    Knowledge:
        λ, ½ if it is not given; with ``grid="exact"`` T, for the memory alone.
    Deviations:
        None in law. The exact form remembers the last T rewards of each arm, K × T numbers of which only those written
        to take memory, and its cost grows with the pulls of an arm, like their root where means stand still: windows
        that cannot have the lowest bound are skipped. ``grid="geometric"`` is the authors' efficient variant: windows
        1, ⌈m⌉, ⌈m⌈m⌉⌉, … whose means are renewed with a delay, logarithmic in memory and
        time. The constants and the rule of the grid are confirmed from the authors' code; the paper's own text was out
        of reach.

    >>> agent = RAWUCB(2, horizon=100)
    >>> for arm, reward in [(0, 1.0), (1, 0.5)] * 20 + [(0, 0.0)] * 8:  # arm 1 breaks down
    ...     agent.observe(arm, reward)
    >>> agent.act()  # on the whole arm 1 is better: 20/28 + √(½ ln 49 / 28) = 0.98, and 0.81 for arm 2
    1
    >>> int(agent.state.spans[0])  # but its last 8 rewards give 0 + √(½ ln 49 / 8) = 0.49
    8
    """

    name: ClassVar[str] = "raw-ucb"

    def _new_state(self) -> RawState | RawGridState:
        k, scale = self.n_arms, 2 * self.alpha * self.subgaussian**2
        if self.grid == "geometric":
            return RawGridState(memories.new_window(k, None), new_grid(k, self.ratio), scale)
        assert self.horizon is not None
        return RawState(
            window=memories.new_window(k, None),
            totals=memories.new_totals(k, self.horizon),
            lows=np.full(k, np.inf),
            spans=np.ones(k, np.int64),
            means=np.zeros(k),
            sought=np.zeros(k, np.int64),
            scale=scale,
        )


class FewaState(NamedTuple):
    """Running totals of all rewards, and room for the filter to work in."""

    window: memories.Window  # without end
    samples: IntArray  # (K,) of each arm: its pulls but for those that are under way
    totals: memories.Totals
    bounds: FloatArray  # (2,) the lowest and the highest reward
    kept: IntArray  # (K,) the arms that the filter kept come first
    recent: FloatArray  # (K,) the sums of their last h rewards
    scale: float  # 8 α σ²


class FewaGridState(NamedTuple):
    """Counts of everything, and means on a geometric grid of windows."""

    window: memories.Window  # without end
    samples: IntArray  # (K,) of each arm: its pulls but for those that are under way
    grid: Grid
    kept: IntArray  # (K,) the arms that the filter kept come first
    scale: float  # 8 α σ²


def act_fewa(state: FewaState, mask: BoolArray, rng: np.random.Generator) -> int:
    """For h = 1, 2, …, keep the arms within 2√(2ασ² ln t / h) of the best kept, until a kept arm has no h + 1 pulls.

    Sums are compared in place of means. Two sums over one window more differ by at most the range of all rewards more:
    windows for which the filter cannot drop an arm are skipped, which are all of them while all rewards are equal.
    """
    clock, samples, kept, recent = state.window.clock, state.samples, state.kept, state.recent
    values, ends = state.totals.values, state.totals.ends
    scale, spread = state.scale * math.log(clock[memories.ROUNDS] + 1), state.bounds[1] - state.bounds[0]
    count = _available(kept, mask)
    fewest = _fewest(kept, count, samples)
    h = 1
    while spread > 0.0 and h <= min(samples[fewest], values.shape[1] - 1) and count > 1:
        highest = -math.inf
        for place in range(count):
            recent[place] = memories.last_sum(values, ends, kept[place], h)
            highest = max(highest, recent[place])
        threshold = math.sqrt(scale * h)
        left, lowest = 0, highest
        for place in range(count):
            if recent[place] >= highest - threshold:
                lowest = min(lowest, recent[place])
                kept[left] = kept[place]
                left += 1
        if left < count:
            count = left
            fewest = _fewest(kept, count, samples)
        h += 1 + floor_within((threshold - (highest - lowest)) / spread, float(samples[fewest]))
    forced = unseen(state.window.pulls, clock, mask)
    return forced if forced >= 0 else _fewest(kept, count, state.window.pulls)


@inlined
def _available(kept: IntArray, mask: BoolArray) -> int:
    """Put the available arms first, in order; returns their number."""
    count = 0
    for i in range(mask.size):
        if mask[i]:
            kept[count] = i
            count += 1
    return count


@inlined
def _fewest(kept: IntArray, count: int, pulls: IntArray) -> int:
    """The first of the kept arms with the fewest pulls."""
    arm = kept[0]
    for place in range(1, count):
        if pulls[kept[place]] < pulls[arm]:
            arm = kept[place]
    return arm  # type: ignore[no-any-return]


def observe_fewa(state: FewaState, arm: int, reward: float) -> None:
    """Add to the totals."""
    state.samples[arm] += 1
    memories.slide(state.window, arm, reward)
    memories.add_to_totals(state.totals, arm, reward)
    state.bounds[0] = min(state.bounds[0], reward)
    state.bounds[1] = max(state.bounds[1], reward)


def forget_fewa(state: FewaState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    memories.forget_rounds(state.window, arm)
    memories.forget_totals(state.totals, arm)
    _forget_samples(state.samples, arm)
    if arm == ALL:
        state.bounds[0] = math.inf
        state.bounds[1] = -math.inf


@helper
def _forget_samples(samples: IntArray, arm: int) -> None:
    for i in forgotten(arm, samples.size):
        samples[i] = 0


def expect_fewa(state: FewaState | FewaGridState, arm: int, pulls: int) -> None:
    """Count the pulls where the arm that was pulled least is chosen; the filter has samples alone."""
    memories.expect_rounds(state.window, arm, pulls)


rule(FewaState, act_fewa, observe_fewa, forget_fewa, expect_fewa)


def act_fewa_on_grid(state: FewaGridState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Filter with the windows of the grid, until a kept arm has no mean for the next; of such, the one pulled least."""
    means, levels, inverse_roots = state.grid.means, state.grid.levels, state.grid.inverse_roots
    kept, samples = state.kept, state.samples
    root = math.sqrt(state.scale * math.log(state.window.clock[memories.ROUNDS] + 1))
    count = _available(kept, mask)
    fewest = _fewest(kept, count, samples)
    j = 0
    while j < levels[fewest] and count > 1:
        highest = -math.inf
        for place in range(count):
            highest = max(highest, means[kept[place], j])
        threshold = highest - root * inverse_roots[j]
        left = 0
        for place in range(count):
            if means[kept[place], j] >= threshold:
                kept[left] = kept[place]
                left += 1
        if left < count:
            count = left
            fewest = _fewest(kept, count, samples)
        j += 1
    forced = unseen(state.window.pulls, state.window.clock, mask)
    return forced if forced >= 0 else _fewest(kept, count, state.window.pulls)


def observe_fewa_on_grid(state: FewaGridState, arm: int, reward: float) -> None:
    """Update the counts and the grid."""
    state.samples[arm] += 1
    memories.slide(state.window, arm, reward)
    add_to_grid(state.grid, arm, reward)


def forget_fewa_on_grid(state: FewaGridState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    memories.forget_rounds(state.window, arm)
    forget_grid(state.grid, arm)
    _forget_samples(state.samples, arm)


rule(FewaGridState, act_fewa_on_grid, observe_fewa_on_grid, forget_fewa_on_grid, expect_fewa)


@dataclass(eq=False)
class FEWA(RottingAgent):
    """FEWA: filtering on expanding window averages, for means that only fall.

    Source:
        Seznec, Locatelli, Carpentier, Lazaric, Valko, "Rotting bandits are not harder than stochastic ones", AISTATS
        2019.
    Rule:
        Begin with all arms; for h = 1, 2, …, keep those whose mean of the last h rewards is within 2√(2ασ² ln t / h) of
        the largest such mean; as soon as a kept arm has fewer than h + 1 pulls, play it.
    Tuning:
        σ = λ, the subgaussian scale of the rewards, ½ for rewards in [0, 1] and where it is not given;
        α = 0.06, as in the source's experiments (its theorems ask for α > 4). No breakpoints are needed.
    Knowledge:
        λ, ½ if it is not given; with ``grid="exact"`` T, for the memory alone.
    Deviations:
        None in law. The exact form remembers the last T rewards of each arm, K × T numbers of which only those written
        to take memory; windows for which the filter cannot drop an arm are skipped, and the cost grows with the pulls
        of arms that it cannot tell apart. ``grid="geometric"`` is the authors' efficient variant: windows 1, ⌈m⌉,
        ⌈m⌈m⌉⌉, … whose means are renewed with a delay, logarithmic in memory and time;
        there, of the kept arms without a mean for the next window, the one with the fewest pulls is played, as in the
        authors' code. δ_t = t^−α and both constants are confirmed from that code; the paper's own text was out of
        reach.

    >>> agent = FEWA(2, horizon=100)
    >>> for arm, reward in [(0, 1.0), (1, 0.5)] * 8 + [(0, 0.0)] * 6:  # arm 1 breaks down
    ...     agent.observe(arm, reward)
    >>> agent.act()  # h = 3: the means are 0 and 0.5, and 2√(2 · 0.06 · ¼ ln 23 / 3) = 0.35
    1
    """

    name: ClassVar[str] = "fewa"

    alpha: float = field(default=0.06, kw_only=True)

    def _new_state(self) -> FewaState | FewaGridState:
        k, scale = self.n_arms, 8 * self.alpha * self.subgaussian**2
        kept, samples = np.zeros((2, k), np.int64)
        if self.grid == "geometric":
            return FewaGridState(memories.new_window(k, None), samples, new_grid(k, self.ratio), kept, scale)
        assert self.horizon is not None
        window, totals = memories.new_window(k, None), memories.new_totals(k, self.horizon)
        return FewaState(window, samples, totals, np.array([np.inf, -np.inf]), kept, np.zeros(k), scale)
