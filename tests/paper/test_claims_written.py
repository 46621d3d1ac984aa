"""The claims as Markdown and JSON: verdict, readings, further runs, what was not tested."""

import json
from dataclasses import replace

import pytest
from claims_made import curves, evidence

from ns_mab_gym.claims.judging import FURTHER_RULE, Choice, Claim, Reading, Untested, judge, judgement_of
from ns_mab_gym.paper import decisions
from ns_mab_gym.paper.sentences import CLAIMS, UNTESTED
from ns_mab_gym.report.claims import claims_json, claims_markdown, verdict_lines
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.results import Results, summaries
from ns_mab_gym.studies.study import Experiment, Study
from ns_mab_gym.studies.tables import write_tables

WHO = Choice("who", "Who is compared?", (Reading("all", "it says so", "abc"), Reading("two", "it hints", "ab")))
DEPENDS = Claim("a least", "a is best", "a has less", lambda e: decisions.least(e, "a", e.read(WHO)), (WHO,))
TURNS = Claim("c least", "c is best", "c has less", lambda e: decisions.least(e, "c", "ac"), said_of="somewhere")


@pytest.fixture
def judged():
    found = judge({"here": [DEPENDS, TURNS]}, {"here": replace(evidence(a=0.1, b=0.2, c=0.05), world="here")})
    more = judgement_of(TURNS, evidence(runs=60, a=0.1, c=0.3))
    return [found[0], replace(found[1], later=more)]


def test_the_markdown_says_on_what_a_verdict_depends_and_has_further_runs(judged):
    page = claims_markdown(judged, [Untested("we believe", "a belief")], ["a silly reading"], ["a note"]).decode()
    assert "## here: a least: **does not hold; depends on who**" in page
    assert "Test: a has less.\n\nHeadline reading: who: all.\n\nMeasured: c 25" in page
    assert page.count("Headline reading:") == 1  # nothing is left open in the other
    assert "> a is best" in page
    assert "It depends on: Who is compared?" in page
    assert "- who: *all*: **does not hold**. c 25" in page
    assert "- who: *two*: **holds**. a 50" in page
    assert "- **who**: Who is compared?\n  - *all*: it says so.\n  - *two*: it hints." in page
    assert "- a silly reading" in page
    assert "- “we believe”: a belief." in page
    assert page.endswith("- a note\n")
    assert "(said of somewhere; the test on this world is ours)" in page
    assert page.count("With 60 runs: **does not hold**.") == page.count("runs: **") == 1  # of the claim that has them


def test_further_runs_are_spoken_of_only_where_there_are_some(judged):
    said = [FURTHER_RULE in claims_markdown(each, [], [], []).decode() for each in (judged, judged[:1])]
    assert said == [True, False]


def test_the_json_has_every_combination(judged):
    depends, turns = json.loads(claims_json(judged))
    assert (depends["verdict"], depends["depends_on"], depends["runs"]) == ("depends on the reading", ["who"], 30)
    assert [(each["who"], each["verdict"]) for each in depends["readings"]] == [
        ("all", "does not hold"),
        ("two", "holds"),
    ]
    assert (depends["headline"], depends["headline_reading"]) == ("does not hold", {"who": "all"})
    assert depends["others"] == "depends on who"
    assert depends["instead"] == "c has less than a"  # what holds instead of the headline
    assert depends["more_runs"] is None
    assert len(depends["comparisons"]) == 2
    assert (turns["verdict"], turns["more_runs"]["verdict"]) == ("holds", "does not hold")
    assert turns["more_runs"]["runs"] == 60
    assert (turns["headline"], turns["headline_reading"], turns["others"]) == ("holds", {}, "")
    assert turns["more_runs"]["headline"] == "does not hold"


def test_the_lines_count_verdicts(judged):
    assert verdict_lines(judged) == [
        "here: 1 hold, 1 do not hold, 0 undecided, 1 of these depend on the reading",
        "    does not hold: a least",
    ]
    fails = judge({"there": [TURNS]}, {"there": evidence(a=0.1, c=0.3)})
    assert verdict_lines(fails) == [
        "there: 0 hold, 1 do not hold, 0 undecided, 0 of these depend on the reading",
        "    does not hold: c least",
    ]


def test_another_reading_is_ranked_in_the_place_of_its_agent(tmp_path):
    world = WorldSpec.of("NSBandit-Abrupt-v0", label="here")
    entries = [AgentSpec.of(name) for name in ("ts", "kl-ucb", "random")]
    entries.append(replace(AgentSpec.of("kl-ucb", label="kl-ucb (badly)", c=0.0), stands_for="kl-ucb"))
    experiment = Experiment(worlds=(world,), agents=tuple(entries), runs=30)
    slopes = {"ts": 0.1, "kl-ucb": 0.2, "random": 0.3, "kl-ucb (badly)": 0.4}
    made = {label: curves(label, slope) for label, slope in slopes.items()}
    results = Results(Study("", (experiment,)), {"here": made}, {"here": {each.label: each for each in entries}})
    ranks = {row.label: row.rank for row in summaries(results, experiment, world)}
    assert ranks == {"ts": 1, "kl-ucb": 2, "random": 3, "kl-ucb (badly)": 3}
    write_tables(results, tmp_path, {"here": None})
    rows = (tmp_path / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("world,agent,words,stands_for,runs,final_regret")
    assert rows[-1].startswith("here,kl-ucb (badly),kl-ucb:c=0.0,kl-ucb,30,")
    assert [row.split(",")[3] for row in rows[1:4]] == ["", "", ""]


def test_no_sentence_is_both_tested_and_untested():
    tested = {claim.quote for about in CLAIMS.values() for claim in about}
    assert not tested & {each.quote for each in UNTESTED}
    assert all(each.reason for each in UNTESTED)
