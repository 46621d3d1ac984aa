"""Judges claims under every reading of what the paper leaves open."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal, NamedTuple

import numpy as np

from ..means import Floats
from ..runs import Runs
from ..statistics import Bounds, intervals_of
from ..studies.results import MissingRunsError

Needed = Literal["all", "any", "number"]

FEWEST_RUNS = 10
RULE = (  # for readers
    "A comparison “A against B” is about the difference B − A of runs that share their luck, with its own 95 % "
    "bootstrap-t interval, and one shared with other comparisons of the sentence. Where all comparisons must be true, "
    "one is true if its own interval lies above 0, or above the margin that the test names, and false if the interval "
    "shared by all that are not true lies below it. Where one comparison is enough, it is true by the shared interval "
    "and false by its own. Where they are counted, the interval shared by all decides. A margin in percent of the "
    "curves is a share of the mean of the two that are compared."
)
FURTHER_RULE = (  # where there are further runs
    "Agents whose first runs leave some sentence undecided were played further; every sentence about such agents alone "
    "is judged again by all runs, the first ones included: a second look, at the same level."
)


class Verdict(Enum):
    """The verdict on a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    UNDECIDED = "undecided"
    DEPENDS = "depends on the reading"


@dataclass(frozen=True, eq=False)
class Pair:
    """A comparison to test: ``left`` is less than ``right``, run by run."""

    left: str
    right: str
    left_values: Floats  # (R,)
    right_values: Floats  # (R,)
    where: str = ""


@dataclass(frozen=True)
class Test:
    """A tested comparison.

    Attributes:
        left: who should have less.
        right: who should have more.
        where: the rounds, or whatever else tells it from other comparisons of the two.
        left_mean: the mean of the left one.
        right_mean: the mean of the right one.
        low: the lower end of its own interval of the difference right − left.
        high: the upper end.
        answer: whether it is true; None if it is undecided.
        shared: the interval that holds together for all comparisons that are not settled by their own.
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
    shared: Bounds = (-np.inf, np.inf)

    def __str__(self) -> str:
        place = f" {self.where}" if self.where else ""
        together = f", with all others {_interval(self.shared)}" if self.shared != (self.low, self.high) else ""
        return (
            f"{self.left} {number(self.left_mean)} against {self.right} {number(self.right_mean)}{place} "
            f"(difference {number(self.right_mean - self.left_mean, '+')}, "
            f"interval {_interval((self.low, self.high))}{together})"
        )


def _interval(ends: Bounds) -> str:
    return f"{number(ends[0], '+')} to {number(ends[1], '+')}"


def number(value: float, sign: str = "") -> str:
    """A value with as many places as it needs: regrets have none, rates of regret three."""
    return f"{value:{sign},.0f}" if abs(value) >= 10 else f"{value:{sign}.3g}"


@dataclass(frozen=True)
class Finding:
    """The measurements for a claim.

    Attributes:
        verdict: what the runs say.
        figures: the measured figures.
        tests: the comparisons that were tested.
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
        pairs: the comparisons.
        margin: the margin as a share of the mean of the two, or of the scale.
        scale: what the margin is a share of; the mean of left and right if None, so that their order does not count.
        needed: whether the claim needs "all" comparisons to be true, "any" of them, or a "number" of them.
    """
    return _tests(
        pairs, margin, scale, needed, lambda ends, limit: ends[0] > limit, lambda ends, limit: ends[1] < limit
    )


def equal(pairs: Sequence[Pair], margin: float, *, scale: float | None = None) -> list[Test]:
    """Test that left and right differ by less than a margin; all comparisons are needed. See :func:`less`."""
    return _tests(
        pairs,
        margin,
        scale,
        "all",
        lambda ends, limit: -limit < ends[0] and ends[1] < limit,
        lambda ends, limit: ends[0] > limit or ends[1] < -limit,
    )


def _tests(
    pairs: Sequence[Pair],
    margin: float,
    scale: float | None,
    needed: Needed,
    true: Callable[[Bounds, float], bool],
    false: Callable[[Bounds, float], bool],
) -> list[Test]:
    """Test comparisons; ``true`` and ``false`` say what an interval of the difference proves beside a limit."""
    lefts = np.mean([pair.left_values for pair in pairs], axis=1).tolist()
    rights = np.mean([pair.right_values for pair in pairs], axis=1).tolist()
    differences = [pair.right_values - pair.left_values for pair in pairs]
    both = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    limits = [margin * (mean if scale is None else scale) for mean in both]

    def settled(place: int, own: Bounds) -> bool:
        return (needed == "all" and true(own, limits[place])) or (needed == "any" and false(own, limits[place]))

    endless = (-np.inf, np.inf)
    enough = len(differences[0]) >= FEWEST_RUNS
    intervals = intervals_of(differences, settled) if enough else [(endless, endless)] * len(pairs)
    found = []
    for pair, left, right, limit, (own, shared) in zip(pairs, lefts, rights, limits, intervals, strict=True):
        holds, fails = true(own if needed == "all" else shared, limit), false(own if needed == "any" else shared, limit)
        answer = True if holds else False if fails else None
        found.append(Test(pair.left, pair.right, pair.where, left, right, *own, answer, shared))
    return found


def verdict_all(answers: Sequence[bool | None]) -> Verdict:
    """The verdict on a claim all of whose comparisons must be true: one that is false makes it fail."""
    if any(answer is False for answer in answers):
        return Verdict.FAILS
    return Verdict.HOLDS if all(answers) else Verdict.UNDECIDED


@dataclass(frozen=True, eq=False)
class Reading:
    """One fair way to take what a text leaves open.

    Attributes:
        name: the reading in a few words.
        why: what speaks for it.
        value: what a deciding test gets to know of it.
    """

    name: str
    why: str
    value: Any = None


@dataclass(frozen=True, eq=False)
class Choice:
    """Something that a text leaves open.

    Attributes:
        key: a short name.
        question: what is left open, as a question.
        readings: the fair answers; the first is the headline's.
        agent: the label of the agent whose parameters the choice sets, also where it plays with other windows; empty if
            the choice is about the meaning of a sentence.
        compares: whether the values of its readings are the labels of the agents that are compared.
    """

    key: str
    question: str
    readings: tuple[Reading, ...]
    agent: str = ""
    compares: bool = False

    def concerns(self, label: str) -> bool:
        """Return True if it sets parameters of the agent with this label: "A", or "A (…)" with another window."""
        return bool(self.agent) and (label == self.agent or label.startswith(f"{self.agent} ("))

    def label(self, reading: Reading, label: str) -> str:
        """The label under which the runs of an agent with this reading are kept, given that under the first reading."""
        return label if reading is self.readings[0] else f"{label} ({reading.name})"


Chosen = Mapping[Choice, Reading]


class Consulted(Mapping[str, Runs]):
    """The runs of each agent under a reading, by its label; remembers which runs were asked for.

    Args:
        curves: the runs by label, those of other readings included.
        stand_ins: the labels whose runs take the place of others'.
        log: where the pairs of world and label that were asked for are noted.
        world: the label of the world.
    """

    def __init__(
        self, curves: Mapping[str, Runs], stand_ins: Mapping[str, str], log: set[tuple[str, str]], world: str
    ) -> None:
        self.curves, self.stand_ins, self.log, self.world = curves, stand_ins, log, world

    def __getitem__(self, label: str) -> Runs:
        shown = self.stand_ins.get(label, label)
        self.log.add((self.world, shown))
        return self.curves[shown]

    def __iter__(self) -> Iterator[str]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence for a claim about one world.

    Attributes:
        curves: the runs of each agent, by its label.
        means: (T, K)
        notes: what must be said wherever an agent's result is shown, by its label.
        elsewhere: the evidence of every world, by its label.
        world: the label of this one.
        chosen: the reading of everything that the paper leaves open.
        judged: the claims that were judged before by the same runs, by the label of the world and the claim's key.
        kept: what was computed once, for this evidence under every reading.
    """

    curves: Mapping[str, Runs]
    means: Floats
    notes: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, Evidence] = field(default_factory=dict)
    world: str = ""
    chosen: Chosen = field(default_factory=dict)
    judged: Mapping[tuple[str, str], Judgement] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def horizon(self) -> int:
        """T."""
        return len(self.means)

    def name(self, label: str) -> str:
        """The label, with a star if something must be said wherever the agent's result is shown."""
        shown = self.curves.stand_ins.get(label, label) if isinstance(self.curves, Consulted) else label
        return f"{label}*" if self.notes.get(shown) else label

    def round(self, paper: float) -> float:
        """The round that corresponds to one of the paper's, whose horizon is 50,000."""
        return paper * self.horizon / 50_000

    def read(self, choice: Choice) -> Any:
        """The value of the reading of a choice; of the first one if none was made."""
        return self.chosen.get(choice, choice.readings[0]).value

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """Return a function's result, computed once for this evidence: readings change neither means nor labels."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def note(self, consulted: Iterable[tuple[str, str]]) -> None:
        """Note runs that a test has looked at by way of an earlier judgement."""
        if isinstance(self.curves, Consulted):
            self.curves.log.update(consulted)

    def under(self, chosen: Chosen, log: set[tuple[str, str]]) -> Evidence:
        """The same evidence under other readings: where a reading sets an agent's parameters, those runs count.

        Args:
            chosen: the readings.
            log: where the runs that a test asks for are noted, as pairs of world and label.
        """
        there = {world: each._alone(chosen, log) for world, each in self.elsewhere.items()}
        return replace(self._alone(chosen, log), elsewhere=there)

    def _alone(self, chosen: Chosen, log: set[tuple[str, str]]) -> Evidence:
        curves = Consulted(self.curves, self.stand_ins(chosen), log, self.world)
        return replace(self, curves=curves, chosen=chosen, elsewhere={})

    def stand_ins(self, chosen: Chosen) -> dict[str, str]:
        """The labels that take the place of others' under these readings; without those that change nothing here."""
        found: dict[str, str] = {}
        for choice, reading in chosen.items():
            if choice.agent and reading is not choice.readings[0]:
                if (choice, reading) not in self.kept:
                    labels = {label: choice.label(reading, label) for label in self.curves if choice.concerns(label)}
                    there = {label: other for label, other in labels.items() if other in self.curves}
                    self.kept[choice, reading] = there
                found |= self.kept[choice, reading]
        return found


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


@dataclass(frozen=True, eq=False)
class Judgement:
    """The findings about a claim, under every reading.

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
    def headline(self) -> Verdict:
        """The verdict under the first reading of every choice."""
        return self.finding.verdict

    @property
    def headline_reading(self) -> dict[str, str]:
        """The reading of each choice that decides the headline, by the choice's key."""
        return {choice.key: choice.readings[0].name for choice in self.choices}

    @property
    def verdict(self) -> Verdict:
        """The verdict, if it is the same under every reading; else that it depends."""
        verdicts = {finding.verdict for finding in self.findings.values()}
        return verdicts.pop() if len(verdicts) == 1 else Verdict.DEPENDS

    @property
    def deciding(self) -> tuple[Choice, ...]:
        """The choices that decide: those of which another reading alone changes some verdict."""
        return tuple(choice for choice in self.choices if self.example(choice))

    def example(self, choice: Choice) -> dict[Readings, Finding]:
        """Combinations that differ in this choice alone and get different verdicts, nearest to the first readings."""
        place, first = self.choices.index(choice), next(iter(self.findings))
        nearest = sorted(self.findings, key=lambda each: sum(a is not b for a, b in zip(each, first, strict=True)))
        for readings in nearest:
            others = [(*readings[:place], each, *readings[place + 1 :]) for each in choice.readings]
            if len({self.findings[each].verdict for each in others}) > 1:
                return {each: self.findings[each] for each in others}
        return {}

    @property
    def others(self) -> str:
        """What the other readings say beside the headline, in words; empty if there are none."""
        if deciding := self.deciding:
            return f"depends on {', '.join(choice.key for choice in deciding)}"
        return "other readings agree" if len(self.findings) > 1 else ""

    @property
    def words(self) -> str:
        """The verdict of the headline, then whether the other readings agree."""
        return "; ".join(filter(None, (self.headline.value, self.others)))

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
    worlds = {**evidence.elsewhere, evidence.world: evidence}
    for readings in itertools.product(*(choice.readings for choice in claim.choices)):
        chosen = dict(zip(claim.choices, readings, strict=True))
        # What can change a finding: meanings, and runs that take the place of others'.
        meanings = tuple(reading for choice, reading in chosen.items() if not choice.agent)
        labels = (worlds[world].stand_ins(chosen).items() for world in (evidence.world, *claim.beside))
        effect = meanings, tuple(tuple(sorted(each)) for each in labels)
        if effect not in known:
            there = evidence.under(chosen, log)
            words = claim.test if isinstance(claim.test, str) else claim.test(there)
            known[effect] = claim.decide(there), words
        found[readings] = known[effect]
    return Judgement(
        claim.choices,
        {readings: finding for readings, (finding, _) in found.items()},
        {readings: test for readings, (_, test) in found.items()},
        min((len(worlds[world].curves[label]) for world, label in log), default=0),
        frozenset(log),
    )


class Untested(NamedTuple):
    """A sentence that is not put to the test."""

    quote: str
    reason: str
