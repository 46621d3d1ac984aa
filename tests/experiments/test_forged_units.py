"""Unit files from somebody else: nothing in them is believed, and nothing is unpacked or used before it is checked."""

import base64
import copy
import json
import math
import os
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import guest
from unit_forging import at, forge, opened_up, place_of, rows_of, write

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.experiments import Store, footers
from ns_mab_gym.experiments.footers import BrokenFileError, TooLargeError, packed
from ns_mab_gym.experiments.parquet import to_parquet
from ns_mab_gym.experiments.unit_details import PIECES
from ns_mab_gym.experiments.unit_files import LARGEST_FOOTER, keys_of_file
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.experiments.valid_runs import check_runs

ARMS, HORIZON, RUNS = 10, 1_000, 5


def v1(unit):
    """The version of the code that computes a unit: one for all."""
    return "v1"


@pytest.fixture(params=["alone", "shared"])
def units(small_study, request):
    """The units in one file: one, or two of which the second is tampered with."""
    return units_of(small_study)[:1] if request.param == "alone" else units_of(small_study)


@pytest.fixture
def unit(units):
    return units[-1]


@pytest.fixture
def blocks(units, engine):
    alarms = [np.array([(3, 0, False), (9, -1, True)], ALARM)] * RUNS
    return {unit: replace(compute(unit, engine, None), alarms=alarms) for unit in units}


@pytest.fixture
def block(unit, blocks):
    return blocks[unit]


@pytest.fixture
def told():
    return []


@pytest.fixture
def store(tmp_path, told, units, blocks):
    with Store(tmp_path / "out", v1, told.append) as opened:
        opened.take(units, to_parquet([(unit, "v1", blocks[unit]) for unit in units]))
        yield opened


def assert_set_aside(store, units, unit, told):
    """Some unit is found not to be there, with all that are in its file; and nobody looks into the file again."""
    assert None in [store.load(each) for each in units]
    assert store.load(unit) is None
    assert len(told) == 1
    assert "set aside, to be computed again" in told[0]
    assert len(told[0]) < 500
    assert store.missing(units) == units
    assert list(store.units.iterdir()) == []
    assert len(list(store.aside.iterdir())) == 1
    store.close()
    with Store(store.folder, v1, told.append) as again:
        again.tidy(units)
        assert again.missing(units) == units
    assert len(told) == 1


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
def test_details_that_no_run_has_are_set_aside_in_spite_of_their_digest(store, units, unit, told, place, value):
    table, index, details = opened_up(store.path(unit))
    about = details["units"][place_of(index, unit, "v1")]
    at(about, place, value)
    forge(store.path(unit), table, index, details)
    assert_set_aside(store, units, unit, told)


@pytest.mark.parametrize("piece", sorted(PIECES))
def test_every_piece_of_the_details_is_needed(store, units, unit, told, piece):
    table, index, details = opened_up(store.path(unit))
    del details["units"][place_of(index, unit, "v1")][piece]
    forge(store.path(unit), table, index, details)
    assert_set_aside(store, units, unit, told)


ENVELOPES = {
    "no units": {"units": []},
    "units as a record": {"units": {"0": {}}},
    "units that are no records": {"units": [1, 2]},
    "one unit more": {"units": [{}, {}, {}]},
    "one piece more": {"more": 1},
    "no versions": {"versions": None, "verzions": 1},
}


@pytest.mark.parametrize("change", ENVELOPES.values(), ids=ENVELOPES)
def test_details_of_another_form_are_set_aside(store, units, unit, told, change):
    table, index, details = opened_up(store.path(unit))
    details = {key: value for key, value in (details | change).items() if value is not None}
    forge(store.path(unit), table, index, details)
    assert_set_aside(store, units, unit, told)


INDICES = {
    "another form": ("format", 1),
    "no form": ("format", None),
    "units as a list": ("units", ["0" * 16]),
    "units as a number": ("units", 16),
    "no units": ("units", ""),
    "half a unit": ("units", "0" * 15),
    "a unit in other digits": ("units", "g" * 16),
    "a unit with blanks": ("units", "0123 4567 89ab c"),
    "more units than can be": ("units", "0123456789abcdef" * 20_000),
    "rows as text": ("rows", "100"),
    "rows as a number": ("rows", 100),
    "rows as truth": ("rows", [True]),
    "rows as fractions": ("rows", [100.0]),
    "no rows": ("rows", []),
    "rows below zero": ("rows", [-100]),
    "rows beyond all numbers": ("rows", [10**400]),
    "rows of very many": ("rows", [1] * 50_000),
    "a digest that is no text": ("digest", 7),
    "one piece more": ("more", 1),
}


@pytest.mark.parametrize(("piece", "value"), INDICES.values(), ids=INDICES)
def test_an_index_of_another_form_is_set_aside(store, units, unit, told, piece, value):
    table, index, details = opened_up(store.path(unit))
    write(store.path(unit), table, json.dumps(index | {piece: value}).encode(), packed(details))
    assert_set_aside(store, units, unit, told)


@pytest.mark.parametrize("piece", ["format", "units", "rows", "digest"])
def test_every_piece_of_the_index_is_needed(store, units, unit, told, piece):
    table, index, details = opened_up(store.path(unit))
    del index[piece]
    write(store.path(unit), table, json.dumps(index).encode(), packed(details))
    assert_set_aside(store, units, unit, told)


@pytest.mark.parametrize(
    "index", [b"[" * 100_000, b'{"rows":' * 50_000, b"\xff\xfe", b"", b"NaN", b"[]", b"7", b"null"]
)
def test_an_index_that_is_none_is_set_aside(store, units, unit, told, index):
    table, _, details = opened_up(store.path(unit))
    write(store.path(unit), table, index, packed(details))
    assert_set_aside(store, units, unit, told)


def swapped(table, index):
    """The rows of each unit in the place of the other's."""
    first, second = (table.slice(rows.start, rows.stop - rows.start) for rows in (rows_of(index, 0), rows_of(index, 1)))
    return pa.concat_tables([second, first])


def only_regret(table, index):
    """The regret of each unit in the place of the other's."""
    return table.set_column(4, "regret", swapped(table, index)["regret"])


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
    "another world in the last row": column("world", with_value("elsewhere", -1)),
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
def test_tables_that_no_run_has_are_set_aside_in_spite_of_their_digest(store, units, unit, told, forged):
    table, index, details = opened_up(store.path(unit))
    forge(store.path(unit), forged(table), index, details)
    assert_set_aside(store, units, unit, told)


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


@pytest.mark.parametrize("details", [b"", b"=", b"AAAA", b"\xff", b"eJw=", packed([])[:-4], packed({}) + b"AAAA"])
def test_details_that_cannot_be_unpacked_are_set_aside(store, units, unit, told, details):
    table, index, _ = opened_up(store.path(unit))
    keys = np.frombuffer(bytes.fromhex(index["units"]), ">u8").astype(np.uint64)
    footer = footers.Footer(keys, index["rows"], details)
    index["digest"] = footer.digest_with(table["round"].to_numpy(), table["regret"].to_numpy())
    write(store.path(unit), table, json.dumps(index).encode(), details)
    assert_set_aside(store, units, unit, told)


@pytest.mark.parametrize(("depth", "words"), [(10, "its details are others"), (100_000, "too deep or too large")])
def test_details_that_are_deep_are_set_aside_in_spite_of_their_digest(store, units, unit, told, depth, words):
    table, index, _ = opened_up(store.path(unit))
    details = base64.b64encode(zlib.compress(b"[" * depth + b"]" * depth))
    keys = np.frombuffer(bytes.fromhex(index["units"]), ">u8").astype(np.uint64)
    footer = footers.Footer(keys, index["rows"], details)
    digest = footer.digest_with(table["round"].to_numpy(), table["regret"].to_numpy())
    write(store.path(unit), table, json.dumps(index | {"digest": digest}).encode(), details)
    assert_set_aside(store, units, unit, told)
    assert words in told[0]


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


def struck(rng, record):
    """A record with a hostile value somewhere."""
    inner, steps = record, int(rng.integers(1, 6))
    for step in range(steps):
        if not isinstance(inner, dict | list) or not inner:
            break
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = keys[rng.integers(len(keys))]
        if step == steps - 1 or not isinstance(inner[key], dict | list):
            inner[key] = copy.deepcopy(HOSTILE[rng.integers(len(HOSTILE))])
        else:
            inner = inner[key]


def forged_at_random(rng, table, index, details):
    """An index or details with hostile values in a few places, or a table with another column, or all of it."""
    index, details = copy.deepcopy(index), copy.deepcopy(details)
    for _ in range(rng.integers(1, 3)):
        struck(rng, index if rng.random() < 0.3 else details)
    if rng.random() < 0.3:
        table = list(COLUMNS.values())[rng.integers(len(COLUMNS))](table)
    return table, index, details


def test_a_link_that_took_the_place_of_a_file_since_it_was_found_is_not_followed(store, units, told, tmp_path):
    path, elsewhere = store.path(units[0]), tmp_path / "elsewhere.parquet"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert store.load(units[0]) is None
    assert elsewhere.exists()
    assert len(told) == 1


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


def test_hostile_unit_files_are_set_aside_or_hold_what_a_run_can_give(store, units, blocks, told, guests, watched):
    path = store.path(units[0])
    content, parts = path.read_bytes(), opened_up(path)
    store.close()
    for rng in guests:
        forging = rng.random() < 0.5
        if forging:
            forge(path, *forged_at_random(rng, *parts))
        else:
            path.write_bytes(damaged(rng, content))
        told.clear()
        loaded = {}
        with guest(watched=watched), Store(store.folder, v1, told.append) as again:
            loaded = {unit: again.load(unit) for unit in units}
        assert len(loaded) == len(units), "a file is never a reason for an error"
        assert (None in loaded.values()) == (len(told) == 1)
        for unit, runs in loaded.items():
            if runs is not None:
                check_runs(unit, runs)
                assert forging or np.array_equal(runs.regret, blocks[unit].regret)


def test_hostile_unit_files_are_tidied_away(store, units, unit, told, guests, watched):
    """A part of them is wanted, so that they are taken apart; whatever comes of it, another start finds it in order."""
    path = store.path(unit)
    content, parts = path.read_bytes(), opened_up(path)
    store.close()
    for rng in guests:
        for each in (*store.units.iterdir(), *(store.aside.iterdir() if store.aside.exists() else ())):
            each.unlink()
        if rng.random() < 0.5:
            forge(path, *forged_at_random(rng, *parts))
        else:
            path.write_bytes(damaged(rng, content))
        with guest(watched=watched), Store(store.folder, v1, told.append) as again:
            again.tidy([unit])
            again.load(unit)
        told.clear()
        with Store(store.folder, v1, told.append) as again:
            again.tidy([unit])
            assert again.has(unit) == (len(list(store.units.iterdir())) == 1)
        assert told == []
