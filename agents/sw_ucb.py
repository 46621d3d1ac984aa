"""Upper confidence bounds: UCB1 on everything seen, and SW-UCB on a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import check_subgaussian, positive
from .core.kernel import BoolArray, rule
from .core.knowledge import Knowledge, suggested_window
from .core.protocol import Agent
from .parts.memories import ROUNDS, Window, check_window, expect_rounds, forget_rounds, new_window, slide
from .parts.races import BY_ARM, COUNTING, elapsed, own_time, unseen


class UCB1State(NamedTuple):
    """Counts and sums of everything seen, and the constant ξ of the bonus, 4λ² times as large."""

    window: Window
    xi: float
    counting: int  # what t counts; see ``agents/parts/races.py``


def new_ucb1_state(n_arms: int, xi: float, counting: str = "rounds") -> UCB1State:
    """The state before the first round."""
    return UCB1State(new_window(n_arms, None), xi, COUNTING[counting])


def act_ucb1(state: UCB1State, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of μ̂_i + √(ξ ln t / N_i); an unseen arm comes first."""
    pulls, sums, clock = state.window.pulls, state.window.sums, state.window.clock
    by_arm = state.counting == BY_ARM
    log_t = math.log(max(1, elapsed(clock, pulls, state.counting)))
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        if mask[i]:
            n = max(pulls[i], 1)  # the index of an unseen arm does not matter: that arm is forced
            if by_arm:
                log_t = math.log(own_time(clock, mask.size, i))
            index = sums[i] / n + math.sqrt(state.xi * log_t / n)
            if index > highest:
                arm, highest = i, index
    forced = unseen(pulls, clock, mask)
    return forced if forced >= 0 else arm


class UCBState(NamedTuple):
    """The window and the constant ξ of the bonus, 4λ² times as large."""

    window: Window
    xi: float


def act_sw_ucb(state: UCBState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of μ̂_i + √(ξ ln(min(t, τ)) / N_i); an unseen arm comes first."""
    pulls, sums, clock, window = state.window.pulls, state.window.sums, state.window.clock, state.window.arms.size
    exploration = state.xi * math.log(min(clock[ROUNDS] + 1, window))
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        if mask[i]:
            n = max(pulls[i], 1)  # the index of an unseen arm does not matter: that arm is forced
            index = sums[i] / n + math.sqrt(exploration / n)
            if index > highest:
                arm, highest = i, index
    forced = unseen(pulls, clock, mask)  # after the loop: a return before it takes a fifth more time
    return forced if forced >= 0 else arm


def observe(state: UCB1State | UCBState, arm: int, reward: float) -> None:
    """Update S and N."""
    slide(state.window, arm, reward)


def forget(state: UCB1State | UCBState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_rounds(state.window, arm)


def expect(state: UCB1State | UCBState, arm: int, pulls: int) -> None:
    """Let S and N grow as they would if the arm showed its mean."""
    expect_rounds(state.window, arm, pulls)


rule(UCB1State, act_ucb1, observe, forget, expect)
rule(UCBState, act_sw_ucb, observe, forget, expect)


@dataclass(eq=False)
class UCB1(Agent):
    """UCB1: upper confidence bounds on everything seen, for stationary worlds.

    Source:
        Auer, Cesa-Bianchi, Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", Machine Learning 2002.
    Rule:
        Play argmax of μ̂_i + 2λ √(ξ ln t / N_i), λ = ½ for rewards in [0, 1]; every arm is played once first.
    Tuning:
        ξ = 2, as in the source. λ is the subgaussian scale of the rewards.
    Knowledge:
        λ, ½ if it is not given.
    Deviations:
        t is the number of the coming round, where the source takes that of the rounds played so far. The source has
        rewards in [0, 1]; the factor 2λ, which is 1 there, is ours and makes the bound that of rewards in an interval
        of length 2λ. With λ = ½ rewards of a larger scale are hardly explored, those of a smaller one for ever.

    >>> agent = UCB1(2)
    >>> for arm, reward in [(0, 0.0), (1, 1.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.act()  # indices 0 + √(2 ln 3) and 1 + √(2 ln 3)
    1

    Attributes:
        xi: ξ, the width of the confidence bound.
        subgaussian: λ, the scale of the rewards.
    """

    name: ClassVar[str] = "ucb1"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    xi: float = field(default=2.0, kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.xi = positive("xi", self.xi)
        self.subgaussian = check_subgaussian(self.subgaussian)

    def _new_state(self) -> UCB1State:
        return new_ucb1_state(self.n_arms, self.xi * (2 * self.subgaussian) ** 2)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """λ, from the knowledge."""
        return {"subgaussian": knowledge.scale}


@dataclass(eq=False)
class SWUCB(Agent):
    """SW-UCB: upper confidence bounds on the last τ rounds.

    Source:
        Garivier, Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011.
    Rule:
        Play argmax of μ̂_i + 2λ √(ξ ln(min(t, τ)) / N_i) with means and counts in the window; an arm unseen in the
        window comes first, of several the one unseen longest. 2λ is the source's B, 1 for rewards in [0, 1].
    Tuning:
        τ = 4√(T ln T), rounded down; ξ = 0.6. λ is the subgaussian scale of the rewards.
    Knowledge:
        T, and λ, ½ if it is not given.
    Deviations:
        2λ for B, the length of an interval that holds all rewards, is ours where there is no such interval.

    >>> agent = SWUCB(2, window=100)
    >>> agent.observe(0, 1.0)
    >>> agent.act()  # arm 2 was not seen yet
    1
    >>> agent.observe(1, 0.0)
    >>> agent.act()  # indices 1 + √(0.6 ln 3) and 0 + √(0.6 ln 3)
    0

    Attributes:
        window: τ, the number of rounds remembered.
        xi: ξ, the width of the confidence bound.
        subgaussian: λ, the scale of the rewards.
    """

    name: ClassVar[str] = "sw-ucb"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    window: int = field(kw_only=True)
    xi: float = field(default=0.6, kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.window = check_window(self.window)
        self.xi = positive("xi", self.xi)
        self.subgaussian = check_subgaussian(self.subgaussian)

    def _new_state(self) -> UCBState:
        return UCBState(new_window(self.n_arms, self.window), self.xi * (2 * self.subgaussian) ** 2)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = 4√(T ln T), and λ."""
        tuned: dict[str, Any] = {"subgaussian": knowledge.scale}
        if "window" not in given:
            tuned["window"] = suggested_window(*knowledge.need(cls.name, "horizon"))
        return tuned
