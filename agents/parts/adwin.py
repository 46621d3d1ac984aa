"""ADWIN: adaptive windowing, which compares an arm's older samples with its newer ones at every cut of a histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible, close
from ..core.arguments import choice, positive_int
from ..core.kernel import ALL, COUNTABLE, FloatArray, IntArray, detection, floor_within, helper
from ..core.knowledge import Knowledge
from ..core.memory_limits import ensure_fits, grouped
from .glr import check_level

__all__ = ["ADWIN", "CUTS", "ADWINState"]

CUTS = {"hoeffding": 0, "variance": 1}
BY_VARIANCE = CUTS["variance"]
SAMPLES, SUM, SQUARES = 0, 1, 2  # rows of the totals
LONGEST = 2**31  # samples of an arm that the histogram has room for


class ADWINState(NamedTuple):
    """Each arm's samples in buckets of 1, 2, 4, … samples, the newest in the smallest, and their totals."""

    buckets: FloatArray  # (K, R, per_row + 1) sums of buckets of 2^r samples each, in every row the oldest first
    filled: IntArray  # (K, R) the number of buckets in each row
    totals: FloatArray  # (K, 3) SAMPLES, SUM and SQUARES, the sum of squares
    every: int
    log_level: float  # ln(1/δ)
    cut: int


def watch(state: ADWINState, arm: int, reward: float) -> bool:
    """Put the reward into the histogram; an alarm if older and newer samples differ at one of its cuts."""
    totals = state.totals[arm]
    totals[SAMPLES] += 1.0
    totals[SUM] += reward
    totals[SQUARES] += reward * reward
    _insert(state.buckets[arm], state.filled[arm], totals, reward)
    alarm = False
    if floor_within(totals[SAMPLES], COUNTABLE) % state.every == 0:
        alarm = _cut_somewhere(state.buckets[arm], state.filled[arm], totals, state.log_level, state.cut)
    return alarm


@helper
def _insert(buckets: FloatArray, filled: IntArray, totals: FloatArray, reward: float) -> None:
    """A bucket of one sample; where a row has one bucket too many, its two oldest become one of the next row."""
    per_row = buckets.shape[1] - 1
    carried, row = reward, 0
    while True:
        buckets[row, filled[row]] = carried
        filled[row] += 1
        if filled[row] <= per_row:
            return
        carried = buckets[row, 0] + buckets[row, 1]
        drop = 2
        if row + 1 == filled.size:  # no row is left: the oldest bucket is forgotten
            carried, drop = buckets[row, 0], 1
        for j in range(drop, per_row + 1):
            buckets[row, j - drop] = buckets[row, j]
        for j in range(per_row + 1 - drop, per_row + 1):
            buckets[row, j] = 0.0
        filled[row] -= drop
        row += 1
        if row == filled.size:
            size = math.ldexp(1.0, row - 1)
            totals[SQUARES] *= (totals[SAMPLES] - size) / totals[SAMPLES]
            totals[SAMPLES] -= size
            totals[SUM] -= carried
            return


@helper
def _cut_somewhere(buckets: FloatArray, filled: IntArray, totals: FloatArray, log_level: float, cut: int) -> bool:
    """Whether |μ̂_old − μ̂_new| ≥ ε_cut where the samples are cut between two buckets."""
    n, total = totals[SAMPLES], totals[SUM]
    variance = max(0.0, totals[SQUARES] / n - (total / n) * (total / n))
    log_variance_level = math.log(2.0 * math.log(max(n, 3.0))) + log_level  # ln(2/δ'), δ' = δ/ln n
    found = 0
    old, old_sum = 0.0, 0.0
    for row in range(filled.size - 1, -1, -1):
        size = math.ldexp(1.0, row)
        for j in range(filled[row]):
            old += size
            old_sum += buckets[row, j]
            new = n - old
            if new > 0.0:
                inverse = 1.0 / old + 1.0 / new
                if cut == BY_VARIANCE:
                    epsilon = math.sqrt(2.0 * inverse * variance * log_variance_level)
                    epsilon += 2.0 / 3.0 * inverse * log_variance_level
                else:
                    epsilon = math.sqrt(0.5 * log_level / old) + math.sqrt(0.5 * log_level / new)
                found += int(abs(old_sum / old - (total - old_sum) / new) >= epsilon)
    return found > 0


def forget(state: ADWINState, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    for i in range(state.totals.shape[0]):
        if arm == ALL or i == arm:
            for row in range(state.filled.shape[1]):  # not [:] = 0, which takes a second to compile
                for j in range(state.filled[i, row]):
                    state.buckets[i, row, j] = 0.0
                state.filled[i, row] = 0
            for j in range(state.totals.shape[1]):
                state.totals[i, j] = 0.0


detection(ADWINState, watch, forget)


def _claims(state: ADWINState, facts: Facts) -> Claims:
    """Rows are not overfull, and the totals are those of the buckets."""
    rows, size = state.filled.shape[1], state.buckets.shape[2]
    yield "filled", state.filled < size, f"at most {size - 1} buckets"
    held = np.arange(size) < state.filled[:, :, None]
    sizes = held * 2.0 ** np.arange(rows)[:, None]
    yield "buckets", facts.sums(state.buckets, sizes) | ~held, "the sum of that many rewards"
    samples, sums, squares = state.totals.T
    yield "totals", samples == sizes.sum(axis=(1, 2)), "the number of samples in the buckets"
    yield "totals", close(sums, (state.buckets * held).sum(axis=(1, 2)), 1e-6), "the sum of the buckets"
    yield "totals", (squares >= 0) & (squares <= facts.highest**2 * samples * (1.0 + 1e-6)), "a sum of squares"


admissible(ADWINState, _claims)


@dataclass(frozen=True)
class ADWIN:
    """ADWIN, for rewards in [0, 1]: an alarm instead of a shorter window.

    Sources: Bifet, Gavaldà, "Learning from Time-Changing Data with Adaptive Windowing", SDM 2007, for the histogram and
    the cut by variance; Komiyama, Fouché, Honda, "Finite-time Analysis of Globally Nonstationary Multi-Armed Bandits",
    arXiv 2107.11419, for the other cut, and for dropping all samples at an alarm where ADWIN drops the older ones.

    Attributes:
        delta: δ, the confidence of a single comparison.
        cut: by how much the means n₀ older and n₁ newer samples must differ: "hoeffding", √(ln(1/δ)/(2n₀)) +
            √(ln(1/δ)/(2n₁)); or "variance", √(2 σ̂² ln(2/δ')/m) + 2 ln(2/δ')/(3m) with 1/m = 1/n₀ + 1/n₁ and δ' =
            δ/ln n, σ̂² the variance of all n samples.
        every: after how many samples of an arm it is tested.
        per_row: how many buckets of each size the histogram has; as many as there are rounds make every cut exact.
    """

    delta: float
    cut: str = "hoeffding"
    every: int = 10
    per_row: int = 5

    def __post_init__(self) -> None:
        check_level("delta", self.delta, "the source takes 1/T^3")
        choice("cut", self.cut, CUTS)
        positive_int("every", self.every)
        positive_int("per_row", self.per_row, least=2)

    def new_state(self, n_arms: int) -> ADWINState:
        """The state before the first round."""
        what = f"a histogram of {grouped(self.per_row)} buckets of each size for each arm"
        ensure_fits(what, 8 * n_arms * self.per_row, "choose a smaller per_row")
        rows = math.ceil(math.log2(LONGEST / self.per_row + 1))
        return ADWINState(
            buckets=np.zeros((n_arms, rows, self.per_row + 1)),
            filled=np.zeros((n_arms, rows), np.int64),
            totals=np.zeros((n_arms, 3)),
            every=self.every,
            log_level=-math.log(self.delta),
            cut=CUTS[self.cut],
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/T³, where T = 1 counts as 2."""
        return {} if "delta" in given else {"delta": max(2, *knowledge.need("adwin", "horizon")) ** -3.0}
