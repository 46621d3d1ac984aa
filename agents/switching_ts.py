"""Switching Thompson sampling: Bayesian belief about when the world last changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import choice, fraction, positive_int
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, floor_within, forgotten, inlined, rule
from .core.knowledge import Knowledge
from .core.probabilities import largest_beta_law
from .core.protocol import Agent

FAILURES, SUCCESSES = 0, 1
BLIND_HAZARD = 1e-3
LEARNT = "learnt"
HAZARDS = tuple(10.0 ** (-4 + 3 * k / 7) for k in range(8))  # those among which a learnt hazard is, from 1e-4 to 0.1
NEGLIGIBLE = 1e-9  # the weight of a hypothesis beside all, below which probabilities do without it
TINY = 1e-100  # weights are divided by their sum when it has fallen below this


class SwitchingState(NamedTuple):
    """Hypotheses on when all arms last changed, with weights.

    What a hypothesis has seen of an arm is what was seen in all, minus what had been seen when the hypothesis began: a
    round changes one arm's counts, not those of every hypothesis.
    """

    counts: FloatArray  # (2, K) FAILURES and SUCCESSES of each arm in all
    before: FloatArray  # (2, K, M) the same when each hypothesis began
    weights: FloatArray  # (M,)
    total: FloatArray  # (1,) the sum of the weights
    held: IntArray  # (1,) the number of hypotheses, the first so many of the M places
    hazard: float


def act(state: SwitchingState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw a hypothesis by its weight, then θ_i ~ Beta(1 + S_i, 1 + F_i) with what it has seen; play argmax θ_i."""
    j = _drawn(state.weights, state.held[0], float(state.total[0]) * rng.random())
    return _sampled(state.counts, state.before, j, mask, rng)


@inlined
def _sampled(counts: FloatArray, before: FloatArray, j: int, mask: BoolArray, rng: np.random.Generator) -> int:
    """The available arm with the largest θ_i ~ Beta(1 + S_i, 1 + F_i), by what hypothesis j has seen."""
    arm, largest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            successes = counts[SUCCESSES, i] - before[SUCCESSES, i, j]
            failures = counts[FAILURES, i] - before[FAILURES, i, j]
            theta = rng.beta(1.0 + successes, 1.0 + failures)
            if theta > largest:
                arm, largest = i, theta
    return arm


@inlined
def _drawn(weights: FloatArray, held: int, left: float) -> int:
    """The place up to which the weights first add up to more than a number between 0 and their sum."""
    for j in range(held - 1):
        left -= float(weights[j])
        if left < 0.0:
            return j
    return held - 1


def observe(state: SwitchingState, arm: int, reward: float) -> None:
    """w_j ← (1 − h) l_j w_j; the hypothesis of a change right now gets h Σ l_j w_j; beyond M, drop the lightest."""
    x, weights, held = floor_within(reward, 1.0), state.weights, state.held[0]
    hits, misses = float(state.counts[x, arm]) + 1.0, float(state.counts[1 - x, arm]) + 1.0
    before = state.before
    evidence, lightest = _weigh(weights, held, hits, misses, before[x, arm], before[1 - x, arm], 1.0 - state.hazard)
    state.counts[x, arm] += 1.0
    state.total[0] = evidence
    born = state.hazard * evidence
    place = held
    if held == weights.size:
        place = lightest
        state.total[0] -= min(weights[lightest], born)
    if born > 0.0 and (held < weights.size or born >= weights[lightest]):
        weights[place] = born
        for i in range(state.counts.shape[1]):
            before[FAILURES, i, place] = state.counts[FAILURES, i]
            before[SUCCESSES, i, place] = state.counts[SUCCESSES, i]
        state.held[0] = max(held, place + 1)
    if state.total[0] < TINY:
        for j in range(state.held[0]):
            weights[j] /= state.total[0]
        state.total[0] = 1.0


@inlined
def _weigh(
    weights: FloatArray, held: int, hits: float, misses: float, alike: FloatArray, other: FloatArray, kept: float
) -> tuple[float, int]:
    """w_j ← kept · l_j w_j, l_j the reward's probability by hypothesis j. Returns Σ l_j w_j and the lightest place.

    Args:
        weights: (M,) of which the first ``held`` count.
        held: the number of hypotheses.
        hits: 1 plus the number of rewards of the arm that were like this one, in all.
        misses: 1 plus the number of those that were not.
        alike: (M,) the number of those like this one when each hypothesis began.
        other: (M,) the number of those that were not.
        kept: 1 − h, or what else all weights are multiplied with.
    """
    evidence, least, lightest = 0.0, math.inf, 0
    for j in range(held):
        n = hits - float(alike[j])  # Python's floats are faster than NumPy's where this is interpreted
        weight = float(weights[j]) * n / (n + misses - float(other[j]))
        evidence += weight
        weights[j] = kept * weight
        if weight < least:
            least, lightest = weight, j
    return evidence, lightest


def forget(state: SwitchingState, arm: int) -> None:
    """Drop the counts of one arm from every hypothesis, whose weights stay; with ``ALL``, begin afresh."""
    if arm == ALL:
        state.counts[:] = 0.0
        state.before[:] = 0.0
        state.weights[:] = 0.0
        state.weights[0] = state.total[0] = 1.0
        state.held[0] = 1
    else:
        state.counts[:, arm] = 0.0
        state.before[:, arm] = 0.0


def probabilities(state: SwitchingState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest) by each hypothesis, as likely as the hypothesis is."""
    return _mixed(state.weights[: state.held[0]], state.counts, state.before, mask)


def _mixed(weights: FloatArray, counts: FloatArray, before: FloatArray, mask: BoolArray) -> FloatArray:
    found = np.zeros(mask.size)
    for j in np.flatnonzero(weights > NEGLIGIBLE * weights.sum()):
        seen = counts - before[:, :, j]
        found += weights[j] * largest_beta_law(1.0 + seen[SUCCESSES], 1.0 + seen[FAILURES], mask)
    return found


rule(SwitchingState, act, observe, forget, probabilities=probabilities)


class LearntSwitchingState(NamedTuple):
    """Hypotheses on when all arms last changed and on the hazard, with weights for each pair."""

    counts: FloatArray  # (2, K) FAILURES and SUCCESSES of each arm in all
    before: FloatArray  # (2, K, M) the same when each last change was
    weights: FloatArray  # (M, H)
    sums: FloatArray  # (M,) the sums of the weights over the hazards
    total: FloatArray  # (1,) the sum of all weights
    held: IntArray  # (1,) the number of last changes, the first so many of the M places
    evidence: FloatArray  # (H,) Σ_s l_s w of each hazard, of the round just observed
    hazards: FloatArray  # (H,) h_k


def act_learnt(state: LearntSwitchingState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw a last change by its weight over all hazards, then θ_i with what was seen since; play argmax θ_i."""
    j = _drawn(state.sums, state.held[0], float(state.total[0]) * rng.random())
    return _sampled(state.counts, state.before, j, mask, rng)


def observe_learnt(state: LearntSwitchingState, arm: int, reward: float) -> None:
    """w_sk ← (1 − h_k) l_s w_sk; a change right now gets h_k Σ_s l_s w_sk; beyond M, drop the lightest change."""
    x, weights, sums, held = floor_within(reward, 1.0), state.weights, state.sums, state.held[0]
    evidence, hazards, counts, before = state.evidence, state.hazards, state.counts, state.before
    for k in range(hazards.size):
        evidence[k] = 0.0
    total, least, lightest = 0.0, math.inf, 0
    for j in range(held):
        hits = counts[x, arm] - before[x, arm, j] + 1.0
        likelihood = hits / (hits + counts[1 - x, arm] - before[1 - x, arm, j] + 1.0)
        kept = 0.0
        for k in range(hazards.size):
            weight = likelihood * weights[j, k]
            evidence[k] += weight
            weights[j, k] = (1.0 - hazards[k]) * weight
            kept += weights[j, k]
        sums[j] = kept
        total += kept
        if kept < least:
            least, lightest = kept, j
    counts[x, arm] += 1.0
    born = 0.0
    for k in range(hazards.size):
        born += hazards[k] * evidence[k]
    place = held
    if held == sums.size:
        place = lightest
        total -= min(least, born)
    if held < sums.size or born >= least:
        for k in range(hazards.size):
            weights[place, k] = hazards[k] * evidence[k]
        sums[place] = born
        for i in range(counts.shape[1]):
            before[FAILURES, i, place] = counts[FAILURES, i]
            before[SUCCESSES, i, place] = counts[SUCCESSES, i]
        state.held[0] = max(held, place + 1)
    state.total[0] = total + born
    if state.total[0] < TINY:
        for j in range(state.held[0]):
            sums[j] /= state.total[0]
            for k in range(hazards.size):
                weights[j, k] /= state.total[0]
        state.total[0] = 1.0


def forget_learnt(state: LearntSwitchingState, arm: int) -> None:
    """Drop the counts of one arm from every hypothesis, whose weights stay; with ``ALL``, begin afresh."""
    if arm == ALL:
        state.counts[:] = 0.0
        state.before[:] = 0.0
        state.weights[:] = 0.0
        state.weights[0] = 1.0 / state.hazards.size
        state.sums[:] = 0.0
        state.evidence[:] = 0.0
        state.sums[0] = state.total[0] = 1.0
        state.held[0] = 1
    else:
        state.counts[:, arm] = 0.0
        state.before[:, arm] = 0.0


def probabilities_learnt(state: LearntSwitchingState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest) by each last change, as likely as it is."""
    return _mixed(state.sums[: state.held[0]], state.counts, state.before, mask)


rule(LearntSwitchingState, act_learnt, observe_learnt, forget_learnt, probabilities=probabilities_learnt)


class ArmSwitchingState(NamedTuple):
    """Hypotheses on when each arm last changed, arm by arm.

    Hypotheses that differ only in how long before its next pull an arm changed are one, "changed since its last pull".
    """

    counts: FloatArray  # (2, K) FAILURES and SUCCESSES of each arm in all
    before: FloatArray  # (2, K, M) the same when each hypothesis of the arm began
    weights: FloatArray  # (K, M) of the hypotheses with data, up to a factor
    totals: FloatArray  # (K,) their sums
    fresh: FloatArray  # (K,) the probability that the arm changed since its last pull, 1 before the first
    held: IntArray  # (K,) the number of hypotheses with data
    hazard: float


def act_by_arm(state: ArmSwitchingState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw a hypothesis for each arm, then θ_i ~ Beta(1 + S_i, 1 + F_i) with what it has seen; play argmax θ_i."""
    counts, before = state.counts, state.before
    arm, largest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            successes = failures = 0.0
            if rng.random() >= state.fresh[i]:
                j = _drawn(state.weights[i], state.held[i], float(state.totals[i]) * rng.random())
                successes = counts[SUCCESSES, i] - before[SUCCESSES, i, j]
                failures = counts[FAILURES, i] - before[FAILURES, i, j]
            theta = rng.beta(1.0 + successes, 1.0 + failures)
            if theta > largest:
                arm, largest = i, theta
    return arm


def observe_by_arm(state: ArmSwitchingState, arm: int, reward: float) -> None:
    """The rule of one change for all, for the arm played; any other arm may have changed unseen."""
    x, fresh, weights, held = floor_within(reward, 1.0), state.fresh, state.weights[arm], state.held[arm]
    counts, before, total = state.counts, state.before, state.totals[arm]
    scale = (1.0 - fresh[arm]) / total if total > 0.0 else 0.0
    hits, misses = float(counts[x, arm]) + 1.0, float(counts[1 - x, arm]) + 1.0
    evidence, lightest = _weigh(weights, held, hits, misses, before[x, arm], before[1 - x, arm], scale)
    born = 0.5 * fresh[arm]  # it has seen nothing before: 0 and 1 are equally likely
    state.totals[arm] = scale * evidence + born
    place = held
    if held == weights.size:
        place = lightest
        state.totals[arm] -= min(weights[lightest], born)
    if born > 0.0 and (held < weights.size or born >= weights[lightest]):
        weights[place] = born
        before[FAILURES, arm, place] = counts[FAILURES, arm]
        before[SUCCESSES, arm, place] = counts[SUCCESSES, arm]
        state.held[arm] = max(held, place + 1)
    counts[x, arm] += 1.0
    fresh[arm] = 0.0
    for i in range(fresh.size):
        fresh[i] += state.hazard * (1.0 - fresh[i])


def forget_by_arm(state: ArmSwitchingState, arm: int) -> None:
    """Drop all that was learnt about one arm, or with ``ALL`` about every arm."""
    for i in forgotten(arm, state.fresh.size):
        state.counts[:, i] = 0.0
        state.before[:, i] = 0.0
        state.weights[i] = 0.0
        state.totals[i] = 0.0
        state.fresh[i] = 1.0
        state.held[i] = 0


rule(ArmSwitchingState, act_by_arm, observe_by_arm, forget_by_arm)


@dataclass(eq=False)
class SwitchingTS(Agent):
    """Switching Thompson sampling: a Bayesian's belief about the last change, for worlds with abrupt changes.

    Source:
        Mellor, Shapiro, "Thompson Sampling in Switching Environments with Bayesian Online Change Point Detection",
        AISTATS 2013, arXiv 1302.3721; Alami, Maillard, Féraud, "Memory Bandits: a Bayesian approach for the Switching
        Bandit Problem", 2017, and their public code. The learnt hazard: Wilson, Nassar, Gold, "Bayesian Online Learning
        of the Hazard Rate in Change-Point Problems", Neural Computation 2010.
    Rule:
        Hypotheses "the last change was s rounds ago" have weights w_j, and Beta(1 + S, 1 + F) posteriors of what was
        seen since then. Draw a hypothesis by its weight, then a θ_i for each arm from its posteriors; play argmax θ_i.
        After the reward x of arm a, with l_j the probability of x by hypothesis j: w_j ← (1 − h) l_j w_j, and a new
        hypothesis, which has seen nothing, gets h Σ_j l_j w_j. Beyond M hypotheses the lightest is dropped.
        ``restart="global"`` takes it that all arms change at once; with ``restart="arm"`` each arm changes on its own,
        and has hypotheses and draws of its own. ``hazard="learnt"`` has a weight w_jk for each last change and each of
        8 hazards h_k, geometric from 10^-4 to 0.1 and at first equally likely: w_jk ← (1 − h_k) l_j w_jk, and a new
        hypothesis gets h_k Σ_j l_j w_jk for each k; the last change that is lightest over all k is dropped.
    Tuning:
        Source: h is the rate of changes, Υ/T, as long as a phase has K rounds on average; where there are more changes
        than that the means drift, and h is chosen blindly. Ours, blind: h = 10^-3, whatever T is; M = 100. With h = 0
        it is Thompson sampling. ``hazard="learnt"`` is used only if it is given.
    Knowledge:
        Υ and T, if they are known.
    Deviations:
        None in law. The source keeps its weights normalised, here they are divided by their sum when it is small. With
        ``restart="arm"``, hypotheses that differ only in when, between two of its pulls, an arm changed have seen the
        same and are kept as one; M counts those with data. Of the first source only the abstract could be read; the
        rule is that of the second's code, in which a change of one arm alone is not offered: that form is a public
        thesis's, in which the probability of "no reward of this arm" is 1. Wilson and others learn a hazard by counting
        changes; a grid of hazards is ours, and goes with ``restart="global"`` alone.

    >>> agent = SwitchingTS(2, hazard=0.01)
    >>> agent.reset(seed=1)
    >>> for t in range(300):  # arm 1 pays for 200 rounds, then arm 2 does
    ...     agent.observe(t % 2, float((t % 2 == 1) == (t >= 200)))
    >>> agent.act()
    1

    Attributes:
        hazard: h, the probability of a change before each round; or ``"learnt"``.
        hypotheses: M, the number of hypotheses kept, of each arm if each arm changes on its own.
        restart: what changes together, ``"global"`` (all arms) or ``"arm"`` (each arm on its own).
    """

    name: ClassVar[str] = "switching-ts"
    probability: ClassVar[str] = "quadrature"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    hazard: float | str = field(default=BLIND_HAZARD, kw_only=True)
    hypotheses: int = field(default=100, kw_only=True)
    restart: str = field(default="global", kw_only=True)

    def _check(self) -> None:
        if isinstance(self.hazard, str):
            choice("hazard", self.hazard, (LEARNT,))
        else:
            hint = "the number of changes per round, 0.001 if it is unknown, or 'learnt'"
            self.hazard = fraction("hazard", self.hazard, hint=hint)
        self.hypotheses = positive_int("hypotheses", self.hypotheses)
        choice("restart", self.restart, ("global", "arm"))
        if self.hazard == LEARNT and self.restart == "arm":
            raise ValueError(
                "hazard='learnt' goes with restart='global', got restart='arm'; give the hazard as a number"
            )

    def _new_state(self) -> SwitchingState | LearntSwitchingState | ArmSwitchingState:
        k, m = self.n_arms, self.hypotheses
        counts, before = np.zeros((2, k)), np.zeros((2, k, m))
        if isinstance(self.hazard, str):
            hazards, held = np.array(HAZARDS), np.zeros(1, np.int64)
            weights, sums, evidence = np.zeros((m, hazards.size)), np.zeros(m), np.zeros(hazards.size)
            learnt = LearntSwitchingState(counts, before, weights, sums, np.ones(1), held, evidence, hazards)
            forget_learnt(learnt, ALL)
            return learnt
        if self.restart == "arm":
            weights, totals, held = np.zeros((k, m)), np.zeros(k), np.zeros(k, np.int64)
            return ArmSwitchingState(counts, before, weights, totals, np.ones(k), held, self.hazard)
        state = SwitchingState(counts, before, np.zeros(m), np.ones(1), np.ones(1, np.int64), self.hazard)
        state.weights[0] = 1.0
        return state

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """h = Υ/T, or 10^-3 where Υ or T is unknown or phases are shorter than K rounds."""
        changes, horizon, n_arms = knowledge.breakpoints, knowledge.horizon, knowledge.n_arms
        if changes is None or horizon is None or n_arms is None or changes * n_arms > horizon:
            return {"hazard": BLIND_HAZARD}
        return {"hazard": changes / horizon}
