"""Units that share a forged file: none gets what is of another, and all of them are computed again."""

import json

import pyarrow as pa
import pytest
from setting_aside import assert_set_aside
from unit_forging import forge, opened_up, rows_of, write

from ns_mab_gym.experiments.footers import packed


def swapped(table, index):
    """The rows of each unit in the place of the other's."""
    first, second = (table.slice(rows.start, rows.stop - rows.start) for rows in (rows_of(index, 0), rows_of(index, 1)))
    return pa.concat_tables([second, first])


SHARED = {
    "rows of another unit": lambda table, index, details: (swapped(table, index), index, details),
    "rows that overlap": lambda table, index, details: (table, index | {"rows": [60, 140]}, details),
    "rows that are counted twice": lambda table, index, details: (table, index | {"rows": [100, 200]}, details),
    "rows of nobody": lambda table, index, details: (table, index | {"rows": [100, 50]}, details),
    "all rows of one": lambda table, index, details: (table, index | {"rows": [1, 199]}, details),
    "no rows of one": lambda table, index, details: (table, index | {"rows": [0, 200]}, details),
    "rows below zero": lambda table, index, details: (table, index | {"rows": [-100, 300]}, details),
    "rows that overflow": lambda table, index, details: (table, index | {"rows": [2**64 - 100, 300]}, details),
    "the names of each other": lambda table, index, details: (
        table, index | {"units": index["units"][16:] + index["units"][:16]}, details,
    ),
    "a unit listed twice": lambda table, index, details: (table, index | {"units": index["units"][16:] * 2}, details),
    "details of each other": lambda table, index, details: (table, index, details | {"units": details["units"][::-1]}),
    "details twice": lambda table, index, details: (table, index, details | {"units": details["units"][1:] * 2}),
    "details of a third": lambda table, index, details: (
        table, index, details | {"units": [*details["units"], details["units"][0]]},
    ),
    "details of one": lambda table, index, details: (table, index, details | {"units": details["units"][1:]}),
    "a third unit": lambda table, index, details: (
        table, index | {"units": index["units"] + "0" * 16, "rows": [100, 100, 1]}, details,
    ),
}  # fmt: skip


@pytest.mark.parametrize("units", ["shared"], indirect=True)
@pytest.mark.parametrize("forged", SHARED.values(), ids=SHARED)
def test_units_that_share_a_file_cannot_have_what_is_of_each_other(store, units, unit, told, forged):
    forge(store.path(unit), *forged(*opened_up(store.path(unit))))
    assert_set_aside(store, units, unit, told)


@pytest.mark.parametrize("units", ["shared"], indirect=True)
@pytest.mark.parametrize("piece", ["rows", "units"])
def test_an_index_that_was_changed_is_noticed(store, units, unit, told, piece):
    """By its digest, which is as it was."""
    table, index, details = opened_up(store.path(unit))
    changed = {"rows": [60, 140], "units": index["units"][16:] + index["units"][:16]}
    write(store.path(unit), table, json.dumps(index | {piece: changed[piece]}).encode(), packed(details))
    assert_set_aside(store, units, unit, told)
    assert "its contents are not those that were written" in told[0]


@pytest.mark.parametrize("units", ["shared"], indirect=True)
def test_the_units_beside_a_forged_one_are_computed_again_too(store, units, unit, told):
    table, index, details = opened_up(store.path(unit))
    details["units"][1]["pulls"][0][0] = 7
    forge(store.path(unit), table, index, details)
    assert store.load(units[0]) is not None  # nobody has asked for the other yet
    assert_set_aside(store, units, unit, told)
