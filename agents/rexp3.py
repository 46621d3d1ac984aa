"""Exp3 with scheduled restarts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .base import Agent
from .checks import fraction, positive, positive_int
from .kernel import BoolArray, FloatArray, IntArray, rule
from .knowledge import Knowledge

__all__ = ["Rexp3"]

HEADROOM = 300.0  # weights reach at most e^300 times the reference before all of them are rescaled


class Exp3State(NamedTuple):
    """Log weights since the restart, the weights relative to e^reference, and the round's probabilities."""

    log_weights: FloatArray  # (K,)
    weights: FloatArray  # (K,) exp(log_weights − reference)
    reference: FloatArray  # (1,)
    probabilities: FloatArray  # (K,) of the last act
    clock: IntArray  # (1,) rounds since the restart
    gamma: float
    batch: int


def act(state: Exp3State, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm from p_i = (1 − γ) w_i/Σw + γ/K; start over when the batch is full."""
    k = state.weights.size
    if state.clock[0] == state.batch:
        state.log_weights[:] = 0.0
        state.weights[:] = 1.0
        state.reference[0] = 0.0
        state.clock[0] = 0
    total = 0.0
    for i in range(k):
        total += state.weights[i]
    u = rng.random()
    arm, cumulated = -1, 0.0
    for i in range(k):
        state.probabilities[i] = (1.0 - state.gamma) * (state.weights[i] / total) + state.gamma / k
        cumulated += state.probabilities[i]
        if arm < 0 and u < cumulated:
            arm = i
    return arm if arm >= 0 else k - 1


def observe(state: Exp3State, arm: int, reward: float) -> None:
    """w_a ← w_a exp(γ (x/p_a)/K) for the arm played."""
    k = state.weights.size
    state.log_weights[arm] += state.gamma * (reward / state.probabilities[arm]) / k
    if state.log_weights[arm] > state.reference[0] + HEADROOM:
        state.reference[0] = state.log_weights[arm]
        for i in range(k):
            state.weights[i] = math.exp(state.log_weights[i] - state.reference[0])
    else:
        state.weights[arm] = math.exp(state.log_weights[arm] - state.reference[0])
    state.clock[0] += 1


rule(Exp3State, act, observe)


@dataclass(eq=False)
class Rexp3(Agent):
    """Rexp3: Exp3, restarted every Δ rounds, for means with a known variation budget.

    Source:
        Besbes, Gur, Zeevi, "Stochastic Multi-Armed-Bandit Problem with Non-stationary Rewards", NeurIPS 2014.
    Rule:
        p_i = (1 − γ) w_i/Σw + γ/K; draw an arm a; w_a ← w_a exp(γ (x/p_a)/K); all w = 1 at each restart.
    Tuning:
        Δ = ⌈(K ln K)^(1/3) (T/V_T)^(2/3)⌉ (at most T), γ = min{1, √(K ln K / ((e − 1) Δ))}.
    Knowledge:
        T, V_T.
    Deviations:
        None; weights are kept as logarithms, so that none overflows.

    Attributes:
        batch: Δ, the number of rounds between restarts.
        gamma: γ, the share of uniform exploration.
    """

    name: ClassVar[str] = "rexp3"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False

    batch: int = field(kw_only=True)
    gamma: float = field(kw_only=True)

    def _check(self) -> None:
        self.batch = positive_int("batch", self.batch)
        positive("gamma", self.gamma)
        self.gamma = fraction("gamma", self.gamma)

    def _new_state(self) -> Exp3State:
        k = self.n_arms
        return Exp3State(
            log_weights=np.zeros(k),
            weights=np.ones(k),
            reference=np.zeros(1),
            probabilities=np.full(k, 1.0 / k),
            clock=np.zeros(1, np.int64),
            gamma=self.gamma,
            batch=self.batch,
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """Δ from T and V_T, γ from Δ."""
        (n_arms,) = knowledge.need(cls.name, "n_arms")
        k_log_k = n_arms * math.log(n_arms)
        if "batch" in given:
            batch = positive_int("batch", given["batch"])
        else:
            horizon, variation = knowledge.need(cls.name, "horizon", "variation")
            longest = math.ceil(k_log_k ** (1 / 3) * (horizon / variation) ** (2 / 3)) if variation > 0 else horizon
            batch = min(horizon, longest)
        return {"batch": batch, "gamma": min(1.0, math.sqrt(k_log_k / ((math.e - 1) * batch)))}
