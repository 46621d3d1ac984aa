"""The store: what is saved is what is loaded, whether units share a file or not, and nothing else is taken."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from same_runs import same, with_alarms
from single_version import v1
from stored_tables import table_of

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.experiments import Store, StoreError, code_versions, parquet, unit_files
from ns_mab_gym.experiments.footers import TooLargeError
from ns_mab_gym.experiments.parquet import to_parquet
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of


@pytest.fixture
def results(study, engine):
    return [(unit, "v1", compute(unit, engine, None)) for unit in units_of(study)]


def test_what_is_saved_is_loaded_to_the_last_bit(store, keep, unit, block):
    assert store.load(unit) is None
    keep(block)
    assert same(store.load(unit), block)


def test_parameters_that_json_cannot_hold_are_left_out(store, unit, block):
    parameters = {
        "window": 9,
        "means": np.zeros(3),
        "spans": (1, 2),
        "path": "b\udcff",
        "gamma": math.inf,
        "none": None,
    }
    store.save(unit, replace(block, parameters=[parameters] * len(block)))
    kept = {"window": 9, "path": "b\\udcff", "gamma": math.inf, "none": None}
    assert store.load(unit).parameters == [kept] * len(block)


def test_alarms_are_loaded_as_they_were_sounded(store, keep, unit, block):
    keep(with_alarms(block))
    loaded = store.load(unit)
    assert same(loaded, with_alarms(block))
    assert [log.dtype for log in loaded.alarms] == [ALARM] * len(block)
    assert [log.shape for log in loaded.alarms[:3]] == [(2,), (0,), (1,)]
    assert not same(loaded, block)


def test_runs_in_which_no_alarm_was_sounded_are_not_those_of_an_agent_without_a_detector(store, unit, block):
    silent = replace(block, alarms=[np.array([], ALARM)] * len(block))
    store.save(unit, silent)
    assert [len(log) for log in store.load(unit).alarms] == [0] * len(block)
    store.save(unit, block)
    assert store.load(unit).alarms is None


def test_what_is_saved_again_is_what_is_loaded(store, keep, unit, block):
    keep(block)
    assert store.load(unit).seconds == 0.25
    for seconds in (1.0, 2.0):
        store.save(unit, replace(block, seconds=seconds))
        assert store.load(unit).seconds == seconds


def test_units_that_share_a_file_are_loaded_as_they_were(store, results):
    units = [unit for unit, _, _ in results]
    store.take(units, to_parquet(results))
    assert [path.name.partition("--18-units--")[0] for path in store.units.iterdir()] == ["2_worlds--3_agents"]
    assert all(same(store.load(unit), block) for unit, _, block in results)
    with Store(store.folder / "other", v1) as other:
        for unit, _, block in results:
            other.save(unit, block)
        pd.testing.assert_frame_equal(table_of(store.folder), table_of(other.folder))


def test_a_file_is_read_once_for_all_units_in_it(store, results, monkeypatch):
    store.take([unit for unit, _, _ in results], to_parquet(results))
    read = []
    monkeypatch.setattr(
        unit_files, "_content", lambda *given, real=unit_files._content: read.append(given) or real(*given)
    )
    for unit, _, _ in results:
        store.load(unit)
    assert len(read) == 1
    monkeypatch.setattr(unit_files, "KEPT", 1)  # too little for two
    for unit, _, block in results[:2]:
        store.save(unit, block)
    for unit, _, _ in results[:2] * 2:
        store.load(unit)
    assert len(read) == 1 + 4


def test_what_is_loaded_keeps_nothing_else_in_memory(store, results):
    store.take([unit for unit, _, _ in results], to_parquet(results))
    loaded = store.load(results[3][0])
    assert loaded.rounds.base is None
    assert loaded.regret.base is None or loaded.regret.base.size == loaded.regret.size


def test_threads_load_and_save_at_the_same_time(store, results):
    half = len(results) // 2
    store.take([unit for unit, _, _ in results[:half]], to_parquet(results[:half]))

    def work(number):
        unit, _, block = results[number % len(results)]
        if number >= half and store.load(unit) is None:
            store.save(unit, block)
        return same(store.load(unit), block)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(5 * len(results))))
    assert store.missing([unit for unit, _, _ in results]) == []


def test_missing_are_those_without_a_file_in_their_order(store, results):
    units = [unit for unit, _, _ in results]
    assert store.missing(units[::-1]) == units[::-1]
    store.take(units[2:5], to_parquet(results[2:5]))
    store.save(units[7], results[7][2])
    left = [unit for unit in units if unit not in {*units[2:5], units[7]}]
    for again in (store, None):
        if again is None:
            store.close()
            again = Store(store.folder, v1)
        assert again.missing(units[::-1]) == left[::-1]
        assert again.missing([]) == []
        again.close()


STRANGE = {
    "other code": lambda results: to_parquet([(unit, "v2", block) for unit, _, block in results]),
    "another order": lambda results: to_parquet(results[::-1]),
    "fewer units": lambda results: to_parquet(results[1:]),
    "more units": lambda results: to_parquet([*results, *results[:1]]),
    "half a file": lambda results: to_parquet(results)[:-20],
    "nothing": lambda results: b"",
    "no Parquet": lambda results: b"PAR1" * 50,
}


@pytest.mark.parametrize("made", STRANGE.values(), ids=STRANGE)
def test_a_file_of_anything_else_is_not_taken(store, results, made):
    with pytest.raises(
        StoreError, match=r"ts on NSBandit-Abrupt.* is something else, or was computed by other code"
    ) as no:
        store.take([unit for unit, _, _ in results[:3]], made(results[:3]))
    assert "\n" not in str(no.value)
    assert list(store.units.iterdir()) == []


def test_code_is_confirmed_once_for_each_agent_on_each_world(tmp_path, study, engine, monkeypatch):
    asked = []
    code = code_versions(print)
    monkeypatch.setattr(code, "confirm", asked.append)
    units = [unit for unit in units_of(study) if unit.agent.name != "ucb"]
    with Store(tmp_path / "out", code) as store:
        store.take(units, to_parquet([(unit, code(unit), compute(unit, engine, None)) for unit in units]))
    assert sorted((unit.world.words, unit.agent.words) for unit in asked) == sorted(
        {(unit.world.words, unit.agent.words) for unit in units}
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MOST_ROWS", 7_199, "18 results have 7,200 rows; at most"),
        ("MOST_UNITS", 17, "at most 17 of them"),
        ("LARGEST_WORDS", 30, "the names and parameters of 18 units take 62 bytes, more than the 30"),
    ],
)
def test_what_does_not_fit_into_a_file_is_refused_when_it_is_written(results, monkeypatch, name, value, said):
    monkeypatch.setattr(parquet, name, value)
    with pytest.raises(TooLargeError, match=said):
        to_parquet(results)
    if name == "MOST_ROWS":
        monkeypatch.setattr(parquet, name, 1)
        assert to_parquet(results[:1])  # a file of its own has as many rows as a unit needs
