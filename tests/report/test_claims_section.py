"""Claims on the page: each at a glance, with the figures that decided it, and the data of the switches."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest

from ns_mab_gym.claims.judging import Choice, Claim, Finding, Judged, Judgement, Test, Verdict
from ns_mab_gym.paper import readings as paper_readings
from ns_mab_gym.paper.readings import ALGORITHMS
from ns_mab_gym.report.claims import choices_of, finding_data, reading_data

from . import by_hand

HOLDS, FAILS, UNDECIDED, _ = ORDER = list(Verdict)


@pytest.mark.parametrize(("verdict", "shown"), [(HOLDS, ""), (FAILS, "b is less"), (UNDECIDED, "")])
def test_what_holds_instead_is_said_only_of_claims_that_fail(verdict: Verdict, shown: str):
    assert finding_data(Finding(verdict, "figures", instead="b is less"))["instead"] == shown


@pytest.mark.parametrize(
    ("answers", "listed", "words"),
    [
        ([], 0, ""),
        ([True, True], 0, "2 true, 0 undecided, 0 false"),
        ([None, None, True], 2, "1 true, 2 undecided, 0 false; undecided"),
        ([None, False, True, True], 2, "2 true, 1 undecided, 1 false; against the claim"),
        ([None, False], 1, "0 true, 1 undecided, 1 false; undecided"),  # the false one is not listed
        ([False] * 12 + [True], 12, "1 true, 0 undecided, 12 false; against the claim"),
        ([False] * 30 + [True], 30, "1 true, 0 undecided, 30 false; against the claim"),
    ],
)
def test_comparisons_are_counted_and_at_most_twelve_are_listed(answers: Sequence[bool | None], listed: int, words: str):
    tests = tuple(Test(f"left {n}", "right", "", 1.0, 2.0, 0.5, 1.5, answer) for n, answer in enumerate(answers))
    shown = finding_data(Finding(UNDECIDED, "figures", tests, tests[:listed]))
    assert shown["comparisons"] == (f"Paired comparisons: {words}" if words else "")
    assert shown["against"][:12] == [str(test) for test in tests[: min(listed, 12)]]
    assert shown["against"][12:] == (["and 18 more"] if listed == 30 else [])


def looked_up(data: dict[str, Any], judgement: dict[str, Any], chosen: dict[str, int]) -> dict[str, Any]:
    """The finding under the readings with these numbers, as the page's script finds it; the first where none is."""
    place = 0
    for switch in (data["switches"][each] for each in judgement["choices"]):
        place = place * len(switch["readings"]) + chosen.get(switch["key"], 0)
    return dict(judgement["findings"][judgement["of"][place] if judgement["of"] else 0])


def data_of(judged: list[Judged]) -> dict[str, Any]:
    """The data as they arrive in the browser."""
    return dict(json.loads(json.dumps(reading_data(judged, choices_of(judged), "abc"))))


def test_every_combination_of_readings_is_found_again_and_further_runs_have_their_own_findings():
    judged = by_hand.judged()
    data = data_of(judged)
    for each, judgements in zip(judged, data["judged"], strict=True):
        for judgement, there in zip((each.now, each.later), judgements, strict=True):
            if judgement is None:
                assert there is None
                continue
            assert (ORDER[there["verdict"]], there["runs"]) == (judgement.verdict, judgement.runs)
            numbers = itertools.product(*(range(len(choice.readings)) for choice in judgement.choices))
            for chosen, (readings, finding) in zip(numbers, judgement.findings.items(), strict=True):
                keys = {choice.key: number for choice, number in zip(judgement.choices, chosen, strict=True)}
                found = looked_up(data, there, keys)
                assert ORDER[found["verdict"]] is finding.verdict
                assert (found["test"], found["figures"]) == (judgement.tests[readings], finding.figures)


def test_a_finding_is_stored_once_where_a_reading_changes_nothing():
    here, *_, there = data_of(by_hand.judged())["judged"]
    assert (len(here[0]["findings"]), here[0]["of"]) == (4, [0, 1, 2, 3])
    assert (len(there[0]["findings"]), there[0]["of"]) == (2, [0, 0, 1, 1])  # b has one tuning there
    same, choice = Finding(HOLDS, "f"), by_hand.SPAN
    tests = {(each,): each.name for each in choice.readings}  # words that differ are kept
    judgement = Judgement((choice,), dict.fromkeys(tests, same), tests, 1)
    data = data_of([Judged(Claim("k", "q", "t", lambda _: same, (choice,)), "here", judgement)])
    words = [looked_up(data, data["judged"][0][0], {choice.key: number})["test"] for number in (0, 1)]
    assert words == ["short", "long"]


def test_who_is_compared_and_how_comes_before_what_sentences_mean():
    *others, lasts, there = by_hand.judged()
    choices = choices_of([lasts, there, *others])  # the first claim asks what a sentence means
    assert choices == [by_hand.RIVALS, by_hand.TUNING, by_hand.SPAN]
    rivals, tuning, span = reading_data([], choices, [*"abc", "b (τ = 9)"])["switches"]
    assert [each["shown"] for each in (rivals, tuning, span)] == [[("a", "b", "c"), ("a", "b")], [], []]
    assert tuning["labels"] == {"b": ["b", by_hand.BOLD], "b (τ = 9)": ["b (τ = 9)", "b (τ = 9) (boldly)"]}
    assert rivals["labels"] == span["labels"] == {}


def test_of_the_papers_choices_only_one_is_about_who_is_compared():
    choices = [each for each in vars(paper_readings).values() if isinstance(each, Choice)]
    about = [choice for choice in choices if choice.compares]
    assert [choice.key for choice in about] == ["KL-UCB"]
    missing = {frozenset(ALGORITHMS) - frozenset(reading.value) for reading in about[0].readings}
    assert missing == {frozenset(), frozenset({"KL-UCB"})}
