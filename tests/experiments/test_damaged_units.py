"""Files of units that were cut, changed, exchanged or removed: noticed, reported, and computed again."""

import pandas as pd
import pyarrow.parquet as pq
import pytest
from same_runs import same, with_alarms
from single_version import v1
from unit_forging import forge, opened_up, place_of, write

from ns_mab_gym.experiments import Store
from ns_mab_gym.experiments.footers import INDEX, packed
from ns_mab_gym.experiments.units import units_of


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


@pytest.mark.parametrize("alarms", ["none", [[[1, 2]]], [[7]], 5, [None], [[["a", 0, False]]]])
def test_alarms_of_another_shape_are_set_aside(store, keep, unit, block, told, alarms):
    """With a digest that fits, as after a change of the code that writes them."""
    keep(with_alarms(block))
    table, index, details = opened_up(store.path(unit))
    details["units"][place_of(index, unit, "v1")]["alarms"] = alarms
    forge(store.path(unit), table, index, details)
    assert store.load(unit) is None
    assert "set aside, to be computed again" in told[0]
