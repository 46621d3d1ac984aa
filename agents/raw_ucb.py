"""RAW-UCB: upper confidence bounds with a window for each arm that adapts itself, for means that decay."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from .core.admission import Claims, Facts, admissible, close
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, floor_within, helper, rule
from .parts.forced import unseen
from .parts.grids import Grid, add_to_grid, forget_grid, new_grid
from .parts.rotting import RottingAgent
from .parts.totals import Totals, add_to_totals, forget_totals, last_sum, new_totals
from .parts.windows import ROUNDS, Window, forget_rounds, new_window, slide

__all__ = ["RAWUCB"]


class RawState(NamedTuple):
    """Running totals of all rewards, and for each arm the window that had the lowest bound when it was last sought."""

    window: Window  # without end
    totals: Totals
    lows: FloatArray  # (K,) the lowest reward
    spans: IntArray  # (K,) that window, h
    means: FloatArray  # (K,) the mean of the last h rewards
    sought: IntArray  # (K,) the round of that search
    scale: float  # 2 α σ²


class RawGridState(NamedTuple):
    """Counts of everything, and means on a geometric grid of windows."""

    window: Window  # without end
    grid: Grid
    scale: float  # 2 α σ²


def act(state: RawState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax_i min_h of the mean of the last h plus √(2ασ² ln t / h); an unseen arm comes first.

    A bound for any one h is at least the minimum. So the search for the lowest is needed only for arms that would win
    with the window that was lowest when they were last searched.
    """
    pulls, clock = state.window.pulls, state.window.clock
    spans, means, sought = state.spans, state.means, state.sought
    t = clock[ROUNDS] + 1
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
        settled = sought[arm] == t
        if not settled:
            _seek(state.totals.values, state.totals.ends, pulls, state.lows, spans, means, width, arm)
            sought[arm] = t
    return arm


@helper
def _seek(
    values: FloatArray,
    ends: IntArray,
    pulls: IntArray,
    lows: FloatArray,
    spans: IntArray,
    means: FloatArray,
    width: float,
    arm: int,
) -> None:
    """Find the window with the lowest bound, without looking at windows that cannot have it.

    With v the lowest bound so far and S_h the sum of the last h rewards, S_h + √(width h) − v h is how far window h is
    above v, times h. One window further this falls by at most v − x, x the lowest reward: windows that it cannot have
    fallen below 0 for are skipped.
    """
    n, low = min(pulls[arm], values.shape[1] - 1), lows[arm]
    span = spans[arm]
    mean = last_sum(values, ends, arm, span) / span
    lowest = mean + math.sqrt(width / span)
    average = last_sum(values, ends, arm, n) / n
    bound = average + math.sqrt(width / n)
    if bound < lowest:
        span, mean, lowest = n, average, bound
    h = 1
    while h < n:
        average = last_sum(values, ends, arm, h) / h
        bound = average + math.sqrt(width / h)
        if bound < lowest:
            span, mean, lowest = h, average, bound
        elif lowest > low:
            h += floor_within(h * (bound - lowest) / (lowest - low), float(n))
        else:
            h = n  # no mean of any window is below the lowest reward
        h += 1
    spans[arm] = span
    means[arm] = mean


def observe(state: RawState, arm: int, reward: float) -> None:
    """Add to the totals; the window that was lowest grows with the new sample until the next search."""
    slide(state.window, arm, reward)
    add_to_totals(state.totals, arm, reward)
    span = min(state.spans[arm] + 1, state.window.pulls[arm], state.totals.values.shape[1] - 1)
    state.spans[arm] = span
    state.means[arm] = last_sum(state.totals.values, state.totals.ends, arm, span) / span
    state.lows[arm] = min(state.lows[arm], reward)


def forget(state: RawState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_rounds(state.window, arm)
    forget_totals(state.totals, arm)
    for i in range(state.spans.size):
        if arm == ALL or i == arm:
            state.spans[i] = 1
            state.means[i] = 0.0
            state.lows[i] = math.inf
            state.sought[i] = 0


def _claims(state: RawState, facts: Facts) -> Claims:
    """An arm's window is one of its own, and its mean is that of the totals."""
    pulls, spans, values, ends = state.window.pulls, state.spans, state.totals.values, state.totals.ends
    most = np.minimum(np.maximum(pulls, 1), max(1, values.shape[1] - 1))
    yield "spans", (spans >= 1) & (spans <= most), "the length of a window in which there are samples"
    yield "lows", np.where(pulls > 0, facts.rewards(state.lows), state.lows == np.inf), "the lowest reward"
    yield "sought", state.sought <= state.window.clock[ROUNDS] + 1, "a round that was played"
    sums = np.array([last_sum(values, ends, i, spans[i]) for i in range(pulls.size)])
    exact = np.where(pulls > 0, sums / spans, 0.0)
    yield "means", close(state.means, exact, 1e-9 * (1.0 + np.abs(values).max())), "the mean of the window"


admissible(RawState, _claims, free=("lows",))
rule(RawState, act, observe, forget)


def act_on_grid(state: RawGridState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax_i min_h of the mean of h samples plus √(2ασ² ln t / h), h on the grid; an unseen arm comes first."""
    means, levels, inverse_roots = state.grid.means, state.grid.levels, state.grid.inverse_roots
    root = math.sqrt(state.scale * math.log(state.window.clock[ROUNDS] + 1))
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
    slide(state.window, arm, reward)
    add_to_grid(state.grid, arm, reward)


def forget_on_grid(state: RawGridState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_rounds(state.window, arm)
    forget_grid(state.grid, arm)


admissible(RawGridState)
rule(RawGridState, act_on_grid, observe_on_grid, forget_on_grid)


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
        σ = λ, the subgaussian scale of the rewards, ½ for rewards in [0, 1] and where it is not known (blind);
        α = 1, the default of the authors' public code, whose experiments take 1.4 and 4. No breakpoints are needed.
    Knowledge:
        λ if given; with ``grid="exact"`` T, for the memory alone.
    Deviations:
        None in law. The exact form remembers the last T rewards of each arm, K × T numbers of which only those written
        to take memory, and its cost grows with the pulls of an arm, like their root where means stand still: windows
        that cannot have the lowest bound are skipped. ``grid="geometric"`` is the authors' efficient variant: windows
        1, ⌈m⌉, ⌈m⌈m⌉⌉, … whose means are renewed with a delay (``agents/parts/grids.py``), logarithmic in memory and
        time. The constants and the rule of the grid are confirmed from the authors' code; the paper's own text was out
        of reach.

    >>> agent = RAWUCB(2, horizon=100)
    >>> for arm, reward in [(0, 1.0), (1, 0.5)] * 20 + [(0, 0.0)] * 8:  # arm 1 breaks down
    ...     agent.observe(arm, reward)
    >>> agent.act()  # on the whole arm 1 is better: 20/28 + √(½ ln 49 / 28) = 0.98, and 0.81 for arm 2
    1
    >>> int(agent.state.spans[0])  # but its last 8 rewards give 0 + √(½ ln 49 / 8) = 0.49
    8

    Attributes:
        alpha: α; the larger, the more it explores.
    """

    name: ClassVar[str] = "raw-ucb"

    alpha: float = field(default=1.0, kw_only=True)

    def _new_state(self) -> RawState | RawGridState:
        k, scale = self.n_arms, 2 * self.alpha * self.sigma**2
        if self.grid == "geometric":
            return RawGridState(new_window(k, None), new_grid(k, self.ratio), scale)
        assert self.horizon is not None
        return RawState(
            window=new_window(k, None),
            totals=new_totals(k, self.horizon),
            lows=np.full(k, np.inf),
            spans=np.ones(k, np.int64),
            means=np.zeros(k),
            sought=np.zeros(k, np.int64),
            scale=scale,
        )
