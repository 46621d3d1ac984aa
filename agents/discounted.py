"""Discounting agents: D-UCB, the faded index, and Thompson sampling with Beta (D-TS) or Gaussian (DS-TS) posteriors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import check_subgaussian, positive
from .core.kernel import BoolArray, FloatArray, forgotten, rule
from .core.knowledge import Knowledge, assumed_changes, blind_discount, long_phases
from .core.probabilities import largest_beta_law, largest_gaussian_law
from .core.protocol import Agent
from .parts.memories import (
    ROUNDS,
    Discounted,
    check_discount,
    discount,
    expect_discounted,
    forget_discounted,
    new_discounted,
)
from .parts.races import behind, expire, highest, largest_fading_beta, largest_gaussian, shelf_life, unseen


class DUCBState(NamedTuple):
    """The discounted memory, the discount factor γ and the constant ξ of the bonus, 4λ² times as large."""

    memory: Discounted
    gamma: float
    xi: float


def act_d_ucb(state: DUCBState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of μ̂_i + 2√(ξ ln n / N_i), n = Σ N_i; an unseen arm comes first."""
    pulls, sums = state.memory.pulls, state.memory.sums
    total = 0.0
    for i in range(pulls.size):
        total += pulls[i]
    exploration = 4.0 * state.xi * math.log(max(total, 1.0))
    arm, highest = -1, -math.inf
    for i in range(pulls.size):
        if mask[i]:
            weight = 1.0 / pulls[i] if pulls[i] > 0.0 else 1.0  # the index of an unseen arm does not matter
            index = sums[i] * weight + math.sqrt(exploration * weight)
            if index > highest:
                arm, highest = i, index
    forced = unseen(pulls, state.memory.clock, mask)
    return forced if forced >= 0 else arm


class FadedState(NamedTuple):
    """The discounted memory, the discount factor γ and the width c of the bonus."""

    memory: Discounted
    gamma: float
    width: float


def act_faded_index(state: FadedState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of (S_i + ½)/(N_i + 1) + c/√(N_i + 1)."""
    pulls, sums = state.memory.pulls, state.memory.sums
    arm, highest = -1, -math.inf
    for i in range(pulls.size):
        weight = pulls[i] + 1.0
        index = (sums[i] + 0.5) / weight + state.width / math.sqrt(weight)
        if index > highest and mask[i]:
            arm, highest = i, index
    return arm


def observe_index(state: DUCBState | FadedState, arm: int, reward: float) -> None:
    """Discount S and N of all arms, and add the round to those of the arm played."""
    discount(state.memory, state.gamma, arm, reward)


def forget_index(state: DUCBState | FadedState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen."""
    forget_discounted(state.memory, arm)


def expect_d_ucb(state: DUCBState, arm: int, pulls: int) -> None:
    """Let S and N grow as they would if the arm showed its mean."""
    expect_discounted(state.memory, arm, pulls)


def expect_faded_index(state: FadedState, arm: int, pulls: int) -> None:
    """Let S and N grow as they would if the arm showed its faded mean."""
    memory = state.memory
    mean = (memory.sums[arm] + 0.5) / (memory.pulls[arm] + 1.0)
    memory.sums[arm] += pulls * mean
    memory.pulls[arm] += pulls


rule(DUCBState, act_d_ucb, observe_index, forget_index, expect_d_ucb)
rule(FadedState, act_faded_index, observe_index, forget_index, expect_faded_index)


@dataclass(eq=False)
class DUCB(Agent):
    """D-UCB: upper confidence bounds on rewards that fade by a factor γ in every round.

    Source:
        Kocsis, Szepesvári, "Discounted UCB", PASCAL Challenges Workshop 2006; analysed by Garivier, Moulines, "On
        Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011.
    Rule:
        Play argmax of μ̂_i + 2B√(ξ ln n / N_i), with discounted counts N_i, their sum n, and discounted means μ̂_i; an
        arm never seen comes first. B = 2λ, with λ the subgaussian scale of the rewards: 1 for rewards in [0, 1].
    Tuning:
        ξ = 0.6 and γ = 1 − ¼√(Υ/T); where Υ is unknown γ = 1 − 1/(4√T). Both are the source's. Ours: the second also
        where phases last fewer than 16 rounds on average, as in drifting worlds, which the first is not meant for.
    Knowledge:
        T; λ, ½ if it is not given; and Υ if it is given.
    Deviations:
        2λ for B, the length of an interval that holds all rewards, is ours where there is no such interval. An arm
        whose count has faded below 1e-100 counts as unseen. ln n counts as 0 where it is negative, as it can be once
        arms were forgotten. That ξ = 0.6 goes with the factor 2 could not be confirmed from the source's own text.
    Weakness:
        On the paper's abrupt world γ = 0.998 remembers 516 rounds, 52 for each of ten arms, whose bound is then 2√(0.6
        ln 516/52) = 0.54, wider than all gaps but one: it plays arms almost evenly. Its regret is 9 520 ± 13; with a
        half of the bound (ξ = 0.15) 4 630 ± 15, with about a third (ξ = 0.06) 2 770 ± 18 (20 runs).

    >>> agent = DUCB(2, gamma=0.5)
    >>> for arm, reward in [(0, 1.0), (1, 0.0), (1, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.pulls  # arm 1 was seen two rounds ago
    array([0.25, 1.5 ])
    >>> agent.act()
    0

    Attributes:
        gamma: γ, by which the weight of what was seen shrinks in every round; 1 forgets nothing.
        xi: ξ, the width of the confidence bound.
        subgaussian: λ, the scale of the rewards.
    """

    name: ClassVar[str] = "d-ucb"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    gamma: float = field(kw_only=True)
    xi: float = field(default=0.6, kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.gamma = check_discount(self.gamma)
        self.xi = positive("xi", self.xi)
        self.subgaussian = check_subgaussian(self.subgaussian)

    def _new_state(self) -> DUCBState:
        return DUCBState(new_discounted(self.n_arms), self.gamma, self.xi * (2 * self.subgaussian) ** 2)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = 1 − ¼√(Υ/T), or 1 − 1/(4√T) without Υ; and λ."""
        tuned: dict[str, Any] = {"subgaussian": knowledge.scale}
        if "gamma" not in given:
            (horizon,) = knowledge.need(cls.name, "horizon")
            changes = long_phases(knowledge)
            tuned["gamma"] = blind_discount(horizon) if changes is None else 1 - math.sqrt(changes / horizon) / 4
        return tuned


@dataclass(eq=False)
class FadedIndex(Agent):
    """Faded index: a mean that fades back to ½, and a bonus without a logarithm.

    Source:
        Ours; in no paper that we know. The mean is that of a Beta(½, ½) posterior (Krichevsky, Trofimov, 1981) on
        rewards that fade as those of D-UCB do.
    Rule:
        Play argmax of (S_i + ½)/(N_i + 1) + c/√(N_i + 1), with discounted counts N_i and sums S_i. An arm that was not
        played for long returns to ½ + c.
    Tuning:
        γ = 1 − ¼√(Υ/T), D-UCB's; with Υ = 1 where it is unknown, where phases last fewer than 16 rounds on average, and
        where nothing changes: without forgetting, a bonus without a logarithm could stay with a wrong arm for ever.
        c = ½, so that an arm never seen has the index 1, the most that a reward can be. The blind γ and c were chosen
        on the leaderboard's worlds, at their horizons and at a tenth of them: memories 1/(1 − γ) from 25 to 6 400
        rounds with c from 0.05 to 1, then 2, 4 and 8 times √T with c from 0.4 to 0.6 (of which 0.45 had 3 % less
        regret than ½). On these worlds the agent's place flatters it.
    Knowledge:
        T, and Υ if it is given.
    Deviations:
        None.

    >>> agent = FadedIndex(2, gamma=0.5)
    >>> for arm, reward in [(0, 1.0), (1, 0.0), (1, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.pulls  # arm 1 was seen two rounds ago
    array([0.25, 1.5 ])
    >>> agent.act()  # indices 0.75/1.25 + 0.5/√1.25 and 0.5/2.5 + 0.5/√2.5
    0

    Attributes:
        gamma: γ, by which the weight of what was seen shrinks in every round; 1 forgets nothing.
        width: c, the width of the bonus.
    """

    name: ClassVar[str] = "faded-index"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    gamma: float = field(kw_only=True)
    width: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.gamma = check_discount(self.gamma)
        self.width = positive("width", self.width, allow_zero=True, hint="with 0.5 an arm never seen has the index 1")

    def _new_state(self) -> FadedState:
        return FadedState(new_discounted(self.n_arms), self.gamma, self.width)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = 1 − ¼√(Υ/T), Υ = 1 if it is 0 or unknown."""
        if "gamma" in given:
            return {}
        (horizon,) = knowledge.need(cls.name, "horizon")
        return {"gamma": 1 - math.sqrt(assumed_changes(knowledge) / horizon) / 4}


class DTSState(NamedTuple):
    """The discounted memory, and a bound on the log normaliser of each arm's posterior Beta(S + 1, N − S + 1)."""

    memory: Discounted
    bounds: FloatArray  # (K,) see ``agents/parts/races.py``
    gamma: float
    life: int  # the rounds after which all bounds are computed anew


def act_d_ts(state: DTSState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ Beta(S_i + 1, F_i + 1) with discounted successes and failures; play argmax θ_i."""
    return largest_fading_beta(state.memory.pulls, state.memory.sums, state.bounds, mask, rng)


def observe_d_ts(state: DTSState, arm: int, reward: float) -> None:
    """Discount S and F of all arms, and add the round to those of the arm played."""
    discount(state.memory, state.gamma, arm, reward)
    expire(state.bounds, arm, state.memory.clock[ROUNDS], state.life)


def forget_d_ts(state: DTSState, arm: int) -> None:
    """Reset the posterior of one arm, or with ``ALL`` of every arm, to the uniform one."""
    forget_discounted(state.memory, arm)
    for i in forgotten(arm, state.bounds.size):
        state.bounds[i] = math.nan


def probabilities_d_ts(state: DTSState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest)."""
    successes = state.memory.sums
    return largest_beta_law(successes + 1.0, state.memory.pulls - successes + 1.0, mask)


rule(DTSState, act_d_ts, observe_d_ts, forget_d_ts, probabilities=probabilities_d_ts)


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
        None in law. Samples that cannot be the largest are not drawn (see ``agents/parts/races.py``). The source's
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
    probability: ClassVar[str] = "quadrature"
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


class DSTSState(NamedTuple):
    """The discounted memory, and the mean and the root of the precision of each arm's posterior N(μ̂, λ²/N)."""

    memory: Discounted
    means: FloatArray  # (K,) S/N; infinite where N = 0, so that the arm comes first
    roots: FloatArray  # (K,) √N/λ
    gamma: float
    scale: float


def act_ds_ts(state: DSTSState, mask: BoolArray, rng: np.random.Generator) -> int:
    """An unseen arm is forced; else θ_i ~ N(μ̂_i, λ²/N_i), play argmax θ_i."""
    arm = highest(state.means, mask)  # an unseen arm, if there is one
    if state.memory.pulls[arm] == 0.0:
        return unseen(state.memory.pulls, state.memory.clock, mask)
    return largest_gaussian(state.means, state.roots, arm, mask, rng)


def observe_ds_ts(state: DSTSState, arm: int, reward: float) -> None:
    """Discount S and N of all arms, which widens their posteriors, and add the round to those of the arm played."""
    discount(state.memory, state.gamma, arm, reward)
    pulls, roots, steepness = state.memory.pulls, state.roots, 1.0 / state.scale
    for i in range(pulls.size):
        roots[i] = math.sqrt(pulls[i]) * steepness
        if pulls[i] == 0.0:
            state.means[i] = math.inf
    state.means[arm] = state.memory.sums[arm] / pulls[arm]  # discounting alone does not change a mean


def forget_ds_ts(state: DSTSState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it is forced again."""
    forget_discounted(state.memory, arm)
    for i in forgotten(arm, state.means.size):
        state.means[i] = math.inf
        state.roots[i] = 0.0


def expect_ds_ts(state: DSTSState, arm: int, pulls: int) -> None:
    """Let an arm whose first reward is under way wait for it, unless all do."""
    if state.memory.pulls[arm] == 0.0:
        state.memory.pulls[arm] = pulls
        state.means[arm] = behind(arm, pulls, state.means.size)
        state.roots[arm] = 1.0


def probabilities_ds_ts(state: DSTSState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest)."""
    return largest_gaussian_law(state.means, 1.0 / state.roots, mask)


rule(DSTSState, act_ds_ts, observe_ds_ts, forget_ds_ts, expect_ds_ts, probabilities=probabilities_ds_ts)


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
        T; λ, ½ if it is not given; and Υ if it is given.
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
        subgaussian: λ, the scale of the rewards; the larger, the more it explores.
    """

    name: ClassVar[str] = "ds-ts"
    probability: ClassVar[str] = "quadrature"
    late: ClassVar[str] = "waits"

    gamma: float = field(kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.gamma = check_discount(self.gamma)
        self.subgaussian = check_subgaussian(self.subgaussian)

    def _new_state(self) -> DSTSState:
        k = self.n_arms
        return DSTSState(new_discounted(k), np.full(k, np.inf), np.zeros(k), self.gamma, self.subgaussian)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = 1 − √(Υ/(T ln T)), or 1 − 1/(4√T) without Υ; λ = ½ unless it is known."""
        tuned: dict[str, Any] = {"subgaussian": knowledge.scale}
        if "gamma" not in given:
            (horizon,) = knowledge.need(cls.name, "horizon")
            changes = long_phases(knowledge)
            if changes is None:
                tuned["gamma"] = blind_discount(horizon)
            else:
                tuned["gamma"] = 1 - math.sqrt(changes / (horizon * math.log(max(horizon, 2))))
        return tuned
