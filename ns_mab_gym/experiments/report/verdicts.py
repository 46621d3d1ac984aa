"""What the page says about claims: counts, an overview, and each claim with the figures that decided it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..claims import Judged, Verdict
from .found import Found, found_of
from .marks import MARKS, Mark
from .switches import Switch

__all__ = ["ClaimRow", "Count", "Verdicts", "verdicts_of"]


@dataclass(frozen=True)
class Count:
    """How many claims have a verdict."""

    mark: Mark
    number: int

    @property
    def words(self) -> str:
        """What they do, after their number."""
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
    return Verdicts(
        total=len(judged),
        counts=_counts(each.verdict for each in judged),
        runs=_several(each.now.runs for each in judged),
        again=len(again),
        counts_again=_counts(each.verdict for each in again),
        more_runs=_several(each.runs for each in again),
        worlds=list(dict.fromkeys(each.world for each in judged)),
        claims=_rows(judged, switches),
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


def _rows(judged: Sequence[Judged], switches: Sequence[Switch]) -> list[ClaimRow]:
    by_choice = {switch.choice: switch for switch in switches}
    rows: dict[str, ClaimRow] = {}
    for number, each in enumerate(judged):
        claim = each.claim
        row = rows.setdefault(claim.key, ClaimRow(f"claim-{len(rows)}", claim.key, claim.quote, [], {}))
        row.found[each.world] = found_of(number, each, by_choice)
        if each.now.test not in row.tests:
            row.tests.append(each.now.test)
    return list(rows.values())
