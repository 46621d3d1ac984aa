"""Exp3 with scheduled restarts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.admission import Claims, Facts, admissible
from .core.arguments import fraction, positive, positive_int
from .core.kernel import BoolArray, FloatArray, IntArray, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .parts.weights import Weights, draw_arm, multiply, new_weights, probability_claims, reset_weights

__all__ = ["Rexp3"]

NEVER = -1  # stands for a batch without end


class Exp3State(NamedTuple):
    """The weights since the last restart, and the probabilities of the round."""

    weights: Weights
    probabilities: FloatArray  # (K,) of the last act
    since_restart: IntArray  # (1,) rounds
    gamma: float
    batch: int  # rounds between restarts, or NEVER


def new_exp3_state(n_arms: int, gamma: float, batch: int = NEVER) -> Exp3State:
    """Equal weights."""
    return Exp3State(new_weights(n_arms), np.full(n_arms, 1.0 / n_arms), np.zeros(1, np.int64), gamma, batch)


def act(state: Exp3State, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm from p_i = (1 − γ) w_i/Σw + γ/K; start over when the batch is full."""
    if state.since_restart[0] == state.batch:
        reset_weights(state.weights)
        state.since_restart[0] = 0
    return draw_arm(state.weights.plain, state.probabilities, state.gamma, rng)


def observe(state: Exp3State, arm: int, reward: float) -> None:
    """w_a ← w_a exp(γ (x/p_a)/K) for the arm played."""
    multiply(state.weights, arm, state.gamma * (reward / state.probabilities[arm]) / state.probabilities.size)
    state.since_restart[0] += 1


def forget(state: Exp3State, arm: int) -> None:
    """Start over with all arms: the weights compare arms with each other, so that one arm cannot restart alone."""
    reset_weights(state.weights)
    state.probabilities[:] = 1.0 / state.probabilities.size
    state.since_restart[0] = 0


def _claims(state: Exp3State, facts: Facts) -> Claims:
    due = state.batch == NEVER or state.since_restart[0] <= state.batch
    yield "since_restart", due, "at most a batch"
    yield from probability_claims(state.probabilities, state.gamma)


admissible(Exp3State, _claims)
rule(Exp3State, act, observe, forget)


@dataclass(eq=False)
class Rexp3(Agent):
    """Rexp3: Exp3, restarted every Δ rounds, for means with a known variation budget.

    Source:
        Besbes, Gur, Zeevi, "Stochastic Multi-Armed-Bandit Problem with Non-stationary Rewards", NeurIPS 2014.
    Rule:
        p_i = (1 − γ) w_i/Σw + γ/K; draw an arm a; w_a ← w_a exp(γ (x/p_a)/K); all w = 1 at each restart.
    Tuning:
        Δ = ⌈(K ln K)^(1/3) (T/V_T)^(2/3)⌉ (at most T), γ = min{1, √(K ln K / ((e − 1) Δ))}. Blind: V_T = 1 is assumed
        (ours).
    Knowledge:
        T, V_T.
    Deviations:
        None; weights are kept as logarithms, so that none overflows.

    >>> agent = Rexp3(2, batch=1_000, gamma=0.1)
    >>> agent.reset(seed=1)
    >>> for _ in range(300):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.state.probabilities.round(2)  # γ/2 is left for arm 1
    array([0.05, 0.95])

    Attributes:
        batch: Δ, the number of rounds between restarts.
        gamma: γ, the share of uniform exploration.
    """

    name: ClassVar[str] = "rexp3"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False
    assumes: ClassVar[Mapping[str, Any]] = {"variation": 1.0}

    batch: int = field(kw_only=True)
    gamma: float = field(kw_only=True)

    def _check(self) -> None:
        self.batch = positive_int("batch", self.batch)
        positive("gamma", self.gamma)
        self.gamma = fraction("gamma", self.gamma)

    def _new_state(self) -> Exp3State:
        return new_exp3_state(self.n_arms, self.gamma, self.batch)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """Δ from T and V_T, γ from Δ."""
        (n_arms,) = knowledge.need(cls.name, "n_arms")
        k_log_k = n_arms * math.log(n_arms)
        if "batch" in given:
            batch = positive_int("batch", given["batch"])
        else:
            horizon, variation = knowledge.need(cls.name, "horizon", "variation")
            longest = k_log_k ** (1 / 3) * (horizon / variation) ** (2 / 3) if variation > 0 else horizon
            batch = math.ceil(min(horizon, longest))
        return {"batch": batch, "gamma": min(1.0, math.sqrt(k_log_k / ((math.e - 1) * batch)))}
