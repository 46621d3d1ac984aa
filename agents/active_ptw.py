"""ActivePTW: Thompson sampling under every binary partition of the time, weighed by what they explain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import positive, positive_int
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, floor_within, inlined, rule
from .core.knowledge import Knowledge
from .core.probabilities import largest_beta_law
from .core.protocol import Agent

FAILURES, SUCCESSES = 0, 1


class PartitionState(NamedTuple):
    """Rewards seen in the interval of each level that holds the coming round; level d halves time d times.

    The interval of level d has 2^(D − d) rounds. Given that it lies in no longer segment, it is a segment itself or is
    split in two; its odds are those of the two, by all that was seen in it. All else follows from them and the counts:
    the weighted evidence that partition tree weighting keeps for finished intervals is part of their parents' odds.
    """

    counts: FloatArray  # (D + 1, 2, K) FAILURES and SUCCESSES of each arm in the interval
    log_odds: FloatArray  # (D + 1,) of "a segment" against "split"; infinite at level D, which cannot be split
    clock: IntArray  # (1,) rounds observed
    prior: float  # the log odds of an interval in which nothing was seen


def act(state: PartitionState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw the level of the current segment from its posterior, then θ_i ~ Beta(½ + S_i, ½ + F_i); play argmax θ_i."""
    log_odds = state.log_odds
    left, reached, level = rng.random(), 1.0, 0
    while level < log_odds.size - 1:
        segment, split = _chances(log_odds[level])
        left -= reached * segment
        if left < 0.0:
            break
        reached *= split
        level += 1
    seen = state.counts[level]
    arm, largest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            theta = rng.beta(0.5 + seen[SUCCESSES, i], 0.5 + seen[FAILURES, i])
            if theta > largest:
                arm, largest = i, theta
    return arm


@inlined
def _chances(log_odds: float) -> tuple[float, float]:
    """P and 1 − P, neither of them rounded to 0 or 1."""
    tail = math.exp(-abs(log_odds))
    large, small = 1.0 / (1.0 + tail), tail / (1.0 + tail)
    return (large, small) if log_odds > 0.0 else (small, large)


def observe(state: PartitionState, arm: int, reward: float) -> None:
    """Weigh "a segment" against "split" at every level, from the last up, and begin the intervals of the next round."""
    counts, log_odds = state.counts, state.log_odds
    last, x = log_odds.size - 1, floor_within(reward, 1.0)
    below = 0.5  # the probability of the reward by the levels below; of the last level, by itself: it saw nothing yet
    for level in range(last - 1, -1, -1):
        seen = counts[level]
        own = (seen[x, arm] + 0.5) / (seen[FAILURES, arm] + seen[SUCCESSES, arm] + 1.0)
        segment, split = _chances(log_odds[level])
        log_odds[level] += math.log(own / below)
        below = segment * own + split * below
        seen[x, arm] += 1.0
    state.clock[0] += 1
    length = 2
    for level in range(last - 1, -1, -1):  # level D never holds anything
        if state.clock[0] % length != 0:
            break
        counts[level] = 0.0
        log_odds[level] = state.prior
        length *= 2


def forget(state: PartitionState, arm: int) -> None:
    """Drop the counts of one arm at every level; where segments began stays known. With ``ALL``, begin afresh."""
    if arm == ALL:
        state.counts[:] = 0.0
        state.log_odds[:-1] = state.prior
        state.clock[0] = 0
    else:
        state.counts[:, :, arm] = 0.0


def level_posterior(log_odds: FloatArray) -> FloatArray:
    """(D + 1,) the probability that the segment of the coming round is an interval of each level."""
    posterior, reached = np.empty(log_odds.size), 1.0
    for level in range(log_odds.size):
        segment, split = _chances(log_odds[level])
        posterior[level] = reached * segment
        reached *= split
    return posterior


def probabilities(state: PartitionState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest) in the segment of each level, as likely as that is."""
    found = np.zeros(mask.size)
    for chance, seen in zip(level_posterior(state.log_odds), state.counts, strict=True):
        found += chance * largest_beta_law(0.5 + seen[SUCCESSES], 0.5 + seen[FAILURES], mask)
    return found


rule(PartitionState, act, observe, forget, probabilities=probabilities)


@dataclass(eq=False)
class ActivePTW(Agent):
    """ActivePTW: a Bayesian mixture of all binary partitions of the time, for any number of changes, blindly.

    Source:
        Veness, Hutter, György, Grau-Moya, "Partition Tree Weighting for Non-Stationary Stochastic Bandits", 2025,
        arXiv 2502.19325, and its public C++.
    Rule:
        The 2^D rounds are one segment or are split into halves, each of which is one segment or is split, and so on
        down to single rounds; each split has the prior probability ½. Within a segment every arm has a mean with the
        prior Beta(½, ½) (the estimator of Krichevsky and Trofimov). Draw the segment that holds the coming round from
        its posterior, one of D + 1 (an interval of some level), then θ_i ~ Beta(½ + S_i, ½ + F_i) with what was seen
        in it; play argmax θ_i. A round takes D steps, and the memory is 2(D + 1) numbers per arm.
    Tuning:
        D = ⌈log₂ T⌉. Source: the public code takes D = 30 whatever T is, and splits with probability 1/K;
        ``split=1/K`` gives that.
    Knowledge:
        T, for D alone; after 2^D rounds a new tree begins.
    Deviations:
        The level is drawn for the coming round, whose intervals may be new: that is the posterior. The public code
        draws the level of the round before, with what was seen there, and gives single rounds less than their share.
        Of the paper only the beginning could be read, so that its split could not be confirmed: ½ is that of partition
        tree weighting. ParanoidPTW, which adds forced exploration, is not offered.

    >>> agent = ActivePTW(2, depth=10)
    >>> agent.reset(seed=1)
    >>> for t in range(1000):  # arm 1 pays in the first half of the 1024 rounds, then arm 2
    ...     agent.observe(t % 2, float((t % 2 == 1) == (t >= 512)))
    >>> agent.act()
    1
    >>> agent.level_posterior().round(3)[:4]  # not the whole, but its second half is a segment
    array([0.   , 0.999, 0.001, 0.   ])

    Attributes:
        depth: D; the tree has 2^D rounds.
        split: the prior probability with which an interval is split.
    """

    name: ClassVar[str] = "active-ptw"
    probability: ClassVar[str] = "quadrature"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    depth: int = field(kw_only=True)
    split: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        hint = f"log2 of the number of rounds, rounded up, {_depth(50_000)} at T = 50 000"
        self.depth = positive_int("depth", self.depth, least=0, most=62, hint=hint)
        self.split = positive("split", self.split, below=1)

    def _new_state(self) -> PartitionState:
        prior = math.log((1 - self.split) / self.split)
        log_odds = np.full(self.depth + 1, prior)
        log_odds[-1] = math.inf
        return PartitionState(np.zeros((self.depth + 1, 2, self.n_arms)), log_odds, np.zeros(1, np.int64), prior)

    def level_posterior(self) -> FloatArray:
        """(D + 1,) the probability that the segment of the coming round is an interval of each level."""
        return level_posterior(self.state.log_odds)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """D = ⌈log₂ T⌉."""
        return {} if "depth" in given else {"depth": _depth(*knowledge.need(cls.name, "horizon"))}


def _depth(horizon: int) -> int:
    return (horizon - 1).bit_length()
