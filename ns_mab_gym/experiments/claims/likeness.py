"""Claims that two worlds lead to the same conclusions."""

from __future__ import annotations

from collections.abc import Sequence

from .decisions import Decide
from .evidence import Evidence
from .judging import Claim
from .rules import Finding, Verdict, verdict_all

__all__ = ["all_hold", "same_verdicts"]


def same_verdicts(here: str, there: str, claims: Sequence[Claim], exceptions: int) -> Decide:
    """Decides whether claims have the same verdict on two worlds, under the same reading, with a few exceptions.

    The verdicts are taken as they are: the level of each is its own.
    """

    def decide(evidence: Evidence) -> Finding:
        both = {claim.key: [_verdict(claim, evidence, world) for world in (here, there)] for claim in claims}
        opposite = [key for key, verdicts in both.items() if set(verdicts) == {Verdict.HOLDS, Verdict.FAILS}]
        open_ = [key for key, verdicts in both.items() if Verdict.UNDECIDED in verdicts]
        fits = len(opposite) + len(open_) <= exceptions
        verdict = Verdict.FAILS if len(opposite) > exceptions else Verdict.HOLDS if fits else Verdict.UNDECIDED
        same = len(both) - len(opposite) - len(open_)
        figures = (
            f"{same} of {len(both)} sentences have the same verdict on both worlds; opposite: "
            f"{'; '.join(opposite) or 'none'}; undecided on one or both: {'; '.join(open_) or 'none'}"
        )
        return Finding(verdict, figures, instead=f"opposite verdicts: {'; '.join(opposite)}")

    return decide


def _verdict(claim: Claim, evidence: Evidence, world: str) -> Verdict:
    """The verdict on a claim about a world, under the evidence's reading; from an earlier judgement if there is one."""
    judgement = evidence.judged.get((world, claim.key))
    if judgement is None:
        return claim.decide(evidence.elsewhere[world]).verdict
    evidence.note(judgement.consulted)
    return judgement.under(evidence.chosen).verdict


def all_hold(claims: Sequence[Claim]) -> Decide:
    """Decides whether every one of several claims holds on this world; each is judged for itself, at its own level."""

    def decide(evidence: Evidence) -> Finding:
        found = {claim.key: claim.decide(evidence) for claim in claims}
        answers = {Verdict.HOLDS: True, Verdict.FAILS: False, Verdict.UNDECIDED: None}
        verdict = verdict_all([answers[each.verdict] for each in found.values()])
        figures = "; ".join(f"{key}: {each.verdict.value}" for key, each in found.items())
        fails = [key for key, each in found.items() if each.verdict is Verdict.FAILS]
        tests = tuple(test for each in found.values() for test in each.tests)
        against = tuple(test for each in found.values() for test in each.exceptions)
        return Finding(verdict, figures, tests, against, f"here these fail: {'; '.join(fails)}")

    return decide
