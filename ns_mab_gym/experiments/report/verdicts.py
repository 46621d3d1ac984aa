"""What the page says about claims: an overview, and each claim with the figures that decided it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..claims import Finding, Judged, Verdict

__all__ = ["ClaimRow", "Found", "Verdicts", "verdicts_of"]

KINDS = {Verdict.HOLDS: "holds", Verdict.FAILS: "fails", Verdict.UNDECIDED: "undecided"}  # CSS classes
SIGNS = {Verdict.HOLDS: "holds", Verdict.FAILS: "no", Verdict.UNDECIDED: "open"}
SHORT = {Verdict.HOLDS: "holds", Verdict.FAILS: "does not hold", Verdict.UNDECIDED: "undecided"}
MOST_EXCEPTIONS = 12


@dataclass(frozen=True)
class Found:
    """What one world shows about a claim.

    Attributes:
        world: its label.
        kind: the CSS class that colours the verdict.
        sign: the verdict in a word, for the table at a glance.
        short: the verdict in two or three words.
        verdict: the verdict in full.
        ours: whether the paper says it of another world, and the test on this one is ours.
        pieces: the measured figures, in pieces that together form one text.
        instead: what the runs show instead, if the claim does not hold.
        comparisons: how many of the paired comparisons are true; empty if there are none.
        against: those that contradict the claim.
    """

    world: str
    kind: str
    sign: str
    short: str
    verdict: str
    ours: bool
    pieces: list[str]
    instead: str
    comparisons: str
    against: list[str]


@dataclass(frozen=True)
class ClaimRow:
    """A sentence of the paper, the test that decides it, and what each world shows, by the world's label."""

    anchor: str
    key: str
    quote: str
    test: str
    found: dict[str, Found]


@dataclass(frozen=True)
class Verdicts:
    """All claims, the worlds that they are about, and how many claims hold."""

    total: int
    hold: int
    fail: int
    undecided: int
    worlds: list[str]
    claims: list[ClaimRow]


def verdicts_of(judged: Sequence[Judged]) -> Verdicts:
    """The judged claims, grouped by claim and then by world."""
    counts = Counter(each.finding.verdict for each in judged)
    return Verdicts(
        total=len(judged),
        hold=counts[Verdict.HOLDS],
        fail=counts[Verdict.FAILS],
        undecided=counts[Verdict.UNDECIDED],
        worlds=list(dict.fromkeys(each.world for each in judged)),
        claims=_rows(judged),
    )


def _rows(judged: Sequence[Judged]) -> list[ClaimRow]:
    rows: dict[str, ClaimRow] = {}
    for each in judged:
        claim = each.claim
        new = ClaimRow(f"claim-{len(rows)}", claim.key, claim.quote, claim.test, {})
        rows.setdefault(claim.key, new).found[each.world] = _found(each)
    return list(rows.values())


def _found(judged: Judged) -> Found:
    finding, verdict = judged.finding, judged.finding.verdict
    return Found(
        world=judged.world,
        kind=KINDS[verdict],
        sign=SIGNS[verdict],
        short=SHORT[verdict],
        verdict=verdict.value,
        ours=judged.claim.ours,
        pieces=re.split(r"(?<=,) ", f"{finding.figures}."),
        instead=finding.instead if verdict is Verdict.FAILS else "",
        comparisons=_comparisons(finding),
        against=_against(finding),
    )


def _comparisons(finding: Finding) -> str:
    true = sum(test.answer is True for test in finding.tests)
    return f"{true} of {len(finding.tests)} paired comparisons are true" if finding.tests else ""


def _against(finding: Finding) -> list[str]:
    """The tests that contradict a claim, as text: the first twelve, and how many more there are."""
    shown = [str(test) for test in finding.exceptions[:MOST_EXCEPTIONS]]
    more = len(finding.exceptions) - len(shown)
    return [*shown, f"and {more} more"] if more else shown
