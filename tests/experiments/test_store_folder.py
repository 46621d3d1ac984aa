"""The folder of a store: whole files or none, results of one code, and nothing of others is touched."""

import errno
import os

import pytest
from same_runs import same
from single_version import v1

from ns_mab_gym.experiments import Store, StoreError, run
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of


def test_results_of_other_code_are_set_aside_and_come_back(tmp_path, study, unit, block, told):
    units = units_of(study)
    for version in ("v1", "v2"):
        store = Store(tmp_path / "out", lambda unit, version=version: version, told.append)
        store.tidy(units)
        assert store.load(unit) is None  # a change of the code recomputes
        store.save(unit, block)
        store.close()
    assert "1 files of other code or another description set aside" in told[0]
    store = Store(tmp_path / "out", v1, told.append)
    store.tidy(units)
    assert same(store.load(unit), block)
    assert len(list(store.units.iterdir())) == 1  # versions never mix in the table
    store.close()


@pytest.mark.usefixtures("one_by_one")
def test_each_unit_has_a_version_of_its_own(tmp_path, study, engine, progress, told):
    with Store(tmp_path / "out", v1, told.append) as store:
        run(study, store, engine, progress)
    engine.calls.clear()
    with Store(tmp_path / "out", lambda unit: "v2" if unit.agent.name == "ucb" else "v1", told.append) as store:
        outcome = run(study, store, engine, progress)
        assert {unit.agent.name for unit in outcome.computed} == {"ucb"}
        assert len(outcome.computed) == len(list(store.aside.iterdir())) == len(engine.calls) == 2 * 3
    assert told == [f"6 files of other code or another description set aside in {store.aside}"]


def test_leftovers_of_a_killed_write_are_removed(tmp_path):
    Store(tmp_path / "out", v1).close()
    leftover = tmp_path / "out" / "units" / ".something.parquet.123.part"
    leftover.write_bytes(b"half")
    Store(tmp_path / "out", v1).close()
    assert not leftover.exists()


def test_a_full_disk_is_one_clear_line_and_leaves_earlier_results(store, study, unit, block, engine, monkeypatch):
    store.save(unit, block)
    other = units_of(study)[2]
    result = compute(other, engine, None)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"cannot store a result in .*No space left on device.*intact") as caught:
        store.save(other, result)
    assert "\n" not in str(caught.value)
    assert [path.name for path in store.units.iterdir()] == [store.path(unit).name]
    assert same(store.load(unit), block)


def test_an_unwritable_folder_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot use the folder .*Not a directory"):
        Store(tmp_path / "file" / "out", v1)


def test_a_folder_that_holds_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreError, match="holds other things; choose a new or empty folder"):
        Store(tmp_path, v1)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["units", "aside", "figures"])
def test_a_subfolder_that_leads_elsewhere_is_refused(tmp_path, name):
    """Else the files there would be set aside or removed as if they were results."""
    folder, elsewhere = tmp_path / "results", tmp_path / "thesis"
    Store(folder, v1).close()
    elsewhere.mkdir()
    (elsewhere / "chapter.tex").write_text("years of work")
    if (folder / name).is_dir():
        (folder / name).rmdir()
    (folder / name).symlink_to(elsewhere)
    with pytest.raises(StoreError, match=rf"{name}' is a link to another place; remove the link, or choose"):
        Store(folder, v1)
    assert [path.name for path in elsewhere.iterdir()] == ["chapter.tex"]


@pytest.mark.skipif(os.name == "nt", reason="there is no lock on Windows")
def test_a_lock_that_leads_elsewhere_empties_nothing(tmp_path):
    with Store(tmp_path / "out", v1):
        pass
    (tmp_path / "precious").write_text("of somebody else")
    (tmp_path / "out" / ".lock").unlink()
    (tmp_path / "out" / ".lock").symlink_to(tmp_path / "precious")
    with pytest.raises(StoreError, match=r"\.lock' is a link or no file; remove it, or choose another folder"):
        Store(tmp_path / "out", v1)
    assert (tmp_path / "precious").read_text() == "of somebody else"


def test_two_processes_do_not_share_a_folder(store):
    with pytest.raises(StoreError, match="another process is writing"):
        Store(store.folder, v1)
