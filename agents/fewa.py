"""FEWA: a filter on windows that grow, for means that decay."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from .core.admission import Claims, Facts, admissible
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, floor_within, inlined, rule
from .parts.forced import unseen
from .parts.grids import Grid, add_to_grid, forget_grid, new_grid
from .parts.rotting import RottingAgent
from .parts.totals import Totals, add_to_totals, forget_totals, last_sum, new_totals
from .parts.windows import ROUNDS, Window, forget_rounds, new_window, slide

__all__ = ["FEWA"]


class FewaState(NamedTuple):
    """Running totals of all rewards, and room for the filter to work in."""

    window: Window  # without end
    totals: Totals
    bounds: FloatArray  # (2,) the lowest and the highest reward
    kept: IntArray  # (K,) the arms that the filter kept come first
    recent: FloatArray  # (K,) the sums of their last h rewards
    scale: float  # 8 α σ²


class FewaGridState(NamedTuple):
    """Counts of everything, and means on a geometric grid of windows."""

    window: Window  # without end
    grid: Grid
    kept: IntArray  # (K,) the arms that the filter kept come first
    scale: float  # 8 α σ²


def act(state: FewaState, mask: BoolArray, rng: np.random.Generator) -> int:
    """For h = 1, 2, …, keep the arms within 2√(2ασ² ln t / h) of the best kept, until a kept arm has no h + 1 pulls.

    Sums are compared in place of means. Two sums over one window more differ by at most the range of all rewards more:
    windows for which the filter cannot drop an arm are skipped, which are all of them while all rewards are equal.
    """
    pulls, clock, kept, recent = state.window.pulls, state.window.clock, state.kept, state.recent
    values, ends = state.totals.values, state.totals.ends
    scale, spread = state.scale * math.log(clock[ROUNDS] + 1), state.bounds[1] - state.bounds[0]
    count = _available(kept, mask)
    fewest = _fewest(kept, count, pulls)
    h = 1
    while spread > 0.0 and h <= min(pulls[fewest], values.shape[1] - 1) and count > 1:
        highest = -math.inf
        for place in range(count):
            recent[place] = last_sum(values, ends, kept[place], h)
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
            fewest = _fewest(kept, count, pulls)
        h += 1 + floor_within((threshold - (highest - lowest)) / spread, float(pulls[fewest]))
    forced = unseen(pulls, clock, mask)
    return forced if forced >= 0 else fewest


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


def observe(state: FewaState, arm: int, reward: float) -> None:
    """Add to the totals."""
    slide(state.window, arm, reward)
    add_to_totals(state.totals, arm, reward)
    state.bounds[0] = min(state.bounds[0], reward)
    state.bounds[1] = max(state.bounds[1], reward)


def forget(state: FewaState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_rounds(state.window, arm)
    forget_totals(state.totals, arm)
    if arm == ALL:
        state.bounds[0] = math.inf
        state.bounds[1] = -math.inf


def _claims(state: FewaState, facts: Facts) -> Claims:
    """The lowest and the highest reward are infinite until there is one."""
    low, high = state.bounds
    yield "kept", state.kept < facts.n_arms, "an arm"
    if state.window.clock[ROUNDS] == 0:
        yield "bounds", low == np.inf and high == -np.inf, "infinite before the first round"
    else:
        yield "bounds", facts.rewards(state.bounds).all() and low <= high, "the lowest and the highest reward"


admissible(FewaState, _claims, free=("bounds",))
rule(FewaState, act, observe, forget)


def act_on_grid(state: FewaGridState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Filter with the windows of the grid, until a kept arm has no mean for the next; of such, the one pulled least."""
    means, levels, inverse_roots = state.grid.means, state.grid.levels, state.grid.inverse_roots
    kept, pulls = state.kept, state.window.pulls
    root = math.sqrt(state.scale * math.log(state.window.clock[ROUNDS] + 1))
    count = _available(kept, mask)
    fewest = _fewest(kept, count, pulls)
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
            fewest = _fewest(kept, count, pulls)
        j += 1
    forced = unseen(pulls, state.window.clock, mask)
    return forced if forced >= 0 else fewest


def observe_on_grid(state: FewaGridState, arm: int, reward: float) -> None:
    """Update the counts and the grid."""
    slide(state.window, arm, reward)
    add_to_grid(state.grid, arm, reward)


def forget_on_grid(state: FewaGridState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_rounds(state.window, arm)
    forget_grid(state.grid, arm)


def _claims_on_grid(state: FewaGridState, facts: Facts) -> Claims:
    yield "kept", state.kept < facts.n_arms, "an arm"


admissible(FewaGridState, _claims_on_grid)
rule(FewaGridState, act_on_grid, observe_on_grid, forget_on_grid)


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
        σ = λ, the subgaussian scale of the rewards, ½ for rewards in [0, 1] and where it is not known (blind);
        α = 0.06, as in the source's experiments (its theorems ask for α > 4). No breakpoints are needed.
    Knowledge:
        λ if given; with ``grid="exact"`` T, for the memory alone.
    Deviations:
        None in law. The exact form remembers the last T rewards of each arm, K × T numbers of which only those written
        to take memory; windows for which the filter cannot drop an arm are skipped, and the cost grows with the pulls
        of arms that it cannot tell apart. ``grid="geometric"`` is the authors' efficient variant: windows 1, ⌈m⌉,
        ⌈m⌈m⌉⌉, … whose means are renewed with a delay (``agents/parts/grids.py``), logarithmic in memory and time;
        there, of the kept arms without a mean for the next window, the one with the fewest pulls is played, as in the
        authors' code. δ_t = t^−α and both constants are confirmed from that code; the paper's own text was out of
        reach.

    >>> agent = FEWA(2, horizon=100)
    >>> for arm, reward in [(0, 1.0), (1, 0.5)] * 8 + [(0, 0.0)] * 6:  # arm 1 breaks down
    ...     agent.observe(arm, reward)
    >>> agent.act()  # h = 3: the means are 0 and 0.5, and 2√(2 · 0.06 · ¼ ln 23 / 3) = 0.35
    1

    Attributes:
        alpha: α; the larger, the more it explores.
    """

    name: ClassVar[str] = "fewa"

    alpha: float = field(default=0.06, kw_only=True)

    def _new_state(self) -> FewaState | FewaGridState:
        k, scale = self.n_arms, 8 * self.alpha * self.sigma**2
        kept = np.zeros(k, np.int64)
        if self.grid == "geometric":
            return FewaGridState(new_window(k, None), new_grid(k, self.ratio), kept, scale)
        assert self.horizon is not None
        bounds = np.array([np.inf, -np.inf])
        return FewaState(new_window(k, None), new_totals(k, self.horizon), bounds, kept, np.zeros(k), scale)
