"""Whatever worlds and agents are called, every documented reader of the folder of units finds all rows."""

import glob

import numpy as np
import pandas as pd
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from single_version import v1

from ns_mab_gym.experiments import AgentEntry, Experiment, Store, Study, WorldEntry, run
from ns_mab_gym.experiments.shelves import NAME, name_of_shared
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import blocks_of, units_of
from ns_mab_gym.plain_texts import plain_text

HOSTILE = [
    "/home/me/means", "../means", "../../means", "./means", "_private", "__init__", ".hidden", "..", "-rf", "--", "~/m",
    "a*b", "what?", "[abc]", "{a,b}", "key=value", "key=value/part=0", "x/y=z/_", "a b", "a\u200bb", "a\u00a0b",
    "é" * 200, "店" * 200, "🎲" * 99, "e\u0301", "CON", "s3://bucket/means", "file:///means",
    "C:\\means", "_", "$HOME", "%41", "#", "a;b", "a,b", "'", '"', "parquet", ".parquet.crc", "means.parquet.crc",
    "._means", "_SUCCESS",
]  # fmt: skip


def rows_found(folder):
    """How many rows each documented reader finds; Polars and DuckDB read the files that the pattern matches."""
    return {
        "pandas": len(pd.read_parquet(folder)),
        "pyarrow": pyarrow.dataset.dataset(folder).count_rows(),
        "hive": pyarrow.dataset.dataset(folder, partitioning="hive").count_rows(),
        "glob": sum(pq.read_metadata(file).num_rows for file in glob.glob(f"{glob.escape(str(folder))}/*.parquet")),
    }


def unit_of(world, agent):
    experiment = Experiment(worlds=(WorldEntry.of(world),), agents=(AgentEntry.of(agent),), runs=2)
    return blocks_of(experiment, experiment.worlds[0], experiment.agents[0])[0]


def test_every_reader_finds_every_row(tmp_path, engine):
    units = [unit_of(words, "ts") for words in HOSTILE] + [unit_of("abrupt", words) for words in HOSTILE]
    with Store(tmp_path / "out", v1) as store:
        for unit in units:
            store.save(unit, compute(unit, engine, None))
        assert all(store.load(unit) is not None for unit in units)
    rows = len(units) * 2 * 20
    assert rows_found(tmp_path / "out" / "units") == dict.fromkeys(["pandas", "pyarrow", "hive", "glob"], rows)
    table = pd.read_parquet(tmp_path / "out" / "units")
    assert list(table.columns) == ["world", "agent", "run", "round", "regret"]
    assert len(table.groupby(["world", "agent"])) == len(units)


@pytest.mark.parametrize("how", ["absolute", "above", "hidden", "below"])
def test_files_of_means_are_found_wherever_they_are(tmp_path, monkeypatch, engine, progress, how):
    """As in ``evaluate --env /path/means.csv``, whose results pandas skipped."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    words = {"absolute": f"{tmp_path}/m.csv", "above": "../m.csv", "hidden": ".m.csv", "below": "./m.csv"}[how]
    with open(words, "w") as file:
        file.write("0.1,0.9\n")
    worlds = (WorldEntry.of(words), WorldEntry.of("NSBandit-Abrupt-v0"))
    study = Study("", (Experiment(worlds=worlds, agents=(AgentEntry.of("ts"),), runs=3),))
    with Store("out", v1) as store:
        run(study, store, engine, progress)
        assert set(rows_found(store.units).values()) == {2 * 3 * 20}


def can_be_a_name(words):
    try:
        return bool(plain_text("a name", words))
    except ValueError:
        return False


NAMES = st.text(min_size=1, max_size=300).filter(can_be_a_name)


@settings(max_examples=40)
@given(NAMES, NAMES)
def test_names_begin_with_a_letter_or_digit_and_fit(world, agent):
    name = unit_of(world, agent).file_name("v1")
    assert name[0].isalnum()
    assert len(name.encode()) < 200
    assert not set(name) & set("/\\*?[]{}=:\0\n")
    assert name.endswith(f"--{unit_of(world, agent).identity('v1')[:16]}.parquet")


@pytest.mark.parametrize("words", HOSTILE)
def test_names_of_files_that_units_share_can_be_read_and_fit(words):
    many = [unit_of(words, agent) for agent in ("ts", "ucb1")]
    for units, said in ((many[:1] * 3, "--ts--3-units--"), (many, "--2_agents--2-units--")):
        name = name_of_shared(units, np.arange(len(units), dtype=np.uint64))
        assert NAME.fullmatch(name)
        assert said in name
        assert len(name.encode()) < 200
        assert not set(name) & set("/\\*?[]{}=:\0\n")


def test_names_of_files_differ_if_their_units_do():
    units = [unit_of("abrupt", "ts")] * 2
    keys = [np.array(each, np.uint64) for each in ([1, 2], [2, 1], [1, 3])]
    one, turned, other = (name_of_shared(units, each) for each in keys)
    assert one == turned != other


def test_results_are_found_by_the_hash_in_their_names_whatever_else_these_say(tmp_path, study, engine, progress):
    """As after a change of how names are made."""
    with Store(tmp_path / "out", v1) as store:
        run(study, store, engine, progress)
        for number, path in enumerate(sorted(store.units.iterdir())):
            path.rename(store.units / f"renamed={number}--{'--'.join(path.name.split('--')[-2:])}")
    told = []
    with Store(tmp_path / "out", v1, told.append) as store:
        assert store.missing(units_of(study)) == []
        store.tidy(units_of(study))
        assert all(store.load(unit) is not None for unit in units_of(study))
        assert set(rows_found(store.units).values()) == {2 * 3 * 60 * 20}
    assert told == []


@pytest.mark.parametrize("beginning", ["_", "."])
def test_names_that_readers_skip_are_not_left_in_the_table(tmp_path, study, engine, beginning):
    unit = units_of(study)[0]
    with Store(tmp_path / "out", v1, lambda line: None) as store:
        store.save(unit, compute(unit, engine, None))
        path = store.path(unit)
        path.rename(store.units / f"{beginning}{path.name}")
    with Store(tmp_path / "out", v1, lambda line: None) as store:
        assert store.missing([unit]) == [unit]
        store.tidy([unit])
        assert list(store.units.iterdir()) == []


def test_of_two_files_of_one_unit_one_counts(tmp_path, study, engine):
    unit = units_of(study)[0]
    with Store(tmp_path / "out", v1, lambda line: None) as store:
        store.save(unit, compute(unit, engine, None))
        path = store.path(unit)
        (store.units / f"copy--{path.name}").write_bytes(path.read_bytes())
    with Store(tmp_path / "out", v1, lambda line: None) as store:
        store.tidy([unit])
        assert store.load(unit) is not None
        assert len(list(store.units.iterdir())) == 1
