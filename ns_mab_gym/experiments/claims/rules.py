"""Claims, the paired tests that decide them, and their verdicts.

The rule is the same for every claim. A claim is a set of sentences "A has less regret than B"; each is tested on
the differences B − A of runs that share their luck, by a bootstrap-t interval that holds for all sentences of
the claim together (95 %, Bonferroni). A sentence is true if the interval lies above the margin (0 unless the claim says
more), false if it lies below it, open otherwise; with fewer than ten runs all are open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

from ...runs import Runs
from ..statistics import studentised_interval

__all__ = ["Claim", "Evidence", "Finding", "Judged", "Pair", "Test", "Verdict", "equal", "judge", "less", "verdict_all"]

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
FEWEST_RUNS = 10


class Verdict(Enum):
    """What the runs say about a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided at this number of runs"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the test of a claim about one world can use.

    Attributes:
        curves: the runs of each agent, by its label.
        means: (T, K)
        notes: what must be said wherever an agent's result is shown, by its label.
        elsewhere: the evidence of every world, by its label.
    """

    curves: Mapping[str, Runs]
    means: Floats
    notes: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, Evidence] = field(default_factory=dict)

    @property
    def horizon(self) -> int:
        """T."""
        return len(self.means)

    def name(self, label: str) -> str:
        """The label, with a star if something must be said wherever the agent's result is shown."""
        return f"{label}*" if self.notes.get(label) else label

    def round(self, paper: float) -> float:
        """The round that corresponds to one of the paper's, whose horizon is 50,000."""
        return paper * self.horizon / 50_000


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
    """A tested sentence: both means, the interval of the difference right − left, and the answer (None if open)."""

    __test__ = False  # tells pytest that this is not a test class

    left: str
    right: str
    where: str
    left_mean: float
    right_mean: float
    low: float
    high: float
    answer: bool | None

    def __str__(self) -> str:
        place = f" {self.where}" if self.where else ""
        return (
            f"{self.left} {self.left_mean:,.0f} against {self.right} {self.right_mean:,.0f}{place} "
            f"(difference {self.right_mean - self.left_mean:+,.0f}, interval {self.low:+,.0f} to {self.high:+,.0f})"
        )


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


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and the test that decides it.

    Attributes:
        key: a short name.
        quote: the paper's words.
        test: the deciding test, in words.
        decide: the deciding test, as a function.
        ours: whether the paper says it of another world, and the test on this one is ours.
    """

    key: str
    quote: str
    test: str
    decide: Callable[[Evidence], Finding]
    ours: bool = False


@dataclass(frozen=True)
class Judged:
    """A claim about a world and its finding."""

    claim: Claim
    world: str
    finding: Finding


def less(pairs: Sequence[Pair], margin: float = 0.0) -> list[Test]:
    """Test that left is less than right, by more than ``margin`` times left."""

    def answer(low: float, high: float, base: float) -> bool | None:
        return True if low > margin * base else False if high < margin * base else None

    return _tests(pairs, answer)


def equal(pairs: Sequence[Pair], margin: float) -> list[Test]:
    """Test that left and right differ by less than ``margin`` times left."""

    def answer(low: float, high: float, base: float) -> bool | None:
        inside = -margin * base < low and high < margin * base
        outside = low > margin * base or high < -margin * base
        return True if inside else False if outside else None

    return _tests(pairs, answer)


def _tests(pairs: Sequence[Pair], answer: Callable[[float, float, float], bool | None]) -> list[Test]:
    differences = np.stack([pair.right_values - pair.left_values for pair in pairs], axis=1)  # (R, M)
    enough = len(differences) >= FEWEST_RUNS
    endless = np.full(len(pairs), np.inf)
    lows, highs = studentised_interval(differences, (1 - LEVEL) / 2 / len(pairs)) if enough else (-endless, endless)
    return [
        Test(
            pair.left,
            pair.right,
            pair.where,
            base := float(pair.left_values.mean()),
            float(pair.right_values.mean()),
            float(low),
            float(high),
            answer(low, high, base) if enough else None,
        )
        for pair, low, high in zip(pairs, lows, highs, strict=True)
    ]


def verdict_all(answers: Sequence[bool | None]) -> Verdict:
    """The verdict on a claim all of whose sentences must be true: one that is false makes it fail."""
    if any(answer is False for answer in answers):
        return Verdict.FAILS
    return Verdict.HOLDS if all(answers) else Verdict.UNDECIDED


def judge(claims: Mapping[str, Sequence[Claim]], evidence: Mapping[str, Evidence]) -> list[Judged]:
    """Decide the claims about each world."""
    return [Judged(claim, world, claim.decide(evidence[world])) for world, about in claims.items() for claim in about]
