"""The store: whole files or none, and whatever else lies there is noticed, reported and kept out of the table."""

import errno
import json
import math
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.experiments import Store, StoreError, parquet, run
from ns_mab_gym.experiments.runner import compute
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.runs import Runs


def v1(unit):
    """The version of the code that computes a unit: one for all."""
    return "v1"


@pytest.fixture
def told():
    return []


@pytest.fixture
def store(tmp_path, told):
    with Store(tmp_path / "out", v1, told.append) as opened:
        yield opened


@pytest.fixture
def unit(study):
    return units_of(study)[1]


@pytest.fixture
def block(unit, engine):
    return compute(unit, engine, None)


def same(one: Runs, other: Runs) -> bool:
    arrays = ("rounds", "regret", "pulls", "suboptimal_pulls")
    logs = [[] if each.alarms is None else [log.tolist() for log in each.alarms] for each in (one, other)]
    alike = (one.alarms is None) == (other.alarms is None) and logs[0] == logs[1]
    return (
        alike
        and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
        and ((one.seeds, one.parameters, one.seconds) == (other.seeds, other.parameters, other.seconds))
    )


def test_what_is_saved_is_loaded_to_the_last_bit(store, unit, block):
    assert store.load(unit) is None
    store.save(unit, block)
    assert same(store.load(unit), block)


def test_parameters_that_json_cannot_hold_are_left_out(store, unit, block):
    parameters = {
        "window": 9,
        "means": np.zeros(3),
        "spans": (1, 2),
        "path": "b\udcff",
        "gamma": math.inf,
        "none": None,
    }
    store.save(unit, replace(block, parameters=[parameters] * len(block)))
    kept = {"window": 9, "path": "b\\udcff", "gamma": math.inf, "none": None}
    assert store.load(unit).parameters == [kept] * len(block)


def with_alarms(block: Runs) -> Runs:
    """The same runs of an agent that sounded two alarms in the first run, none in the second, one in all others."""
    some = [np.array(log, ALARM) for log in ([(3, 0, False), (9, -1, True)], [], *[[(5, 2, True)]] * (len(block) - 2))]
    return replace(block, alarms=some)


def test_alarms_are_loaded_as_they_were_sounded(store, unit, block):
    store.save(unit, with_alarms(block))
    loaded = store.load(unit)
    assert same(loaded, with_alarms(block))
    assert [log.dtype for log in loaded.alarms] == [ALARM] * len(block)
    assert [log.shape for log in loaded.alarms[:3]] == [(2,), (0,), (1,)]
    assert not same(loaded, block)


def test_runs_in_which_no_alarm_was_sounded_are_not_those_of_an_agent_without_a_detector(store, unit, block):
    silent = replace(block, alarms=[np.array([], ALARM)] * len(block))
    store.save(unit, silent)
    assert [len(log) for log in store.load(unit).alarms] == [0] * len(block)
    store.save(unit, block)
    assert store.load(unit).alarms is None


@pytest.mark.parametrize("alarms", ["none", [[[1, 2]]], [[7]], 5, [None], [[["a", 0, False]]]])
def test_alarms_of_another_shape_are_set_aside(store, unit, block, told, alarms):
    """With a digest that fits, as after a change of the code that writes them."""
    store.save(unit, with_alarms(block))
    path = store.path(unit)
    changed = about(path) | {"alarms": alarms}
    del changed["digest"]
    changed["digest"] = parquet._digest(changed, block.rounds, block.regret)
    pq.write_table(pq.read_table(path).replace_schema_metadata({b"ns_mab_gym": json.dumps(changed).encode()}), path)
    assert store.load(unit) is None
    assert "set aside, to be computed again" in told[0]


def test_the_metadata_tell_what_was_asked(store, unit, block):
    store.save(unit, block)
    about = pq.read_schema(store.path(unit)).metadata[b"ns_mab_gym"].decode()
    for piece in ('"env": "NSBandit-Abrupt-v0"', '"first_run": 25', '"code": "v1"', '"numpy"', '"seeds"', '"seconds"'):
        assert piece in about


def test_a_truncated_file_is_reported_and_computed_again(store, unit, block, told):
    store.save(unit, block)
    path = store.path(unit)
    path.write_bytes(path.read_bytes()[:-100])
    assert store.load(unit) is None
    assert "is broken or cut off" in told[0]
    assert "computed again" in told[0]
    assert not path.exists()


def test_a_flipped_byte_never_changes_a_result_unnoticed(store, unit, block, told):
    store.save(unit, block)
    whole = store.path(unit).read_bytes()
    for place in range(0, len(whole), 97):
        content = bytearray(whole)
        content[place] ^= 0x01
        store.path(unit).write_bytes(content)
        loaded = store.load(unit)
        if loaded is not None:  # the byte is one that nothing is read from, such as a column's statistics
            assert same(loaded, block)
    assert len(told) > len(range(0, len(whole), 97)) / 2


def test_a_foreign_file_under_the_right_name_is_noticed(store, unit, told):
    pd.DataFrame({"round": [1], "regret": [0.5]}).to_parquet(store.path(unit))
    assert store.load(unit) is None
    assert "was not written by ns_mab_gym" in told[0]


def test_another_result_under_this_name_is_noticed(store, study, unit, block, told):
    store.save(unit, block)
    other = units_of(study)[2]
    store.path(unit).rename(store.path(other))
    assert store.load(other) is None
    assert "another result than its name says" in told[0]


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


def test_two_processes_do_not_share_a_folder(store):
    with pytest.raises(StoreError, match="another process is writing"):
        Store(store.folder, v1)


def test_all_units_open_as_one_tidy_table(store, study, engine, progress):
    run(study, store, engine, progress)
    table = pd.read_parquet(store.units)
    assert list(table.columns) == ["world", "agent", "run", "round", "regret"]
    assert len(table) == 2 * 3 * 60 * 20
    assert sorted(table["agent"].unique()) == ["beta-swts:window=50", "ts", "ucb"]
    assert not table.duplicated(["world", "agent", "run", "round"]).any()


@pytest.mark.parametrize("about", ["[]", "7", '"text"', "null", "{}", '{"digest": 1}'])
def test_metadata_of_another_shape_are_reported_and_computed_again(store, unit, block, told, about):
    store.save(unit, block)
    path = store.path(unit)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({b"ns_mab_gym": about.encode()}), path)
    assert store.load(unit) is None
    assert len(told) == 1
    assert "set aside, to be computed again" in told[0]


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


@pytest.mark.parametrize("column", ["regret", "round"])
def test_numbers_that_were_changed_with_valid_checksums_are_noticed(store, unit, block, told, column):
    store.save(unit, block)
    path = store.path(unit)
    table = pq.read_table(path)
    place = table.column_names.index(column)
    values = table[column].to_numpy().copy()
    values[0] += 1
    pq.write_table(table.set_column(place, column, [values]), path)
    assert store.load(unit) is None
    assert "its contents are not those that were written" in told[0]


WRITTEN = [
    "asked", "code", "versions", "written", "seconds", "seeds", "parameters", "pulls", "suboptimal_pulls", "alarms",
]  # fmt: skip


def about(path):
    return json.loads(pq.read_schema(path).metadata[b"ns_mab_gym"])


def test_every_piece_of_the_metadata_is_one_of_those_whose_change_is_tried(store, unit, block):
    store.save(unit, block)
    assert about(store.path(unit)).keys() == {*WRITTEN, "identity", "digest"}


@pytest.mark.parametrize("piece", WRITTEN)
def test_metadata_that_were_changed_are_noticed(store, unit, block, told, piece):
    """The counts of pulls are stored there, the suboptimal ones too, on which the paper's theorems are judged."""
    store.save(unit, block)
    path = store.path(unit)
    changed = about(path) | {piece: [about(path)[piece]]}
    pq.write_table(pq.read_table(path).replace_schema_metadata({b"ns_mab_gym": json.dumps(changed).encode()}), path)
    assert store.load(unit) is None
    assert "its contents are not those that were written" in told[0]
