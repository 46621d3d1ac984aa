"""Upper confidence bounds on discounted rewards."""

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
from .parts.discounted import (
    Discounted,
    blind_discount,
    check_discount,
    discount,
    forget_discounted,
    long_phases,
    new_discounted,
)
from .parts.forced import unseen

__all__ = ["DUCB"]


class DUCBState(NamedTuple):
    """The discounted memory, the discount factor γ and the constant ξ of the bonus."""

    memory: Discounted
    gamma: float
    xi: float


def act(state: DUCBState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of μ̂_i + 2√(ξ ln n / N_i), n = Σ N_i; an unseen arm comes first."""
    pulls, sums = state.memory.pulls, state.memory.sums
    total = 0.0
    for i in range(pulls.size):
        total += pulls[i]
    exploration = 4.0 * state.xi * math.log(max(total, 1.0))
    arm, highest = -1, -math.inf
    for i in range(pulls.size):
        if mask[i]:
            weight = 1.0 / pulls[i] if pulls[i] > 0.0 else 1.0  # the index of an unseen arm does not matter
            index = sums[i] * weight + math.sqrt(exploration * weight)
            if index > highest:
                arm, highest = i, index
    forced = unseen(pulls, state.memory.clock, mask)
    return forced if forced >= 0 else arm


def observe(state: DUCBState, arm: int, reward: float) -> None:
    """Discount S and N of all arms, and add the round to those of the arm played."""
    discount(state.memory, state.gamma, arm, reward)


def forget(state: DUCBState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_discounted(state.memory, arm)


admissible(DUCBState)
rule(DUCBState, act, observe, forget)


@dataclass(eq=False)
class DUCB(Agent):
    """D-UCB: upper confidence bounds on rewards that fade by a factor γ in every round.

    Source:
        Kocsis, Szepesvári, "Discounted UCB", PASCAL Challenges Workshop 2006; analysed by Garivier, Moulines, "On
        Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011.
    Rule:
        Play argmax of μ̂_i + 2√(ξ ln n / N_i), with discounted counts N_i, their sum n, and discounted means μ̂_i; an
        arm never seen comes first.
    Tuning:
        ξ = 0.6 and γ = 1 − ¼√(Υ/T); where Υ is unknown γ = 1 − 1/(4√T). Both are the source's. Ours: the second also
        where phases last fewer than 16 rounds on average, as in drifting worlds, which the first is not meant for.
    Knowledge:
        T, and Υ if it is given.
    Deviations:
        Derived for rewards in [0, 1] (the source's B = 1); other rewards are taken as they are. An arm whose count has
        faded below 1e-100 counts as unseen. ln n counts as 0 where it is negative, as it can be once arms were
        forgotten. That ξ = 0.6 goes with the factor 2 could not be confirmed from the source's own text.

    >>> agent = DUCB(2, gamma=0.5)
    >>> for arm, reward in [(0, 1.0), (1, 0.0), (1, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.pulls  # arm 1 was seen two rounds ago
    array([0.25, 1.5 ])
    >>> agent.act()
    0

    Attributes:
        gamma: γ, by which the weight of what was seen shrinks in every round; 1 forgets nothing.
        xi: ξ, the width of the confidence bound.
    """

    name: ClassVar[str] = "d-ucb"

    gamma: float = field(kw_only=True)
    xi: float = field(default=0.6, kw_only=True)

    def _check(self) -> None:
        self.gamma = check_discount(self.gamma)
        self.xi = positive("xi", self.xi)

    def _new_state(self) -> DUCBState:
        return DUCBState(new_discounted(self.n_arms), self.gamma, self.xi)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = 1 − ¼√(Υ/T), or 1 − 1/(4√T) without Υ."""
        if "gamma" in given:
            return {}
        (horizon,) = knowledge.need(cls.name, "horizon")
        changes = long_phases(knowledge)
        return {"gamma": blind_discount(horizon) if changes is None else 1 - math.sqrt(changes / horizon) / 4}
