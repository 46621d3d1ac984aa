"""Tables over all worlds: final regrets, places and parameters of the first screen, and the survey."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym.report.page import Overview, Page, Survey, column_of, overview_of, survey_columns, survey_of
from ns_mab_gym.report.sections import Sections, parameters_in_words, played_with
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.results import Results
from ns_mab_gym.studies.study import Experiment, Study

from . import by_hand
from .by_hand import HORIZON, runs_with


def overview(results: Results) -> Overview:
    worlds = results.study.worlds
    sections = Sections(results, dict.fromkeys(world.label for world in worlds), ())
    columns = [column_of(results, sections.of(number, world)) for number, world in enumerate(worlds)]
    return overview_of(columns, {label for world in worlds for label in results.notes(world)})


def test_places_regrets_and_parameters_of_each_world():
    here, there = overview(by_hand.results()).columns
    assert here.places == {"a": 2, "b": 3, "c": 1}  # 200, 250, 160
    assert there.places == {"a": 2, "b": 1, "c": 3}  # 20, 10, 30
    # Deviations of ±100 give sd 100, and a standard error of 100 / √3 = 57.7; of ±10, 5.77.
    assert (here.standings["a"].regret, there.standings["a"].regret) == ("200 ± 58", "20 ± 5.8")
    assert (here.standings["b"].parameters, here.others[by_hand.BOLD].parameters) == ("τ = 5", "τ = 9,000")


def test_the_winner_of_each_world_its_lead_and_the_mean_place_over_all():
    found = overview(by_hand.results())
    assert found.mean_places == {"a": 2.0, "b": 2.0, "c": 2.0}  # 2 and 2, 3 and 1, 1 and 3
    here, there = (column.lead for column in found.columns)
    assert here is not None
    assert there is not None
    assert (here.winner, here.second, here.margin.mean) == ("c", "a", 40.0)  # 0, 20 and 100 less
    assert (there.winner, there.second, there.margin.mean) == ("b", "a", 10.0)  # 5, 10 and 15 less
    assert str(there).startswith("10 less than a (95 % interval 5")
    assert "which may be luck" in str(here)  # a bootstrap sample of three can be the run without a lead, three times


def test_a_winner_needs_a_second_and_can_be_level_with_it():
    world = WorldSpec.of("NSBandit-Abrupt-v0", label="here", horizon=by_hand.HORIZON)
    agents = {label: AgentSpec.of("ts", label=label) for label in "xy"}
    study = Study("s", (Experiment(worlds=(world,), agents=tuple(agents.values())),))
    curves = {label: by_hand.runs_with([1.0, 3.0]) for label in agents}
    (column,) = overview(Results(study, {"here": curves}, {"here": agents})).columns
    assert str(column.lead) == "level with y"
    alone = Study("s", (Experiment(worlds=(world,), agents=(agents["x"],)),))
    (column,) = overview(Results(alone, {"here": curves}, {"here": agents})).columns
    assert column.lead is None


def test_parameters_that_differ_between_runs_are_shown_as_a_span():
    runs = [{"n_arms": 3, "window": 493, "base": "a"}, {"n_arms": 3, "window": 210, "base": "b"}]
    assert parameters_in_words(played_with(runs)) == "τ = 210 to 493, base = differs from run to run"
    assert parameters_in_words(played_with([{"gamma": 0.5}, {"gamma": 0.25}])) == "γ = 0.25 to 0.5"
    assert parameters_in_words(played_with([{"gamma": None}, {"gamma": 0.25}])) == "γ = differs from run to run"


def test_other_readings_have_no_row_but_are_known_where_they_were_run():
    found = overview(by_hand.results())
    assert found.labels == ["a", "b", "c"]
    here, there = found.data()["worlds"]
    assert (here[by_hand.BOLD][:2], list(there)) == ([50.0, "50 ± 5.8"], ["a", "b", "c"])


def test_the_first_experiment_that_varies_nothing_within_families_stands_for_a_world():
    world = WorldSpec.of("NSBandit-Abrupt-v0", label="here", horizon=by_hand.HORIZON)
    family = tuple(AgentSpec.of("ts", label=f"f {n}", group="f") for n in range(2))
    plain = AgentSpec.of("ts", label="plain", note="said")
    experiments = tuple(Experiment(worlds=(world,), agents=agents) for agents in (family, (plain,)))
    agents = {agent.label: agent for agent in (*family, plain)}
    curves = {label: by_hand.runs_with([1, 2]) for label in agents}
    (column,) = overview(Results(Study("s", experiments), {"here": curves}, {"here": agents})).columns
    assert (list(column.standings), column.chart) == (["plain"], "regret-0-1")
    alone = overview(Results(Study("s", experiments[:1]), {"here": curves}, {"here": agents}))
    assert (alone.labels, alone.columns[0].chart) == (["f 0", "f 1"], "regret-0-0")  # one chart with all families


def test_agents_with_equal_means_share_a_place_and_a_row_has_its_own_line():
    world = WorldSpec.of("NSBandit-Abrupt-v0", label="here", horizon=by_hand.HORIZON)
    agents = {label: AgentSpec.of("ts", label=label) for label in "xyz"}
    curves = {
        label: by_hand.runs_with(list(finals)) for label, finals in zip("xyz", [(1, 3), (2, 2), (9, 9)], strict=True)
    }
    study = Study("s", (Experiment(worlds=(world,), agents=tuple(agents.values())),))
    found = overview(Results(study, {"here": curves}, {"here": agents}))
    assert found.columns[0].places == {"x": 1, "y": 1, "z": 3}
    assert len({(row.line["color"], row.line["dash"]) for row in found.rows}) == 3
    assert np.isclose(found.columns[0].standings["x"].mean, 2.0)


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
    worlds = [WorldSpec.of("NSBandit-Abrupt-v0", label=label, horizon=HORIZON) for label in ("here", "there")]
    played = {"here": HERE, "there": THERE}
    entries = {
        world: {each: AgentSpec.of("ts", label=each, blind=each.endswith(", blind")) for each in finals}
        for world, finals in played.items()
    }
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


def test_a_chart_has_the_least_on_top_and_both_kinds_of_dots(survey):
    first = survey.charts[0].chart["data"]
    assert first[0]["y"] == ["random", "b", "● c", "● a", "oracle-restart"]  # plotly counts from below
    assert first[0]["x"] == [900.0, 200.0, 150.0, 110.0, 2.0]
    assert dict(zip(first[1]["y"], first[1]["x"], strict=True)) == {"b": 50.0, "● c": 150.0, "● a": 110.0}


def test_the_page_shows_it_after_the_claims_and_not_as_curves(results):
    html = Page(results=results, means={"here": None, "there": None}, summary="summary", settings=[]).html()
    assert html.index('id="zoo"') < html.index('id="world-0"')
    assert html.count('class="chart" id="survey-') == 2
    assert html.count('class="chart" id="regret-') == 2  # one for each world: surveys have no curves
    assert "b, blind" not in html.split('id="settings"')[0].split('id="zoo"')[1].split("survey-charts")[0]


def test_without_a_survey_there_is_no_section(results):
    plain = Results(Study("plain", results.study.experiments[:2]), results.curves, results.agents)
    assert [survey_columns(plain, world) for world in plain.study.worlds] == [[], []]
    assert survey_of([], []) is None
    assert (
        'id="zoo"'
        not in Page(results=plain, means={"here": None, "there": None}, summary="summary", settings=[]).html()
    )
