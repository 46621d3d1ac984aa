"""CUSUM: deviations from the mean of an arm's first samples, summed as long as they are positive."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible, is_whole
from ..core.arguments import positive, positive_int
from ..core.kernel import ALL, FloatArray, detection
from ..core.knowledge import Knowledge
from .changes import assumed_changes

__all__ = ["COUNT", "Cusum", "CusumState", "exploration_rate"]

COUNT, MEAN, UP, DOWN = 0, 1, 2, 3  # columns of the statistics


class CusumState(NamedTuple):
    """For each arm its number of samples, û₀, g⁺ and g⁻."""

    statistics: FloatArray  # (K, 4) COUNT of samples, MEAN of the first M, and the sums UP and DOWN
    warmup: int
    epsilon: float
    threshold: float


def watch(state: CusumState, arm: int, reward: float) -> bool:
    """Add to û₀ in the first M samples; then g⁺ ← max(0, g⁺ + x − û₀ − ε), likewise g⁻, and an alarm if g > h."""
    statistics = state.statistics
    statistics[arm, COUNT] += 1.0
    count = statistics[arm, COUNT]
    if count <= state.warmup:
        statistics[arm, MEAN] += (reward - statistics[arm, MEAN]) / count
        return False
    deviation = reward - statistics[arm, MEAN]
    up = max(0.0, statistics[arm, UP] + deviation - state.epsilon)
    down = max(0.0, statistics[arm, DOWN] - deviation - state.epsilon)
    statistics[arm, UP] = up
    statistics[arm, DOWN] = down
    return max(up, down) > state.threshold  # type: ignore[no-any-return]


def forget(state: CusumState, arm: int) -> None:
    """Begin again with one arm, or with ``ALL`` with every arm."""
    for i in range(state.statistics.shape[0]):
        if arm == ALL or i == arm:
            for j in range(state.statistics.shape[1]):
                state.statistics[i, j] = 0.0


detection(CusumState, watch, forget)


def _claims(state: CusumState, facts: Facts) -> Claims:
    counts, means, ups, downs = state.statistics.T
    yield "statistics", is_whole(counts), "a number of samples"
    yield "statistics", facts._replace(whole=False).sums(means, np.minimum(counts, 1)), "the mean of rewards"
    yield "statistics", (ups >= 0) & (downs >= 0), "sums of at least 0"


admissible(CusumState, _claims)


@dataclass(frozen=True)
class Cusum:
    """Page's two-sided CUSUM test on each arm.

    Source: Liu, Lee, Shroff, "A Change-Detection based Framework for Piecewise-stationary Multi-Armed Bandit Problem",
    AAAI 2018, after Page 1954. Blind, h = ln T; with Υ known, h = ln(T/Υ).

    Attributes:
        threshold: h, which a sum of deviations must exceed.
        warmup: M, the number of samples that û₀ is the mean of.
        epsilon: ε, the deviation that is tolerated in every sample.
    """

    threshold: float
    warmup: int = 200
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        positive("threshold", self.threshold, allow_zero=True, hint="the source takes ln(T/Υ)")
        positive_int("warmup", self.warmup)
        positive("epsilon", self.epsilon, allow_zero=True, hint="half of the smallest change that matters")

    def new_state(self, n_arms: int) -> CusumState:
        """The state before the first round."""
        return CusumState(np.zeros((n_arms, 4)), int(self.warmup), float(self.epsilon), float(self.threshold))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """h = ln(T/Υ)."""
        if "threshold" in given:
            return {}
        (horizon,) = knowledge.need("a CUSUM test", "horizon")
        return {"threshold": math.log(horizon / min(horizon, assumed_changes(knowledge)))}


def exploration_rate(knowledge: Knowledge, agent: str) -> float:
    """α = √((Υ/T) ln(T/Υ)), the share of uniform exploration that goes with the test; at most √(1/e)."""
    (horizon,) = knowledge.need(agent, "horizon")
    share = min(1.0, assumed_changes(knowledge) / horizon)
    return math.sqrt(share * math.log(1 / share))
