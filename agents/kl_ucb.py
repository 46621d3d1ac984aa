"""Kullback-Leibler upper confidence bounds: KL-UCB on everything seen, and SW-KL-UCB on a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import positive, positive_int
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, forgotten, rule
from .core.knowledge import Knowledge, drift_window
from .core.protocol import Agent
from .parts.memories import Window, expect_rounds, forget_rounds, new_window, slide
from .parts.races import BY_ARM, COUNTING, elapsed, highest_mean, information, kl_budget, kl_index, own_time, unseen


class KLState(NamedTuple):
    """The window, N times the negentropy of each arm, and the arm played in the previous round."""

    window: Window
    information: FloatArray  # (K,) N (μ̂ ln μ̂ + (1 − μ̂) ln(1 − μ̂)); NaN until it is needed
    last: IntArray  # (1,) where the search for the largest index begins
    odds: FloatArray  # (1,) the log odds of its index
    c: float
    counting: int  # what t counts; see ``agents/parts/races.py``


def new_kl_state(n_arms: int, window: int | None, c: float, counting: str = "rounds") -> KLState:
    """The state before the first round, on a window of the given length, or on all rounds if it is None."""
    last, odds = np.zeros(1, np.int64), np.zeros(1)
    return KLState(new_window(n_arms, window), np.full(n_arms, np.nan), last, odds, c, COUNTING[counting])


def act(state: KLState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of max{q : N_i d(μ̂_i, q) ≤ ln t + c ln ln t}, inverting d for few arms.

    With q the largest index so far, arm i has a larger one exactly if N_i d(μ̂_i, q) is below its budget or μ̂_i ≥ q: a
    comparison, with the logarithms of q and 1 − q taken once.
    """
    pulls, sums, known = state.window.pulls, state.window.sums, state.information
    for i in range(mask.size):
        if mask[i] and (pulls[i] == 0 or sums[i] >= pulls[i]):
            arm = unseen(pulls, state.window.clock, mask)
            return arm if arm >= 0 else i  # i has an index of 1, which none exceeds
    clock = state.window.clock
    common = kl_budget(elapsed(clock, pulls, state.counting), state.window.arms.size, state.c)
    if common <= 0.0:
        return highest_mean(pulls, sums, mask)
    by_arm = state.counting == BY_ARM
    first = state.last[0] if mask[state.last[0]] else highest_mean(pulls, sums, mask)
    arm = first
    budget = kl_budget(own_time(clock, mask.size, arm), 0, state.c) if by_arm else common
    q, log_q, log_1mq = kl_index(state.odds, pulls[arm], sums[arm], information(known, pulls, sums, arm), budget)
    for i in range(mask.size):
        if i == first or not mask[i]:
            continue
        n, s = pulls[i], sums[i]
        own = kl_budget(own_time(clock, mask.size, i), 0, state.c) if by_arm else common
        if n == pulls[arm] and s == sums[arm] and own == budget:
            arm = min(i, arm)  # a tie, which rounding must not decide
        elif s >= n * q or information(known, pulls, sums, i) - s * log_q - (n - s) * log_1mq < own:
            arm, budget = i, own
            q, log_q, log_1mq = kl_index(state.odds, n, s, information(known, pulls, sums, i), budget)
    state.last[0] = arm
    return arm


def observe(state: KLState, arm: int, reward: float) -> None:
    """Update S and N in the window."""
    gone = slide(state.window, arm, reward)
    state.information[arm] = math.nan
    if gone >= 0:
        state.information[gone] = math.nan


def forget(state: KLState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    forget_rounds(state.window, arm)
    for i in forgotten(arm, state.information.size):
        state.information[i] = math.nan
    if arm == ALL:
        state.last[0] = 0
        state.odds[0] = 0.0


def expect(state: KLState, arm: int, pulls: int) -> None:
    """Let S and N grow as they would if the arm showed its mean."""
    expect_rounds(state.window, arm, pulls)
    state.information[arm] = math.nan


rule(KLState, act, observe, forget, expect)


@dataclass(eq=False)
class KLUCB(Agent):
    """KL-UCB: the tightest upper confidence bounds for Bernoulli rewards, for stationary worlds.

    Source:
        Garivier, Cappé, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond", COLT 2011.
    Rule:
        Play argmax of max{q : N_i d(μ̂_i, q) ≤ ln t + c ln ln t}, d the Bernoulli divergence; every arm is
        played once first.
    Tuning:
        c = 3, as the source's theorem asks.
    Knowledge:
        None.
    Deviations:
        ln ln t counts as 0 where it is negative (t < 3).

    >>> agent = KLUCB(2)
    >>> for arm, reward in [(0, 0.5), (1, 0.25)] * 20:
    ...     agent.observe(arm, reward)
    >>> agent.act()  # seen equally often, and better
    0

    Attributes:
        c: the weight of ln ln t.
    """

    name: ClassVar[str] = "kl-ucb"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    c: float = field(default=3.0, kw_only=True)

    def _check(self) -> None:
        self.c = positive("c", self.c, allow_zero=True)

    def _new_state(self) -> KLState:
        return new_kl_state(self.n_arms, None, self.c)


ABRUPT_SIGMA = 1e-3  # used for σ where the means jump or σ is unknown


@dataclass(eq=False)
class SWKLUCB(KLUCB):
    """SW-KL-UCB: KL-UCB on the last τ rounds.

    Source:
        Combes, Proutière, "Unimodal Bandits: Regret Lower Bounds and Optimal Algorithms", ICML 2014 (smoothly changing
        environments).
    Rule:
        KL-UCB with means and counts in the window and min(t, τ) for t; an arm unseen in the window comes first, of
        several the one unseen longest.
    Tuning:
        τ = σ^(−4/5), rounded up (1585 for σ = 1e-4, 252 for σ = 1e-3), at most T; c = 3.
    Knowledge:
        σ (and T).
    Deviations:
        Where σ is unknown, or so large that 2σK ≥ 1 (the means jump, and no window of K rounds can satisfy the
        smoothness assumption Δ' > 2στ), σ = 0.001 is used. The paper gives no σ for its two abrupt worlds.

    >>> SWKLUCB.tune(Knowledge(n_arms=10, horizon=50_000, lipschitz=1e-4), given={})
    {'window': 1585}

    Attributes:
        window: τ, the number of rounds remembered.
        c: the weight of ln ln t.
    """

    name: ClassVar[str] = "sw-kl-ucb"

    window: int = field(kw_only=True)

    def _check(self) -> None:
        super()._check()
        hint = f"the paper takes sigma^(-4/5), {drift_window(ABRUPT_SIGMA)} for sigma = {ABRUPT_SIGMA:g}"
        self.window = positive_int("window", self.window, hint=hint)

    def _new_state(self) -> KLState:
        return new_kl_state(self.n_arms, self.window, self.c)

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
        window = drift_window(sigma)
        return {"window": min(window, knowledge.horizon or window)}
