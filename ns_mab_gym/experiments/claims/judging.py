"""Judges claims under every reading of what the paper leaves open."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ...runs import Runs
from ..kept_runs import MissingRunsError
from ..readings import Choice, Chosen, Reading
from .evidence import Evidence
from .rules import Finding, Verdict

__all__ = ["Claim", "Judged", "Judgement", "judge"]

Readings = tuple[Reading, ...]  # one for each of a claim's choices, in their order


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper and the test that decides it.

    Attributes:
        key: a short name.
        quote: the paper's words.
        test: the deciding test in words; a function of the evidence if the words depend on the reading.
        decide: the deciding test, as a function.
        choices: what the paper leaves open and the test needs.
        beside: the labels of other worlds that the test looks at.
        said_of: the label of the world of which the paper says it, if that is another one, and the test here is ours.
    """

    key: str
    quote: str
    test: str | Callable[[Evidence], str]
    decide: Callable[[Evidence], Finding]
    choices: tuple[Choice, ...] = ()
    beside: tuple[str, ...] = ()
    said_of: str = ""

    def test_in_words(self, evidence: Evidence) -> str:
        """The deciding test in words, under the evidence's reading."""
        return self.test if isinstance(self.test, str) else self.test(evidence)


@dataclass(frozen=True, eq=False)
class Judgement:
    """What runs say about a claim, under every reading.

    Attributes:
        choices: what the paper leaves open and the claim's test needs.
        findings: a finding for every combination of readings; the first is under the first reading of every choice.
        tests: the deciding test in words, for every combination.
        runs: the number of runs.
        consulted: the runs that were looked at, as pairs of the labels of world and agent.
    """

    choices: tuple[Choice, ...]
    findings: Mapping[Readings, Finding]
    tests: Mapping[Readings, str]
    runs: int
    consulted: frozenset[tuple[str, str]] = frozenset()

    def under(self, chosen: Chosen) -> Finding:
        """The finding under these readings; the first reading of a choice that is not among them."""
        return self.findings[tuple(chosen.get(choice, choice.readings[0]) for choice in self.choices)]

    @property
    def finding(self) -> Finding:
        """The finding under the first reading of every choice."""
        return next(iter(self.findings.values()))

    @property
    def test(self) -> str:
        """The deciding test in words, under the first reading of every choice."""
        return next(iter(self.tests.values()))

    @property
    def verdict(self) -> Verdict:
        """The verdict, if it is the same under every reading; else that it depends."""
        verdicts = {finding.verdict for finding in self.findings.values()}
        return verdicts.pop() if len(verdicts) == 1 else Verdict.DEPENDS

    @property
    def deciding(self) -> tuple[Choice, ...]:
        """The choices that decide: those of which another reading alone changes some verdict."""
        return tuple(choice for place, choice in enumerate(self.choices) if self._decides(place))

    def _decides(self, place: int) -> bool:
        verdicts: dict[Readings, set[Verdict]] = {}
        for readings, finding in self.findings.items():
            verdicts.setdefault(readings[:place] + readings[place + 1 :], set()).add(finding.verdict)
        return any(len(several) > 1 for several in verdicts.values())

    def example(self, choice: Choice) -> dict[Readings, Finding]:
        """Combinations that differ in one choice alone and not in the same verdict, nearest to the first readings."""
        place, first = self.choices.index(choice), next(iter(self.findings))
        nearest = sorted(self.findings, key=lambda each: sum(a is not b for a, b in zip(each, first, strict=True)))
        for readings in nearest:
            others = [(*readings[:place], each, *readings[place + 1 :]) for each in choice.readings]
            if len({self.findings[each].verdict for each in others}) > 1:
                return {each: self.findings[each] for each in others}
        return {}

    @property
    def words(self) -> str:
        """The verdict in words; one that no reading refutes is told from one that some reading does."""
        verdicts = {finding.verdict for finding in self.findings.values()}
        if verdicts == {Verdict.HOLDS, Verdict.UNDECIDED}:
            return "holds or undecided, depending on the reading"
        if verdicts == {Verdict.FAILS, Verdict.UNDECIDED}:
            return "does not hold or undecided, depending on the reading"
        return self.verdict.value

    def in_words(self, readings: Readings, choice: Choice) -> str:
        """A combination as text: the reading of one choice, and of those others that are not read as in the first."""
        first = next(iter(self.findings))
        named = dict(zip(self.choices, readings, strict=True))
        others = [
            f"{other.key}: {named[other].name}"
            for other, usual in zip(self.choices, first, strict=True)
            if other is not choice and named[other] is not usual
        ]
        together = f" (with {', '.join(others)})" if others else ""
        return f"{named[choice].name}{together}"


@dataclass(frozen=True, eq=False)
class Judged:
    """A claim about a world, and what the runs say about it.

    Attributes:
        claim: the claim.
        world: the label of the world.
        now: the judgement by the paper's number of runs.
        later: the judgement by more runs, where they were computed.
    """

    claim: Claim
    world: str
    now: Judgement
    later: Judgement | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict by the paper's number of runs."""
        return self.now.verdict


def judge(claims: Mapping[str, Sequence[Claim]], evidence: Mapping[str, Evidence]) -> list[Judged]:
    """Judge the claims about each world, under every reading; those that need runs that are missing are left out."""
    known: dict[tuple[str, str], Judgement] = {}
    found = []
    for world, about in claims.items():
        for claim in about:
            with suppress(MissingRunsError):
                known[world, claim.key] = judgement_of(claim, replace(evidence[world], judged=known))
                found.append(Judged(claim, world, known[world, claim.key]))
    return found


def judgement_of(claim: Claim, evidence: Evidence) -> Judgement:
    """Judge a claim under every combination of readings of its choices; equal ones are judged once."""
    known: dict[Any, tuple[Finding, str]] = {}
    found: dict[Readings, tuple[Finding, str]] = {}
    log: set[tuple[str, str]] = set()
    for readings in itertools.product(*(choice.readings for choice in claim.choices)):
        chosen = dict(zip(claim.choices, readings, strict=True))
        effect = _effect(chosen, [evidence, *(evidence.elsewhere[world] for world in claim.beside)])
        if effect not in known:
            there = evidence.under(chosen, log)
            known[effect] = claim.decide(there), claim.test_in_words(there)
        found[readings] = known[effect]
    return Judgement(
        claim.choices,
        {readings: finding for readings, (finding, _) in found.items()},
        {readings: words for readings, (_, words) in found.items()},
        min((len(_curves(evidence, world)[label]) for world, label in log), default=0),
        frozenset(log),
    )


def _curves(evidence: Evidence, world: str) -> Mapping[str, Runs]:
    return evidence.curves if world == evidence.world else evidence.elsewhere[world].curves


def _effect(chosen: Chosen, worlds: Sequence[Evidence]) -> Any:
    """What of the readings can change a finding: the meanings, and the runs that take the place of others'."""
    meanings = tuple(reading for choice, reading in chosen.items() if not choice.agent)
    return meanings, tuple(tuple(sorted(each.stand_ins(chosen).items())) for each in worlds)
