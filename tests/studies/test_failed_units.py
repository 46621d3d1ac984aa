"""Units that fail: the rest is computed and shown without the agents that lack runs, and everybody is told."""

from dataclasses import replace

import pandas as pd
from failing_studies import ABRUPT, SMOOTH, Failing, page_of, ran, rows_of

from ns_mab_gym.studies.failures import Gap, failures_in_words, write_failures
from ns_mab_gym.studies.runner import Failure
from ns_mab_gym.studies.study import Study, Unit, units_of

HOSTILE = "<script>alert(1)</script> \x1b[31mred\x07\u202e\ud800 two\nlines"


def test_an_agent_that_failed_on_one_world_is_left_out_of_all_and_named(tmp_path, study, engine):
    out = tmp_path / "out"
    pipeline, said = ran(study, out, Failing(engine, ("ucb1", ABRUPT), first_run=25))
    assert {(each.unit.agent.name, each.unit.world.name, each.unit.first_run) for each in pipeline.failures} == {
        ("ucb1", ABRUPT, 25), ("ucb1", ABRUPT, 50),
    }  # fmt: skip
    page, warning = page_of(out)
    for text in ("\n".join(said), warning):
        assert "2 of 18 units failed" in text
        assert "ucb1 on abrupt, runs 25-59 (ValueError: it broke (failing_studies.py, line " in text
        assert "since runs are missing: ucb1." in text
    for table in (rows_of(out / "summary.csv"), pd.read_parquet(out / "table.parquet").to_dict("records")):
        assert {(row["agent"], row["world"]) for row in table} == {
            (agent, world) for agent in {row["agent"] for row in table} for world in {row["world"] for row in table}
        }
        assert len({row["agent"] for row in table}) == len({row["world"] for row in table}) == 2
    assert {row["runs"] for row in rows_of(out / "summary.csv")} == {"60"}
    assert page.count("ucb1") == warning.count("ucb1")
    assert not any("ucb1" in path.read_text() for path in (out / "figures").glob("*.svg"))
    assert said[-1] == f"report: {out / 'report.html'}"
    assert "16 of 18 units computed" in said[-2]


def test_once_nothing_fails_the_same_command_makes_the_whole_report(tmp_path, study, engine):
    ran(study, tmp_path / "out", Failing(engine, ("ucb1", ABRUPT)))
    engine.calls.clear()
    pipeline, said = ran(study, tmp_path / "out", engine)
    assert {call[:2] for call in engine.calls} == {(ABRUPT, "ucb1")}
    ran(study, tmp_path / "whole", engine)
    assert pipeline.failures == ()
    assert not (tmp_path / "out" / "failures.txt").exists()
    assert not any("failed" in line for line in said)
    for name in ("summary.csv", *(f"figures/{each.name}" for each in (tmp_path / "whole" / "figures").iterdir())):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_what_is_left_is_the_same_as_without_the_agent(tmp_path, study, engine):
    [experiment] = study.experiments
    without = Study("test", (replace(experiment, agents=experiment.agents[1:], reference=""),))
    ran(study, tmp_path / "failed", Failing(engine, ("ts", SMOOTH)))
    ran(without, tmp_path / "without", engine)
    for name in ("summary.csv", "figures/abrupt-regret.svg", "figures/abrupt-regret.png"):
        assert (tmp_path / "failed" / name).read_bytes() == (tmp_path / "without" / name).read_bytes(), name
    assert "Others are compared with short instead of ts." in page_of(tmp_path / "failed")[1]


def test_the_file_has_every_unit_its_words_and_its_traceback(tmp_path, study, engine, undrawn):
    ran(study, tmp_path / "out", Failing(engine, ("beta-swts", None)))
    text = (tmp_path / "out" / "failures.txt").read_text(encoding="utf-8")
    heads = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert sorted(heads) == sorted(
        f"beta-swts:window=50 on {env}:horizon=1000, runs {runs}, seed 0"
        for env in (ABRUPT, SMOOTH)
        for runs in ("0-24", "25-49", "50-59")
    )
    assert text.count("Traceback (most recent call last)") == 6
    assert text.count("raise ValueError(self.words)") == 6


def test_nothing_that_strangers_write_reaches_the_terminal_the_page_or_the_file_as_it_is(
    tmp_path, study, engine, undrawn
):
    _, said = ran(study, tmp_path / "out", Failing(engine, ("ucb1", None), words=HOSTILE))
    page, warning = page_of(tmp_path / "out")
    text = (tmp_path / "out" / "failures.txt").read_bytes().decode()
    assert "<script>alert" not in page
    for shown in ("\n".join(said), warning, text):
        assert "<script>alert(1)" in shown
        assert not set(shown) & set("\x1b\x07\u202e\ud800\r")
    assert "\\x1b[31m" in text


def test_a_long_error_and_many_failures_leave_the_page_readable(study):
    unit = units_of(study)[0]
    failures = [Failure(Unit(unit.series, 25 * n, 25), 3, "x" * 10_000, "", "tcp://1.2.3.4") for n in range(100)]
    gaps = [Gap(f"agent {n}", "world", (failure,)) for n, failure in enumerate(failures)]
    said = failures_in_words(failures, gaps, 1_000)
    assert said[0].startswith("100 of 1,000 units failed")
    assert said[-1] == "And 92 more pairs of agent and world."
    assert len(said) == 10
    assert len(" ".join(said)) < 3_000


def test_the_file_names_the_worker_and_goes_when_nothing_fails(tmp_path, study):
    write_failures(tmp_path, [Failure(units_of(study)[0], 3, "it broke", "one\ntwo", "tcp://1.2.3.4")])
    text = (tmp_path / "failures.txt").read_text()
    assert "tried 3 times, the last time by tcp://1.2.3.4" in text
    assert "    | one\n    | two\n" in text
    write_failures(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_nothing_left_is_no_report_and_none_of_an_earlier_run(tmp_path, study, engine, undrawn):
    out = tmp_path / "out"
    ran(study, out, engine)
    [experiment] = study.experiments
    other = Study("test", (replace(experiment, seed=1),))
    pipeline, said = ran(other, out, Failing(engine, (None, ABRUPT)))
    assert len(pipeline.failures) == 9
    assert said[-1].startswith("no report: ")
    assert "Nothing is left on abrupt, NSBandit-Smooth-v0:horizon=1000." in said
    assert {path.name for path in out.iterdir() if path.is_file()} == {"README.txt", "failures.txt", "results.sqlite"}
    pipeline, said = ran(other, out, engine)
    assert (out / "report.html").exists()
    assert pipeline.failures == ()
