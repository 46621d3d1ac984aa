"""Details and tables from somebody else: what no run has is set aside, in spite of a digest that fits."""

import base64
import json
import math
import zlib

import numpy as np
import pytest
from forged_tables import COLUMNS
from setting_aside import assert_set_aside
from unit_forging import at, forge, nested, opened_up, place_of, write

from ns_mab_gym.experiments import footers
from ns_mab_gym.experiments.footers import packed
from ns_mab_gym.experiments.unit_details import PIECES

ARMS, HORIZON, RUNS = 10, 1_000, 5
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


@pytest.mark.parametrize("forged", COLUMNS.values(), ids=COLUMNS)
def test_tables_that_no_run_has_are_set_aside_in_spite_of_their_digest(store, units, unit, told, forged):
    table, index, details = opened_up(store.path(unit))
    forge(store.path(unit), forged(table), index, details)
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
