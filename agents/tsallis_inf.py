"""Tsallis-INF: nearly the least regret possible, whether rewards are drawn or chosen by an adversary."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import choice, positive
from .core.kernel import BoolArray, FloatArray, IntArray, rule
from .core.probabilities import noted
from .core.protocol import Agent

RATES = {"rv": 4.0, "iw": 2.0}  # estimator: c of η_t = c/√t
NEWTON_STEPS = 100  # at most; two or three are usual
FAINT = 1e-100  # a probability with which no arm is drawn


class TsallisState(NamedTuple):
    """The estimated losses, the probabilities of the round, and where the search for the next ones begins."""

    losses: FloatArray  # (K,) L̂_i, the sum of the estimates
    probabilities: FloatArray  # (K,) w_i of the last act
    root: FloatArray  # (1,) y, one over the root of the largest probability
    rounds: IntArray  # (1,) observed
    rate: float
    reduced: bool  # whether the estimates are those with reduced variance


def act_tsallis_inf(state: TsallisState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm from w_i = 4 (η_t (L̂_i − X))^(−2), with the X for which they add up to 1.

    In y = η_t (min L̂ − X)/2, which lies between 1 and √K, w_i = (y + d_i)^(−2) with d_i = η_t (L̂_i − min L̂)/2. Their
    sum falls and is convex: Newton's method comes to the root from below, after at most one step down to it.
    """
    losses, weights, least, y = state.losses, state.probabilities, math.inf, state.root[0]
    half_eta = 0.5 * state.rate / math.sqrt(state.rounds[0] + 1.0)
    for i in range(losses.size):
        least = min(least, losses[i])
    for _ in range(NEWTON_STEPS):
        total, slope = 0.0, 0.0
        for i in range(losses.size):
            root = 1.0 / (y + half_eta * (losses[i] - least))
            total += root * root
            slope += root * root * root
        step = (total - 1.0) / (2.0 * slope)
        y = max(1.0, y + step)
        if abs(step) < 1e-8 * y:  # the next step would be about its square
            break
    state.root[0] = y
    u, arm, cumulated = rng.random(), -1, 0.0
    for i in range(losses.size):
        root = 1.0 / (y + half_eta * (losses[i] - least))
        weights[i] = root * root
        cumulated += weights[i]
        if arm < 0 and u < cumulated:
            arm = i
    return arm if arm >= 0 else losses.size - 1


def observe_tsallis_inf(state: TsallisState, arm: int, reward: float) -> None:
    """L̂_i ← L̂_i + B_i + 1{i = a}(1 − x − B_a)/w_a with B_i = ½ where w_i ≥ η_t², else 0; IW: with B = 0."""
    losses, weights = state.losses, state.probabilities
    eta = state.rate / math.sqrt(state.rounds[0] + 1.0)
    for i in range(losses.size):
        b = 0.5 if state.reduced and weights[i] >= eta * eta else 0.0
        losses[i] += b
        if i == arm:
            losses[i] += (1.0 - reward - b) / max(weights[i], FAINT)
    state.rounds[0] += 1


def forget_tsallis_inf(state: TsallisState, arm: int) -> None:
    """Start over with all arms: the losses are compared with each other, so that one arm cannot restart alone."""
    state.losses[:] = 0.0
    state.probabilities[:] = 1.0 / state.probabilities.size
    state.root[0] = math.sqrt(state.probabilities.size)
    state.rounds[0] = 0


rule(TsallisState, act_tsallis_inf, observe_tsallis_inf, forget_tsallis_inf, probabilities=noted)


@dataclass(eq=False)
class TsallisINF(Agent):
    """Tsallis-INF: nearly as good as the best single arm, whether rewards are drawn or chosen by an adversary.

    Source:
        Zimmert, Seldin, "Tsallis-INF: An Optimal Algorithm for Stochastic and Adversarial Bandits", JMLR 2021 (arXiv
        1807.07623), Algorithm 1, with α = ½.
    Rule:
        w_i = 4 (η_t (L̂_i − X))^(−2), with the X for which they add up to 1; draw an arm a from w. Of the losses
        ℓ = 1 − x, L̂_i grows by B_i + 1{i = a}(ℓ − B_i)/w_i with B_i = ½ where w_i ≥ η_t², else 0 (reduced variance); or
        with B = 0 (importance weights).
    Tuning:
        η_t = 4/√t with reduced variance, 2/√t with importance weights, the source's Theorem 1; nothing to know, so
        informed and blind are the same.
    Knowledge:
        None.
    Deviations:
        None in law. Newton's iteration for X begins where that of the last round ended, as in the source, but on the
        scale of 1/√w, and not beyond 1, so that it cannot fail. The source's text was not at hand; its definitions
        were read in a public formalisation of its theorems.

    >>> agent = TsallisINF(2)
    >>> agent.reset(seed=1)
    >>> for _ in range(300):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.state.probabilities.round(3)
    array([0.013, 0.987])

    Attributes:
        estimator: "rv", of losses with reduced variance; or "iw", by importance weights.
        rate: c of η_t = c/√t; None for the source's, 4 with "rv" and 2 with "iw".
    """

    name: ClassVar[str] = "tsallis-inf"
    probability: ClassVar[str] = "exact"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False

    estimator: str = field(default="rv", kw_only=True)
    rate: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        own = RATES[choice("estimator", self.estimator, RATES)]
        self.rate = own if self.rate is None else positive("rate", self.rate, hint=f"the source takes {own:g}")

    def _new_state(self) -> TsallisState:
        k, rate = self.n_arms, self.rate or RATES[self.estimator]
        uniform, root = np.full(k, 1.0 / k), np.full(1, math.sqrt(k))
        return TsallisState(np.zeros(k), uniform, root, np.zeros(1, np.int64), rate, self.estimator == "rv")
