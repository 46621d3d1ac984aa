"""The paired tests that decide claims, and their verdicts.

The rule is the same for every claim. A claim is a set of sentences "A has less regret than B", of which all must be
true, or some, or a certain number. Each is tested on the differences B − A of runs that share their luck, by 95 %
bootstrap-t intervals: its own, and a shared one that holds for all sentences together (from the largest t of all).
Where all must be true, a sentence is true by its own interval, because a claim that holds by luck would need luck in
every false sentence; it is false by the interval shared with all that are not true, because one false sentence is
enough, and one of many is easily false by luck. Where one true sentence is enough it is the other way round, and where
some must be counted the interval shared by all decides both. A sentence is true if the interval lies above the margin
(0 unless the claim says more), false if it lies below it, and open otherwise; with fewer than ten runs all are open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np
import numpy.typing as npt

from .intervals import Interval, intervals_of

__all__ = ["RULE", "Finding", "Pair", "Test", "Verdict", "equal", "less", "verdict_all"]

Floats = npt.NDArray[np.float64]
Needed = Literal["all", "any", "number"]

FEWEST_RUNS = 10
RULE = (  # for readers
    "A comparison “A against B” is about the difference B − A of runs that share their luck, with its own 95 % "
    "bootstrap-t interval, and one shared with other comparisons of the sentence. Where all comparisons must be true, "
    "one is true if its own interval lies above 0, or above the margin that the test names, and false if the interval "
    "shared by all that are not true lies below it. Where one comparison is enough, it is true by the shared interval "
    "and false by its own. Where they are counted, the interval shared by all decides. Agents whose first runs leave "
    "some sentence undecided are played further; every sentence about such agents alone is then judged again by all "
    "runs, the first ones included: a second look, at the same level."
)


class Verdict(Enum):
    """What the runs say about a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided at this number of runs"
    DEPENDS = "depends on the reading"


@dataclass(frozen=True, eq=False)
class Pair:
    """A sentence to test: ``left`` is less than ``right``, run by run."""

    left: str
    right: str
    left_values: Floats  # (R,)
    right_values: Floats  # (R,)
    where: str = ""


@dataclass(frozen=True)
class Test:
    """A tested sentence.

    Attributes:
        left: who should have less.
        right: who should have more.
        where: the rounds, or whatever else tells it from other sentences about the two.
        left_mean: the mean of the left one.
        right_mean: the mean of the right one.
        low: the lower end of its own interval of the difference right − left.
        high: the upper end.
        answer: whether it is true; None if it is open.
        shared: the interval that holds for all sentences together that are not settled by their own.
    """

    __test__ = False  # tells pytest that this is not a test class

    left: str
    right: str
    where: str
    left_mean: float
    right_mean: float
    low: float
    high: float
    answer: bool | None
    shared: Interval = (-np.inf, np.inf)

    def __str__(self) -> str:
        place = f" {self.where}" if self.where else ""
        together = f", with all others {_interval(self.shared)}" if self.shared != (self.low, self.high) else ""
        return (
            f"{self.left} {number(self.left_mean)} against {self.right} {number(self.right_mean)}{place} "
            f"(difference {number(self.right_mean - self.left_mean, '+')}, "
            f"interval {_interval((self.low, self.high))}{together})"
        )


def _interval(ends: Interval) -> str:
    return f"{number(ends[0], '+')} to {number(ends[1], '+')}"


def number(value: float, sign: str = "") -> str:
    """A value with as many places as it needs: regrets have none, rates of regret three."""
    return f"{value:{sign},.0f}" if abs(value) >= 10 else f"{value:{sign}.3g}"


@dataclass(frozen=True)
class Finding:
    """What was measured for a claim.

    Attributes:
        verdict: what the runs say.
        figures: the measured figures.
        tests: the sentences that were tested.
        exceptions: those that contradict the claim.
        instead: what the runs show where the claim does not hold.
    """

    verdict: Verdict
    figures: str
    tests: tuple[Test, ...] = ()
    exceptions: tuple[Test, ...] = ()
    instead: str = ""


def less(
    pairs: Sequence[Pair], margin: float = 0.0, *, scale: float | None = None, needed: Needed = "all"
) -> list[Test]:
    """Test that left is less than right, by more than a margin.

    Args:
        pairs: the sentences.
        margin: the margin as a share of left's mean, or of the scale.
        scale: what the margin is a share of; left's mean if None.
        needed: whether the claim needs "all" sentences to be true, "any" of them, or a "number" of them.
    """

    def answer(own: Interval, shared: Interval, base: float) -> bool | None:
        limit = margin * (base if scale is None else scale)
        true_by, false_by = _deciding(own, shared, needed)
        return True if true_by[0] > limit else False if false_by[1] < limit else None

    def settled(own: Interval, base: float) -> bool:
        limit = margin * (base if scale is None else scale)
        return (needed == "all" and own[0] > limit) or (needed == "any" and own[1] < limit)

    return _tests(pairs, answer, settled)


def equal(pairs: Sequence[Pair], margin: float, *, scale: float | None = None) -> list[Test]:
    """Test that left and right differ by less than a margin; all sentences are needed. See :func:`less`."""

    def answer(own: Interval, shared: Interval, base: float) -> bool | None:
        limit = margin * (base if scale is None else scale)
        inside = -limit < own[0] and own[1] < limit
        outside = shared[0] > limit or shared[1] < -limit
        return True if inside else False if outside else None

    def settled(own: Interval, base: float) -> bool:
        limit = margin * (base if scale is None else scale)
        return -limit < own[0] and own[1] < limit

    return _tests(pairs, answer, settled)


def _deciding(own: Interval, shared: Interval, needed: Needed) -> tuple[Interval, Interval]:
    """The interval by which a sentence is true, and that by which it is false."""
    return own if needed == "all" else shared, own if needed == "any" else shared


def _tests(
    pairs: Sequence[Pair],
    answer: Callable[[Interval, Interval, float], bool | None],
    settled: Callable[[Interval, float], bool],
) -> list[Test]:
    differences = [pair.right_values - pair.left_values for pair in pairs]
    enough = len(differences[0]) >= FEWEST_RUNS
    endless = [((-np.inf, np.inf), (-np.inf, np.inf))] * len(pairs)
    lefts = np.mean([pair.left_values for pair in pairs], axis=1).tolist()
    intervals = intervals_of(differences, lambda place, own: settled(own, lefts[place])) if enough else endless
    rights = np.mean([pair.right_values for pair in pairs], axis=1).tolist()
    return [
        Test(
            pair.left, pair.right, pair.where, left, right, *own, answer(own, shared, left) if enough else None, shared
        )
        for pair, left, right, (own, shared) in zip(pairs, lefts, rights, intervals, strict=True)
    ]


def verdict_all(answers: Sequence[bool | None]) -> Verdict:
    """The verdict on a claim all of whose sentences must be true: one that is false makes it fail."""
    if any(answer is False for answer in answers):
        return Verdict.FAILS
    return Verdict.HOLDS if all(answers) else Verdict.UNDECIDED
