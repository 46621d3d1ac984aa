"""The Bernoulli generalised likelihood ratio test for a change of an arm's mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.admission import admissible
from ..core.arguments import positive, positive_int
from ..core.kernel import COUNTABLE, FloatArray, detection, floor_within, helper, inlined
from ..core.knowledge import Knowledge
from .prefixes import COUNT, SUM, Prefixes, add_sample, forget_prefixes, keep_point, new_prefixes

__all__ = ["GLR", "GLRState", "check_level", "turn_rate"]

SLACK = 1.0 - 1e-9  # so that rounding never screens out a split that the test would have taken


class GLRState(NamedTuple):
    """Each arm's prefix sums, and the parameters of the test."""

    prefixes: Prefixes
    every: int
    splits: int
    log_level: float  # ln(factor/δ)


def watch(state: GLRState, arm: int, reward: float) -> bool:
    """Whether sup_s [s d(μ̂_{1:s}, μ̂_{1:n}) + (n − s) d(μ̂_{s+1:n}, μ̂_{1:n})] ≥ β(n, δ), for the arm's n samples."""
    points, kept = state.prefixes.points, state.prefixes.kept
    add_sample(points, kept, arm, reward)
    n = floor_within(points[arm, COUNT, kept[arm]], COUNTABLE)
    alarm = False
    if n % state.every == 0:
        alarm = _changed(points[arm], kept[arm], 1.5 * math.log(n) + state.log_level)
    if n % state.splits == 0:
        keep_point(points, kept, arm)
    return alarm


@inlined
def _changed(row: FloatArray, kept: int, beta: float) -> bool:
    """Whether the statistic reaches β at one of the kept split points.

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


def forget(state: GLRState, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    forget_prefixes(state.prefixes, arm)


detection(GLRState, watch, forget)


admissible(GLRState)


@dataclass(frozen=True)
class GLR:
    """The Bernoulli generalised likelihood ratio test, for rewards in [0, 1].

    After every ``every`` samples of an arm, its n samples since its restart are split at s = ``splits``,
    2 ``splits``, …; it sounds an alarm if s d(μ̂_{1:s}, μ̂_{1:n}) + (n − s) d(μ̂_{s+1:n}, μ̂_{1:n}) ≥ β(n, δ) =
    ln(factor n^{3/2}/δ) for one of them. Which splits are tried when an arm has more than ``memory`` × ``splits``
    samples: :class:`~ns_mab_gym.agents.parts.prefixes.Prefixes`. ``every=1, splits=1, memory=T + 1`` is the exact test.

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
        check_level("delta", self.delta, "the source takes 1/sqrt(T)")
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


def check_level(what: str, given: object, advice: str) -> float:
    """The given probability as a float, if it lies strictly between 0 and 1."""
    level = positive(what, given, hint=advice)
    if level >= 1:
        raise ValueError(f"{what} must lie between 0 and 1, both excluded, got {given!r}; {advice}")
    return level


def turn_rate(knowledge: Knowledge, agent: str) -> float:
    """α₁ = √(K ln T/T), at most 1: the share of forced exploration in the first episode of GLR-klUCB."""
    n_arms, horizon = knowledge.need(agent, "n_arms", "horizon")
    return min(1.0, math.sqrt(n_arms * math.log(horizon) / horizon))
