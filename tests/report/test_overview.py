"""Tables over all worlds: final regrets, places and parameters of the first screen, and the survey."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ns_mab_gym.comparison import compare
from ns_mab_gym.report.sections import SurveyColumn, parameters_in_words, survey_columns, survey_of
from ns_mab_gym.specs import AgentSpec
from ns_mab_gym.statistics import may_be_as_good
from ns_mab_gym.studies.results import Results, summaries
from ns_mab_gym.studies.study import Study

from . import by_hand
from .by_hand import page_of, results_of

pytestmark = pytest.mark.usefixtures("without_plotly")


def test_places_regrets_parameters_and_the_lead_of_the_winner_on_each_world():
    content = page_of(by_hand.results()).content()
    here, there = content["columns"]
    assert here["places"] == {"a": 2, "b": 3, "c": 1}  # 200, 250, 160
    assert there["places"] == {"a": 2, "b": 1, "c": 3}  # 20, 10, 30
    assert [(row["label"], row["mean_rank"]) for row in content["agents"]] == [("a", 2.0), ("b", 2.0), ("c", 2.0)]
    # Deviations of ±100 give sd 100, and a standard error of 100 / √3 = 57.7; of ±10, 5.77.
    assert here["standings"]["a"] == (200.0, "200 ± 58", "τ = 5")
    assert there["standings"]["a"] == (20.0, "20 ± 5.8", "τ = 5")
    unsure = "; how sure that is cannot be said: play at least 5 runs"  # three runs give no interval
    assert there["lead"] == ("b", f"10 less than a{unsure}")
    assert here["lead"] == ("c", f"40 less than a{unsure}")
    # Other readings have no row, but are known where they were run.
    worlds = content["readings"]["worlds"]
    assert (worlds[0][by_hand.BOLD], list(worlds[1])) == ((50.0, "50 ± 5.8", "τ = 9,000"), ["a", "b", "c"])


def test_the_page_says_of_the_winner_what_best_says():
    """Both show one interval, which holds for all pairs of agents, and name the same rivals that may be as good."""
    found = compare("piecewise:horizon=300,n_arms=3", ["ts", "kl-ucb", "sw-ucb", "random"], runs=8, progress=False)
    best, results = found.best(), found.results
    winner, words = page_of(results).content()["columns"][0]["lead"]
    low, high = (f"{end:.0f}".replace("-", "−") if abs(end) >= 10 else f"{end:.2g}".replace("-", "−")
                 for end in best.lead[1:])  # fmt: skip
    assert winner == best.agent
    assert f" less than {best.runner_up} (95 % interval {low} to {high})" in words
    assert best.alike  # the runs are few, and the lead small
    assert words.endswith(f"; {may_be_as_good(best.alike)}")
    [experiment], [world] = results.study.experiments, results.study.worlds
    for row in summaries(results, replace(experiment, reference=best.agent), world):
        more = next(each.more for each in found.standings() if each.agent == row.label)
        assert row.difference is None or (row.difference.low, row.difference.high) == pytest.approx(more[1:])


@pytest.mark.parametrize(
    ("finals", "places", "lead"),
    [
        ({"x": [1, 3], "y": [2, 2], "z": [9, 9]}, {"x": 1, "y": 1, "z": 3}, ("x", "level with y")),
        ({"x": [1, 3]}, {"x": 1}, None),  # a winner needs a second
    ],
)
def test_agents_with_equal_means_share_a_place_and_a_row_has_its_own_line(finals, places, lead):
    content = page_of(results_of({"here": finals})).content()
    assert (content["columns"][0]["places"], content["columns"][0]["lead"]) == (places, lead)
    assert len({(row["line"]["color"], row["line"]["dash"]) for row in content["agents"]}) == len(finals)


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([{"n_arms": 3, "window": 493, "base": "a"}, {"n_arms": 3, "window": 210, "base": "b"}],
         "τ = 210 to 493, base = differs from run to run"),
        ([{"gamma": 0.5}, {"gamma": 0.25}], "γ = 0.25 to 0.5"),
        ([{"gamma": None}, {"gamma": 0.25}], "γ = differs from run to run"),
        ([{"binarize": True}, {"binarize": True}], "binarize = True"),
        ([{"subgaussian": 60.0}], "λ = 60"),
    ],
)  # fmt: skip
def test_parameters_that_differ_between_runs_are_shown_as_a_span(runs: list[dict[str, Any]], words: str):
    assert parameters_in_words(runs) == words


def test_the_first_experiment_that_varies_nothing_within_families_stands_for_a_world():
    family = [AgentSpec.of("ts", label=f"f {n}", group="f") for n in range(2)]
    found = results_of({"here": {label: [1, 2] for label in ("f 0", "f 1", "plain")}}, agents=family)
    (every,) = found.study.experiments
    experiments = tuple(replace(every, agents=agents, reference="") for agents in (every.agents[:2], every.agents[2:]))
    (column,) = page_of(replace(found, study=Study("s", experiments))).content()["columns"]
    assert (list(column["standings"]), column["chart"]) == (["plain"], "regret-0-1")
    (alone,) = page_of(replace(found, study=Study("s", experiments[:1]))).content()["columns"]
    assert (list(alone["standings"]), alone["chart"]) == (["f 0", "f 1"], "regret-0-0")  # one chart with all families


# Final regrets of three runs each. `b` told nothing is the best of those told nothing; `c` is told nothing in any case.
SURVEYED = {
    "here": {
        "a": [100, 110, 120],
        "b": [200, 200, 200],
        "b, blind": [50, 50, 50],
        "c": [150, 150, 150],
        "oracle-restart": [1, 2, 3],
        "random": [900, 900, 900],
    },
    "there": {"a": [30] * 3, "b": [10] * 3, "c": [20] * 3, "oracle-restart": [5] * 3, "random": [99] * 3},
}


@pytest.fixture(scope="module")
def surveyed() -> Results:
    """Surveys on both worlds, and before them comparisons of a and c."""
    found = results_of(SURVEYED, agents=[AgentSpec.of("ts", label="b, blind", blind=True)])
    surveys = [replace(each, survey=True) for each in found.study.experiments]
    plain = [replace(each, agents=tuple(a for a in each.agents if a.label in "ac"), survey=False) for each in surveys]
    return replace(found, study=Study("By hand", (*plain, *surveys)))


@pytest.fixture(scope="module")
def survey(surveyed: Results) -> dict[str, Any]:
    columns: list[SurveyColumn] = [each for world in surveyed.study.worlds for each in survey_columns(surveyed, world)]
    found = survey_of(columns[::-1], ["a", "c"])  # whose order is that of the study
    assert found is not None
    return found


def test_places_are_among_those_that_were_told_as_much_and_references_compete_with_nobody(survey: dict[str, Any]):
    """Here, informed: a 110, c 150, b 200; blind: b 50, a 110, c 150. There, both: b 10, c 20, a 30."""
    places = {row["label"]: [tuple(cell and cell.place for cell in forms) for forms in row["cells"]]
              for row in survey["rows"]}  # fmt: skip
    nobody = [(None, None), (None, None)]
    assert places == {
        "a": [(1, 2), (3, 3)], "b": [(3, 1), (1, 1)], "c": [(2, 3), (2, 2)], "oracle-restart": nobody, "random": nobody,
    }  # fmt: skip


def test_rows_are_ordered_by_their_mean_rank_and_the_papers_are_marked(survey: dict[str, Any]):
    """Informed: a 1 and 3, b 3 and 1, c 2 and 2: all have 2, and stay in the order of the study."""
    assert survey["worlds"] == ["here", "there"]
    assert [(row["label"], row["mean_rank"], row["ours"]) for row in survey["rows"]] == [
        ("a", 2.0, True), ("b", 2.0, False), ("c", 2.0, True), ("oracle-restart", None, False), ("random", None, False),
    ]  # fmt: skip


def test_a_chart_has_the_least_on_top_and_both_kinds_of_dots(survey: dict[str, Any]):
    informed, blind = survey["charts"][0].chart["data"]
    assert informed["y"] == ["random", "b", "● c", "● a", "oracle-restart"]  # plotly counts from below
    assert informed["x"] == [900.0, 200.0, 150.0, 110.0, 2.0]
    assert dict(zip(blind["y"], blind["x"], strict=True)) == {"b": 50.0, "● c": 150.0, "● a": 110.0}


def test_the_page_shows_a_survey_after_the_claims_and_not_as_curves(surveyed: Results):
    html = page_of(surveyed).html()
    assert html.index('id="zoo"') < html.index('id="world-0"')
    assert html.count('class="chart" id="survey-') == 2
    assert html.count('class="chart" id="regret-') == 2  # one for each world: surveys have no curves
    assert "b, blind" not in html.split('id="settings"')[0].split('id="zoo"')[1].split("survey-charts")[0]
    plain = replace(surveyed, study=Study("plain", surveyed.study.experiments[:2]))
    assert 'id="zoo"' not in page_of(plain).html()
