"""Scorecards of a study: from the runs of every agent with a detector to the files, the figures and the page."""

import csv
from dataclasses import replace
from functools import partial

import gymnasium as gym
import numpy as np
import pytest

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.detections import scorecard
from ns_mab_gym.experiments import AgentEntry, Experiment, Study, WorldEntry, collect, pictures
from ns_mab_gym.experiments.drawing_board import DrawingBoard
from ns_mab_gym.experiments.pipeline import Pipeline
from ns_mab_gym.experiments.preflight import Instances, drawn_anew
from ns_mab_gym.experiments.scorecards import cards_on, logs_alarms
from ns_mab_gym.experiments.tables import write_tables
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of

HORIZON = 1_000  # as that of the stand-in for the engine
ABRUPT = WorldEntry.of("NSBandit-Abrupt-v0", label="abrupt", horizon=HORIZON)  # changes in rounds 300, 601 and 800
ANEW = WorldEntry.of("piecewise", label="anew", horizon=HORIZON, n_arms=10, changes=4)
SMOOTH = WorldEntry.of("NSBandit-Smooth-v0", label="smooth", horizon=HORIZON)
ALERT = AgentEntry.of("cusum-ucb", label="alert")
BOLD = AgentEntry.of("cusum-ucb", label="bold", epsilon=0.5).standing_for("alert")
QUIET = AgentEntry.of("ts", label="quiet")


@pytest.fixture
def alert_engine(engine):
    """Like the stand-in for the engine, but an alert agent sounds an alarm after round 10 and one after 610."""

    def simulate(env, agent, **asked):
        played = engine(env, agent, **asked)
        logs = [np.array([(10, 1, False), (610, 0, True)], ALARM)] * asked["runs"]
        return replace(played, alarms=logs) if agent == ALERT.name else played

    return simulate


@pytest.fixture
def alert_study():
    experiment = Experiment(worlds=(ABRUPT, ANEW, SMOOTH), agents=(ALERT, BOLD, QUIET), runs=30)
    return Study("alert", (experiment,))


@pytest.fixture
def results(alert_study, alert_engine):
    return collect(alert_study, lambda unit: compute(unit, alert_engine, None))


def test_agents_with_a_log_are_scored(results, alert_study):
    [experiment] = alert_study.experiments
    means = Instances(alert_study)
    cards = cards_on(results, experiment, ABRUPT, means["abrupt"], False)
    assert list(cards) == ["alert", "bold"]
    assert [each.detected for each in cards["alert"].breakpoints] == [0, 30, 0]
    assert cards["alert"].delay.value == 10
    assert cards_on(results, experiment, ABRUPT, None, False) == {}
    assert cards_on(results, experiment, SMOOTH, means["smooth"], False) == {}
    assert logs_alarms(results, experiment, SMOOTH)


def test_a_world_drawn_anew_is_scored_by_the_means_of_each_run(results, alert_study):
    [experiment] = alert_study.experiments
    means = Instances(alert_study)
    assert drawn_anew(alert_study) == {"anew"}
    card = cards_on(results, experiment, ANEW, means["anew"], True)["alert"]
    env = gym.make("NSBandit-Piecewise-v0", horizon=HORIZON, n_arms=10, changes=4)

    def of_run(run):
        env.reset(seed=results.curves["anew"]["alert"].seeds[run][0])
        return env.unwrapped.means

    np.testing.assert_array_equal(of_run(0), means["anew"])
    by_hand = scorecard(results.curves["anew"]["alert"], of_run)
    assert card.table() == by_hand.table()
    assert len({tuple(run.rounds) for run in card.runs}) == 30


def test_the_file_of_detections(results, alert_study, tmp_path):
    totals = write_tables(results, tmp_path, Instances(alert_study), {"anew"})
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


def test_the_figures_of_alarms_are_drawn_on_the_way_as_at_the_end(results, alert_study, alert_engine, tmp_path):
    means = Instances(alert_study)
    late = pictures.draw(results, means, tmp_path / "late", {"anew"})
    read = partial(collect, load=lambda unit: compute(unit, alert_engine, None))
    with DrawingBoard(alert_study, tmp_path / "early", read, means, {"anew"}, explained=False) as board:
        for unit in units_of(alert_study):
            board.add(unit)
        timelines = board.timelines()
    assert {path.name for path in late if "alarms" in path.name} == {f"{n}.{k}" for n in NAMES for k in ("png", "svg")}
    [experiment] = alert_study.experiments
    assert timelines == {
        (experiment, world): tmp_path / "early" / f"{name}.svg"
        for world, name in zip((ABRUPT, ANEW), NAMES, strict=True)
    }
    for path in late:
        assert path.read_bytes() == (tmp_path / "early" / path.name).read_bytes()


def test_other_readings_are_in_the_table_and_not_in_the_picture(results, alert_study):
    figure = next(each for each in pictures.planned(alert_study) if each.name == "abrupt-regret")
    job = pictures.alarm_job(figure, results, Instances(alert_study), None, ())
    assert list(job.arguments[0]) == ["alert"]


def test_a_pipeline_writes_the_detections(alert_study, alert_engine, tmp_path, capsys):
    Pipeline(alert_study, tmp_path / "out", alert_engine).run()
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"detections.csv", "summary.csv", "report.html"} <= written
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<h3>Detections</h3>") == 3
    assert page.count('class="timeline"') == 2


def test_without_detectors_nothing_is_written_or_drawn(engine, tmp_path, capsys):
    quiet = Study("quiet", (Experiment(worlds=(ABRUPT,), agents=(QUIET, AgentEntry.of("random")), runs=3),))
    Pipeline(quiet, tmp_path / "out", engine).run()
    assert not (tmp_path / "out" / "detections.csv").exists()
    assert not [path for path in (tmp_path / "out" / "figures").iterdir() if "alarms" in path.name]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Detections" not in page
    assert 'class="timeline"' not in page
