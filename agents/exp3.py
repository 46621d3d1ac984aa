"""Exponential weights: Exp3, Rexp3 with scheduled restarts, Exp3.S, whose weights share, and Exp3-IX."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numba.extending import register_jitable

from .core.arguments import fraction, positive, positive_int
from .core.kernel import BoolArray, FloatArray, IntArray, inlined, rule
from .core.knowledge import Knowledge, long_phases
from .core.probabilities import noted
from .core.protocol import Agent

HEADROOM = 300.0  # weights reach at most e^300 times the reference before all of them are rescaled


class Weights(NamedTuple):
    """The weights of K arms: their logarithms, and their values divided by e^reference."""

    logs: FloatArray  # (K,)
    plain: FloatArray  # (K,) exp(logs − reference)
    reference: FloatArray  # (1,)


def new_weights(n_arms: int) -> Weights:
    """Weights of 1 for all arms."""
    return Weights(np.zeros(n_arms), np.ones(n_arms), np.zeros(1))


@register_jitable(inline="always")
def reset_weights(weights: Weights) -> None:
    """Set all weights back to 1."""
    weights.logs[:] = 0.0
    weights.plain[:] = 1.0
    weights.reference[0] = 0.0


@register_jitable(inline="always")
def multiply(weights: Weights, arm: int, log_factor: float) -> None:
    """w_arm ← w_arm · e^log_factor."""
    weights.logs[arm] += log_factor
    if weights.logs[arm] > weights.reference[0] + HEADROOM:
        weights.reference[0] = weights.logs[arm]
        for i in range(weights.logs.size):
            weights.plain[i] = math.exp(weights.logs[i] - weights.reference[0])
    else:
        weights.plain[arm] = math.exp(weights.logs[arm] - weights.reference[0])


@inlined
def draw_arm(plain: FloatArray, probabilities: FloatArray, gamma: float, rng: np.random.Generator) -> int:
    """Draw an arm from p_i = (1 − γ) w_i/Σw + γ/K, and note the probabilities.

    Args:
        plain: (K,) the weights, up to a common factor.
        probabilities: (K,) where the p_i are written.
        gamma: γ, the share of uniform exploration.
        rng: the generator that gives one uniform.
    """
    k = plain.size
    total = 0.0
    for i in range(k):
        total += plain[i]
    u = rng.random()
    arm, cumulated = -1, 0.0
    for i in range(k):
        probabilities[i] = (1.0 - gamma) * (plain[i] / total) + gamma / k
        cumulated += probabilities[i]
        if arm < 0 and u < cumulated:
            arm = i
    return arm if arm >= 0 else k - 1


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


def act_exp3(state: Exp3State, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm from p_i = (1 − γ) w_i/Σw + γ/K; start over when the batch is full, or more (late rewards)."""
    if NEVER < state.batch <= state.since_restart[0]:
        reset_weights(state.weights)
        state.since_restart[0] = 0
    return draw_arm(state.weights.plain, state.probabilities, state.gamma, rng)


def observe_exp3(state: Exp3State, arm: int, reward: float) -> None:
    """w_a ← w_a exp(γ (x/p_a)/K) for the arm played."""
    multiply(state.weights, arm, state.gamma * (reward / state.probabilities[arm]) / state.probabilities.size)
    state.since_restart[0] += 1


def forget_exp3(state: Exp3State, arm: int) -> None:
    """Start over with all arms: the weights compare arms with each other, so that one arm cannot restart alone."""
    reset_weights(state.weights)
    state.probabilities[:] = 1.0 / state.probabilities.size
    state.since_restart[0] = 0


rule(Exp3State, act_exp3, observe_exp3, forget_exp3, probabilities=noted)


@dataclass(eq=False)
class Exp3(Agent):
    """Exp3: exponential weights, to be as good as the best single arm, however rewards come about.

    Source:
        Auer, Cesa-Bianchi, Freund, Schapire, "The Nonstochastic Multiarmed Bandit Problem", SIAM Journal on Computing
        2002.
    Rule:
        p_i = (1 − γ) w_i/Σw + γ/K; draw an arm a; w_a ← w_a exp(γ (x/p_a)/K). Rexp3 without restarts.
    Tuning:
        γ = min{1, √(K ln K / ((e − 1) T))}, the source's with T for its bound on the reward of the best arm.
    Knowledge:
        T.
    Deviations:
        None; weights are kept as logarithms, so that none overflows.

    >>> agent = Exp3(2, gamma=0.1)
    >>> agent.reset(seed=1)
    >>> for _ in range(300):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.state.probabilities.round(2)  # γ/2 is left for arm 1
    array([0.05, 0.95])

    Attributes:
        gamma: γ, the share of uniform exploration.
    """

    name: ClassVar[str] = "exp3"
    probability: ClassVar[str] = "exact"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False

    gamma: float = field(kw_only=True)

    def _check(self) -> None:
        self.gamma = fraction("gamma", self.gamma, allow_zero=False)

    def _new_state(self) -> Exp3State:
        return new_exp3_state(self.n_arms, self.gamma)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = min{1, √(K ln K / ((e − 1) T))}."""
        if "gamma" in given:
            return {}
        horizon, n_arms = knowledge.need(cls.name, "horizon", "n_arms")
        return {"gamma": min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * horizon)))}


@dataclass(eq=False)
class Rexp3(Exp3):
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
    """

    name: ClassVar[str] = "rexp3"
    assumes: ClassVar[Mapping[str, Any]] = {"variation": 1.0}

    batch: int = field(kw_only=True)

    def _check(self) -> None:
        self.batch = positive_int("batch", self.batch)
        super()._check()

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


LARGE = 1e100  # when the weights add up to more, all are divided by their sum


class Exp3SState(NamedTuple):
    """The weights, up to a common factor, and the probabilities of the round."""

    weights: FloatArray  # (K,)
    probabilities: FloatArray  # (K,) of the last act
    gamma: float
    alpha: float


def act_exp3s(state: Exp3SState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm from p_i = (1 − γ) w_i/Σw + γ/K."""
    return draw_arm(state.weights, state.probabilities, state.gamma, rng)


def observe_exp3s(state: Exp3SState, arm: int, reward: float) -> None:
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


def forget_exp3s(state: Exp3SState, arm: int) -> None:
    """Start over with all arms: the weights compare arms with each other, so that one arm cannot restart alone."""
    state.weights[:] = 1.0
    state.probabilities[:] = 1.0 / state.probabilities.size


rule(Exp3SState, act_exp3s, observe_exp3s, forget_exp3s, probabilities=noted)


@dataclass(eq=False)
class Exp3S(Exp3):
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
        alpha: α, how much of the sum of the weights is shared out in every round.
    """

    name: ClassVar[str] = "exp3s"

    alpha: float = field(kw_only=True)

    def _check(self) -> None:
        super()._check()
        hint = "the source takes 1/T; for weights that share nothing use exp3"
        self.alpha = fraction("alpha", self.alpha, allow_zero=False, hint=hint)

    def _new_state(self) -> Exp3SState:  # type: ignore[override]
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


class Exp3IXState(NamedTuple):
    """The estimated losses, and the probabilities of the round."""

    losses: FloatArray  # (K,) L̃_i, the sum of the estimates
    probabilities: FloatArray  # (K,) of the last act
    rounds: IntArray  # (1,) observed
    eta: float  # 0 for √(ln K/(K t))
    gamma: float  # 0 for η/2


@inlined
def rate_of_round(state: Exp3IXState) -> float:
    """η_t, for the coming round."""
    k = state.losses.size
    return state.eta if state.eta > 0.0 else math.sqrt(math.log(k) / (k * (state.rounds[0] + 1.0)))


def act_exp3_ix(state: Exp3IXState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm from p_i ∝ exp(−η_t L̃_i)."""
    losses, probabilities, eta, least = state.losses, state.probabilities, rate_of_round(state), math.inf
    for i in range(losses.size):
        least = min(least, losses[i])
    for i in range(losses.size):
        probabilities[i] = math.exp(eta * (least - losses[i]))
    return draw_arm(probabilities, probabilities, 0.0, rng)


def observe_exp3_ix(state: Exp3IXState, arm: int, reward: float) -> None:
    """L̃_a ← L̃_a + (1 − x)/(p_a + γ_t) for the arm played."""
    gamma = state.gamma if state.gamma > 0.0 else 0.5 * rate_of_round(state)
    state.losses[arm] += (1.0 - reward) / (state.probabilities[arm] + gamma)
    state.rounds[0] += 1


def forget_exp3_ix(state: Exp3IXState, arm: int) -> None:
    """Start over with all arms: the losses are compared with each other, so that one arm cannot restart alone."""
    state.losses[:] = 0.0
    state.probabilities[:] = 1.0 / state.probabilities.size
    state.rounds[0] = 0


rule(Exp3IXState, act_exp3_ix, observe_exp3_ix, forget_exp3_ix, probabilities=noted)


@dataclass(eq=False)
class Exp3IX(Agent):
    """Exp3-IX: exponential weights whose estimates, a little too low, take the place of exploration at random.

    Source:
        Neu, "Explore no more: Improved high-probability regret bounds for non-stochastic bandits", NeurIPS 2015 (arXiv
        1506.03271), Algorithm 1.
    Rule:
        p_i ∝ exp(−η L̃_i); draw an arm a; L̃_a ← L̃_a + (1 − x)/(p_a + γ), the loss 1 − x divided by more than its
        probability.
    Tuning:
        η = 2γ = √(2 ln K/(KT)); where T is unknown, or with ``eta=0``, η_t = 2γ_t = √(ln K/(K t)) in round t. Both
        are the source's.
    Knowledge:
        T, if it is given.
    Deviations:
        None known; the source's text was not at hand, its formulas are those that public code gives as its own. With η
        that falls, the whole of L̃ is weighed by the η of the round.

    >>> agent = Exp3IX(2, eta=0.1)
    >>> agent.reset(seed=1)
    >>> for _ in range(300):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.state.probabilities.round(2)  # nothing is left for arm 1
    array([0., 1.])

    Attributes:
        eta: η, the rate of learning; 0 for one that falls, whatever T is.
        gamma: γ, by how much probabilities are taken to be higher than they are; None for η/2.
    """

    name: ClassVar[str] = "exp3-ix"
    probability: ClassVar[str] = "exact"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False

    eta: float = field(default=0.0, kw_only=True)
    gamma: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        hint = "0 stands for the source's formula without T"
        self.eta = positive("eta", self.eta, allow_zero=True, hint=hint)
        self.gamma = None if self.gamma is None else positive("gamma", self.gamma, hint="None stands for η/2")

    def _new_state(self) -> Exp3IXState:
        k = self.n_arms
        return Exp3IXState(np.zeros(k), np.full(k, 1.0 / k), np.zeros(1, np.int64), self.eta, self.gamma or 0.0)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """η = √(2 ln K/(KT)) where T is known."""
        (n_arms,) = knowledge.need(cls.name, "n_arms")
        horizon = knowledge.horizon
        return {} if horizon is None else {"eta": math.sqrt(2 * math.log(n_arms) / (n_arms * horizon))}
