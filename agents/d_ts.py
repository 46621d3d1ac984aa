"""Thompson sampling with Beta posteriors on discounted rewards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.admission import Claims, Facts, admissible
from .core.kernel import ALL, BoolArray, FloatArray, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .parts.discounted import (
    Discounted,
    blind_discount,
    check_discount,
    discount,
    forget_discounted,
    new_discounted,
)
from .parts.fading import bound_claims, expire, largest_fading_beta, shelf_life
from .parts.windows import ROUNDS

__all__ = ["DTS"]


class DTSState(NamedTuple):
    """The discounted memory, and a bound on the log normaliser of each arm's posterior Beta(S + 1, N − S + 1)."""

    memory: Discounted
    bounds: FloatArray  # (K,) see ``agents/parts/fading.py``
    gamma: float
    life: int  # the rounds after which all bounds are computed anew


def act(state: DTSState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ Beta(S_i + 1, F_i + 1) with discounted successes and failures; play argmax θ_i."""
    return largest_fading_beta(state.memory.pulls, state.memory.sums, state.bounds, mask, rng)


def observe(state: DTSState, arm: int, reward: float) -> None:
    """Discount S and F of all arms, and add the round to those of the arm played."""
    discount(state.memory, state.gamma, arm, reward)
    expire(state.bounds, arm, state.memory.clock[ROUNDS], state.life)


def forget(state: DTSState, arm: int) -> None:
    """Reset the posterior of one arm, or with ``ALL`` of every arm, to the uniform one."""
    forget_discounted(state.memory, arm)
    for i in range(state.bounds.size):
        if arm == ALL or i == arm:
            state.bounds[i] = math.nan


def _claims(state: DTSState, facts: Facts) -> Claims:
    return bound_claims(state.bounds, state.memory.pulls, state.memory.sums)


admissible(DTSState, _claims, free=("bounds",))
rule(DTSState, act, observe, forget)


@dataclass(eq=False)
class DTS(Agent):
    """D-TS: Thompson sampling with Beta posteriors on rewards that fade by a factor γ in every round.

    Source:
        Raj, Kalyani, "Taming Non-stationary Bandits: A Bayesian Approach", arXiv 1707.09727.
    Rule:
        θ_i ~ Beta(S_i + 1, F_i + 1); play argmax θ_i. In every round the successes S and the failures F of all arms
        shrink by γ, then those of the arm played grow by the reward: an arm long unseen returns to Beta(1, 1).
    Tuning:
        γ = 1 − 1/(4√T), 0.9989 at T = 50 000: D-UCB's where the breakpoints are unknown, for the source has no formula.
        The 0.75 and 0.99 of public code remember the last 4 and 100 rounds, far too few for long phases.
    Knowledge:
        T.
    Deviations:
        None in law. Samples that cannot be the largest are not drawn (see ``agents/parts/fading.py``). The source's
        optimistic variant is not offered.

    >>> agent = DTS(2, gamma=0.5)
    >>> for arm, reward in [(0, 1.0), (1, 0.0), (1, 1.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.sums  # successes: of arm 1 two rounds ago, of arm 2 just now
    array([0.25, 1.  ])
    >>> agent.state.memory.pulls - agent.state.memory.sums  # failures
    array([0. , 0.5])

    Attributes:
        gamma: γ, by which the weight of what was seen shrinks in every round; 1 forgets nothing.
    """

    name: ClassVar[str] = "d-ts"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    gamma: float = field(kw_only=True)

    def _check(self) -> None:
        self.gamma = check_discount(self.gamma)

    def _new_state(self) -> DTSState:
        k = self.n_arms
        return DTSState(new_discounted(k), np.full(k, np.nan), self.gamma, shelf_life(self.gamma))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = 1 − 1/(4√T)."""
        return {} if "gamma" in given else {"gamma": blind_discount(*knowledge.need(cls.name, "horizon"))}
