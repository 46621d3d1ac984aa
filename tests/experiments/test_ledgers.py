"""A ledger says of every key what a dictionary would say, whatever was added and removed."""

import numpy as np
import pytest

from ns_mab_gym.experiments import ledgers
from ns_mab_gym.experiments.ledgers import Entries, Ledger, among

MANY = 40  # keys, few enough to meet again; the largest is the largest there is
KEYS = [*range(MANY - 1), 2**64 - 1]


def entries(pairs):
    keys, files, runs = zip(*((key, *numbers) for key, numbers in pairs), strict=True) if pairs else ((), (), ())
    return Entries(np.array(keys, np.uint64), np.array(files, np.int32), np.array(runs, np.int32))


def drawn(rng, size):
    return [KEYS[place] for place in rng.integers(MANY, size=size)]


@pytest.mark.parametrize("recent", [0, 5, 50_000])
@pytest.mark.parametrize("seed", range(15))
def test_a_ledger_is_a_dictionary(seed, recent, monkeypatch):
    monkeypatch.setattr(ledgers, "MOST_RECENT", recent)
    rng = np.random.default_rng(seed)
    first = [(key, (int(number), -1)) for number, key in enumerate(drawn(rng, rng.integers(30)))]
    ledger, plain = Ledger(entries(first)), dict(first)
    for number in range(60):
        keys = np.array(drawn(rng, rng.integers(6)), np.uint64)
        match rng.integers(4):
            case 0:
                ledger.put(keys, number, 7)
                plain |= dict.fromkeys(keys.tolist(), (number, 7))
            case 1:
                for key in keys.tolist():
                    ledger.remove(key)
                    plain.pop(key, None)
            case 2:
                file = int(rng.integers(number + 1))
                ledger.remove_all(file, 7)
                plain = {key: pair for key, pair in plain.items() if pair != (file, 7)}
            case 3:
                found = ledger.entries
                assert found.keys.tolist() == sorted(plain)
                pairs = zip(found.files.tolist(), found.runs.tolist(), strict=True)
                assert dict(zip(found.keys.tolist(), pairs, strict=True)) == plain
        assert [ledger.find(key) for key in KEYS] == [plain.get(key) for key in KEYS]


@pytest.mark.parametrize("seed", range(10))
def test_among_is_membership(seed):
    rng = np.random.default_rng(seed)
    keys, others = drawn(rng, rng.integers(20)), drawn(rng, rng.integers(20))
    found = among(np.array(keys, np.uint64), np.sort(np.array(others, np.uint64)))
    assert found.tolist() == [key in others for key in keys]


def test_a_million_entries_take_sixteen_bytes_each():
    keys = np.random.default_rng(0).integers(2**63, size=1_000_000, dtype=np.uint64)
    ledger = Ledger(Entries(keys, np.zeros(len(keys), np.int32), np.zeros(len(keys), np.int32)))
    assert sum(column.nbytes for column in ledger.entries) == 16 * len(np.unique(keys))
    assert ledger.find(int(keys[12_345])) == (0, 0)
