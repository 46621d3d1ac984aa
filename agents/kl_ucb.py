"""Kullback-Leibler upper confidence bounds: on everything seen (KL-UCB) and on a sliding window (SW-KL-UCB)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numba.extending import register_jitable

from .base import Agent
from .checks import positive, positive_int
from .kernel import BoolArray, FloatArray, IntArray, rule
from .kl import log_odds_bound
from .knowledge import Knowledge
from .window import Window, new_window, slide, unseen

__all__ = ["KLUCB", "SWKLUCB"]

ABRUPT_SIGMA = 1e-3  # stands in for σ where the means jump and no σ is meant


class KLState(NamedTuple):
    """The window, per arm N times its negentropy, and the arm of the round before."""

    window: Window
    information: FloatArray  # (K,) N (μ̂ ln μ̂ + (1 − μ̂) ln(1 − μ̂)); NaN until it is needed
    last: IntArray  # (1,) where the search for the largest index begins
    odds: FloatArray  # (1,) the log odds of its index
    c: float


@register_jitable(forceinline=True)
def information(known: FloatArray, pulls: IntArray, sums: FloatArray, i: int) -> float:
    """N_i (μ̂_i ln μ̂_i + (1 − μ̂_i) ln(1 − μ̂_i)), computed once after each change of the arm."""
    if math.isnan(known[i]):
        n, s = pulls[i], sums[i]
        known[i] = 0.0
        if s > 0.0:
            known[i] += s * math.log(s / n)
        if s < n:
            known[i] += (n - s) * math.log((n - s) / n)
    return known[i]  # type: ignore[no-any-return]


@register_jitable(forceinline=True)
def exploration(t: int, window: int, c: float) -> float:
    """Ln t + c max(0, ln ln t), with min(t, τ) for t where there is a window."""
    if 0 < window < t:
        t = window
    log_t = math.log(t)
    return log_t + c * math.log(log_t) if log_t > 1.0 else log_t


@register_jitable(forceinline=True)
def index(odds: FloatArray, n: int, s: float, information: float, budget: float) -> tuple[float, float, float]:
    """The index q = max{q : N d(μ̂, q) ≤ budget}, ln q and ln(1 − q), for an arm with μ̂ = S/N < 1."""
    odds[0] = z = log_odds_bound(s / n, information / n, budget / n, odds[0])
    tail = math.exp(-abs(z))
    log_1mq = -math.log(1.0 + tail) - (z if z > 0.0 else 0.0)
    return (1.0 if z > 0.0 else tail) / (1.0 + tail), log_1mq + z, log_1mq


def act(state: KLState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of max{q : N_i d(μ̂_i, q) ≤ ln t + c ln ln t}, inverting d for few arms.

    With q the largest index so far, arm i has a larger one just if N_i d(μ̂_i, q) is below its budget or μ̂_i ≥ q: a
    comparison, with the logarithms of q and 1 − q taken once.
    """
    pulls, sums, known = state.window.pulls, state.window.sums, state.information
    arm = unseen(pulls, mask)
    if arm >= 0:
        return arm
    for i in range(mask.size):
        if mask[i] and sums[i] >= pulls[i]:
            return i  # an index of 1, which none exceeds
    budget = exploration(state.window.clock[0] + 1, state.window.arms.size, state.c)
    if budget <= 0.0:
        return _highest_mean(pulls, sums, mask)
    first = state.last[0] if mask[state.last[0]] else _highest_mean(pulls, sums, mask)
    arm = first
    q, log_q, log_1mq = index(state.odds, pulls[arm], sums[arm], information(known, pulls, sums, arm), budget)
    for i in range(mask.size):
        if i == first or not mask[i]:
            continue
        n, s = pulls[i], sums[i]
        if n == pulls[arm] and s == sums[arm]:
            arm = min(i, arm)  # a tie, which rounding must not decide
        elif s >= n * q or information(known, pulls, sums, i) - s * log_q - (n - s) * log_1mq < budget:
            arm = i
            q, log_q, log_1mq = index(state.odds, n, s, information(known, pulls, sums, i), budget)
    state.last[0] = arm
    return arm


@register_jitable(forceinline=True)
def _highest_mean(pulls: IntArray, sums: FloatArray, mask: BoolArray) -> int:
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        if mask[i] and sums[i] / pulls[i] > highest:
            arm, highest = i, sums[i] / pulls[i]
    return arm


def observe(state: KLState, arm: int, reward: float) -> None:
    """Update S and N in the window."""
    gone = slide(state.window, arm, reward)
    state.information[arm] = math.nan
    if gone >= 0:
        state.information[gone] = math.nan


rule(KLState, act, observe)


@dataclass(eq=False)
class KLUCB(Agent):
    """KL-UCB: the tightest upper confidence bounds for Bernoulli rewards, for worlds that stand still.

    Source:
        Garivier, Cappé, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond", COLT 2011.
    Rule:
        Play argmax of max{q : N_i d(μ̂_i, q) ≤ ln t + c ln ln t}, d the Bernoulli divergence; every arm once first.
    Tuning:
        c = 3, as the source's theorem asks.
    Knowledge:
        None.
    Deviations:
        ln ln t counts as 0 where it is negative (t < 3).

    Attributes:
        c: the weight of ln ln t.
    """

    name: ClassVar[str] = "kl-ucb"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    c: float = field(default=3.0, kw_only=True)

    def _check(self) -> None:
        self.c = positive("c", self.c, allow_zero=True)

    def _new_state(self) -> KLState:
        return _new_kl_state(self.n_arms, None, self.c)


@dataclass(eq=False)
class SWKLUCB(KLUCB):
    """SW-KL-UCB: KL-UCB on the last τ rounds.

    Source:
        Combes, Proutière, "Unimodal Bandits: Regret Lower Bounds and Optimal Algorithms", ICML 2014 (smoothly changing
        environments).
    Rule:
        KL-UCB with means and counts in the window and min(t, τ) for t; an arm unseen in the window comes first.
    Tuning:
        τ = σ^(−4/5), rounded up (1585 for σ = 1e-4, 252 for σ = 1e-3), at most T; c = 3.
    Knowledge:
        σ (and T).
    Deviations:
        Where σ is unknown, or so large that 2σK ≥ 1 (the means jump, and no window of K rounds can satisfy the
        smoothness assumption Δ' > 2στ), σ = 0.001 is used. The paper gives no σ for its two abrupt worlds.

    Attributes:
        window: τ, the number of rounds remembered.
        c: the weight of ln ln t.
    """

    name: ClassVar[str] = "sw-kl-ucb"

    window: int = field(kw_only=True)

    def _check(self) -> None:
        super()._check()
        self.window = positive_int("window", self.window, hint="the paper takes sigma^(-4/5), 252 for sigma = 0.001")

    def _new_state(self) -> KLState:
        return _new_kl_state(self.n_arms, self.window, self.c)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = σ^(−4/5)."""
        if "window" in given:
            return {}
        sigma, n_arms = knowledge.lipschitz, knowledge.n_arms or 1
        if sigma is None or 2 * sigma * n_arms >= 1:
            sigma = ABRUPT_SIGMA
        if sigma == 0:
            return {"window": knowledge.need(cls.name, "horizon")[0]}
        window = math.ceil(sigma**-0.8 * (1 - 1e-12))  # rounding must not lift a whole number: 10 000 for σ = 1e-5
        return {"window": min(window, knowledge.horizon or window)}


def _new_kl_state(n_arms: int, window: int | None, c: float) -> KLState:
    return KLState(new_window(n_arms, window), np.full(n_arms, np.nan), np.zeros(1, np.int64), np.zeros(1), c)
