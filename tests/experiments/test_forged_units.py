"""Unit files from somebody else: nothing in them is believed, and nothing is unpacked or used before it is checked."""

import copy
import json
import math
import os
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import guest

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.experiments import Store, parquet
from ns_mab_gym.experiments.runner import compute
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.experiments.valid_runs import check_runs

ARMS, HORIZON, RUNS = 10, 1_000, 5


def v1(unit):
    """The version of the code that computes a unit: one for all."""
    return "v1"


@pytest.fixture
def unit(small_study):
    return units_of(small_study)[0]


@pytest.fixture
def block(unit, engine):
    alarms = [np.array([(3, 0, False), (9, -1, True)], ALARM)] * RUNS
    return replace(compute(unit, engine, None), alarms=alarms)


@pytest.fixture
def told():
    return []


@pytest.fixture
def store(tmp_path, told, unit, block):
    with Store(tmp_path / "out", v1, told.append) as opened:
        opened.save(unit, block)
        yield opened


def opened_up(path):
    """The table in a file, and its metadata."""
    table = pq.read_table(path)
    return table, json.loads(table.schema.metadata[parquet.KEY])


def forge(path, table, about):
    """Write a file with a valid digest, if that can be computed."""
    about.pop("digest", None)
    try:
        regret = table["regret"].to_numpy()
        digest = parquet._digest(about, table["round"].to_numpy()[: len(regret) // RUNS], regret)
    except (KeyError, ValueError, TypeError, pa.ArrowException):
        digest = ""
    metadata = {parquet.KEY: json.dumps(about | {"digest": digest}).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def at(about, place, value):
    """The metadata with another value at a place, such as ``pulls.0.3``."""
    *outer, last = [int(step) if step.isdecimal() else step for step in place.split(".")]
    inner = about
    for step in outer:
        inner = inner[step]
    inner[last] = value
    return about


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


FORGED = {
    "pulls that do not sum": ("pulls.0.3", 7),
    "pulls below zero": ("pulls.0", [-100, 300, *[100] * 8]),
    "pulls beyond all numbers": ("pulls.0.3", 10**400),
    "pulls beyond 64 bits": ("pulls.0.3", 2**63),
    "pulls that sum by overflow": ("pulls.0", [*[2**62] * 4, 200, 200, 150, 150, 150, 150]),
    "pulls as fractions": ("pulls.0.3", 100.5),
    "pulls as text": ("pulls.0.3", "x" * 1_000_000),
    "pulls as truth": ("pulls.0.3", True),
    "pulls of fewer arms in a run": ("pulls.0", [1_000]),
    "pulls of fewer runs": ("pulls", [[100] * 10] * 4),
    "pulls of no arms": ("pulls", [[]] * RUNS),
    "pulls of no runs": ("pulls", []),
    "pulls one deeper": ("pulls", [[[100] * 10]] * RUNS),
    "pulls as nothing": ("pulls", None),
    "pulls as a record": ("pulls", {"0": 1}),
    "more suboptimal pulls than pulls": ("suboptimal_pulls.0.3", 101),
    "suboptimal pulls below zero": ("suboptimal_pulls.0.3", -1),
    "suboptimal pulls of other arms": ("suboptimal_pulls", [[0] * 9] * RUNS),
    "other seeds": ("seeds.0", [1, 2]),
    "fewer seeds": ("seeds", []),
    "seeds as text": ("seeds", "12345"),
    "seconds that are no number": ("seconds", math.nan),
    "endless seconds": ("seconds", math.inf),
    "seconds below zero": ("seconds", -1.0),
    "seconds as text": ("seconds", "1"),
    "seconds beyond all numbers": ("seconds", 10**400),
    "seconds as truth": ("seconds", True),
    "parameters of fewer runs": ("parameters", [{}]),
    "parameters as a list": ("parameters.0", [1]),
    "parameters with a list": ("parameters.0.window", [1, 2]),
    "parameters that are deep": ("parameters.0.window", nested(400)),
    "parameters as text": ("parameters", "abcde"),
    "parameters with half a character": ("parameters.0.window", "\ud800"),
    "parameters called by half a character": ("parameters.0.\ud800", 1),
    "alarms in round 0": ("alarms.0.0.0", 0),
    "alarms beyond the horizon": ("alarms.0.0.0", HORIZON + 1),
    "alarms of an arm that is not there": ("alarms.0.0.1", ARMS),
    "alarms of an arm before the first": ("alarms.0.0.1", -2),
    "alarms with a number for truth": ("alarms.0.0.2", 1),
    "alarms as text": ("alarms.0", "abc"),
    "alarms of fewer pieces": ("alarms.0.0", [1, 2]),
    "alarms of fewer runs": ("alarms", [[]]),
    "alarms beyond all numbers": ("alarms.0.0.0", 10**30),
    "more alarms than are kept": ("alarms.0", [[1, 0, False]] * 10_001),
    "another question": ("asked.seed", 1),
    "another code": ("code", "v2"),
    "one more piece": ("more", 1),
}


@pytest.mark.parametrize(("place", "value"), FORGED.values(), ids=FORGED)
def test_metadata_that_no_run_has_are_set_aside_in_spite_of_their_digest(store, unit, told, place, value):
    table, about = opened_up(store.path(unit))
    forge(store.path(unit), table, at(about, place, value))
    assert store.load(unit) is None
    assert len(told) == 1
    assert "set aside, to be computed again" in told[0]
    assert len(told[0]) < 500


@pytest.mark.parametrize("piece", sorted(parquet.PIECES))
def test_every_piece_of_the_metadata_is_needed(store, unit, told, piece):
    table, about = opened_up(store.path(unit))
    del about[piece]
    forge(store.path(unit), table, about)
    assert store.load(unit) is None
    assert len(told) == 1


def column(name, values, kind=None):
    def changed(table):
        place = table.column_names.index(name)
        return table.set_column(place, name, pa.array(values(table[name].to_numpy().copy()), kind))

    return changed


def with_value(value, where=0):
    def changed(values):
        values[where] = value
        return values

    return changed


COLUMNS = {
    "regret that is no number": column("regret", with_value(math.nan)),
    "endless regret": column("regret", with_value(math.inf, -1)),
    "regret below zero": column("regret", with_value(-1.0)),
    "regret that falls": column("regret", with_value(0.0, 3)),
    "regret as whole numbers": column("regret", lambda values: values.astype(np.int64)),
    "regret as text": column("regret", lambda values: [str(value) for value in values]),
    "regret with gaps": column("regret", lambda values: [None, *values[1:]]),
    "regret in lists": column("regret", lambda values: [[value] for value in values]),
    "rounds that fall": column("round", lambda values: values[::-1]),
    "rounds that stay": column("round", lambda values: values * 0 + 1_000),
    "rounds from 0": column("round", lambda values: values - 50),
    "rounds that differ between runs": column("round", with_value(999, -1)),
    "other runs": column("run", lambda values: values + 1, pa.int32()),
    "another world": column("world", with_value("elsewhere")),
    "another agent": column("agent", lambda values: ["oracle"] * len(values)),
    "fewer rows": lambda table: table.slice(0, len(table) - 1),
    "no rows": lambda table: table.slice(0, 0),
    "one run too few": lambda table: table.slice(0, len(table) - 20),
    "all rows twice": lambda table: pa.concat_tables([table, table]),
    "a column too few": lambda table: table.drop_columns(["run"]),
    "a column too many": lambda table: table.append_column("more", table["run"]),
    "columns in another order": lambda table: table.select(["agent", "world", "run", "round", "regret"]),
}


@pytest.mark.parametrize("forged", COLUMNS.values(), ids=COLUMNS)
def test_tables_that_no_run_has_are_set_aside_in_spite_of_their_digest(store, unit, told, forged):
    table, about = opened_up(store.path(unit))
    forge(store.path(unit), forged(table), about)
    assert store.load(unit) is None
    assert len(told) == 1


def grown(table):
    """A table of very many rows, which takes little room in a file and much in memory."""
    return pa.table([pa.repeat(each[0], 2_000_000) for each in table.columns], schema=table.schema)


def long_words(table):
    """Every row names the same world of ten megabytes."""
    words = pa.array(["w" * 10_000_000])
    dictionary = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(table), np.int8)), words)
    return table.set_column(0, "world", dictionary)


@pytest.mark.parametrize("forged", [grown, long_words])
def test_what_would_fill_the_memory_is_refused_before_it_is_unpacked(store, unit, told, forged, monkeypatch):
    table, about = opened_up(store.path(unit))
    metadata = {parquet.KEY: json.dumps(about).encode()}
    pq.write_table(forged(table).replace_schema_metadata(metadata), store.path(unit), compression="zstd")
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("was unpacked"))
    assert store.load(unit) is None
    assert len(told) == 1
    assert "than the unit" in told[0] or "larger than such a result can be" in told[0]


@pytest.mark.parametrize("largest", [100, 5_000])
def test_metadata_that_would_fill_the_memory_are_neither_read_nor_written(
    store, unit, block, told, monkeypatch, largest
):
    monkeypatch.setattr(parquet, "LARGEST_ABOUT", largest)
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("was read"))
    table = pq.read_table(store.path(unit))
    pq.write_table(table.replace_schema_metadata({parquet.KEY: b"{" * (largest + 1)}), store.path(unit))
    assert store.load(unit) is None
    assert len(told) == 1
    monkeypatch.setattr(parquet, "LARGEST_ABOUT", 100)
    with pytest.raises(
        ValueError, match=r"5 runs with 10 arms take [\d,]+ bytes, more than the 100 that a result may have"
    ):
        store.save(unit, block)


@pytest.mark.parametrize(
    "about", [b"[" * 100_000, b'{"digest":' * 50_000, b"\xff\xfe", b"", b"1" * 5_000, b"NaN", b"{}"]
)
def test_metadata_that_are_no_metadata_are_set_aside(store, unit, told, about):
    table, _ = opened_up(store.path(unit))
    pq.write_table(table.replace_schema_metadata({parquet.KEY: about}), store.path(unit))
    assert store.load(unit) is None
    assert len(told) == 1


HOSTILE = [
    None, True, -1, 0, 1, 2**63, 10**400, 1e308, math.nan, math.inf, -math.inf, "", "\0", "é", "\ud800", "10",
    "x" * 100_000, [], {}, [[]], [None] * 1_000, nested(300), {"a": {"b": {}}}, [1, 2, 3], [[0] * 10] * 5,
]  # fmt: skip


def damaged(rng, content):
    """Bytes with some of them changed, cut off or repeated; more often at the end, where a file says what it is."""
    changed = bytearray(content)
    low = 0 if rng.random() < 0.5 else len(changed) * 3 // 4
    for _ in range(rng.integers(1, 20)):
        first, second = sorted(int(each) for each in rng.integers(low, len(changed), 2))
        match rng.integers(6):
            case 0:
                changed[first] ^= 1 << int(rng.integers(8))
            case 1:
                changed[first] = int(rng.choice([0, 127, 128, 255]))
            case 2:
                del changed[first : first + int(rng.integers(1, 30))]
            case 3:
                changed[first:first] = changed[first : min(second, first + 30)]
            case 4:
                changed[first : first + 8] = rng.bytes(8)
            case 5 if rng.random() < 0.1:
                del changed[second:]
        if len(changed) <= low + 1:
            break
    return bytes(changed)


def forged_at_random(rng, table, about):
    """Metadata with hostile values in a few places, or a table with another column, or both."""
    about = copy.deepcopy(about)
    for _ in range(rng.integers(1, 3)):
        inner, steps = about, int(rng.integers(1, 4))
        for step in range(steps):
            if not isinstance(inner, dict | list) or not inner:
                break
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            key = keys[rng.integers(len(keys))]
            if step == steps - 1 or not isinstance(inner[key], dict | list):
                inner[key] = copy.deepcopy(HOSTILE[rng.integers(len(HOSTILE))])
            else:
                inner = inner[key]
    if rng.random() < 0.3:
        table = list(COLUMNS.values())[rng.integers(len(COLUMNS))](table)
    return table, about


def test_a_link_that_took_the_place_of_a_file_since_it_was_found_is_not_followed(store, unit, tmp_path):
    path = store.path(unit)
    path.rename(tmp_path / "elsewhere.parquet")
    path.symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(parquet.BrokenFileError, match="is broken or cut off"):
        parquet.from_parquet(path, unit, "v1")


def test_a_file_that_is_larger_than_any_result_is_not_read(store, unit, told):
    os.truncate(store.path(unit), 10**12)  # which takes no room on the disk
    assert store.load(unit) is None
    assert "it is larger than such a result can be" in told[0]


def test_hostile_unit_files_are_set_aside_or_hold_what_a_run_can_give(store, unit, block, told, guests, watched):
    path = store.path(unit)
    content = path.read_bytes()
    table, about = opened_up(path)
    for rng in guests:
        forging = rng.random() < 0.5
        if forging:
            forge(path, *forged_at_random(rng, table, about))
        else:
            path.write_bytes(damaged(rng, content))
        told.clear()
        loaded = []
        with guest(watched=watched):
            loaded.append(store.load(unit))
        assert len(loaded) == 1, "a file is never a reason for an error"
        assert (loaded[0] is None) == (len(told) == 1)
        if loaded[0] is not None:
            check_runs(unit, loaded[0])
            assert forging or np.array_equal(loaded[0].regret, block.regret)
