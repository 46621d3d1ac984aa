"""Upper confidence bounds on a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.admission import admissible
from .core.arguments import positive
from .core.kernel import BoolArray, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .core.tuning import suggested_window
from .parts.forced import unseen
from .parts.windows import ROUNDS, Window, check_window, forget_rounds, new_window, slide

__all__ = ["SWUCB"]


class UCBState(NamedTuple):
    """The window and the constant ξ of the bonus."""

    window: Window
    xi: float


def act(state: UCBState, mask: BoolArray, rng: np.random.Generator) -> int:
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


def observe(state: UCBState, arm: int, reward: float) -> None:
    """Update S and N in the window."""
    slide(state.window, arm, reward)


def forget(state: UCBState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_rounds(state.window, arm)


admissible(UCBState)
rule(UCBState, act, observe, forget)


@dataclass(eq=False)
class SWUCB(Agent):
    """SW-UCB: upper confidence bounds on the last τ rounds.

    Source:
        Garivier, Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011.
    Rule:
        Play argmax of μ̂_i + √(ξ ln(min(t, τ)) / N_i) with means and counts in the window; an arm unseen in the window
        comes first, of several the one unseen longest.
    Tuning:
        τ = 4√(T ln T), rounded down; ξ = 0.6.
    Knowledge:
        T.
    Deviations:
        Derived for rewards in [0, 1] (the source's B = 1); other rewards are taken as they are. With rewards that come
        d rounds late, an arm counts as unseen until its first reward arrives: K d should be well below τ.

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
    """

    name: ClassVar[str] = "sw-ucb"

    window: int = field(kw_only=True)
    xi: float = field(default=0.6, kw_only=True)

    def _check(self) -> None:
        self.window = check_window(self.window)
        self.xi = positive("xi", self.xi)

    def _new_state(self) -> UCBState:
        return UCBState(new_window(self.n_arms, self.window), self.xi)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = 4√(T ln T)."""
        return {} if "window" in given else {"window": suggested_window(*knowledge.need(cls.name, "horizon"))}
