"""The store: whole files or none, and whatever else lies there is noticed, reported and kept out of the table."""

import errno
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from unit_forging import forge, opened_up, place_of, write

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.experiments import AgentEntry, Store, StoreError, code_versions, parquet, run, unit_files
from ns_mab_gym.experiments.footers import DETAILS, INDEX, TooLargeError, packed
from ns_mab_gym.experiments.parquet import checked, to_parquet
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import Unit, units_of
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


@pytest.fixture(params=["alone", "shared"])
def keep(request, store, study, unit, engine):
    """Stores the result of a unit in a file of its own, or in one that it shares with two others."""
    beside = units_of(study)[2:4] if request.param == "shared" else []

    def kept(block):
        others = [(each, "v1", compute(each, engine, None)) for each in beside]
        results = [*others[:1], (unit, "v1", checked(unit, block)), *others[1:]]
        store.take([each for each, _, _ in results], to_parquet(results))

    return kept


def same(one: Runs, other: Runs) -> bool:
    arrays = ("rounds", "regret", "pulls", "suboptimal_pulls")
    logs = [[] if each.alarms is None else [log.tolist() for log in each.alarms] for each in (one, other)]
    alike = (one.alarms is None) == (other.alarms is None) and logs[0] == logs[1]
    return (
        alike
        and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
        and ((one.seeds, one.parameters, one.seconds) == (other.seeds, other.parameters, other.seconds))
    )


def test_what_is_saved_is_loaded_to_the_last_bit(store, keep, unit, block):
    assert store.load(unit) is None
    keep(block)
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


def test_alarms_are_loaded_as_they_were_sounded(store, keep, unit, block):
    keep(with_alarms(block))
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
def test_alarms_of_another_shape_are_set_aside(store, keep, unit, block, told, alarms):
    """With a digest that fits, as after a change of the code that writes them."""
    keep(with_alarms(block))
    table, index, details = opened_up(store.path(unit))
    details["units"][place_of(index, unit, "v1")]["alarms"] = alarms
    forge(store.path(unit), table, index, details)
    assert store.load(unit) is None
    assert "set aside, to be computed again" in told[0]


def test_the_details_tell_what_was_asked(store, keep, unit, block):
    keep(block)
    _, index, details = opened_up(store.path(unit))
    about = details["units"][place_of(index, unit, "v1")]
    assert about["asked"]["env"] == "NSBandit-Abrupt-v0"
    assert about["asked"]["first_run"] == 25
    assert (about["code"], about["seconds"]) == ("v1", 0.25)
    assert details["versions"]["numpy"] == np.__version__
    assert index["rows"][place_of(index, unit, "v1")] == block.regret.size


def test_every_reader_can_read_the_footer(store, keep, unit, block):
    """Which some of them take for text."""
    keep(block)
    metadata = pq.read_metadata(store.path(unit)).metadata
    assert metadata.keys() == {INDEX, DETAILS}
    assert all(value.isascii() for value in metadata.values())


def test_a_truncated_file_is_reported_and_computed_again(store, keep, unit, block, told):
    keep(block)
    path = store.path(unit)
    path.write_bytes(path.read_bytes()[:-100])
    assert store.load(unit) is None
    assert "is broken or cut off" in told[0]
    assert "computed again" in told[0]
    assert not path.exists()


def test_a_flipped_byte_never_changes_a_result_unnoticed(store, keep, unit, block, told):
    keep(block)
    path = store.path(unit)
    whole = path.read_bytes()
    places = range(0, len(whole), 97)
    store.close()
    for place in places:
        content = bytearray(whole)
        content[place] ^= 0x01
        path.write_bytes(content)
        with Store(store.folder, v1, told.append) as again:
            loaded = again.load(unit)
        if loaded is not None:  # the byte is one that nothing is read from, such as a column's statistics
            assert same(loaded, block)
    assert len(told) > len(places) / 2


def test_a_foreign_file_under_the_right_name_is_noticed(store, unit, told):
    store.close()
    pd.DataFrame({"round": [1], "regret": [0.5]}).to_parquet(store.path(unit))
    with Store(store.folder, v1, told.append) as again:
        assert again.load(unit) is None
    assert "was not written by ns_mab_gym" in told[0]


def test_a_foreign_file_under_the_name_of_several_is_noticed_at_the_start(store, unit, told):
    store.close()
    path = store.units / "2-worlds--ts--5-units--0123456789abcdef.parquet"
    pd.DataFrame({"round": [1], "regret": [0.5]}).to_parquet(path)
    for _ in range(2):
        Store(store.folder, v1, told.append).close()
    assert told == [f"{path.name}: was not written by ns_mab_gym; set aside, to be computed again"]


def test_another_result_under_this_name_is_noticed(store, study, unit, block, told):
    store.save(unit, block)
    other = units_of(study)[2]
    store.close()
    store.path(unit).rename(store.path(other))
    with Store(store.folder, v1, told.append) as again:
        assert again.load(other) is None
    assert "another result than its name says" in told[0]


def test_results_in_the_form_of_earlier_versions_are_computed_again(store, unit, block, told):
    store.save(unit, block)
    table, _, _ = opened_up(store.path(unit))
    write(store.path(unit), table, b'{"identity": "", "digest": "", "pulls": []}', b"")
    assert store.load(unit) is None
    assert "it was written by another version" in told[0]


def test_a_file_that_was_removed_is_told_and_computed_again(store, keep, unit, block, told):
    keep(block)
    name = store.path(unit).name
    store.path(unit).unlink()
    assert store.load(unit) is None
    assert told == [f"{name}: is gone; to be computed again"]
    assert not store.has(unit)


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
def test_numbers_that_were_changed_with_valid_checksums_are_noticed(store, keep, unit, block, told, column):
    keep(block)
    path = store.path(unit)
    table = pq.read_table(path)
    place = table.column_names.index(column)
    values = table[column].to_numpy().copy()
    values[0] += 1
    pq.write_table(table.set_column(place, column, [values]), path)
    assert store.load(unit) is None
    assert "its contents are not those that were written" in told[0]


WRITTEN = ["asked", "code", "seconds", "parameters", "pulls", "suboptimal_pulls", "alarms"]


def test_every_piece_of_the_details_is_one_of_those_whose_change_is_tried(store, keep, unit, block):
    keep(block)
    _, _, details = opened_up(store.path(unit))
    assert all(about.keys() == set(WRITTEN) for about in details["units"])
    assert details.keys() == {"versions", "written", "units"}


@pytest.mark.parametrize("piece", [*WRITTEN, "versions", "written"])
def test_details_that_were_changed_are_noticed(store, keep, unit, block, told, piece):
    """The counts of pulls are stored there, the suboptimal ones too, on which the paper's theorems are judged."""
    keep(block)
    path = store.path(unit)
    table, _, details = opened_up(path)
    changed = details if piece in details else details["units"][0]
    changed[piece] = [changed[piece]]
    write(path, table, pq.read_metadata(path).metadata[INDEX], packed(details))
    assert store.load(unit) is None
    assert "its contents are not those that were written" in told[0]


@pytest.fixture
def results(study, engine):
    return [(unit, "v1", compute(unit, engine, None)) for unit in units_of(study)]


def test_units_that_share_a_file_are_loaded_as_they_were(store, results):
    units = [unit for unit, _, _ in results]
    store.take(units, to_parquet(results))
    assert [path.name.partition("--18-units--")[0] for path in store.units.iterdir()] == ["2_worlds--3_agents"]
    assert all(same(store.load(unit), block) for unit, _, block in results)
    with Store(store.folder / "other", v1) as other:
        for unit, _, block in results:
            other.save(unit, block)
        keys = ["world", "agent", "run", "round"]
        one, many = (pd.read_parquet(each.units).sort_values(keys, ignore_index=True) for each in (store, other))
    pd.testing.assert_frame_equal(one, many)


def test_the_table_has_the_types_that_it_always_had(store, keep, unit, block):
    keep(block)
    schema = pq.read_schema(store.path(unit))
    assert [str(kind) for kind in schema.types] == ["string", "string", "int32", "int64", "double"]


def test_long_words_are_written_once_and_not_for_every_row(store, unit, engine):
    rng = np.random.default_rng(0)
    agents = [AgentEntry.of("ts", text=rng.bytes(4_900).hex()) for _ in range(200)]
    long = [Unit(world=unit.world, agent=agent, seed=0, first_run=unit.first_run, runs=unit.runs) for agent in agents]
    results = [(each, "v1", compute(unit, engine, None)) for each in long]
    store.take(long, content := to_parquet(results))
    assert len(content) < 3 * 200 * 9_800  # in the column, and in the details
    assert all(store.load(each) is not None for each in (long[0], long[-1]))


def test_a_file_is_read_once_for_all_units_in_it(store, results, monkeypatch):
    store.take([unit for unit, _, _ in results], to_parquet(results))
    read = []
    monkeypatch.setattr(
        unit_files, "_content", lambda *given, real=unit_files._content: read.append(given) or real(*given)
    )
    for unit, _, _ in results:
        store.load(unit)
    assert len(read) == 1
    monkeypatch.setattr(unit_files, "KEPT", 1)  # too little for two
    for unit, _, block in results[:2]:
        store.save(unit, block)
    for unit, _, _ in results[:2] * 2:
        store.load(unit)
    assert len(read) == 1 + 4


def test_what_is_loaded_keeps_nothing_else_in_memory(store, results):
    store.take([unit for unit, _, _ in results], to_parquet(results))
    loaded = store.load(results[3][0])
    assert loaded.rounds.base is None
    assert loaded.regret.base is None or loaded.regret.base.size == loaded.regret.size


def test_what_is_saved_again_is_what_is_loaded(store, keep, unit, block):
    keep(block)
    assert store.load(unit).seconds == 0.25
    for seconds in (1.0, 2.0):
        store.save(unit, replace(block, seconds=seconds))
        assert store.load(unit).seconds == seconds


def test_threads_load_and_save_at_the_same_time(store, results):
    half = len(results) // 2
    store.take([unit for unit, _, _ in results[:half]], to_parquet(results[:half]))

    def work(number):
        unit, _, block = results[number % len(results)]
        if number >= half and store.load(unit) is None:
            store.save(unit, block)
        return same(store.load(unit), block)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(5 * len(results))))
    assert store.missing([unit for unit, _, _ in results]) == []


def test_missing_are_those_without_a_file_in_their_order(store, results):
    units = [unit for unit, _, _ in results]
    assert store.missing(units[::-1]) == units[::-1]
    store.take(units[2:5], to_parquet(results[2:5]))
    store.save(units[7], results[7][2])
    left = [unit for unit in units if unit not in {*units[2:5], units[7]}]
    for again in (store, None):
        if again is None:
            store.close()
            again = Store(store.folder, v1)
        assert again.missing(units[::-1]) == left[::-1]
        assert again.missing([]) == []
        again.close()


STRANGE = {
    "other code": lambda results: to_parquet([(unit, "v2", block) for unit, _, block in results]),
    "another order": lambda results: to_parquet(results[::-1]),
    "fewer units": lambda results: to_parquet(results[1:]),
    "more units": lambda results: to_parquet([*results, *results[:1]]),
    "half a file": lambda results: to_parquet(results)[:-20],
    "nothing": lambda results: b"",
    "no Parquet": lambda results: b"PAR1" * 50,
}


@pytest.mark.parametrize("made", STRANGE.values(), ids=STRANGE)
def test_a_file_of_anything_else_is_not_taken(store, results, made):
    with pytest.raises(
        StoreError, match=r"ts on NSBandit-Abrupt.* is something else, or was computed by other code"
    ) as no:
        store.take([unit for unit, _, _ in results[:3]], made(results[:3]))
    assert "\n" not in str(no.value)
    assert list(store.units.iterdir()) == []


def test_code_is_confirmed_once_for_each_agent_on_each_world(tmp_path, study, engine, monkeypatch):
    asked = []
    code = code_versions(print)
    monkeypatch.setattr(code, "confirm", asked.append)
    units = [unit for unit in units_of(study) if unit.agent.name != "ucb"]
    with Store(tmp_path / "out", code) as store:
        store.take(units, to_parquet([(unit, code(unit), compute(unit, engine, None)) for unit in units]))
    assert sorted((unit.world.words, unit.agent.words) for unit in asked) == sorted(
        {(unit.world.words, unit.agent.words) for unit in units}
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MOST_ROWS", 7_199, "18 results have 7,200 rows; at most"),
        ("MOST_UNITS", 17, "at most 17 of them"),
        ("LARGEST_WORDS", 30, "the names and parameters of 18 units take 62 bytes, more than the 30"),
    ],
)
def test_what_does_not_fit_into_a_file_is_refused_when_it_is_written(results, monkeypatch, name, value, said):
    monkeypatch.setattr(parquet, name, value)
    with pytest.raises(TooLargeError, match=said):
        to_parquet(results)
    if name == "MOST_ROWS":
        monkeypatch.setattr(parquet, name, 1)
        assert to_parquet(results[:1])  # a file of its own has as many rows as a unit needs
