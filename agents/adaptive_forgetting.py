"""Adaptive forgetting: each arm learns by gradient descent how fast to forget; with UCB and with Thompson sampling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import check_subgaussian, fraction, positive
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, forgotten, helper, inlined, rule
from .core.knowledge import Knowledge
from .core.probabilities import largest_beta_law
from .core.protocol import Agent
from .parts.memories import ROUNDS, SEEN
from .parts.races import unseen

STEP_HINT = "0.001 is usual; the larger, the faster an arm learns how fast to forget"
LEAST_HINT = "0.6 is that of the authors' package"


class Adaptive(NamedTuple):
    """Each arm's pulls w and sum m of rewards, faded by a factor λ of the arm's own, and their derivatives by λ."""

    pulls: FloatArray  # (K,) w
    sums: FloatArray  # (K,) m
    squares: FloatArray  # (K,) k, the sum of the squares of the weights whose sum is w
    pull_slopes: FloatArray  # (K,) dw/dλ
    sum_slopes: FloatArray  # (K,) dm/dλ
    factors: FloatArray  # (K,) λ
    clock: IntArray  # (2 + K,) as that of a window: ROUNDS observed so far, and from SEEN on when each arm was last
    step: float  # η
    least: float  # the smallest λ


def new_adaptive(n_arms: int, step: float, least: float) -> Adaptive:
    """A memory that has seen nothing and forgets nothing yet."""
    pulls, sums, squares, pull_slopes, sum_slopes = np.zeros((5, n_arms))
    clock = np.zeros(SEEN + n_arms, np.int64)
    return Adaptive(pulls, sums, squares, pull_slopes, sum_slopes, np.ones(n_arms), clock, step, least)


@inlined
def adapt(memory: Adaptive, arm: int, reward: float) -> None:
    """Fade what the arm showed by λ, add the reward, then move λ down the gradient of (x̄ − reward)².

    x̄ = m/w is what the arm showed before this round, and dx̄/dλ = (dm/dλ − x̄ dw/dλ)/w.
    """
    pulls, sums, clock = memory.pulls, memory.sums, memory.clock
    factor, w, m = memory.factors[arm], pulls[arm], sums[arm]
    if w > 0.0:
        error = m / w - reward
        slope = (memory.sum_slopes[arm] - m / w * memory.pull_slopes[arm]) / w
        memory.factors[arm] = max(memory.least, min(1.0, factor - memory.step * 2.0 * error * slope))
    memory.sum_slopes[arm] = factor * memory.sum_slopes[arm] + m
    memory.pull_slopes[arm] = factor * memory.pull_slopes[arm] + w
    sums[arm] = factor * m + reward
    pulls[arm] = factor * w + 1.0
    memory.squares[arm] = factor * factor * memory.squares[arm] + 1.0
    clock[ROUNDS] += 1
    clock[SEEN + arm] = clock[ROUNDS]


@helper
def forget_adaptive(memory: Adaptive, arm: int) -> None:
    """Drop what was seen of one arm, and its λ, but not when; with ``ALL``, of every arm, and set the clock to 0."""
    for i in forgotten(arm, memory.pulls.size):
        memory.pulls[i] = memory.sums[i] = memory.squares[i] = 0.0
        memory.pull_slopes[i] = memory.sum_slopes[i] = 0.0
        memory.factors[i] = 1.0
    if arm == ALL:
        memory.clock[:] = 0


class AFFUCBState(NamedTuple):
    """The memory, and ln(1/δ)/2."""

    memory: Adaptive
    exploration: float


class AFFTSState(NamedTuple):
    """The memory, and a, the prior being Beta(a, a)."""

    memory: Adaptive
    prior: float


def act_aff_ucb(state: AFFUCBState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of m_i/w_i + √(ln(1/δ)/2 · k_i)/w_i; an unseen arm comes first."""
    pulls, sums, squares = state.memory.pulls, state.memory.sums, state.memory.squares
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        if mask[i]:
            w = max(pulls[i], 1.0)  # the index of an unseen arm does not matter: that arm is forced
            index = (sums[i] + math.sqrt(state.exploration * squares[i])) / w
            if index > highest:
                arm, highest = i, index
    forced = unseen(pulls, state.memory.clock, mask)
    return forced if forced >= 0 else arm


def act_aff_ts(state: AFFTSState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ Beta(a + m_i, a + w_i − m_i); play argmax θ_i."""
    pulls, sums, prior = state.memory.pulls, state.memory.sums, state.prior
    arm, largest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            theta = rng.beta(prior + sums[i], prior + pulls[i] - sums[i])
            if theta > largest:
                arm, largest = i, theta
    return arm


def observe_aff(state: AFFUCBState | AFFTSState, arm: int, reward: float) -> None:
    """Fade and add what the arm showed, and adapt its λ; other arms stay as they are."""
    adapt(state.memory, arm, reward)


def forget_aff(state: AFFUCBState | AFFTSState, arm: int) -> None:
    """Drop what was learnt about one arm, or with ``ALL`` about every arm; λ begins at 1 again."""
    forget_adaptive(state.memory, arm)


def expect_aff_ucb(state: AFFUCBState, arm: int, pulls: int) -> None:
    """Let w, m and k grow as they would if the arm showed its mean and nothing faded."""
    memory = state.memory
    before = memory.pulls[arm]
    if before > 0.0:
        memory.sums[arm] += pulls * (memory.sums[arm] / before)
    memory.pulls[arm] = before + pulls
    memory.squares[arm] += pulls


def probabilities_aff_ts(state: AFFTSState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest)."""
    pulls, sums = state.memory.pulls, state.memory.sums
    return largest_beta_law(state.prior + sums, state.prior + pulls - sums, mask)


rule(AFFUCBState, act_aff_ucb, observe_aff, forget_aff, expect_aff_ucb)
rule(AFFTSState, act_aff_ts, observe_aff, forget_aff, probabilities=probabilities_aff_ts)


@dataclass(eq=False)
class AFFUCB(Agent):
    """AFF-UCB: upper confidence bounds on means that forget, as fast as predicts the next reward best.

    Source:
        Lu, Adams, Kantas, "On Adaptive Estimation for Dynamic Bernoulli Bandits", Foundations of Data Science 2019,
        arXiv 1712.03134; for the estimator also Bodenham, Adams, "Continuous monitoring for changepoints in data
        streams using adaptive estimation", Statistics and Computing 2017, and their R package ``ffstream``.
    Rule:
        After the reward x of an arm with the factor λ: w ← λw + 1, m ← λm + x, k ← λ²k + 1, and then
        λ ← λ − η d(x̄ − x)²/dλ, with x̄ = m/w before the round and its derivative by the recursions of dw/dλ and dm/dλ;
        λ begins at 1 and stays in [λ_min, 1]. Play argmax of m_i/w_i + B√(k_i ln(1/δ)/2)/w_i, Hoeffding's bound at the
        level δ for the weighted mean of rewards in an interval of length B; every arm is played once first.
    Tuning:
        η = 0.001/B², λ_min = 0.6, δ = 0.05. B is 1 for rewards in [0, 1] and else twice their subgaussian scale (ours).
    Knowledge:
        The subgaussian scale of the rewards, ½ if it is not given.
    Deviations:
        Of the source only the beginning could be read. The recursions and λ_min are those of the authors' package; the
        bound, δ and η could not be confirmed. What an arm showed fades when the arm is played, not while it is not. The
        source may let it fade then too, as code by others does: by λ in every round that was worse on most worlds tried
        here, with Thompson sampling too.

    >>> agent = AFFUCB(2, step=0.1)
    >>> for arm, reward in [(0, 1.0), (1, 0.0), (0, 1.0), (0, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.factors  # both rewards of arm 1 were the same: how they are weighted made no difference
    array([1., 1.])
    >>> agent.observe(0, 0.0)  # it predicted 2/3; with λ < 1 it would have been less
    >>> agent.state.memory.factors.round(4)
    array([0.9556, 1.    ])

    Attributes:
        step: η, the step of the gradient descent.
        least: λ_min, the smallest factor by which what an arm showed can fade with its next pull.
        delta: δ, the level of the confidence bound.
        subgaussian: B/2, the scale of the rewards; the step is divided by B², so that it means the same on every scale.
    """

    name: ClassVar[str] = "aff-ucb"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    step: float = field(default=0.001, kw_only=True)
    least: float = field(default=0.6, kw_only=True)
    delta: float = field(default=0.05, kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.step = positive("step", self.step, allow_zero=True, hint=STEP_HINT)
        self.least = fraction("least", self.least, hint=LEAST_HINT)
        self.delta = fraction("delta", self.delta, allow_zero=False)
        self.subgaussian = check_subgaussian(self.subgaussian)

    def _new_state(self) -> AFFUCBState:
        square = (2 * self.subgaussian) ** 2
        return AFFUCBState(
            new_adaptive(self.n_arms, self.step / square, self.least), -0.5 * math.log(self.delta) * square
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The scale of the rewards, from the knowledge."""
        return {"subgaussian": knowledge.scale}


@dataclass(eq=False)
class AFFTS(Agent):
    """AFF-TS: Thompson sampling with counts that forget, as fast as predicts the next reward best.

    Source:
        Lu, Adams, Kantas, "On Adaptive Estimation for Dynamic Bernoulli Bandits", Foundations of Data Science 2019,
        arXiv 1712.03134, and the sources of ``aff-ucb``.
    Rule:
        θ_i ~ Beta(a + m_i, a + w_i − m_i) with the faded successes m_i and pulls w_i of ``aff-ucb``; play argmax θ_i.
    Tuning:
        η = 0.001, λ_min = 0.6, a = 2; nothing to know, so informed and blind are the same.
    Knowledge:
        None.
    Deviations:
        Those of ``aff-ucb``, the bound aside. The prior Beta(2, 2) and η are those of code by others, and could not be
        confirmed from the source.

    >>> agent = AFFTS(2, step=0.1)
    >>> for arm, reward in [(0, 1.0), (0, 1.0), (0, 0.0), (0, 0.0), (0, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.sums.round(2), agent.state.memory.pulls.round(2)  # not 2 of 5: the successes are fading
    (array([1.91, 0.  ]), array([4.82, 0.  ]))

    Attributes:
        step: η, the step of the gradient descent.
        least: λ_min, the smallest factor by which what an arm showed can fade with its next pull.
        prior: a, both parameters of the Beta prior.
    """

    name: ClassVar[str] = "aff-ts"
    probability: ClassVar[str] = "quadrature"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    step: float = field(default=0.001, kw_only=True)
    least: float = field(default=0.6, kw_only=True)
    prior: float = field(default=2.0, kw_only=True)

    def _check(self) -> None:
        self.step = positive("step", self.step, allow_zero=True, hint=STEP_HINT)
        self.least = fraction("least", self.least, hint=LEAST_HINT)
        self.prior = positive("prior", self.prior, least=1e-3, hint="1 is the uniform prior")

    def _new_state(self) -> AFFTSState:
        return AFFTSState(new_adaptive(self.n_arms, self.step, self.least), self.prior)
