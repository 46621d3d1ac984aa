"""The store: what is saved is what is loaded, after whatever happens to the process, the disk or the file."""

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from stored_runs import change, save, stored_in, v1

from ns_mab_gym.agents.parts.alarms import ALARM
from ns_mab_gym.code_version import CodeVersions
from ns_mab_gym.specs import AgentSpec
from ns_mab_gym.studies.runner import compute, run
from ns_mab_gym.studies.store import FILE, MemoryStore, Store, encode
from ns_mab_gym.studies.study import InvalidRunsError, Series, StoreError, Unit, units_of


def same(one, other):
    """Whether all that is stored of two blocks of runs is equal to the last bit."""
    arrays = ("rounds", "regret", "pulls", "suboptimal_pulls")
    logs = [[] if each.alarms is None else [log.tolist() for log in each.alarms] for each in (one, other)]
    alike = (one.alarms is None) == (other.alarms is None) and logs[0] == logs[1]
    return (
        alike
        and all(np.array_equal(getattr(one, a), getattr(other, a)) for a in arrays)
        and ((one.seeds, one.parameters, one.seconds) == (other.seeds, other.parameters, other.seconds))
    )


def with_alarms(block):
    """The same runs of an agent that sounded two alarms in the first run, none in the second, one in all others."""
    some = [np.array(log, ALARM) for log in ([(3, 0, False), (9, -1, True)], [], *[[(5, 2, True)]] * (len(block) - 2))]
    return replace(block, alarms=some)


@pytest.fixture
def blocks(study, engine):
    return {unit: compute(unit, engine, None) for unit in units_of(study)}


@pytest.mark.parametrize("made", [lambda block: block, with_alarms])
def test_what_is_saved_is_loaded_to_the_last_bit(store, unit, block, made):
    assert store.load(unit) is None
    save(store, unit, made(block))
    assert same(store.load(unit), made(block))
    store.close()
    with Store(store.folder, v1) as again:
        assert same(again.load(unit), made(block))


def test_parameters_that_json_cannot_hold_are_left_out(store, unit, block):
    path = {"path": "b\udcff"}
    parameters = {"window": 9, "means": np.zeros(3), "spans": (1, 2), **path, "gamma": math.inf, "none": None}
    save(store, unit, replace(block, parameters=[parameters] * len(block)))
    kept = {"window": 9, "path": "b\\udcff", "gamma": math.inf, "none": None}
    assert store.load(unit).parameters == [kept] * len(block)


def test_runs_in_which_no_alarm_was_sounded_are_not_those_of_an_agent_without_a_detector(store, unit, block):
    save(store, unit, replace(block, alarms=[np.array([], ALARM)] * len(block)))
    assert [(len(log), log.dtype) for log in store.load(unit).alarms] == [(0, ALARM)] * len(block)
    save(store, unit, block)  # what is saved again is what is loaded
    assert store.load(unit).alarms is None


def test_names_of_any_letters_can_be_stored(store, unit, block):
    named = Unit(unit.series._replace(agent=AgentSpec.of("a'; DROP TABLE units; --", path="店 🎲.zip")), 25, 25)
    save(store, named, block)
    assert same(store.load(named), block)
    assert store.load(unit) is None


def test_what_is_missing_comes_in_the_order_in_which_it_was_asked_for(store, blocks):
    units = list(blocks)
    assert store.missing(units[::-1]) == units[::-1]
    store.save(units[2:5], [encode(unit, blocks[unit]) for unit in units[2:5]])
    assert store.missing(units) == units[:2] + units[5:]
    assert [store.has(unit) for unit in units[:5]] == [False, False, True, True, True]


def test_results_of_other_code_neither_count_nor_go(tmp_path, study, engine, progress, told):
    with Store(tmp_path / "out", v1, told.append) as store:
        assert len(run(study, store, engine, progress).computed) == 18
    with Store(tmp_path / "out", lambda unit: "v2" if unit.agent.name == "ucb1" else "v1", told.append) as store:
        outcome = run(study, store, engine, progress)
        assert {unit.agent.name for unit in outcome.computed} == {"ucb1"}
        assert len(outcome.computed) == 2 * 3
    with Store(tmp_path / "out", v1, told.append) as store:
        assert run(study, store, engine, progress).computed == ()
    assert told == []
    assert len(stored_in(tmp_path / "out")) == 18 + 6


def test_rows_of_other_units_are_not_taken(store, blocks):
    first, second, *_ = units = list(blocks)
    rows = [encode(unit, blocks[unit]) for unit in units]
    for some in (rows[1:2], rows[:2], rows[1::-1], []):
        with pytest.raises(
            StoreError, match=r"what came as the result of ts on .* is something else; give every worker"
        ):
            store.save([first], some)
    assert store.missing([first, second]) == [first, second]


def test_versions_are_looked_up_once_for_all_units_of_an_agent_on_a_world(tmp_path, study):
    asked = []
    with Store(tmp_path / "out", lambda unit: asked.append(unit) or "v1") as store:
        store.missing(units_of(study))
    assert len(asked) == 2 * 3


def test_the_code_of_a_result_is_confirmed_before_it_is_stored(tmp_path, unit, block, monkeypatch):
    code, confirmed = CodeVersions(print), []
    monkeypatch.setattr(type(code), "confirm", lambda self, *units: confirmed.extend(units))
    real = Unit(Series(unit.world, AgentSpec.of("ts"), 0), 25, 25)
    with Store(tmp_path / "out", code) as store:
        save(store, real, block)
        assert same(store.load(real), block)
    assert confirmed == [real]


def test_threads_may_read_and_write_at_once(store, blocks):
    units = list(blocks)
    store.save(units[:9], [encode(unit, blocks[unit]) for unit in units[:9]])

    def use(number):
        unit = units[number % len(units)]
        if number >= 9 and store.load(unit) is None:
            save(store, unit, blocks[unit])
        return same(store.load(unit), blocks[unit])

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(use, range(5 * len(units))))
    assert store.missing(units) == []


def test_in_memory_it_gives_the_same(tmp_path, study, engine, progress):
    with Store(tmp_path / "out", v1) as file, MemoryStore(v1) as memory:
        computed = [run(study, each, engine, progress).computed for each in (file, memory)]
        assert len(computed[0]) == len(computed[1]) == 18
        assert all(same(file.load(unit), memory.load(unit)) for unit in units_of(study))
        assert run(study, memory, engine, progress).computed == ()
        memory.reject(units_of(study)[0], "is not wanted")
        assert len(run(study, memory, engine, progress).computed) == 1
    assert not os.path.exists(":memory:")


# Two processes.


def test_two_stores_do_not_share_a_folder(store):
    for _ in range(2):
        with pytest.raises(StoreError, match=r"another process is writing to .*; wait for it, or choose another"):
            Store(store.folder, v1)
    code = f"from ns_mab_gym.studies import Store; Store({str(store.folder)!r}, str)"
    second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert second.stderr.splitlines()[-1].endswith("wait for it, or choose another folder")
    store.close()
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="needs processes that fork")
def test_a_forked_process_neither_keeps_the_folder_nor_harms_it(store, unit, block):
    save(store, unit, block)
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with pytest.raises(StoreError, match="another process is writing"):
        Store(store.folder, v1)
    store.close()
    assert len(stored_in(store.folder)) == 1


# A full disk.


def test_a_full_disk_is_one_clear_line_and_leaves_earlier_results(store, blocks, told):
    units = list(blocks)
    save(store, units[0], blocks[units[0]])
    [(pages,)] = store._db.execute("PRAGMA page_count").fetchall()
    store._db.execute(f"PRAGMA max_page_count = {pages + 1}")
    several = [encode(unit, blocks[unit]) for unit in units[1:]]
    with pytest.raises(StoreError) as caught:
        store.save(units[1:], several)
    assert str(caught.value) == (
        f"cannot store a result in {str(store.folder)!r}: database or disk is full; what is stored there is intact, "
        f"the same command continues when this is fixed"
    )
    assert same(store.load(units[0]), blocks[units[0]])
    assert store.missing(units) == units[1:]  # all of them or none
    store._db.execute("PRAGMA max_page_count = 1000000")
    store.save(units[1:], several)
    assert store.missing(units) == []
    assert told == []


# Damage.


@pytest.mark.parametrize(
    "damage",
    [
        "arrays = substr(arrays, 1, length(arrays) - 100)",
        "arrays = zeroblob(length(arrays))",
        "about = replace(about, '0.25', '0.26')",
        "about = ''",
        "digest = ''",
    ],
)
def test_a_damaged_row_is_reported_dropped_and_computed_again(store, blocks, told, damage):
    first, second, *_ = blocks
    for unit in (first, second):
        save(store, unit, blocks[unit])
    store.close()
    assert change(store.folder, f"UPDATE units SET {damage} WHERE first_run = 0") == 1
    with Store(store.folder, v1, told.append) as again:
        assert again.missing([first, second]) == []
        assert again.load(first) is None
        assert told == [
            f"the result of {first}, is damaged (its contents are not those that were written); dropped, to be "
            "computed again"
        ]
        assert again.missing([first, second]) == [first]
        assert same(again.load(second), blocks[second])
        save(again, first, blocks[first])
        assert same(again.load(first), blocks[first])


def test_a_row_that_is_no_result_of_its_unit_is_dropped(store, blocks, told):
    """With a digest that fits: of another seed, as if it had been copied to a wrong place."""
    first, second, *_ = blocks
    save(store, first, blocks[first])
    other = second.identity("v1")
    store.close()
    change(store.folder, "UPDATE units SET key = ?", other)
    with Store(store.folder, v1, told.append) as again:
        save(again, first, blocks[first])
        longer = Unit(first.series, 0, 10)
        again._do("", lambda db: db.execute("UPDATE units SET key = ? WHERE key = ?", [longer.identity("v1"), other]))
        assert again.load(longer) is None
        assert again.load(first) is not None
    assert len(told) == 1
    assert "is damaged (regret has another shape); dropped" in told[0]


DAMAGED = {
    "empty": lambda content: b"",
    "no database": lambda content: b"years of work\n" * 1_000,
    "its beginning": lambda content: bytes(100) + content[100:],
    "cut off": lambda content: content[:5_000],
    "its pages": lambda content: content[:4_096] + os.urandom(len(content) - 4_096),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_reported_set_aside_and_computed_again(store, study, engine, progress, told, damage):
    run(study, store, engine, progress)
    store.close()
    file = store.folder / FILE
    file.write_bytes(DAMAGED[damage](file.read_bytes()))
    with Store(store.folder, v1, told.append) as again:
        assert len(run(study, again, engine, progress).computed) == 18
        assert all(again.load(unit) is not None for unit in units_of(study))
    if damage == "empty":  # as a kill leaves it that comes before the first row
        assert told == []
    else:
        assert len(told) == 1
        assert f"{FILE}' is damaged (" in told[0]
        [aside] = store.folder.glob("results.sqlite.damaged*")
        assert told[0].endswith(f"set aside as {aside.name!r}, to be computed again")
    assert len(stored_in(store.folder)) == 18
    with Store(store.folder, v1, told.append) as again:
        assert run(study, again, engine, progress).computed == ()


def test_a_flipped_byte_never_changes_a_result_unnoticed(store, unit, block, told):
    save(store, unit, block)
    store.close()
    file = store.folder / FILE
    whole = file.read_bytes()
    for place in range(0, len(whole), 97):
        content = bytearray(whole)
        content[place] ^= 0x01
        file.write_bytes(content)
        with Store(store.folder, v1, told.append) as again:
            loaded = again.load(unit)
        if loaded is not None:  # the byte is one that nothing is read from
            assert same(loaded, block)
    assert len(told) > 10


def test_a_file_of_another_version_is_refused(store, unit, block):
    save(store, unit, block)
    store.close()
    change(store.folder, "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"is of another version of ns-mab-gym; choose another folder"):
        Store(store.folder, v1)
    assert len(stored_in(store.folder)) == 1


# What cannot be a result.


@pytest.mark.parametrize("place", ["regret", "seeds", "pulls", "seconds", "rounds", "alarms"])
def test_an_engine_that_gives_nonsense_is_told_so_before_it_is_stored(unit, block, place):
    falling, late = block.regret[:, ::-1].copy(), with_alarms(block)
    late.alarms[0]["round"] = 1_001
    broken = {
        "regret": [replace(block, regret=block.regret * math.nan), replace(block, regret=falling)],
        "seeds": [replace(block, seeds=[(0, 0)] * len(block))],
        "pulls": [replace(block, pulls=block.pulls * 2), replace(block, suboptimal_pulls=block.pulls + 1)],
        "seconds": [replace(block, seconds=math.inf), replace(block, seconds=-1.0)],
        "rounds": [replace(block, rounds=block.rounds[::-1]), replace(block, rounds=block.rounds * 1.0)],
        "alarms": [late, replace(late, alarms=late.alarms[1:])],
    }
    for each in broken[place]:
        said = rf"the result of ts on .* cannot be stored: its {place} .*; correct the agent, the world or the engine"
        with pytest.raises(InvalidRunsError, match=said):
            encode(unit, each)
