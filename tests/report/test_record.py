"""A report that is already written: it is neither judged nor drawn nor written again while everything is the same."""

import re

import pytest
from fake_engine import FakeEngine

from ns_mab_gym.report import pipeline, record
from ns_mab_gym.report.pipeline import Pipeline
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.study import Experiment, Study

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


def test_it_is_written_again_if_something_else_is_asked(ran, monkeypatch):
    ran()
    assert ran(notes=["A note."])[1]
    assert ran(study=Study("another title", STUDY.experiments))[1]
    assert not ran(study=Study("another title", STUDY.experiments))[1]
    monkeypatch.setattr(record, "code_digest", lambda modules: "other code")
    assert ran(study=Study("another title", STUDY.experiments))[1]


def test_what_functions_of_the_user_say_is_asked_every_time(ran):
    def observe(results):
        return ["seen"]

    assert ran(observe=observe)[1]
    assert ran(observe=observe)[1]


def test_a_damaged_record_counts_as_none(ran, tmp_path):
    ran()
    for content in (b"[]", b"{", b'{"files": {}}'):
        (tmp_path / "out" / record.RECORD).write_bytes(content)
        assert ran()[1]
        assert pipeline.Record([tmp_path / "out", tmp_path / "out" / "figures"]).content
