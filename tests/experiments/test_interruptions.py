"""Killed, or out of room, at whatever moment: the same command goes on, and its table is that of a whole run."""

import os

import pandas as pd
import pytest
from interrupting import FOREIGN, KILLED, REFUSED, fill_disk, interrupted, kill
from single_version import v1
from stored_tables import table_of

from ns_mab_gym.choosing import reports
from ns_mab_gym.choosing.reports import OWNER, own_folder
from ns_mab_gym.experiments import Store, StoreError, run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs processes that fork")


@pytest.fixture
def command(small_study, engine, progress):
    """Does in a folder what a command does, and returns how many units it computed."""

    def work(folder):
        with Store(folder, v1, lambda line: None) as store:
            return len(run(small_study, store, engine, progress, n_jobs=1).computed)

    return work


@pytest.mark.parametrize("fault", [kill, fill_disk])
def test_a_fault_at_any_moment_costs_nothing(tmp_path, command, fault):
    command(tmp_path / "whole")
    whole = table_of(tmp_path / "whole")
    moments = 0
    while True:
        moments += 1
        folder = tmp_path / f"at-{moments}"
        status = interrupted(lambda: command(folder), folder, moments, fault)  # noqa: B023 - called at once
        assert status != FOREIGN
        command(folder)
        pd.testing.assert_frame_equal(table_of(folder), whole)
        assert {path.name for path in folder.iterdir()} == {".lock", "README.txt", "units"}
        assert command(folder) == 0
        if status == 0:
            break
        assert status == (KILLED if fault is kill else REFUSED)
    assert moments > 10  # the folder, its lock, its mark, the units; each of them made, written and renamed


@pytest.mark.parametrize("fault", [kill, fill_disk])
def test_a_fault_at_any_moment_of_a_second_run_costs_nothing_either(tmp_path, command, fault):
    """Which has leftovers to remove, files of other code to set aside and an earlier result to bring back."""
    moments, status = 0, KILLED
    while status != 0:
        moments += 1
        folder = tmp_path / f"at-{moments}"
        command(folder)
        whole = table_of(folder)
        first, second = sorted((folder / "units").iterdir())
        (folder / "aside").mkdir()
        first.rename(folder / "aside" / first.name)
        second.unlink()
        (folder / "units" / "of-other-code--0-4--0123456789abcdef.parquet").write_bytes(b"")
        (folder / "units" / ".half.parquet.123.part").write_bytes(b"half")
        status = interrupted(lambda: command(folder), folder, moments, fault)  # noqa: B023 - called at once
        assert status != FOREIGN
        assert command(folder) <= 1
        pd.testing.assert_frame_equal(table_of(folder), whole)
        assert len(list((folder / "units").iterdir())) == 2


LEFT = {
    "nothing": [],
    "the folder for units": ["units/"],
    "the lock": [".lock"],
    "the lock and half of the mark": [".lock", ".ns-mab-gym-0123456789abcdef.part"],
    "what earlier versions left": ["units/", ".lock", ".README.txt.123.part"],
}
OTHERS = {
    "work": ["thesis.tex"],
    "a lock that says something": [".lock=4711"],
    "a folder of the same name": ["units/clicks.csv"],
    "a readme of somebody else": ["README.txt=Read me first."],
    "hidden work": [".thesis.tex.part"],
    "a folder called like a lock": [".lock/"],
}


def furnish(folder, names):
    folder.mkdir()
    for name in names:
        path, _, text = name.partition("=")
        (folder / path).parent.mkdir(exist_ok=True)
        if path.endswith("/"):
            (folder / path).mkdir()
        else:
            (folder / path).write_text(text)


def listing(folder):
    return sorted((str(path.relative_to(folder)), path.is_file() and path.read_text()) for path in folder.rglob("*"))


@pytest.mark.parametrize("names", LEFT.values(), ids=LEFT)
def test_what_an_interrupted_start_leaves_is_taken_up_again(tmp_path, names):
    furnish(tmp_path / "out", names)
    Store(tmp_path / "out", v1).close()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"README.txt", ".lock", "units"}


@pytest.mark.parametrize("names", LEFT.values(), ids=LEFT)
def test_so_is_the_folder_of_a_comparison(tmp_path, names):
    furnish(tmp_path / "out", names)
    own_folder(tmp_path / "out", OWNER, "choose another")


@pytest.mark.parametrize("names", OTHERS.values(), ids=OTHERS)
def test_what_somebody_else_keeps_there_is_not(tmp_path, names):
    furnish(tmp_path / "out", names)
    before = listing(tmp_path)
    with pytest.raises(StoreError, match="holds other things; choose a new or empty folder"):
        Store(tmp_path / "out", v1)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("where", [".", "units", "figures"])
def test_leftovers_are_removed_wherever_files_are_written(tmp_path, where):
    Store(tmp_path / "out", v1).close()
    (tmp_path / "out" / where).mkdir(exist_ok=True)
    left = [tmp_path / "out" / where / name for name in (".ns-mab-gym-0123456789abcdef.part", ".regret.png.12.part")]
    for path in left:
        path.write_bytes(b"half")
    with Store(tmp_path / "out", v1):
        assert not any(path.exists() for path in left)
        left[0].write_bytes(b"being written")
        with pytest.raises(StoreError, match="another process is writing"):
            Store(tmp_path / "out", v1)
        assert left[0].exists()  # of whoever holds the lock


@pytest.mark.parametrize("where", [".", "figures"])
def test_so_are_those_of_a_comparison(tmp_path, monkeypatch, where):
    """With the figures of an earlier one, and nothing else."""
    monkeypatch.setattr(reports, "Board", lambda comparison: None)
    monkeypatch.setattr(reports, "_write_folder", lambda board, folder: reports._clear(folder))
    folder = tmp_path / "out"
    (folder / "figures").mkdir(parents=True)
    (folder / "README.txt").write_text(OWNER)
    for name in (".ns-mab-gym-0123456789abcdef.part", ".regret.png.12.part", "mine.part", "notes.txt"):
        (folder / where / name).write_bytes(b"half")
    for name in ("regret.png", "regret.svg", "regret.pdf"):
        (folder / "figures" / name).write_bytes(b"old")
    reports.write_report(None, folder)
    assert {path.name for path in (folder / where).iterdir() if path.is_file()} - {".lock", "README.txt"} == {
        "mine.part",
        "notes.txt",
        *(["regret.pdf"] if where == "figures" else []),
    }
    assert [path.name for path in sorted((folder / "figures").glob("regret.*"))] == ["regret.pdf"]
