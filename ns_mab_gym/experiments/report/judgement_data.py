"""What the script of the page knows of claims: the finding under every combination of readings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..claims import Finding, Judged, Judgement, Verdict
from ..readings import Choice
from .found import against_in_words, comparisons_in_words
from .kept_texts import KeptTexts
from .marks import MARKS
from .switches import Switch

__all__ = ["reading_data"]

ORDER = list(Verdict)


def reading_data(judged: Sequence[Judged], switches: Sequence[Switch], labels: Collection[str]) -> dict[str, Any]:
    """The switches, the verdicts in words, and every judgement with its texts as numbers.

    A combination of readings is the number of each choice's reading, in the order of the judgement's choices; ``of``
    has the place of its finding among ``findings``, the last choice changing fastest.

    Args:
        judged: the claims.
        switches: a switch for each of their choices.
        labels: the labels of all agents under their first readings.
    """
    kept, places = KeptTexts(), {switch.choice: place for place, switch in enumerate(switches)}
    judgements = [
        [_judgement(each.now, places, kept), None if each.later is None else _judgement(each.later, places, kept)]
        for each in judged
    ]
    return {
        "switches": [switch.data(labels) for switch in switches],
        "marks": [MARKS[verdict]._asdict() for verdict in ORDER],
        "judged": judgements,
        **kept.data(),
    }


def _judgement(judgement: Judgement, places: dict[Choice, int], kept: KeptTexts) -> dict[str, Any]:
    """A judgement; a finding that several combinations share is stored once."""
    numbers: dict[tuple[int, str], int] = {}
    findings: list[list[Any]] = []
    of: list[int] = []
    for readings, finding in judgement.findings.items():
        words = judgement.tests[readings]
        number = numbers.setdefault((id(finding), words), len(numbers))
        if number == len(findings):
            findings.append(_finding(finding, words, kept))
        of.append(number)
    return {
        "choices": [places[choice] for choice in judgement.choices],
        "runs": judgement.runs,
        "verdict": ORDER.index(judgement.verdict),
        "of": of if len(findings) > 1 else [],
        "findings": findings,
    }


def _finding(finding: Finding, words: str, kept: KeptTexts) -> list[Any]:
    """The verdict, and the numbers of its texts: test, figures, what holds instead, comparisons, those against it."""
    instead = finding.instead if finding.verdict is Verdict.FAILS else ""
    texts = (words, finding.figures, instead, comparisons_in_words(finding))
    against = [kept.keep(each) for each in against_in_words(finding)]
    return [ORDER.index(finding.verdict), *(kept.keep(text) for text in texts), against]
