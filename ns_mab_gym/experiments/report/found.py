"""What one world shows about a claim, in the words of the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..claims import Finding, Judged, Judgement, Verdict
from ..readings import Choice
from .kept_texts import pieces_of
from .marks import MARKS, Mark
from .switches import Switch

__all__ = ["Deciding", "Found", "Under", "against_in_words", "comparisons_in_words", "found_of"]

MOST_EXCEPTIONS = 12


@dataclass(frozen=True)
class Under:
    """What one reading of a choice gives; where a choice does not decide alone, with the other readings it needs."""

    reading: str
    mark: Mark
    pieces: list[str]


@dataclass(frozen=True)
class Deciding:
    """A choice on which a verdict depends.

    Attributes:
        switch: the choice.
        under: what each of its readings gives, as near to the first readings as its verdicts differ.
    """

    switch: Switch
    under: list[Under]


@dataclass(frozen=True)
class Said:
    """What a number of runs says about a claim, over all readings.

    Attributes:
        mark: the verdict.
        words: the verdict in words, which tell what is never refuted from what is.
        runs: the number of runs.
        deciding: the choices on which the verdict depends.
        first: the verdict under the first reading of every choice.
        pieces: the figures measured under it, in pieces that together form one text.
    """

    mark: Mark
    words: str
    runs: int
    deciding: list[Deciding]
    first: Mark
    pieces: list[str]

    @property
    def title(self) -> str:
        """The verdict in full, with every question on which it depends."""
        questions = " ".join(each.switch.choice.question for each in self.deciding)
        return f"{self.words}: {questions}" if questions else self.words

    @property
    def short(self) -> str:
        """The verdict in a few words."""
        return self.words if self.deciding else self.mark.short


@dataclass(frozen=True)
class Found:
    """What one world shows about a claim.

    Attributes:
        number: the place of the judged claim among all.
        world: the world's label.
        said_of: the label of the world of which the paper says it, if the test on this one is ours; else empty.
        now: what the paper's number of runs says.
        later: what more runs say, where there are any.
        instead: what the runs show instead, if the claim does not hold under the first readings.
        comparisons: how many of the paired comparisons are true, open and false, and which are listed.
        against: those that contradict the claim, or leave it open.
    """

    number: int
    world: str
    said_of: str
    now: Said
    later: Said | None
    instead: str
    comparisons: str
    against: list[str]


def found_of(number: int, judged: Judged, switches: Mapping[Choice, Switch]) -> Found:
    """What the page says about a judged claim when all readings count."""
    finding = judged.now.finding
    return Found(
        number=number,
        world=judged.world,
        said_of=judged.claim.said_of,
        now=_said(judged.now, switches),
        later=None if judged.later is None else _said(judged.later, switches),
        instead=finding.instead if finding.verdict is Verdict.FAILS else "",
        comparisons=comparisons_in_words(finding),
        against=against_in_words(finding),
    )


def _said(judgement: Judgement, switches: Mapping[Choice, Switch]) -> Said:
    finding = judgement.finding
    deciding = [_deciding(judgement, switches[choice]) for choice in judgement.deciding]
    return Said(
        mark=MARKS[judgement.verdict],
        words=judgement.words,
        runs=judgement.runs,
        deciding=deciding,
        first=MARKS[finding.verdict],
        pieces=pieces_of(f"{finding.figures}."),
    )


def _deciding(judgement: Judgement, switch: Switch) -> Deciding:
    """Readings of one choice that give different verdicts, each named with the others that differ from the first."""
    found = judgement.example(switch.choice).items()
    under = [
        Under(judgement.in_words(readings, switch.choice), MARKS[finding.verdict], pieces_of(f"{finding.figures}."))
        for readings, finding in found
    ]
    return Deciding(switch, under)


def comparisons_in_words(finding: Finding) -> str:
    """How many of the paired comparisons are true, open and false, and what the list of exceptions has, if any."""
    answers = [test.answer for test in finding.tests]
    counts = ((answers.count(answer), word) for answer, word in ((True, "true"), (None, "open"), (False, "false")))
    parts = [f"Paired comparisons: {', '.join(f'{count} {word}' for count, word in counts)}"] if answers else []
    if finding.exceptions:
        parts.append("against the claim" if any(test.answer is False for test in finding.exceptions) else "open")
    return "; ".join(parts)


def against_in_words(finding: Finding) -> list[str]:
    """The tests that contradict a claim or leave it open: the first twelve, and how many more there are."""
    shown = [str(test) for test in finding.exceptions[:MOST_EXCEPTIONS]]
    more = len(finding.exceptions) - len(shown)
    return [*shown, f"and {more} more"] if more else shown
