"""Claims on the page: each at a glance, with the figures that decided it, and the data of the switches."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest

from ns_mab_gym.claims.judging import Claim, Finding, Judged, Judgement, Test, Verdict
from ns_mab_gym.paper import readings as paper_readings
from ns_mab_gym.paper.readings import ALGORITHMS
from ns_mab_gym.report.claims import Found, Verdicts, reading_data, switches_of, verdicts_of

from . import by_hand


def answered(answers: Sequence[bool | None]) -> tuple[Test, ...]:
    """Tests with these answers, told apart by their names."""
    return tuple(
        Test(f"left {number}", "right", "", 1.0, 2.0, 0.5, 1.5, answer) for number, answer in enumerate(answers)
    )


def judged(key: str, world: str, verdict: Verdict, *, ours: bool = False, **finding: object) -> Judged:
    found = Finding(verdict, str(finding.pop("figures", "a 1 ± 0.1, b 2 ± 0.2")), **finding)  # type: ignore[arg-type]
    claim = Claim(key, f"{key} said", f"{key} tested", lambda _: found, said_of="elsewhere" if ours else "")
    return Judged(claim, world, Judgement((), {(): found}, {(): f"{key} tested"}, 50))


def verdicts(several: Sequence[Judged]) -> Verdicts:
    return verdicts_of(several, switches_of(several))


def found(each: Judged) -> Found:
    """What the page says of a single claim."""
    (row,) = verdicts([each]).claims
    return row.found["here"]


HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def test_claims_are_grouped_and_counted():
    shown = verdicts(
        [
            judged("one", "here", HOLDS),
            judged("two", "here", FAILS),
            judged("one", "there", UNDECIDED, ours=True),
            judged("three", "there", FAILS),
        ]
    )
    assert (shown.total, [count.number for count in shown.counts]) == (4, [1, 2, 1, 0])
    assert [count.words for count in shown.counts] == ["holds", "do not hold", "is open", "depend on the reading"]
    assert (shown.again, shown.more_runs, shown.runs) == (0, "", "50")
    assert shown.worlds == ["here", "there"]
    signs = {row.key: {world: found.now.mark.sign for world, found in row.found.items()} for row in shown.claims}
    assert signs == {"one": {"here": "holds", "there": "open"}, "two": {"here": "no"}, "three": {"there": "no"}}
    assert [row.anchor for row in shown.claims] == ["claim-0", "claim-1", "claim-2"]
    assert [found.said_of for found in shown.claims[0].found.values()] == ["", "elsewhere"]
    assert [found.number for row in shown.claims for found in row.found.values()] == [0, 2, 1, 3]
    assert shown.ours
    assert not verdicts([judged("one", "here", HOLDS)]).ours


def test_verdicts_that_differ_between_readings_depend_and_further_runs_are_counted_apart():
    shown = verdicts(by_hand.judged())  # here: b best, a best, it lasts; there: b best
    assert [(count.mark.kind, count.number) for count in shown.counts] == [
        ("holds", 1), ("fails", 0), ("undecided", 0), ("depends", 3),
    ]  # fmt: skip
    assert (shown.again, shown.more_runs) == (1, "30")
    assert [count.number for count in shown.counts_again] == [1, 0, 0, 0]


def test_what_each_reading_of_a_deciding_choice_gives():
    b_best, a_best, lasts = (row.found["here"] for row in verdicts(by_hand.judged()).claims)
    (tuning,) = b_best.now.deciding
    assert tuning.switch.choice.key == "tuning of b"
    assert [(each.reading, each.mark.sign, each.pieces) for each in tuning.under] == [
        ("as said", "no", ["a 200,", "b 250,", "c 160."]),
        ("boldly", "holds", ["a 200,", "b 50,", "c 160."]),
    ]
    # a (200) beats b (250) but not c (160): without c it is the best, unless b (50) is tuned boldly.
    assert [each.switch.choice.key for each in a_best.now.deciding] == ["who", "tuning of b"]
    assert [[(each.reading, each.mark.sign) for each in deciding.under] for deciding in a_best.now.deciding] == [
        [("with c", "no"), ("without c", "holds")],
        [("as said (with who: without c)", "holds"), ("boldly (with who: without c)", "no")],
    ]
    assert a_best.now.deciding[1].under[1].pieces == ["a 200,", "b 50."]
    assert a_best.now.title == "depends on the reading: Is c compared? How is b tuned?"
    assert lasts.now.title == "holds or undecided, depending on the reading: For how long?"
    assert lasts.now.short == "holds or undecided, depending on the reading"
    assert (a_best.now.first.sign, b_best.instead) == ("no", "c is")
    assert lasts.later is not None
    assert (lasts.now.mark.sign, lasts.later.mark.sign, lasts.later.title) == ("depends", "holds", "holds")


@pytest.mark.parametrize(("verdict", "shown"), [(HOLDS, ""), (FAILS, "b is less"), (UNDECIDED, "")])
def test_what_holds_instead_is_said_only_of_claims_that_fail(verdict: Verdict, shown: str):
    assert found(judged("one", "here", verdict, instead="b is less")).instead == shown


def test_figures_are_split_after_commas_but_not_inside_of_numbers():
    said = found(judged("one", "here", HOLDS, figures="a 1,200 ± 3, b 2 ± 1 of 1,000, c")).now
    assert said.pieces == ["a 1,200 ± 3,", "b 2 ± 1 of 1,000,", "c."]


@pytest.mark.parametrize("count", [1, 12, 13, 30])
def test_at_most_twelve_tests_against_a_claim_are_shown(count: int):
    tests = answered([True] * 5 + [False] * count)
    shown = found(judged("one", "here", FAILS, tests=tests, exceptions=tests[5:]))
    assert shown.comparisons == f"Paired comparisons: 5 true, 0 open, {count} false; against the claim"
    assert shown.against[:12] == [str(test) for test in tests[5:17]]
    assert shown.against[12:] == ([f"and {count - 12} more"] if count > 12 else [])


@pytest.mark.parametrize(
    ("answers", "listed", "words"),
    [
        ([True, True], 0, "2 true, 0 open, 0 false"),
        ([None, None, True], 2, "1 true, 2 open, 0 false; open"),
        ([None, False, True, True], 2, "2 true, 1 open, 1 false; against the claim"),
        ([None, False], 1, "0 true, 1 open, 1 false; open"),  # the false one is not listed
    ],
)
def test_comparisons_that_are_open_are_not_called_against_the_claim(
    answers: Sequence[bool | None], listed: int, words: str
):
    tests = answered(answers)
    shown = found(judged("one", "here", UNDECIDED, tests=tests, exceptions=tests[:listed]))
    assert shown.comparisons == f"Paired comparisons: {words}"
    assert len(shown.against) == listed


def test_the_words_of_a_test_are_said_once_for_all_worlds_unless_they_differ():
    several = [judged("one", "here", HOLDS), judged("one", "there", HOLDS)]
    assert verdicts(several).claims[0].tests == ["one tested"]
    other = Judgement((), several[1].now.findings, {(): "tested otherwise"}, 50)
    several[1] = Judged(several[1].claim, "there", other)
    assert verdicts(several).claims[0].tests == ["one tested", "tested otherwise"]


ORDER = list(Verdict)


def looked_up(data: dict[str, Any], judgement: dict[str, Any], chosen: dict[str, int]) -> dict[str, Any]:
    """The finding under the readings with these numbers, as the page's script finds it; the first where none is."""
    place = 0
    for switch in (data["switches"][each] for each in judgement["choices"]):
        place = place * len(switch["readings"]) + chosen.get(switch["key"], 0)
    return dict(judgement["findings"][judgement["of"][place] if judgement["of"] else 0])


def data_of(judged: list[Judged]) -> dict[str, Any]:
    """The data as they arrive in the browser."""
    return dict(json.loads(json.dumps(reading_data(judged, switches_of(judged), "abc"))))


def test_every_combination_of_readings_is_found_again():
    judged = by_hand.judged()
    data = data_of(judged)
    for each, (now, _) in zip(judged, data["judged"], strict=True):
        numbers = itertools.product(*(range(len(choice.readings)) for choice in each.claim.choices))
        for chosen, (readings, finding) in zip(numbers, each.now.findings.items(), strict=True):
            keys = {choice.key: number for choice, number in zip(each.claim.choices, chosen, strict=True)}
            found = looked_up(data, now, keys)
            assert ORDER[found["verdict"]] is finding.verdict
            assert (found["test"], found["figures"]) == (each.now.tests[readings], finding.figures)


@pytest.mark.parametrize(
    ("chosen", "verdict", "figures", "instead"),
    [
        ({}, Verdict.FAILS, "a 200, b 250, c 160", "c is"),
        ({"tuning of b": 1}, Verdict.HOLDS, "a 200, b 50, c 160", ""),
        ({"who": 1}, Verdict.FAILS, "a 200, b 250", "a is"),
        ({"who": 1, "tuning of b": 1}, Verdict.HOLDS, "a 200, b 50", ""),
        ({"how long": 1}, Verdict.FAILS, "a 200, b 250, c 160", "c is"),  # which does not concern the claim
    ],
)
def test_a_claim_under_chosen_readings(chosen: dict[str, int], verdict: Verdict, figures: str, instead: str):
    data = data_of(by_hand.judged())
    found = looked_up(data, data["judged"][0][0], chosen)
    assert (ORDER[found["verdict"]], found["figures"], found["instead"]) == (verdict, figures, instead)


def test_a_finding_is_stored_once_where_a_reading_changes_nothing():
    here, *_, there = data_of(by_hand.judged())["judged"]
    assert (len(here[0]["findings"]), here[0]["of"]) == (4, [0, 1, 2, 3])
    assert (len(there[0]["findings"]), there[0]["of"]) == (2, [0, 0, 1, 1])  # b has one tuning there


def test_words_that_differ_are_kept_though_the_finding_is_the_same_object():
    same, readings = Finding(Verdict.HOLDS, "f"), by_hand.SPAN.readings
    judgement = Judgement(
        (by_hand.SPAN,),
        dict.fromkeys([(each,) for each in readings], same),
        {(each,): each.name for each in readings},
        1,
    )
    claim = Claim("k", "q", "t", lambda _: same, (by_hand.SPAN,))
    data = data_of([Judged(claim, "here", judgement)])
    words = [looked_up(data, data["judged"][0][0], {"how long": number})["test"] for number in (0, 1)]
    assert words == ["short", "long"]


def test_further_runs_have_their_own_findings():
    data = data_of(by_hand.judged())
    assert [later is not None for _, later in data["judged"]] == [False, False, True, False]
    now, later = data["judged"][2]
    assert (ORDER[now["verdict"]], ORDER[later["verdict"]], later["runs"]) == (Verdict.DEPENDS, Verdict.HOLDS, 30)
    assert looked_up(data, later, {"how long": 1})["figures"] == "lasted, with 30"


def test_who_is_compared_and_how_comes_before_what_sentences_mean():
    *others, lasts, there = by_hand.judged()
    switches = switches_of([lasts, there, *others])  # the first claim asks what a sentence means
    assert [switch.choice for switch in switches] == [by_hand.RIVALS, by_hand.TUNING, by_hand.SPAN]
    assert [switch.anchor for switch in switches] == ["choice-0", "choice-1", "choice-2"]
    assert [switch.about_agents for switch in switches] == [True, True, False]
    assert [switch.data("abc")["shown"] for switch in switches] == [[("a", "b", "c"), ("a", "b")], [], []]
    assert switches[1].data("abc")["labels"] == {"b": ["b", by_hand.BOLD]}
    assert switches[1].data(["b (τ = 9)"])["labels"] == {"b (τ = 9)": ["b (τ = 9)", "b (τ = 9) (boldly)"]}
    assert switches[2].data("abc")["labels"] == {}


def test_of_the_papers_choices_only_one_is_about_who_is_compared():
    about = [choice for choice in paper_readings.CHOICES if choice.compares]
    assert [choice.key for choice in about] == ["KL-UCB"]
    missing = {frozenset(ALGORITHMS) - frozenset(reading.value) for reading in about[0].readings}
    assert missing == {frozenset(), frozenset({"KL-UCB"})}
