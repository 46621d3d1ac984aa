"""What the script of the page knows of claims: every combination of readings, in little room."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ns_mab_gym.experiments.claims import Claim, Finding, Judged, Judgement, Test, Verdict
from ns_mab_gym.experiments.readings import Choice, Reading
from ns_mab_gym.experiments.report.judgement_data import reading_data
from ns_mab_gym.experiments.report.kept_texts import KeptTexts
from ns_mab_gym.experiments.report.switches import switches_of

from . import by_hand

ORDER = list(Verdict)


def text(data: dict[str, Any], number: int) -> str:
    """A text from its number."""
    return " ".join(data["pieces"][piece] for piece in data["texts"][number])


def looked_up(data: dict[str, Any], judgement: dict[str, Any], chosen: dict[str, int]) -> list[Any]:
    """The finding under the readings with these numbers, as the page's script finds it; the first where none is."""
    place = 0
    for switch in (data["switches"][each] for each in judgement["choices"]):
        place = place * len(switch["readings"]) + chosen.get(switch["key"], 0)
    return list(judgement["findings"][judgement["of"][place] if judgement["of"] else 0])


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
            verdict, test, figures, *_ = looked_up(data, now, keys)
            assert ORDER[verdict] is finding.verdict
            assert (text(data, test), text(data, figures)) == (each.now.tests[readings], finding.figures)


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
    assert (ORDER[found[0]], text(data, found[2]), text(data, found[3])) == (verdict, figures, instead)


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
    words = [text(data, looked_up(data, data["judged"][0][0], {"how long": number})[1]) for number in (0, 1)]
    assert words == ["short", "long"]


def test_further_runs_have_their_own_findings():
    data = data_of(by_hand.judged())
    assert [later is not None for _, later in data["judged"]] == [False, False, True, False]
    now, later = data["judged"][2]
    assert (ORDER[now["verdict"]], ORDER[later["verdict"]], later["runs"]) == (Verdict.DEPENDS, Verdict.HOLDS, 30)
    assert text(data, looked_up(data, later, {"how long": 1})[2]) == "lasted, with 30"


def test_tests_against_a_claim_are_kept_as_the_page_says_them():
    against = tuple(Test(f"l{number}", "r", "", 1.0, 2.0, 0.5, 1.5, False) for number in range(14))
    finding = Finding(Verdict.FAILS, "f", against, against)
    judgement = Judgement((), {(): finding}, {(): "t"}, 10)
    data = data_of([Judged(Claim("k", "q", "t", lambda _: finding), "here", judgement)])
    *_, comparisons, kept = data["judged"][0][0]["findings"][0]
    assert text(data, comparisons) == "Paired comparisons: 0 true, 0 open, 14 false; against the claim"
    assert [text(data, each) for each in kept] == [*map(str, against[:12]), "and 2 more"]


@given(st.lists(st.text(alphabet=st.sampled_from("ab1,;:. \n±"), max_size=12), max_size=8))
def test_texts_come_back_as_they_were_each_piece_once(texts: list[str]):
    kept = KeptTexts()
    numbers = [kept.keep(each) for each in texts]
    data = kept.data()
    assert [text(data, number) for number in numbers] == texts
    assert len(data["pieces"]) == len(set(data["pieces"]))
    assert len(data["texts"]) == len(set(texts))


def test_many_combinations_take_little_room():
    choices = tuple(
        Choice(f"c{n}", "q?", tuple(Reading(f"r{k}", "w", k) for k in range(3))) for n in range(4)
    )  # 81 combinations
    figures = {chosen: ", ".join(f"agent {k} {chosen[k % 4].value} ± 1" for k in range(16)) for chosen in
               itertools.product(*(choice.readings for choice in choices))}  # fmt: skip
    findings = {chosen: Finding(Verdict.HOLDS, words) for chosen, words in figures.items()}
    judgement = Judgement(choices, findings, dict.fromkeys(findings, "t"), 10)
    claim = Claim("k", "q", "t", lambda _: Finding(Verdict.HOLDS, "f"), choices)
    data = reading_data([Judged(claim, "here", judgement)], switches_of([Judged(claim, "here", judgement)]), ())
    assert len(data["pieces"]) == 2 + 16 * 3  # each agent's figures under each of three readings, the test, and nothing
    assert len(json.dumps(data)) < 0.5 * sum(map(len, figures.values()))
