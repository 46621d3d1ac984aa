"""A report that is already written: it is neither judged nor drawn nor written again while everything is the same."""

import re
import sqlite3
from contextlib import closing

import pytest
from fake_engine import FakeEngine

from ns_mab_gym.report import pipeline, record
from ns_mab_gym.report.pipeline import Pipeline
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.runner import Outcome
from ns_mab_gym.studies.study import Experiment, Study, units_of

WORLD = WorldSpec.of("NSBandit-Abrupt-v0", label="abrupt", horizon=1_000)
STUDY = Study("small", (Experiment(worlds=(WORLD,), agents=(AgentSpec.of("ts"), AgentSpec.of("ucb1")), runs=3),))


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Runs the study, and returns the closing lines without seconds, and whether the report was written."""
    written = []
    write = Pipeline._write
    monkeypatch.setattr(Pipeline, "_write", lambda *given: (written.append(given), write(*given)))

    def run(study=STUDY, **options):
        before = len(written)
        lines = Pipeline(study, folder=tmp_path / "out", simulate=FakeEngine(), **options).run()
        said = [re.sub(r"computed in .*", "", line).replace("2 of 2", "0 of 2") for line in lines]
        return said, len(written) > before

    return run


def test_it_is_written_once(ran):
    first, second = ran(warning="Mind this."), ran(warning="Mind this.")
    assert (first[1], second[1]) == (True, False)
    assert second[0] == first[0]
    assert first[0][0] == "Mind this."


def test_it_is_written_again_if_a_file_is_missing_or_changed(ran, tmp_path, capsys):
    ran()
    for file in ("report.html", "summary.csv", "results.sqlite", "figures/abrupt-regret.svg"):
        path = tmp_path / "out" / file
        path.unlink()
        assert ran()[1]
        assert path.is_file()
        path.write_bytes(path.read_bytes()[:-1])
        assert ran()[1]
    assert not ran()[1]


def test_it_is_written_again_if_something_else_is_asked(ran, monkeypatch, undrawn):
    ran()
    assert ran(notes=["A note."])[1]
    assert ran(study=Study("another title", STUDY.experiments))[1]
    assert not ran(study=Study("another title", STUDY.experiments))[1]
    monkeypatch.setattr(record, "code_digest", lambda modules: "other code")
    assert ran(study=Study("another title", STUDY.experiments))[1]


def test_what_functions_of_the_user_say_is_asked_every_time(ran, undrawn):
    def observe(results):
        return ["seen"]

    assert ran(observe=observe)[1]
    assert ran(observe=observe)[1]


def test_a_damaged_record_counts_as_none(ran, tmp_path, undrawn):
    ran()
    for content in (b"[]", b"{", b'{"files": {}}'):
        (tmp_path / "out" / record.RECORD).write_bytes(content)
        assert ran()[1]
        assert pipeline.Record([tmp_path / "out", tmp_path / "out" / "figures"]).content


def test_the_closing_line_counts_steps_in_full():
    outcome = Outcome(units=(), computed_steps=27_000, engine_seconds=1.5, computed=tuple(units_of(STUDY)))
    said = pipeline.speed_in_words(2.0, outcome)
    assert said.endswith(" units computed in 2.0 s (27,000 steps, 14 k steps/s; engine 1.5 s over all threads)")


def test_results_that_were_damaged_are_computed_in_the_same_run_and_counted(tmp_path):
    def last_line():
        return Pipeline(STUDY, folder=tmp_path / "out", simulate=FakeEngine()).run()[-2]

    last_line()
    with closing(sqlite3.connect(tmp_path / "out" / "results.sqlite")) as db, db:
        assert db.execute("UPDATE units SET arrays = zeroblob(99)").rowcount == 2
    assert last_line().startswith("0 of 2 units computed, and 2 damaged ones again, in ")
    assert last_line().startswith("0 of 2 units computed in ")
