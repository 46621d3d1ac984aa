"""Gaussian Thompson sampling on discounted rewards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.admission import Claims, Facts, admissible, close
from .core.arguments import positive
from .core.kernel import ALL, BoolArray, FloatArray, rule
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
from .parts.forced import highest, unseen
from .parts.races import largest_gaussian

__all__ = ["DSTS"]


class DSTSState(NamedTuple):
    """The discounted memory, and the mean and the root of the precision of each arm's posterior N(μ̂, λ²/N)."""

    memory: Discounted
    means: FloatArray  # (K,) S/N; infinite where N = 0, so that the arm comes first
    roots: FloatArray  # (K,) √N/λ
    gamma: float
    scale: float


def act(state: DSTSState, mask: BoolArray, rng: np.random.Generator) -> int:
    """An unseen arm is forced; else θ_i ~ N(μ̂_i, λ²/N_i), play argmax θ_i."""
    arm = highest(state.means, mask)  # an unseen arm, if there is one
    if state.memory.pulls[arm] == 0.0:
        return unseen(state.memory.pulls, state.memory.clock, mask)
    return largest_gaussian(state.means, state.roots, arm, mask, rng)


def observe(state: DSTSState, arm: int, reward: float) -> None:
    """Discount S and N of all arms, which widens their posteriors, and add the round to those of the arm played."""
    discount(state.memory, state.gamma, arm, reward)
    pulls, roots, steepness = state.memory.pulls, state.roots, 1.0 / state.scale
    for i in range(pulls.size):
        roots[i] = math.sqrt(pulls[i]) * steepness
        if pulls[i] == 0.0:
            state.means[i] = math.inf
    state.means[arm] = state.memory.sums[arm] / pulls[arm]  # discounting alone does not change a mean


def forget(state: DSTSState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it is forced again."""
    forget_discounted(state.memory, arm)
    for i in range(state.means.size):
        if arm == ALL or i == arm:
            state.means[i] = math.inf
            state.roots[i] = 0.0


def _claims(state: DSTSState, facts: Facts) -> Claims:
    """Means and roots are those of the memory, but for rounding."""
    pulls, sums = state.memory.pulls, state.memory.sums
    yield "means", close(state.means, np.where(pulls > 0, sums / pulls, np.inf), 1e-6), "S/N, infinite where N is 0"
    yield "roots", close(state.roots, np.sqrt(pulls) / state.scale), "the root of N over the scale"


admissible(DSTSState, _claims, free=("means",))
rule(DSTSState, act, observe, forget)


@dataclass(eq=False)
class DSTS(Agent):
    """DS-TS: Thompson sampling with Gaussian posteriors on rewards that fade by a factor γ in every round.

    Source:
        Qi, Wang, Zhu, "Discounted Thompson Sampling for Non-Stationary Bandit Problems", arXiv 2305.10718; Qi, Guo,
        Zhu, "Thompson Sampling for Non-Stationary Bandit Problems", Entropy 2025.
    Rule:
        θ_i ~ N(μ̂_i, λ²/N_i) with discounted means μ̂_i and counts N_i, λ the subgaussian scale of the rewards; play
        argmax θ_i. An arm never seen is forced.
    Tuning:
        γ = 1 − √(Υ/(T ln T)), the source's, and λ = ½, that of rewards in [0, 1]. Ours: γ = 1 − 1/(4√T) where Υ is
        unknown, or phases last fewer than 16 rounds on average, as in drifting worlds.
    Knowledge:
        T, and Υ and λ if they are given.
    Deviations:
        None in law. Samples that cannot be the largest are not drawn (see ``agents/parts/races.py``). An arm whose
        count has faded below 1e-100 counts as unseen. The variance λ²/N_i with λ = ½, that is 1/(4 N_i), the forced
        play and the formula for γ could not be confirmed from the source's own text.

    >>> agent = DSTS(2, gamma=0.5)
    >>> for arm, reward in [(0, 1.0), (1, 0.25), (1, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.pulls
    array([0.25, 1.5 ])
    >>> agent.state.means.round(3)  # (0.25 · 0.5 + 0)/1.5
    array([1.   , 0.083])
    >>> (1 / agent.state.roots).round(3)  # standard deviations, ½/√N
    array([1.   , 0.408])

    Attributes:
        gamma: γ, by which the weight of what was seen shrinks in every round; 1 forgets nothing.
        scale: λ, the subgaussian scale of the rewards; the larger, the more it explores.
    """

    name: ClassVar[str] = "ds-ts"

    gamma: float = field(kw_only=True)
    scale: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.gamma = check_discount(self.gamma)
        self.scale = positive("scale", self.scale, hint="rewards in [0, 1] have a scale of 0.5")

    def _new_state(self) -> DSTSState:
        k = self.n_arms
        return DSTSState(new_discounted(k), np.full(k, np.inf), np.zeros(k), self.gamma, self.scale)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = 1 − √(Υ/(T ln T)), or 1 − 1/(4√T) without Υ; λ = ½ unless it is known."""
        tuned: dict[str, Any] = {"scale": 0.5 if knowledge.subgaussian is None else knowledge.subgaussian}
        if "gamma" not in given:
            (horizon,) = knowledge.need(cls.name, "horizon")
            changes = long_phases(knowledge)
            if changes is None:
                tuned["gamma"] = blind_discount(horizon)
            else:
                tuned["gamma"] = 1 - math.sqrt(changes / (horizon * math.log(max(horizon, 2))))
        return tuned
