"""Exp3.S: exponential weights that share, so that the best arm may change."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.admission import Claims, Facts, admissible
from .core.arguments import fraction, positive
from .core.kernel import BoolArray, FloatArray, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .parts.discounted import long_phases
from .parts.weights import draw_arm, probability_claims

__all__ = ["Exp3S"]

LARGE = 1e100  # when the weights add up to more, all are divided by their sum


class Exp3SState(NamedTuple):
    """The weights, up to a common factor, and the probabilities of the round."""

    weights: FloatArray  # (K,)
    probabilities: FloatArray  # (K,) of the last act
    gamma: float
    alpha: float


def act(state: Exp3SState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm from p_i = (1 − γ) w_i/Σw + γ/K."""
    return draw_arm(state.weights, state.probabilities, state.gamma, rng)


def observe(state: Exp3SState, arm: int, reward: float) -> None:
    """w_i ← w_i exp(γ x̂_i/K) + (eα/K) Σw, with x̂ = x/p for the arm played and 0 for the others.

    In one round a weight grows at most by the factor e, as γ x̂/K ≤ 1, and none falls below eα/K of their sum: dividing
    all of them by their sum now and then is all that it takes to keep them in range.
    """
    weights, k = state.weights, state.weights.size
    total = 0.0
    for i in range(k):
        total += weights[i]
    weights[arm] *= math.exp(state.gamma * (reward / state.probabilities[arm]) / k)
    share = math.e * state.alpha / k * total
    scale = 1.0 / total if total > LARGE else 1.0
    for i in range(k):
        weights[i] = (weights[i] + share) * scale


def forget(state: Exp3SState, arm: int) -> None:
    """Start over with all arms: the weights compare arms with each other, so that one arm cannot restart alone."""
    state.weights[:] = 1.0
    state.probabilities[:] = 1.0 / state.probabilities.size


def _claims(state: Exp3SState, facts: Facts) -> Claims:
    """Not all weights vanish, and none of them is so large that it would overflow."""
    yield "weights", (state.weights >= 0) & (state.weights <= 100.0 * LARGE), "a weight in range"
    yield "weights", state.weights.sum() > 0, "weights that do not all vanish"
    yield from probability_claims(state.probabilities, state.gamma)


admissible(Exp3SState, _claims)
rule(Exp3SState, act, observe, forget)


@dataclass(eq=False)
class Exp3S(Agent):
    """Exp3.S: exponential weights that share, to be as good as the best sequence of arms with few changes.

    Source:
        Auer, Cesa-Bianchi, Freund, Schapire, "The Nonstochastic Multiarmed Bandit Problem", SIAM Journal on Computing
        2002, section 8.
    Rule:
        p_i = (1 − γ) w_i/Σw + γ/K; draw an arm a; w_i ← w_i exp(γ x̂_i/K) + (eα/K) Σw, with x̂_a = x/p_a and 0 for the
        arms that were not played.
    Tuning:
        α = 1/T and γ = min{1, √(K (S ln(KT) + e) / ((e − 1) T))} with S the number of phases of the best arm (the
        source's hardness, which is 1 for a single arm): its changes + 1, or Υ + 1 where only Υ is known. Where neither
        is, γ = min{1, √(K ln(KT)/T)}. Both are the source's. Ours: the second also where only Υ is known and phases
        last fewer than 16 rounds on average, as in drifting worlds, where the first would play at random.
    Knowledge:
        T, and the changes of the best arm, or Υ, if they are given.
    Deviations:
        None; the weights are divided by their sum when they grow large. Papers that compare with it put Υ itself in
        the place of S. The source's text was not at hand to confirm that S counts from 1.

    >>> agent = Exp3S(2, gamma=0.1, alpha=0.001)
    >>> agent.reset(seed=1)
    >>> for t in range(600):  # arm 2 pays, and from the middle on arm 1
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == (t < 300)))
    >>> agent.state.probabilities.round(2)  # arm 2 keeps γ/2, and what is shared with it
    array([0.93, 0.07])

    Attributes:
        gamma: γ, the share of uniform exploration.
        alpha: α, how much of the sum of the weights is shared out in every round.
    """

    name: ClassVar[str] = "exp3s"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False

    gamma: float = field(kw_only=True)
    alpha: float = field(kw_only=True)

    def _check(self) -> None:
        positive("gamma", self.gamma)
        self.gamma = fraction("gamma", self.gamma)
        hint = "the source takes 1/T; for weights that share nothing use exp3"
        positive("alpha", self.alpha, hint=hint)
        self.alpha = fraction("alpha", self.alpha, hint=hint)

    def _new_state(self) -> Exp3SState:
        k = self.n_arms
        return Exp3SState(np.ones(k), np.full(k, 1.0 / k), self.gamma, self.alpha)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """α = 1/T, γ from T and the number of phases of the best arm."""
        if {"gamma", "alpha"} <= given.keys():
            return {}
        horizon, n_arms = knowledge.need(cls.name, "horizon", "n_arms")
        changes = long_phases(knowledge) if knowledge.switches is None else knowledge.switches
        log_kt = math.log(n_arms * horizon)
        if changes is None:
            spread = n_arms * log_kt / horizon
        else:
            spread = n_arms * ((changes + 1) * log_kt + math.e) / ((math.e - 1) * horizon)
        return {"alpha": 1 / horizon, "gamma": min(1.0, math.sqrt(spread))}
