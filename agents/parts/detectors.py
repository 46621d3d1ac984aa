"""Detectors of changes of an arm's mean: CUSUM, Page-Hinkley, two halves, generalised likelihood ratios, and ADWIN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.arguments import choice, positive, positive_int
from ..core.kernel import COUNTABLE, FloatArray, IntArray, detection, floor_within, forgotten, helper, inlined
from ..core.knowledge import Knowledge, assumed_changes
from .memories import COUNT, SUM, Prefixes, forget_prefixes, keep_point, new_prefixes

# COUNT and SUM are the same places everywhere; others are columns of CUSUM and Page-Hinkley, of halves, and of ADWIN
MEAN, UP, DOWN = 1, 2, 3
OLDER, NEWER, RING = 1, 2, 3
SQUARES = 2


class CusumState(NamedTuple):
    """For each arm its number of samples, û₀, g⁺ and g⁻."""

    statistics: FloatArray  # (K, 4) COUNT of samples, MEAN of the first M, and the sums UP and DOWN
    warmup: int
    epsilon: float
    threshold: float


def watch_cusum(state: CusumState, arm: int, reward: float) -> bool:
    """Add to û₀ in the first M samples; then g⁺ ← max(0, g⁺ + x − û₀ − ε), likewise g⁻, and an alarm if g > h."""
    statistics = state.statistics
    statistics[arm, COUNT] += 1.0
    count = statistics[arm, COUNT]
    if count <= state.warmup:
        statistics[arm, MEAN] += (reward - statistics[arm, MEAN]) / count
        return False
    return _exceeds(statistics, arm, reward - statistics[arm, MEAN], state.epsilon, state.threshold)


@inlined
def _exceeds(statistics: FloatArray, arm: int, deviation: float, epsilon: float, threshold: float) -> bool:
    """Add a deviation to g⁺ and g⁻, and return whether one of them exceeds the threshold."""
    up = max(0.0, statistics[arm, UP] + deviation - epsilon)
    down = max(0.0, statistics[arm, DOWN] - deviation - epsilon)
    statistics[arm, UP] = up
    statistics[arm, DOWN] = down
    return max(up, down) > threshold  # type: ignore[no-any-return]


def forget_statistics(state: CusumState | PageHinkleyState | HalvesState, arm: int) -> None:
    """Begin again with one arm, or with ``ALL`` with every arm."""
    for i in forgotten(arm, state.statistics.shape[0]):
        for j in range(state.statistics.shape[1]):
            state.statistics[i, j] = 0.0


detection(CusumState, watch_cusum, forget_statistics)


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


class PageHinkleyState(NamedTuple):
    """For each arm its number of samples, their sum, g⁺ and g⁻."""

    statistics: FloatArray  # (K, 4) COUNT and SUM of the samples since the last alarm, and the sums UP and DOWN
    epsilon: float
    threshold: float


def watch_page_hinkley(state: PageHinkleyState, arm: int, reward: float) -> bool:
    """g⁺ ← max(0, g⁺ + x − û − ε), likewise g⁻, with û the mean of all samples, this one too; an alarm if g > h."""
    statistics = state.statistics
    statistics[arm, COUNT] += 1.0
    statistics[arm, SUM] += reward
    deviation = reward - statistics[arm, SUM] / statistics[arm, COUNT]
    return _exceeds(statistics, arm, deviation, state.epsilon, state.threshold)


detection(PageHinkleyState, watch_page_hinkley, forget_statistics)


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


class HalvesState(NamedTuple):
    """The last w samples of each arm, and the sum of each half of them."""

    statistics: FloatArray  # (K, 3 + w) COUNT of samples since the last alarm, sums OLDER and NEWER, then the RING
    samples: int
    threshold: float


def watch_halves(state: HalvesState, arm: int, reward: float) -> bool:
    """Slide both halves by one sample; an alarm if there are w samples and |Σ newer − Σ older| > b.

    At the end of every lap of the ring both sums are added up afresh, so that rounding errors never pile up.
    """
    memory, width = state.statistics, state.samples
    half = width // 2
    count = floor_within(memory[arm, COUNT], COUNTABLE)
    slot = count % width
    middle = (slot + half) % width
    memory[arm, COUNT] = count + 1
    if count >= width:  # the oldest sample leaves, and the oldest of the newer half joins the older
        memory[arm, OLDER] += memory[arm, RING + middle] - memory[arm, RING + slot]
        memory[arm, NEWER] += reward - memory[arm, RING + middle]
    memory[arm, RING + slot] = reward
    if slot + 1 == width:
        older, newer = 0.0, 0.0
        for s in range(half):
            older += memory[arm, RING + s]
            newer += memory[arm, RING + half + s]
        memory[arm, OLDER] = older
        memory[arm, NEWER] = newer
    return count + 1 >= width and abs(memory[arm, NEWER] - memory[arm, OLDER]) > state.threshold


detection(HalvesState, watch_halves, forget_statistics)


def check_even(what: str, given: object) -> int:
    """The given value as an int, if it is even and positive."""
    value = positive_int(what, given, least=2, hint="it is cut into halves; a common choice is 200")
    if value % 2:
        raise ValueError(f"{what} must be even, as it is cut into halves, got {value}; take {value + 1}")
    return value


@dataclass(frozen=True)
class Halves:
    """M-UCB's test on each arm.

    Source: Cao, Wen, Kveton, Xie, "Nearly Optimal Adaptive Procedure with Change Detection for Piecewise-Stationary
    Bandit", AISTATS 2019, Algorithm 1 and Remark 1. b needs no Υ, so informed and blind are the same.

    Attributes:
        threshold: b, which the difference between the sums must exceed.
        samples: w, the number of an arm's latest samples that are compared, even.
    """

    threshold: float
    samples: int = 200

    def __post_init__(self) -> None:
        positive("threshold", self.threshold, allow_zero=True, hint="the source takes sqrt((w/2)*ln(2*K*T^2))")
        check_even("samples", self.samples)

    def new_state(self, n_arms: int) -> HalvesState:
        """The state before the first round."""
        return HalvesState(np.zeros((n_arms, RING + self.samples)), int(self.samples), float(self.threshold))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """b = √((w/2) ln(2KT²)), by which all tests of T rounds together sound a false alarm with probability 1/T."""
        if "threshold" in given:
            return {}
        n_arms, horizon = knowledge.need("a test of two halves", "n_arms", "horizon")
        width = check_even("samples", given.get("samples", cls.samples))
        return {"threshold": math.sqrt(width / 2 * math.log(2 * n_arms * horizon**2))}


SLACK = 1.0 - 1e-9  # so that rounding never screens out a split that the test would have taken


class GLRState(NamedTuple):
    """Each arm's prefix sums, and the parameters of the test."""

    prefixes: Prefixes
    every: int
    splits: int
    log_level: float  # ln(factor/δ)


def watch_glr(state: GLRState, arm: int, reward: float) -> bool:
    """Test sup_s [s d(μ̂_{1:s}, μ̂_{1:n}) + (n − s) d(μ̂_{s+1:n}, μ̂_{1:n})] ≥ β(n, δ), for the arm's n samples."""
    points, kept = state.prefixes.points, state.prefixes.kept
    points[arm, COUNT, kept[arm]] += 1.0
    points[arm, SUM, kept[arm]] += reward
    n = floor_within(points[arm, COUNT, kept[arm]], COUNTABLE)
    alarm = False
    if n % state.every == 0:
        alarm = _changed(points[arm], kept[arm], 1.5 * math.log(n) + state.log_level)
    if n % state.splits == 0:
        keep_point(points, kept, arm)
    return alarm


@inlined
def _changed(row: FloatArray, kept: int, beta: float) -> bool:
    """Return whether the statistic reaches β at one of the kept split points.

    With q = μ̂_{1:n}, d(p, q) ≤ (p − q)²/(q(1 − q)), so the statistic is at most (n S_s − s S_n)² n / (s (n − s) S_n
    (n − S_n)): logarithms are taken only where this bound reaches β.
    """
    n, total = row[COUNT, kept], row[SUM, kept]
    spread = total * (n - total)
    if spread <= 0.0:
        return False  # all samples are 0, or all are 1
    bound = beta * spread * SLACK
    passing = 0
    for j in range(kept):
        s = row[COUNT, j]
        gap = n * row[SUM, j] - s * total
        passing += int(n * gap * gap >= bound * s * (n - s))
    return passing > 0 and _reached(row, kept, beta, bound)


@helper
def _reached(row: FloatArray, kept: int, beta: float, bound: float) -> bool:
    n, total = row[COUNT, kept], row[SUM, kept]
    whole = _entropy(n, total)
    for j in range(kept):
        s, first = row[COUNT, j], row[SUM, j]
        gap = n * first - s * total
        if n * gap * gap >= bound * s * (n - s) and whole - _entropy(s, first) - _entropy(n - s, total - first) >= beta:
            return True
    return False


@inlined
def _entropy(n: float, total: float) -> float:
    """n h(S/n), h the binary entropy: −S ln(S/n) − (n − S) ln((n − S)/n)."""
    entropy = 0.0
    if total / n > 0.0:  # not total > 0: the smallest positive float divided by 2 is 0
        entropy -= total * math.log(total / n)
    if total < n:
        entropy -= (n - total) * math.log((n - total) / n)
    return entropy


def forget_glr(state: GLRState, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    forget_prefixes(state.prefixes, arm)


detection(GLRState, watch_glr, forget_glr)


@dataclass(frozen=True)
class GLR:
    """The Bernoulli generalised likelihood ratio test, for rewards in [0, 1].

    After every ``every`` samples of an arm, its n samples since its restart are split at s = ``splits``,
    2 ``splits``, …; it sounds an alarm if s d(μ̂_{1:s}, μ̂_{1:n}) + (n − s) d(μ̂_{s+1:n}, μ̂_{1:n}) ≥ β(n, δ) =
    ln(factor n^{3/2}/δ) for one of them. Which splits are tried when an arm has more than ``memory`` × ``splits``
    samples: :class:`~ns_mab_gym.agents.parts.memories.Prefixes`. ``every=1, splits=1, memory=T + 1`` is the exact test.

    Attributes:
        delta: δ, the probability of a false alarm about an arm that the threshold is made for.
        factor: 1, as in the authors' code, or 3, as in their proofs.
        every: after how many samples of an arm it is tested.
        splits: the distance between the points at which the samples are split.
        memory: how many such points are kept for each arm.
    """

    delta: float
    factor: float = 1.0
    every: int = 10
    splits: int = 10
    memory: int = 1024

    def __post_init__(self) -> None:
        positive("delta", self.delta, below=1, hint="the source takes 1/sqrt(T)")
        advice = "1 in the authors' code, 3 in their proofs"
        positive("factor", self.factor, hint=advice)
        if not 1 < self.factor / self.delta < math.inf:
            given = f"factor={self.factor!r} and delta={self.delta!r}"
            raise ValueError(f"factor/delta must be finite and above 1, got {given}; factor is {advice}")
        positive_int("every", self.every)
        positive_int("splits", self.splits)
        positive_int("memory", self.memory, least=8)

    def new_state(self, n_arms: int) -> GLRState:
        """The state before the first round."""
        prefixes = new_prefixes(n_arms, self.memory)
        return GLRState(prefixes, self.every, self.splits, math.log(self.factor / self.delta))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/√T, where T = 1 counts as 2."""
        return {} if "delta" in given else {"delta": 1 / math.sqrt(max(2, *knowledge.need("glr", "horizon")))}


def turn_rate(knowledge: Knowledge, agent: str) -> float:
    """α₁ = √(K ln T/T), at most 1: the share of forced exploration in the first episode of GLR-klUCB."""
    n_arms, horizon = knowledge.need(agent, "n_arms", "horizon")
    return min(1.0, math.sqrt(n_arms * math.log(horizon) / horizon))


CUTS = {"hoeffding": 0, "variance": 1}
BY_VARIANCE = CUTS["variance"]
LONGEST = 2**31  # samples of an arm that the histogram has room for


class ADWINState(NamedTuple):
    """Each arm's samples in buckets of 1, 2, 4, … samples, the newest in the smallest, and their totals."""

    buckets: FloatArray  # (K, R, per_row + 1) sums of buckets of 2^r samples each, in every row the oldest first
    filled: IntArray  # (K, R) the number of buckets in each row
    totals: FloatArray  # (K, 3) COUNT, SUM and SQUARES, the sum of squares
    every: int
    log_level: float  # ln(1/δ)
    cut: int


def watch_adwin(state: ADWINState, arm: int, reward: float) -> bool:
    """Put the reward into the histogram; an alarm if older and newer samples differ at one of its cuts."""
    totals = state.totals[arm]
    totals[COUNT] += 1.0
    totals[SUM] += reward
    totals[SQUARES] += reward * reward
    _insert(state.buckets[arm], state.filled[arm], totals, reward)
    alarm = False
    if floor_within(totals[COUNT], COUNTABLE) % state.every == 0:
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
            totals[SQUARES] *= (totals[COUNT] - size) / totals[COUNT]
            totals[COUNT] -= size
            totals[SUM] -= carried
            return


@helper
def _cut_somewhere(buckets: FloatArray, filled: IntArray, totals: FloatArray, log_level: float, cut: int) -> bool:
    """Return whether |μ̂_old − μ̂_new| ≥ ε_cut where the samples are cut between two buckets."""
    n, total = totals[COUNT], totals[SUM]
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


def forget_adwin(state: ADWINState, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    for i in forgotten(arm, state.totals.shape[0]):
        for row in range(state.filled.shape[1]):  # not [:] = 0, which takes a second to compile
            for j in range(state.filled[i, row]):
                state.buckets[i, row, j] = 0.0
            state.filled[i, row] = 0
        for j in range(state.totals.shape[1]):
            state.totals[i, j] = 0.0


detection(ADWINState, watch_adwin, forget_adwin)


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
        positive("delta", self.delta, below=1, hint="the source takes 1/T^3")
        choice("cut", self.cut, CUTS)
        positive_int("every", self.every)
        positive_int("per_row", self.per_row, least=2)

    def new_state(self, n_arms: int) -> ADWINState:
        """The state before the first round."""
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
