"""The survey of many agents: places among those told as much, references without a place, the order of rows."""

from __future__ import annotations

import pytest

from ns_mab_gym.experiments import AgentEntry, Experiment, Results, Study, WorldEntry
from ns_mab_gym.experiments.report import Page
from ns_mab_gym.experiments.report.survey import Survey, survey_columns, survey_of

from .by_hand import HORIZON, runs_with

# Final regrets of three runs each. `b` told nothing is the best of those told nothing; `c` is told nothing in any case.
HERE = {
    "a": [100, 110, 120],
    "b": [200, 200, 200],
    "b, blind": [50, 50, 50],
    "c": [150, 150, 150],
    "oracle-restart": [1, 2, 3],
    "random": [900, 900, 900],
}
THERE = {"a": [30, 30, 30], "b": [10, 10, 10], "c": [20, 20, 20], "oracle-restart": [5, 5, 5], "random": [99, 99, 99]}


@pytest.fixture(scope="module")
def results() -> Results:
    worlds = [WorldEntry.of("NSBandit-Abrupt-v0", label=label, horizon=HORIZON) for label in ("here", "there")]
    played = {"here": HERE, "there": THERE}
    entries = {world: {each: AgentEntry.of("ts", label=each) for each in finals} for world, finals in played.items()}
    surveys = [
        Experiment(worlds=(world,), agents=tuple(entries[world.label].values()), runs=3, survey=True)
        for world in worlds
    ]
    plain = [
        Experiment(worlds=(world,), agents=(entries[world.label]["a"], entries[world.label]["c"]), runs=3)
        for world in worlds
    ]
    curves = {
        world: {label: runs_with(finals, n_arms=2, window=7) for label, finals in each.items()}
        for world, each in played.items()
    }
    return Results(Study("By hand", (*plain, *surveys)), curves, entries)


@pytest.fixture(scope="module")
def survey(results) -> Survey:
    columns = [column for world in results.study.worlds for column in survey_columns(results, world)]
    found = survey_of(columns, ["a", "c"])
    assert found is not None
    return found


def places(survey: Survey, label: str) -> list[tuple[int | None, int | None]]:
    (row,) = [row for row in survey.rows if row.label == label]
    return [
        (informed and informed.place, blind and blind.place)
        for informed, blind in zip(row.informed, row.blind, strict=True)
    ]


def test_places_are_among_those_that_were_told_as_much(survey):
    """Here, informed: a 110, c 150, b 200; blind: b 50, a 110, c 150. There, both: b 10, c 20, a 30."""
    assert places(survey, "a") == [(1, 2), (3, 3)]
    assert places(survey, "b") == [(3, 1), (1, 1)]
    assert places(survey, "c") == [(2, 3), (2, 2)]


def test_references_compete_with_nobody(survey):
    for label in ("oracle-restart", "random"):
        assert places(survey, label) == [(None, None), (None, None)]
    assert [row.label for row in survey.rows if row.reference] == ["oracle-restart", "random"]


def test_rows_are_ordered_by_their_mean_place_and_the_papers_are_marked(survey):
    """Informed: a 1 and 3, b 3 and 1, c 2 and 2: all have 2, and stay in the order of the study."""
    assert [row.label for row in survey.rows] == ["a", "b", "c", "oracle-restart", "random"]
    assert [row.mean_place for row in survey.rows[:3]] == [2.0, 2.0, 2.0]
    assert [row.label for row in survey.rows if row.ours] == ["a", "c"]


def test_cells_have_the_mean_and_its_error(survey):
    (row,) = [row for row in survey.rows if row.label == "a"]
    assert row.informed[0].regret == "110 ± 6"  # 10/√3
    assert row.informed[0].parameters == "τ = 7"
    assert row.informed[0].estimate is row.blind[0].estimate or row.informed[0].estimate == row.blind[0].estimate


def test_a_chart_has_the_least_on_top_and_both_kinds_of_dots(survey):
    first = survey.charts[0].chart["data"]
    assert first[0]["y"] == ["random", "b", "● c", "● a", "oracle-restart"]  # plotly counts from below
    assert first[0]["x"] == [900.0, 200.0, 150.0, 110.0, 2.0]
    assert dict(zip(first[1]["y"], first[1]["x"], strict=True)) == {"b": 50.0, "● c": 150.0, "● a": 110.0}


def test_the_page_shows_it_after_the_claims_and_not_as_curves(results):
    html = Page(results, {"here": None, "there": None}, "summary", [("date", "today")]).html()
    assert html.index('id="zoo"') < html.index('id="world-0"')
    assert html.count('class="chart" id="survey-') == 2
    assert html.count('class="chart" id="regret-') == 2  # one for each world: surveys have no curves
    assert "b, blind" not in html.split('id="settings"')[0].split('id="zoo"')[1].split("survey-charts")[0]


def test_without_a_survey_there_is_no_section(results):
    plain = Results(Study("plain", results.study.experiments[:2]), results.curves, results.agents)
    assert [survey_columns(plain, world) for world in plain.study.worlds] == [[], []]
    assert survey_of([], []) is None
    assert 'id="zoo"' not in Page(plain, {"here": None, "there": None}, "summary", [("date", "today")]).html()
