"""The claims on the page: verdicts, their counts, the figures behind them, and the data of the switches."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..claims.judging import RULE, Choice, Finding, Judged, Judgement, Untested, Verdict
from ..studies.tables import json_text


class Mark(NamedTuple):
    """A verdict as the page shows it.

    Attributes:
        kind: the CSS class that colours it.
        sign: in a word, for the table at a glance.
        short: in two or three words.
        full: in full.
        singular: what one claim does, after the number.
        plural: what several claims do, or none.
    """

    kind: str
    sign: str
    short: str
    full: str
    singular: str
    plural: str


MARKS = {
    Verdict.HOLDS: Mark("holds", "holds", "holds", Verdict.HOLDS.value, "holds", "hold"),
    Verdict.FAILS: Mark("fails", "no", "does not hold", Verdict.FAILS.value, "does not hold", "do not hold"),
    Verdict.UNDECIDED: Mark("undecided", "open", "undecided", Verdict.UNDECIDED.value, "is open", "are open"),
    Verdict.DEPENDS: Mark(
        "depends", "depends", "depends", Verdict.DEPENDS.value, "depends on the reading", "depend on the reading"
    ),
}


@dataclass(frozen=True)
class Switch:
    """A choice that the reader of the page can make.

    Attributes:
        anchor: the id of the place where its readings are explained.
        choice: what is left open.
    """

    anchor: str
    choice: Choice

    @property
    def about_agents(self) -> bool:
        """True for choices of agents or of their tuning, False for those of what a sentence means."""
        return bool(self.choice.agent) or self.choice.compares

    def data(self, labels: Collection[str]) -> dict[str, Any]:
        """The data of the page's script: the label of each of the agents concerned under each reading.

        Args:
            labels: the labels of all agents under their first readings.
        """
        choice, concerned = self.choice, [label for label in labels if self.choice.concerns(label)]
        return {
            "key": choice.key,
            "readings": [reading.name for reading in choice.readings],
            "labels": {label: [choice.label(reading, label) for reading in choice.readings] for label in concerned},
            "shown": [reading.value for reading in choice.readings] if choice.compares else [],
        }


def switches_of(judged: Sequence[Judged]) -> list[Switch]:
    """A switch for each choice of the claims, those about agents first."""
    choices = dict.fromkeys(choice for each in judged for choice in each.claim.choices)
    ordered = sorted(choices, key=lambda choice: not (choice.agent or choice.compares))
    return [Switch(f"choice-{place}", choice) for place, choice in enumerate(ordered)]


MOST_EXCEPTIONS = 12
ENDS = re.compile(r"(?<=[,;:.]) ")  # of pieces of a list of figures; no number has a space


@dataclass(frozen=True)
class Under:
    """The verdict of one reading of a choice; of several readings, where the choice does not decide alone."""

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
    """The verdict of a number of runs on a claim, over all readings.

    Attributes:
        mark: the verdict.
        words: the verdict in words, which differ between claims that no reading refutes and others.
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
    """The verdicts on a claim on one world, with the figures behind them.

    Attributes:
        number: the place of the judged claim among all.
        world: the world's label.
        said_of: the label of the world of which the paper says it, if the test on this one is ours; else empty.
        now: the verdict of the paper's number of runs.
        later: the verdict of more runs, where there are any.
        instead: the result instead, if the claim does not hold under the first readings.
        comparisons: the numbers of paired comparisons that are true, open and false, and which are listed.
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


def pieces_of(text: str) -> list[str]:
    """The pieces of a text, each of which is kept on one line; joined by spaces they are the text again.

    >>> pieces_of("a 1,200 ± 3, b 2 ± 1; c")
    ['a 1,200 ± 3,', 'b 2 ± 1;', 'c']
    """
    return ENDS.split(text)


def found_of(number: int, judged: Judged, switches: Mapping[Choice, Switch]) -> Found:
    """A judged claim on the page when all readings count."""
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
    finding, deciding = judgement.finding, []
    for choice in judgement.deciding:  # readings that give different verdicts, named with others than the first
        under = [
            Under(judgement.in_words(readings, choice), MARKS[each.verdict], pieces_of(f"{each.figures}."))
            for readings, each in judgement.example(choice).items()
        ]
        deciding.append(Deciding(switches[choice], under))
    return Said(
        mark=MARKS[judgement.verdict],
        words=judgement.words,
        runs=judgement.runs,
        deciding=deciding,
        first=MARKS[finding.verdict],
        pieces=pieces_of(f"{finding.figures}."),
    )


def comparisons_in_words(finding: Finding) -> str:
    """The numbers of paired comparisons that are true, open and false, and what the list of exceptions has, if any."""
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


ORDER = list(Verdict)


def reading_data(judged: Sequence[Judged], switches: Sequence[Switch], labels: Collection[str]) -> dict[str, Any]:
    """The data of the page's script: switches, verdicts in words, and the findings under every combination of readings.

    A combination of readings is the number of each choice's reading, in the order of the judgement's choices; ``of``
    has the place of its finding among ``findings``, the last choice changing fastest.

    Args:
        judged: the claims.
        switches: a switch for each of their choices.
        labels: the labels of all agents under their first readings.
    """
    places = {switch.choice: place for place, switch in enumerate(switches)}
    return {
        "switches": [switch.data(labels) for switch in switches],
        "marks": [MARKS[verdict]._asdict() for verdict in ORDER],
        "judged": [
            [None if judgement is None else _judgement(judgement, places) for judgement in (each.now, each.later)]
            for each in judged
        ],
    }


def _judgement(judgement: Judgement, places: Mapping[Choice, int]) -> dict[str, Any]:
    """A judgement; a finding that several combinations share is stored once."""
    numbers: dict[tuple[int, str], int] = {}
    findings: list[dict[str, Any]] = []
    of: list[int] = []
    for readings, finding in judgement.findings.items():
        test = judgement.tests[readings]
        number = numbers.setdefault((id(finding), test), len(numbers))
        if number == len(findings):
            findings.append(
                {
                    "verdict": ORDER.index(finding.verdict),
                    "test": test,
                    "figures": finding.figures,
                    "instead": finding.instead if finding.verdict is Verdict.FAILS else "",
                    "comparisons": comparisons_in_words(finding),
                    "against": against_in_words(finding),
                }
            )
        of.append(number)
    return {
        "choices": [places[choice] for choice in judgement.choices],
        "runs": judgement.runs,
        "verdict": ORDER.index(judgement.verdict),
        "of": of if len(findings) > 1 else [],
        "findings": findings,
    }


@dataclass(frozen=True)
class Count:
    """The number of claims with a verdict."""

    mark: Mark
    number: int

    @property
    def words(self) -> str:
        """The verdict as it stands after the number."""
        return self.mark.singular if self.number == 1 else self.mark.plural


@dataclass(frozen=True)
class ClaimRow:
    """A sentence of the paper, the test that decides it, and what each world shows, by the world's label."""

    anchor: str
    key: str
    quote: str
    tests: list[str]
    found: dict[str, Found]


@dataclass(frozen=True)
class Verdicts:
    """All claims, the worlds that they are about, and how many claims hold.

    Attributes:
        total: how many sentences were put to the test, counted once for each world.
        counts: how many of them have each verdict.
        runs: the number of runs, as text.
        again: how many were judged again by more runs.
        counts_again: how many of these have each verdict then.
        more_runs: the number of those runs, as text; empty if there are none.
        worlds: the labels of the worlds.
        claims: the claims.
        ours: whether the paper says some of them of another world.
    """

    total: int
    counts: list[Count]
    runs: str
    again: int
    counts_again: list[Count]
    more_runs: str
    worlds: list[str]
    claims: list[ClaimRow]
    ours: bool


def verdicts_of(judged: Sequence[Judged], switches: Sequence[Switch]) -> Verdicts:
    """The judged claims, grouped by claim and then by world."""
    again = [each.later for each in judged if each.later is not None]
    by_choice = {switch.choice: switch for switch in switches}
    rows: dict[str, ClaimRow] = {}
    for number, each in enumerate(judged):
        claim = each.claim
        row = rows.setdefault(claim.key, ClaimRow(f"claim-{len(rows)}", claim.key, claim.quote, [], {}))
        row.found[each.world] = found_of(number, each, by_choice)
        if each.now.test not in row.tests:
            row.tests.append(each.now.test)
    return Verdicts(
        total=len(judged),
        counts=_counts(each.verdict for each in judged),
        runs=_several(each.now.runs for each in judged),
        again=len(again),
        counts_again=_counts(each.verdict for each in again),
        more_runs=_several(each.runs for each in again),
        worlds=list(dict.fromkeys(each.world for each in judged)),
        claims=list(rows.values()),
        ours=any(each.claim.said_of for each in judged),
    )


def _counts(verdicts: Iterable[Verdict]) -> list[Count]:
    counted = Counter(verdicts)
    return [Count(mark, counted[verdict]) for verdict, mark in MARKS.items()]


def _several(runs: Iterable[int]) -> str:
    """Numbers of runs as text; claims that are decided without runs have none.

    >>> _several([50, 0, 500, 50])
    '50, 500'
    """
    return ", ".join(f"{count:,}" for count in sorted(set(runs) - {0}))


def claims_markdown(
    judged: Sequence[Judged], untested: Sequence[Untested], not_taken: Sequence[str], notes: Sequence[str]
) -> bytes:
    """All claims, then the readings, those that were not taken, the sentences that were not tested, and notes."""
    lines = ["# The paper's claims and what the runs show", "", RULE, ""]
    for each in judged:
        lines += [*_claim(each), ""]
    lines += [
        "## Readings",
        "",
        "What the paper leaves open, and the fair ways to read it; the first is the headline's.",
        "",
    ]
    for choice in dict.fromkeys(choice for each in judged for choice in each.claim.choices):
        lines += [f"- **{choice.key}**: {choice.question}"]
        lines += [f"  - *{reading.name}*: {reading.why}." for reading in choice.readings]
    lines += ["", "Readings that were not taken:", "", *(f"- {each}" for each in not_taken), ""]
    lines += [
        "## Sentences that runs cannot decide",
        "",
        *(f"- “{each.quote}”: {each.reason}." for each in untested),
        "",
    ]
    lines += ["## Notes", "", *(f"- {note}" for note in notes), ""]
    return "\n".join(lines).encode()


def _claim(judged: Judged) -> Iterator[str]:
    now, finding = judged.now, judged.now.finding
    said = f" (said of {judged.claim.said_of}; the test on this world is ours)" if judged.claim.said_of else ""
    yield f"## {judged.world}: {judged.claim.key}: **{judged.now.words}**"
    yield from ("", f"> {judged.claim.quote}{said}", "", f"Test: {now.test}.", "", f"Measured: {finding.figures}.")
    if finding.verdict is Verdict.FAILS and finding.instead:
        yield from ("", f"Instead: {finding.instead}.")
    if finding.exceptions:
        title = "Against it:" if any(test.answer is False for test in finding.exceptions) else "Open:"
        yield from ("", title, "", *(f"- {test}" for test in finding.exceptions))
    if now.verdict is Verdict.DEPENDS:
        yield from ("", *_depends(now))
    if (later := judged.later) is not None:
        yield from ("", f"With {later.runs} runs: **{later.words}**. {later.finding.figures}.")
        if later.verdict is Verdict.DEPENDS:
            yield from ("", *_depends(later))


def _depends(judgement: Judgement) -> Iterator[str]:
    """On which choices a verdict depends, and for each of them readings of it alone that give different verdicts."""
    first = next(iter(judgement.findings))
    headline = ", ".join(f"*{reading.name}*" for reading in first)
    yield f"It depends on: {' '.join(choice.question for choice in judgement.deciding)}"
    yield ""
    yield f"- headline ({headline}): **{judgement.finding.verdict.value}**"
    for choice in judgement.deciding:
        for readings, finding in judgement.example(choice).items():
            words = judgement.in_words(readings, choice)
            yield f"- {choice.key}: *{words}*: **{finding.verdict.value}**. {finding.figures}."


WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "do not",
    Verdict.UNDECIDED: "undecided",
    Verdict.DEPENDS: "depend on the reading",
}


def claims_json(judged: Sequence[Judged]) -> bytes:
    """Every claim with its verdict under every reading, and every paired test behind the first one."""
    rows = [
        {
            "world": each.world,
            "claim": each.claim.key,
            "quote": each.claim.quote,
            "said_of": each.claim.said_of,
            **_judgement_values(each.now),
            "instead": each.now.finding.instead if each.verdict is Verdict.FAILS else "",
            "comparisons": [dataclasses.asdict(test) for test in each.now.finding.tests],
            "more_runs": None if each.later is None else _judgement_values(each.later),
        }
        for each in judged
    ]
    return f"{json_text(rows, indent=1)}\n".encode()


def _judgement_values(judgement: Judgement) -> dict[str, Any]:
    """A judgement as plain values: the first reading's test and figures, and the verdict of every combination."""
    return {
        "runs": judgement.runs,
        "verdict": judgement.verdict.value,
        "depends_on": [choice.key for choice in judgement.deciding],
        "test": judgement.test,
        "figures": judgement.finding.figures,
        "readings": [
            {
                **{choice.key: reading.name for choice, reading in zip(judgement.choices, readings, strict=True)},
                "verdict": finding.verdict.value,
                "figures": finding.figures,
            }
            for readings, finding in judgement.findings.items()
        ],
    }


def verdict_lines(judged: Sequence[Judged]) -> list[str]:
    """The verdicts in a few lines: for each world the counts, and the claims that do not hold."""
    lines = []
    for world in dict.fromkeys(each.world for each in judged):
        here = [each for each in judged if each.world == world]
        counts = Counter(each.verdict for each in here)
        numbers = ", ".join(f"{counts[verdict]} {WORDS[verdict]}" for verdict in Verdict)
        fails = [each.claim.key for each in here if each.verdict is Verdict.FAILS]
        lines.append(f"{world}: {numbers}")
        if fails:
            lines.append(f"    does not hold: {'; '.join(fails)}")
    return lines
