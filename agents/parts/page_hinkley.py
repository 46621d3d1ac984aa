"""Page and Hinkley's test: deviations from the running mean of an arm, summed as long as they are positive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible, is_whole
from ..core.arguments import positive
from ..core.kernel import ALL, FloatArray, detection
from ..core.knowledge import Knowledge
from .cusum import Cusum

__all__ = ["PageHinkley", "PageHinkleyState"]

COUNT, SUM, UP, DOWN = 0, 1, 2, 3  # columns of the statistics


class PageHinkleyState(NamedTuple):
    """For each arm its number of samples, their sum, g⁺ and g⁻."""

    statistics: FloatArray  # (K, 4) COUNT and SUM of the samples since the last alarm, and the sums UP and DOWN
    epsilon: float
    threshold: float


def watch(state: PageHinkleyState, arm: int, reward: float) -> bool:
    """g⁺ ← max(0, g⁺ + x − û − ε), likewise g⁻, with û the mean of all samples, this one too; an alarm if g > h."""
    statistics = state.statistics
    statistics[arm, COUNT] += 1.0
    statistics[arm, SUM] += reward
    deviation = reward - statistics[arm, SUM] / statistics[arm, COUNT]
    up = max(0.0, statistics[arm, UP] + deviation - state.epsilon)
    down = max(0.0, statistics[arm, DOWN] - deviation - state.epsilon)
    statistics[arm, UP] = up
    statistics[arm, DOWN] = down
    return max(up, down) > state.threshold  # type: ignore[no-any-return]


def forget(state: PageHinkleyState, arm: int) -> None:
    """Begin again with one arm, or with ``ALL`` with every arm."""
    for i in range(state.statistics.shape[0]):
        if arm == ALL or i == arm:
            for j in range(state.statistics.shape[1]):
                state.statistics[i, j] = 0.0


detection(PageHinkleyState, watch, forget)


def _claims(state: PageHinkleyState, facts: Facts) -> Claims:
    counts, sums, ups, downs = state.statistics.T
    yield "statistics", is_whole(counts), "a number of samples"
    yield "statistics", facts.sums(sums, counts), "the sum of that many rewards"
    yield "statistics", (ups >= 0) & (downs >= 0), "sums of at least 0"


admissible(PageHinkleyState, _claims)


@dataclass(frozen=True)
class PageHinkley:
    """Page and Hinkley's two-sided test on each arm: CUSUM with a running mean, so without a warm-up.

    Source: Liu, Lee, Shroff, "A Change-Detection based Framework for Piecewise-stationary Multi-Armed Bandit Problem",
    AAAI 2018, after Hinkley 1971. Tuned as CUSUM: blind, h = ln T; with Υ known, h = ln(T/Υ).

    Attributes:
        threshold: h, which a sum of deviations must exceed.
        epsilon: ε, the deviation that is tolerated in every sample.
    """

    threshold: float
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        positive("threshold", self.threshold, allow_zero=True, hint="the source takes ln(T/Υ)")
        positive("epsilon", self.epsilon, allow_zero=True, hint="half of the smallest change that matters")

    def new_state(self, n_arms: int) -> PageHinkleyState:
        """The state before the first round."""
        return PageHinkleyState(np.zeros((n_arms, 4)), float(self.epsilon), float(self.threshold))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """h = ln(T/Υ)."""
        return Cusum.tune(knowledge, given)
