"""Scorecards of a study: from the runs of every agent with a detector to the files, the figures and the page."""

import csv
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from fake_engine import FakeEngine
from matplotlib.figure import Figure

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.detections import scorecard
from ns_mab_gym.report.pipeline import Pipeline
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies import pictures
from ns_mab_gym.studies.results import collect
from ns_mab_gym.studies.runner import Instances, compute
from ns_mab_gym.studies.study import Experiment, Study
from ns_mab_gym.studies.tables import cards_on, logs_alarms, write_tables

HORIZON = 1_000  # as that of the stand-in for the engine
ABRUPT = WorldSpec.of("NSBandit-Abrupt-v0", label="abrupt", horizon=HORIZON)  # changes in rounds 300, 601 and 800
ANEW = WorldSpec.of("piecewise", label="anew", horizon=HORIZON, n_arms=10, changes=4)
SMOOTH = WorldSpec.of("NSBandit-Smooth-v0", label="smooth", horizon=HORIZON)
ALERT = AgentSpec.of("cusum-ucb", label="alert")
BOLD = replace(AgentSpec.of("cusum-ucb", label="bold", epsilon=0.5), stands_for="alert")
QUIET = AgentSpec.of("ts", label="quiet")


@pytest.fixture
def alert_engine():
    """Like the stand-in for the engine, but an alert agent sounds an alarm after round 10 and one after 610."""
    engine = FakeEngine()

    def simulate(env, agent, **asked):
        played = engine(env, agent, **asked)
        logs = [np.array([(10, 1, False), (610, 0, True)], ALARM)] * asked["runs"]
        return replace(played, alarms=logs) if agent == ALERT.name else played

    return simulate


@pytest.fixture
def alert_study():
    return Study("alert", (Experiment(worlds=(ABRUPT, ANEW, SMOOTH), agents=(ALERT, BOLD, QUIET), runs=30),))


@pytest.fixture
def results(alert_study, alert_engine):
    return collect(alert_study, lambda unit: compute(unit, alert_engine, None))


def test_agents_with_a_log_are_scored(results, alert_study):
    [experiment] = alert_study.experiments
    means = Instances(alert_study)
    cards = cards_on(results, experiment, ABRUPT, means["abrupt"])
    assert list(cards) == ["alert", "bold"]
    assert [each.detected for each in cards["alert"].breakpoints] == [0, 30, 0]
    assert cards["alert"].delay.value == 10
    assert cards_on(results, experiment, ABRUPT, None) == {}
    assert cards_on(results, experiment, SMOOTH, means["smooth"]) == {}
    assert logs_alarms(results, experiment, SMOOTH)


def test_a_world_drawn_anew_is_scored_by_the_means_of_each_run(results, alert_study):
    [experiment] = alert_study.experiments
    means = Instances(alert_study)
    assert [world.label for world in alert_study.worlds if world.random] == ["anew"]
    card = cards_on(results, experiment, ANEW, means["anew"])["alert"]
    env = gym.make("NSBandit-Piecewise-v0", horizon=HORIZON, n_arms=10, changes=4)

    def of_run(run):
        env.reset(seed=results.curves["anew"]["alert"].seeds[run][0])
        return env.unwrapped.means

    np.testing.assert_array_equal(of_run(0), means["anew"])
    by_hand = scorecard(results.curves["anew"]["alert"], of_run)
    assert card.table() == by_hand.table()
    assert len({tuple(run.rounds) for run in card.runs}) == 30


def test_the_file_of_detections(results, alert_study, tmp_path):
    totals = write_tables(results, tmp_path, Instances(alert_study))
    assert totals.alarms
    rows = list(csv.DictReader((tmp_path / "detections.csv").read_text(encoding="utf-8").splitlines()))
    assert all(None not in row and None not in row.values() for row in rows)  # no row is too long or too short
    assert [(row["world"], row["agent"], row["breakpoint"]) for row in rows] == [
        ("abrupt", agent, at) for agent in ("alert", "bold") for at in ("300", "601", "800", "all")
    ] + [("anew", "alert", "all"), ("anew", "bold", "all")]
    second, overall = rows[1], rows[3]
    assert (second["detected"], second["of"], second["delay"], second["delay_low"]) == ("30", "30", "10.0", "")
    assert (second["missed"], second["false_alarms"], second["arms"]) == ("0.0", "", "1 9 10")
    assert float(overall["missed"]) == pytest.approx(2 / 3)
    assert (overall["of"], overall["false_alarms"], overall["true_alarms"]) == ("90", "1.0", "1.0")
    assert float(overall["false_alarms_per_10000_rounds"]) == 10
    assert (overall["runs_with_false_alarm"], overall["runs"]) == ("1.0", "30")


NAMES = ["abrupt-regret-alarms", "anew-regret-alarms"]


def test_the_figures_of_alarms_show_the_agents_of_each_world(results, alert_study, tmp_path, monkeypatch):
    shown = {}
    monkeypatch.setattr(
        pictures, "alarm_figure", lambda cards, title: shown.setdefault(title, list(cards)) and Figure()
    )
    drawn = pictures.draw(results, Instances(alert_study), tmp_path)
    [experiment] = alert_study.experiments
    timelines = {(experiment, world): tmp_path / f"{n}.svg" for world, n in zip((ABRUPT, ANEW), NAMES, strict=True)}
    assert drawn.timelines == timelines
    assert shown == {"abrupt": ["alert"], "anew": ["alert"]}  # without other readings


def test_a_pipeline_writes_the_detections(alert_study, alert_engine, tmp_path, capsys):
    Pipeline(alert_study, folder=tmp_path / "out", simulate=alert_engine).run()
    assert (tmp_path / "out" / "detections.csv").exists()
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<h3>Detections</h3>") == 3
    assert page.count('class="timeline"') == 2


def test_without_detectors_nothing_is_written_or_drawn(tmp_path, capsys):
    quiet = Study("quiet", (Experiment(worlds=(ABRUPT,), agents=(QUIET, AgentSpec.of("random")), runs=3),))
    Pipeline(quiet, folder=tmp_path / "out", simulate=FakeEngine()).run()
    assert not (tmp_path / "out" / "detections.csv").exists()
    assert not list((tmp_path / "out" / "figures").glob("*alarms*"))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Detections" not in page
    assert 'class="timeline"' not in page
