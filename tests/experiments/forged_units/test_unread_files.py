"""Files that would fill the memory, and links: refused before they are read or unpacked."""

import json
import os
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from setting_aside import assert_set_aside
from unit_forging import forge, opened_up, write

from ns_mab_gym.experiments import footers
from ns_mab_gym.experiments.footers import BrokenFileError, TooLargeError, packed
from ns_mab_gym.experiments.parquet import to_parquet
from ns_mab_gym.experiments.unit_files import LARGEST_FOOTER, keys_of_file


def grown(table):
    """A table of very many rows, which takes little room in a file and much in memory."""
    return pa.table([pa.repeat(each[0], 2_000_000) for each in table.columns], schema=table.schema)


def long_words(table):
    """Every row names the same world of ten megabytes."""
    words = pa.array(["w" * 10_000_000])
    dictionary = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(table), np.int8)), words)
    return table.set_column(0, "world", dictionary)


@pytest.mark.parametrize("forged", [grown, long_words])
@pytest.mark.parametrize("claimed", ["rows as they are", "rows as before"])
def test_what_would_fill_the_memory_is_refused_before_it_is_unpacked(
    store, units, unit, told, forged, claimed, monkeypatch
):
    table, index, details = opened_up(store.path(unit))
    table = forged(table)
    if claimed == "rows as they are":
        index["rows"][-1] += len(table) - sum(index["rows"])
    write(store.path(unit), table, json.dumps(index).encode(), packed(details))
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("was unpacked"))
    assert_set_aside(store, units, unit, told)


def test_an_index_that_would_fill_the_memory_is_not_read(store, units, unit, told, monkeypatch):
    table, _, details = opened_up(store.path(unit))
    write(store.path(unit), table, b"[" * (footers.LARGEST_INDEX + 1), packed(details))
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("was read"))
    assert_set_aside(store, units, unit, told)


def test_details_that_would_fill_the_memory_are_neither_read_nor_written(store, units, unit, block, told, monkeypatch):
    table, index, details = opened_up(store.path(unit))
    details["units"][0]["parameters"] = " " * 1_000_000  # which takes little room in a file
    forge(store.path(unit), table, index, details)
    monkeypatch.setattr(footers, "LARGEST_DETAILS", 100_000)
    monkeypatch.setattr("ns_mab_gym.experiments.unit_files._details", lambda *_: pytest.fail("was read"))
    assert_set_aside(store, units, unit, told)
    assert "its details are larger than" in told[0]
    monkeypatch.setattr(footers, "LARGEST_DETAILS", 100)
    with pytest.raises(
        TooLargeError, match=r"take [\d,]+ bytes, more than the 100 that a file may have; use fewer arms"
    ):
        to_parquet([(unit, "v1", block)])


def test_a_file_that_is_larger_than_any_result_is_not_read(store, units, told):
    os.truncate(store.path(units[0]), 10**12)  # which takes no room on the disk
    tracemalloc.start()
    assert store.load(units[0]) is None
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(told) == 1
    assert most < 5e6


@pytest.mark.parametrize(
    ("size", "claimed"),
    [(2**33, LARGEST_FOOTER - 7), (2**33, 2 * LARGEST_FOOTER), (1_000, 993), (1_000, 2**32 - 1), (8, 1)],
)
def test_a_footer_that_is_larger_than_one_can_be_is_not_read(tmp_path, size, claimed):
    """Neither than any footer, nor than the file; the last eight bytes tell how long it is."""
    path = tmp_path / "units.parquet"
    path.touch()
    os.truncate(path, size)
    with path.open("r+b") as handle:
        handle.seek(size - 8)
        handle.write(claimed.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(BrokenFileError, match="its footer is larger than one can be"):
        keys_of_file(path)


def test_a_link_that_took_the_place_of_a_file_since_it_was_found_is_not_followed(store, units, told, tmp_path):
    path, elsewhere = store.path(units[0]), tmp_path / "elsewhere.parquet"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert store.load(units[0]) is None
    assert elsewhere.exists()
    assert len(told) == 1
