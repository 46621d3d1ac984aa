"""Tidying: the table holds the wanted units and no others, each once, and no result is lost at any moment."""

import os
from collections import Counter
from itertools import count

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from interrupting import FOREIGN, fill_disk, interrupted, kill
from single_version import v1
from unit_forging import opened_up

from ns_mab_gym.experiments import Store
from ns_mab_gym.experiments.parquet import to_parquet
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of

KEYS = ["world", "agent", "run"]


@pytest.fixture
def units(study):
    return units_of(study)[:9]


@pytest.fixture
def blocks(units, engine):
    return {unit: compute(unit, engine, None) for unit in units}


@pytest.fixture
def opened(tmp_path, told):
    """Opens the store."""

    def start(folder=tmp_path / "out"):
        return Store(folder, v1, told.append)

    return start


def content_of(units, blocks):
    return to_parquet([(unit, "v1", blocks[unit]) for unit in units])


def put(folder, number, units, blocks):
    """Put a file of some units into a folder, under a name that such a file may have."""
    folder.mkdir(parents=True, exist_ok=True)
    [unit, *others] = units
    end = f"{len(units)}-units--{number:016x}.parquet" if others else unit.file_name("v1").partition("--")[2]
    (folder / f"{number}--{end}").write_bytes(content_of(units, blocks))


def rows_in(folder):
    """How often every run of every agent on every world is in the files of a folder, as any reader finds it."""
    rows = Counter()
    for path in folder.glob("*.parquet"):
        table = pq.read_table(path, columns=[*KEYS, "round"]).to_pandas()
        rows.update(map(tuple, table[table["round"] == table["round"].max()][KEYS].to_numpy().tolist()))
    return rows


def expected(units):
    """What the table should hold: the runs of these units, each once."""
    runs = ((unit, run) for unit in units for run in range(unit.first_run, unit.first_run + unit.runs))
    return Counter((unit.world.words, unit.agent.words, run) for unit, run in runs)


def assert_tidy(store, wanted, blocks):
    assert rows_in(store.units) == expected(wanted)
    assert store.missing(list(blocks)) == [unit for unit in blocks if not store.has(unit)]
    for unit in wanted:
        assert np.array_equal(store.load(unit).regret, blocks[unit].regret)
        assert store.path(unit).parent == store.units


def some(rng, units, share=0.5):
    return [unit for unit in units if rng.random() < share]


@pytest.mark.parametrize("seed", range(25))
def test_any_folder_becomes_the_table_of_what_is_wanted(tmp_path, opened, units, blocks, told, seed):
    """Files of any units, with others or alone, in both folders, some twice: tidied for one study after another."""
    rng = np.random.default_rng(seed)
    opened().close()
    there = set()
    for number in range(rng.integers(1, 7)):
        within = some(rng, units, rng.choice([0.2, 0.6])) or [units[number]]
        there |= set(within)
        put(tmp_path / "out" / rng.choice(["units", "aside"]), number, within, blocks)
    for _ in range(3):
        wanted = some(rng, units, 0.6)
        with opened() as store:
            store.tidy(wanted)
            assert_tidy(store, [unit for unit in wanted if unit in there], blocks)
            store.tidy(wanted)
            assert {unit for unit in units if store.has(unit)} == there
            wanted = some(rng, units, 0.6)
            store.tidy(wanted)  # without a new start
            assert_tidy(store, [unit for unit in wanted if unit in there], blocks)
    assert all("set aside in" in line for line in told)


def test_what_is_wanted_stays_as_it_is(opened, units, blocks, told):
    with opened() as store:
        store.take(units, content_of(units, blocks))
        before = {path: path.stat().st_mtime_ns for path in store.units.iterdir()}
        store.tidy(units)
        assert {path: path.stat().st_mtime_ns for path in store.units.iterdir()} == before
        assert not store.aside.exists()
    assert told == []


def test_a_file_comes_back_whole_if_all_of_it_is_wanted(opened, units, blocks, told):
    with opened() as store:
        store.take(units[:4], content_of(units[:4], blocks))
        store.tidy([])
        [path] = store.aside.iterdir()
        store.tidy(units)
        assert [each.name for each in store.units.iterdir()] == [path.name]
        assert list(store.aside.iterdir()) == []
    assert told == [f"1 files of other code or another description set aside in {store.aside}"]


def test_what_comes_back_in_part_stays_aside_for_those_who_want_the_rest(opened, units, blocks):
    with opened() as store:
        store.take(units[:4], content_of(units[:4], blocks))
        store.tidy(units[:1])
        assert [path.name for path in store.units.iterdir()] == [units[0].file_name("v1")]
        store.tidy(units[1:3])
        assert_tidy(store, units[1:3], blocks)
        store.tidy(units[:4])
        assert_tidy(store, units[:4], blocks)


def test_a_part_says_of_itself_what_the_whole_said(opened, units, blocks):
    with opened() as store:
        store.take(units, content_of(units, blocks))
        _, index, details = opened_up(store.path(units[0]))
        store.tidy(units[:0:-1])
        table, part, kept = opened_up(store.path(units[1]))
    names = [part["units"][first : first + 16] for first in range(0, len(part["units"]), 16)]
    assert names == [unit.identity("v1")[:16] for unit in units[1:]] != sorted(names)
    assert part["rows"] == index["rows"][1:]
    assert kept == details | {"units": details["units"][1:]}
    assert len(table) == sum(part["rows"])


def test_a_broken_file_is_told_when_a_part_of_it_is_wanted(opened, units, blocks, told):
    with opened() as store:
        store.take(units[:4], content_of(units[:4], blocks))
        path = store.path(units[0])
        table = pq.read_table(path)
        pq.write_table(table.set_column(4, "regret", [table["regret"].to_numpy() + 1]), path)
        store.tidy(units[:2])
        assert store.missing(units) == units
        assert list(store.units.iterdir()) == []
    assert "its contents are not those that were written); set aside, to be computed again" in told[0]


def test_results_of_the_fewest_units_count_where_several_files_hold_them(tmp_path, opened, units, blocks):
    """As when some were stored again."""
    opened().close()
    put(tmp_path / "out" / "units", 1, units[:4], blocks)
    put(tmp_path / "out" / "units", 2, units[:2], blocks)
    put(tmp_path / "out" / "units", 3, units[:1], blocks)
    with opened() as store:
        store.tidy(units[:4])
        assert_tidy(store, units[:4], blocks)
        assert store.path(units[0]).name.startswith("3--")
        assert store.path(units[2]).name.partition("--")[2].startswith("2_agents--2-units")


def prepared(folder, units, blocks):
    """A folder in which something of every kind is to be done."""
    Store(folder, v1, lambda line: None).close()
    put(folder / "units", 1, units[:4], blocks)  # a part of which is wanted
    put(folder / "units", 2, units[4:5], blocks)  # which is not
    put(folder / "units", 3, units[3:4], blocks)  # which is in the first as well
    put(folder / "aside", 4, units[5:7], blocks)  # which is wanted
    put(folder / "aside", 5, units[6:9], blocks)  # a part of which is
    (folder / "units" / "notes.txt").write_text("of somebody")
    return [*units[1:4], *units[5:8]]


@pytest.mark.skipif(os.name == "nt", reason="needs processes that fork")
@pytest.mark.parametrize("fault", [kill, fill_disk])
def test_a_fault_at_any_moment_of_tidying_loses_nothing(tmp_path, opened, units, blocks, fault):
    for moment in count(1):
        folder = tmp_path / f"at-{moment}"
        wanted = prepared(folder, units, blocks)

        def tidied(folder=folder, wanted=wanted):
            with opened(folder) as store:
                store.tidy(wanted)

        status = interrupted(tidied, folder, moment, fault)
        assert status != FOREIGN
        assert (rows_in(folder / "units") | rows_in(folder / "aside")).keys() == expected(units).keys()
        with opened(folder) as store:
            store.tidy(wanted)
            assert_tidy(store, wanted, blocks)
            assert {unit for unit in units if store.has(unit)} == set(units)
        if status == 0:
            break
    assert moment > 20


@pytest.mark.skipif(os.name == "nt", reason="needs processes that fork")
@pytest.mark.parametrize("fault", [kill, fill_disk])
def test_a_fault_at_any_moment_of_taking_leaves_all_units_of_a_file_or_none(tmp_path, opened, units, blocks, fault):
    contents = {size: content_of(units[:size], blocks) for size in (1, 4)}
    found = set()
    for moment in count(1):
        folder = tmp_path / f"at-{moment}"

        def taken(folder=folder):
            with opened(folder) as store:
                for size, content in contents.items():
                    store.take(units[:size], content)

        status = interrupted(taken, folder, moment, fault)
        assert status != FOREIGN
        with opened(folder) as store:
            store.tidy(units)
            there = [unit for unit in units if store.has(unit)]
            assert_tidy(store, there, blocks)
            found.add(len(there))
        if status == 0:
            break
    assert found == {0, 1, 4}


def test_pandas_reads_the_folder_while_it_is_tidied_in_between(opened, units, blocks):
    with opened() as store:
        store.take(units[:5], content_of(units[:5], blocks))
        store.take(units[5:], content_of(units[5:], blocks))
        store.tidy(units[2:7])
        table = pd.read_parquet(store.units)
    assert len(table) == sum(blocks[unit].regret.size for unit in units[2:7])
    assert not table.duplicated(["world", "agent", "run", "round"]).any()
