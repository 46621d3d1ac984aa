"""The claims on the page: verdicts, their counts, the figures behind them, and the data of the switches."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..claims.judging import FURTHER_RULE, RULE, Choice, Finding, Judged, Judgement, Untested, Verdict
from ..studies.tables import json_text


class Mark(NamedTuple):
    """A verdict as the page shows it.

    Attributes:
        kind: the CSS class that colours it.
        short: in one to three words.
        singular: what one claim does, after the number.
        plural: what several claims do, or none.
    """

    kind: str
    short: str
    singular: str
    plural: str


MARKS = {
    Verdict.HOLDS: Mark("holds", "holds", "holds", "hold"),
    Verdict.FAILS: Mark("fails", "does not hold", "does not hold", "do not hold"),
    Verdict.UNDECIDED: Mark("undecided", "undecided", "is undecided", "are undecided"),
    Verdict.DEPENDS: Mark("depends", "depends", "depends on the reading", "depend on the reading"),
}
ORDER = list(MARKS)
HEADLINE = (
    "The verdict of a sentence is that of its headline reading, the first of each choice. Beside it stands whether the "
    "other readings agree, or on which choices it depends."
)
HEADLINE_RULE = (
    "The first reading is the headline's. It is chosen by one rule, whatever the verdict: what the paper says of it "
    "elsewhere, or the source or code to which it refers for it; else the plain sense of the sentence, with nothing "
    "added and nothing left out; else, where words leave a size open, the middle one of three."
)
MOST_EXCEPTIONS = 12
ENDS = re.compile(r"(?<=[,;:.]) ")  # of pieces of a list of figures; no number has a space


def choices_of(judged: Sequence[Judged]) -> list[Choice]:
    """The choices of the claims: of agents and of their tuning first, then of what a sentence means."""
    choices = dict.fromkeys(choice for each in judged for choice in each.claim.choices)
    return sorted(choices, key=lambda choice: not (choice.agent or choice.compares))


def headline_reading(judgement: Judgement) -> str:
    """The reading of each choice that decides the headline, as text; empty where nothing is left open."""
    return "; ".join(f"{key}: {name}" for key, name in judgement.headline_reading.items())


def pieces_of(text: str) -> list[str]:
    """The pieces of a text, each of which is kept on one line; joined by spaces they are the text again.

    >>> pieces_of("a 1,200 ± 3, b 2 ± 1; c")
    ['a 1,200 ± 3,', 'b 2 ± 1;', 'c']
    """
    return ENDS.split(text)


def finding_data(finding: Finding) -> dict[str, Any]:
    """A finding as plain values.

    ``comparisons`` counts the paired comparisons that are true, undecided and false. ``against`` lists those that
    contradict the claim, or leave it undecided: the first twelve, and how many more there are.
    """
    answers = [test.answer for test in finding.tests]
    counts = ((answers.count(answer), word) for answer, word in ((True, "true"), (None, "undecided"), (False, "false")))
    parts = [f"Paired comparisons: {', '.join(f'{count} {word}' for count, word in counts)}"] if answers else []
    if finding.exceptions:
        parts.append("against the claim" if any(test.answer is False for test in finding.exceptions) else "undecided")
    more = len(finding.exceptions) - MOST_EXCEPTIONS
    return {
        "verdict": ORDER.index(finding.verdict),
        "figures": finding.figures,
        "instead": finding.instead if finding.verdict is Verdict.FAILS else "",
        "comparisons": "; ".join(parts),
        "against": [*map(str, finding.exceptions[:MOST_EXCEPTIONS]), *([f"and {more} more"] if more > 0 else [])],
    }


def reading_data(judged: Sequence[Judged], choices: Sequence[Choice], labels: Collection[str]) -> dict[str, Any]:
    """The data of the page's script: switches, verdicts in words, and the findings under every combination of readings.

    A switch has the label of each of the agents concerned under each reading. A combination of readings is the number
    of each choice's reading, in the order of the judgement's choices; ``of`` has the place of its finding among
    ``findings``, the last choice changing fastest.

    Args:
        judged: the claims.
        choices: what they leave open; there is a switch for each.
        labels: the labels of all agents under their first readings.
    """
    places = {choice: place for place, choice in enumerate(choices)}
    return {
        "switches": [
            {
                "key": choice.key,
                "readings": [reading.name for reading in choice.readings],
                "labels": {
                    label: [choice.label(reading, label) for reading in choice.readings]
                    for label in labels
                    if choice.concerns(label)
                },
                "shown": [reading.value for reading in choice.readings] if choice.compares else [],
            }
            for choice in choices
        ],
        "marks": [mark._asdict() | {"full": verdict.value} for verdict, mark in MARKS.items()],
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
            findings.append(finding_data(finding) | {"test": test})
        of.append(number)
    return {
        "choices": [places[choice] for choice in judgement.choices],
        "runs": judgement.runs,
        "verdict": ORDER.index(judgement.verdict),
        "of": of if len(findings) > 1 else [],
        "findings": findings,
    }


def verdicts_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """The judged claims for the page, grouped by claim and then by world.

    ``total`` sentences were judged by ``runs``, and ``again`` of them by ``more_runs``; ``counts`` and ``counts_again``
    say how many have each verdict by the headline, and how many depend on the reading. ``found`` of a claim has the
    number of the judged claim beside it, by world.
    """
    again = [each.later for each in judged if each.later is not None]
    claims: dict[str, dict[str, Any]] = {}
    for number, each in enumerate(judged):
        row = claims.setdefault(
            each.claim.key,
            {"claim": each.claim, "tests": {}, "found": {}, "headline_reading": headline_reading(each.now)},
        )
        row["found"][each.world] = number, each
        row["tests"][each.now.test] = None  # said once for all worlds, unless they differ
    return {
        "total": len(judged),
        "counts": _counts([each.now for each in judged]),
        "runs": _several(each.now.runs for each in judged),
        "again": len(again),
        "counts_again": _counts(again),
        "more_runs": _several(each.runs for each in again),
        "worlds": list(dict.fromkeys(each.world for each in judged)),
        "claims": list(claims.values()),
        "ours": any(each.claim.said_of for each in judged),
    }


def _counted(judgements: Collection[Judgement]) -> Counter[Verdict]:
    """The number of each verdict by the headline, and of those that depend on the reading, which are among them."""
    counted = Counter(each.headline for each in judgements)
    counted[Verdict.DEPENDS] = sum(each.verdict is Verdict.DEPENDS for each in judgements)
    return counted


def _counts(judgements: Collection[Judgement]) -> list[tuple[Mark, int]]:
    counted = _counted(judgements)
    return [(mark, counted[verdict]) for verdict, mark in MARKS.items()]


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
    lines = ["# The paper's claims and what the runs show", "", HEADLINE, "", RULE, ""]
    if any(each.later is not None for each in judged):
        lines += [FURTHER_RULE, ""]
    for each in judged:
        lines += [*_claim(each), ""]
    left_open = f"What the paper leaves open, and the fair ways to read it. {HEADLINE_RULE}"
    lines += ["## Readings", "", left_open, ""]
    for choice in dict.fromkeys(choice for each in judged for choice in each.claim.choices):
        lines += [f"- **{choice.key}**: {choice.question}"]
        lines += [f"  - *{reading.name}*: {reading.why}." for reading in choice.readings]
    lines += ["", "Readings that were not taken:", "", *(f"- {each}" for each in not_taken), ""]
    sentences = [f"- “{each.quote}”: {each.reason}." for each in untested]
    lines += ["## Sentences that runs cannot decide", "", *sentences, ""]
    lines += ["## Notes", "", *(f"- {note}" for note in notes), ""]
    return "\n".join(lines).encode()


def _claim(judged: Judged) -> Iterator[str]:
    now, finding = judged.now, judged.now.finding
    said = f" (said of {judged.claim.said_of}; the test on this world is ours)" if judged.claim.said_of else ""
    yield f"## {judged.world}: {judged.claim.key}: **{judged.now.words}**"
    yield from ("", f"> {judged.claim.quote}{said}", "", f"Test: {now.test}.", "")
    if headline := headline_reading(now):
        yield from (f"Headline reading: {headline}.", "")
    yield f"Measured: {finding.figures}."
    if finding.verdict is Verdict.FAILS and finding.instead:
        yield from ("", f"Instead: {finding.instead}.")
    if finding.exceptions:
        title = "Against it:" if any(test.answer is False for test in finding.exceptions) else "Undecided:"
        yield from ("", title, "", *(f"- {test}" for test in finding.exceptions))
    if now.verdict is Verdict.DEPENDS:
        yield from ("", *_depends(now))
    if (later := judged.later) is not None:
        yield from ("", f"With {later.runs} runs: **{later.words}**. {later.finding.figures}.")
        if later.verdict is Verdict.DEPENDS:
            yield from ("", *_depends(later))


def _depends(judgement: Judgement) -> Iterator[str]:
    """On which choices a verdict depends, and for each of them readings of it alone that give different verdicts."""
    yield f"It depends on: {' '.join(choice.question for choice in judgement.deciding)}"
    yield ""
    for choice in judgement.deciding:
        for readings, finding in judgement.example(choice).items():
            words = judgement.in_words(readings, choice)
            yield f"- {choice.key}: *{words}*: **{finding.verdict.value}**. {finding.figures}."


WORDS = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "do not hold",
    Verdict.UNDECIDED: "undecided",
    Verdict.DEPENDS: "of these depend on the reading",
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
            "instead": each.now.finding.instead if each.now.headline is Verdict.FAILS else "",
            "comparisons": [dataclasses.asdict(test) for test in each.now.finding.tests],
            "more_runs": None if each.later is None else _judgement_values(each.later),
        }
        for each in judged
    ]
    return f"{json_text(rows, indent=1)}\n".encode()


def _judgement_values(judgement: Judgement) -> dict[str, Any]:
    """A judgement as plain values: the headline's verdict, test and figures, and the verdict of every combination.

    ``verdict`` is the one that all readings share; "depends on the reading" where there is none.
    """
    return {
        "runs": judgement.runs,
        "headline": judgement.headline.value,
        "headline_reading": judgement.headline_reading,
        "others": judgement.others,
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
    """The verdicts in a few lines: for each world the counts by the headline, and the claims that do not hold."""
    lines = []
    for world in dict.fromkeys(each.world for each in judged):
        here = [each for each in judged if each.world == world]
        counts = _counted([each.now for each in here])
        numbers = ", ".join(f"{counts[verdict]} {WORDS[verdict]}" for verdict in Verdict)
        fails = [each.claim.key for each in here if each.now.headline is Verdict.FAILS]
        lines.append(f"{world}: {numbers}")
        if fails:
            lines.append(f"    does not hold: {'; '.join(fails)}")
    return lines
