"""Unit files forged or damaged at random: set aside, or they hold what a run can give."""

import copy
import math

import numpy as np
from forged_tables import COLUMNS
from fuzzing import guest
from single_version import v1
from unit_forging import forge, nested, opened_up

from ns_mab_gym.experiments import Store
from ns_mab_gym.experiments.valid_runs import check_runs

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
