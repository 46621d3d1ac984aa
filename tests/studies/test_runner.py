"""The runner computes what is missing, once, and gives the same numbers in any number of sittings."""

import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from stored_runs import change, save, v1

from ns_mab_gym.runs import joined, seed_pair
from ns_mab_gym.studies.results import collect
from ns_mab_gym.studies.runner import load, run
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import units_of


def test_everything_is_computed_once_and_then_remembered(study, store, engine, progress):
    first = run(study, store, engine, progress)
    assert len(engine.calls) == len(first.computed) == len(first.units) == 2 * 3 * 3
    assert progress.started == [(0, 18)]
    assert set(first.computed) == set(first.units)
    assert [sum(column) for column in zip(*progress.advanced, strict=True)] == [18, 2 * 3 * 60 * 1_000]
    again = run(study, store, engine, progress)
    assert len(engine.calls) == 18
    assert again.computed == ()
    assert progress.started[-1] == (18, 18)


@pytest.mark.parametrize("threads", [1, 4])
def test_an_interrupted_run_goes_on_where_it_stopped(study, store, engine, progress, threads):
    with Store(store.folder.with_name("whole"), v1) as other:
        run(study, other, engine, progress)
        whole = {label: dict(curves) for label, curves in collect(study, partial(load, other)).curves.items()}
    engine.calls.clear()
    finished = threading.Semaphore(7)  # calls that go well before the first that does not

    def stopping(*args, **kwargs):
        if not finished.acquire(blocking=False):
            raise KeyboardInterrupt
        return engine(*args, **kwargs)

    with pytest.raises(KeyboardInterrupt):
        run(study, store, stopping, progress, n_jobs=threads)
    assert len(engine.calls) == 7
    missing = store.missing(units_of(study))
    assert 18 - 7 <= len(missing) <= 18  # what had arrived is stored; what was under way is not
    engine.calls.clear()
    assert set(run(study, store, engine, progress, n_jobs=threads).computed) == set(missing)
    assert len(engine.calls) == len(missing)
    resumed = collect(study, partial(load, store))
    for world, curves in whole.items():
        for agent, curve in curves.items():
            assert np.array_equal(resumed.curves[world][agent].regret, curve.regret)


def test_whoever_stops_a_run_does_not_wait_for_the_units_in_work(study, store, engine, progress):
    first, go_on = threading.Event(), threading.Event()

    def slow(*args, **kwargs):
        if not first.is_set():
            first.set()
            assert go_on.wait(20)  # would last for ever, were it waited for
            return engine(*args, **kwargs)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, store, slow, progress, n_jobs=2)
    assert len(store.missing(units_of(study))) == 18
    go_on.set()
    assert len(run(study, store, engine, progress).computed) == 18


def test_an_error_in_one_unit_is_noted_and_the_others_are_computed(study, store, engine, progress):
    def broken(env, agent, **kwargs):
        if agent == "ucb1":
            raise ValueError("it broke")
        return engine(env, agent, **kwargs)

    outcome = run(study, store, broken, progress, n_jobs=2)
    assert {failure.unit.agent.name for failure in outcome.failures} == {"ucb1"}
    assert len(outcome.failures) == 2 * 3
    assert {failure.attempts for failure in outcome.failures} == {3}
    assert all(failure.error.startswith("ValueError: it broke (test_runner.py, line ") for failure in outcome.failures)
    assert progress.failed == 6
    assert all("in broken" in failure.traceback for failure in outcome.failures)
    assert set(outcome.units) - set(outcome.computed) == {failure.unit for failure in outcome.failures}
    assert outcome.computed_steps == 2 * 2 * 60 * 1_000


def test_as_many_units_are_computed_at_once_as_there_are_threads(study, store, engine, progress):
    at_once = threading.Barrier(3, timeout=30)  # broken, with an error, if fewer than three come together

    def meeting(*args, **kwargs):
        at_once.wait()
        assert kwargs["n_jobs"] == 1  # the threads are all taken by units
        return engine(*args, **kwargs)

    assert len(run(study, store, meeting, progress, n_jobs=3).computed) == 18


def test_threads_that_no_unit_needs_go_to_the_units_there_are(study, store, engine, progress):
    given = []

    def noting(*args, **kwargs):
        given.append(kwargs["n_jobs"])
        return engine(*args, **kwargs)

    run(study, store, noting, progress, n_jobs=36)
    assert given == [2] * 18


def test_curves_join_blocks_and_interpolate(study, store, engine, progress):
    run(study, store, engine, progress)
    curves = collect(study, partial(load, store)).curves["abrupt"]["ts"]
    assert curves.regret.shape == (60, 20)
    assert len(curves.seeds) == 60
    assert np.allclose(curves.at(1_000), curves.final)
    assert np.allclose(curves.at(0), 0)
    assert np.allclose(curves.at(75), (curves.regret[:, 0] + curves.regret[:, 1]) / 2)
    assert np.allclose(curves.between(50, 150), curves.regret[:, 2] - curves.regret[:, 0])
    assert curves.seeds == [seed_pair(0, run) for run in range(60)]  # blocks are joined by the number of their runs


def test_damaged_results_are_found_when_they_are_read_and_computed_again(study, store, engine, progress):
    """All of them in one pass, however many."""
    run(study, store, engine, progress)
    expected = [load(store, unit).final.mean() for unit in units_of(study)]
    store.close()
    assert change(store.folder, "UPDATE units SET arrays = zeroblob(99) WHERE agent = 'ts'") == 6
    engine.calls.clear()
    dropped = []
    with Store(store.folder, v1, dropped.append) as again:
        run(study, again, engine, progress)
        assert engine.calls == []
        for _ in range(2):
            assert [load(again, unit, engine).final.mean() for unit in units_of(study)] == expected
    assert len(engine.calls) == len(dropped) == 6


@pytest.mark.parametrize(
    ("factor", "arms", "words"), [(2, 1, "horizon is not that of its world"), (1, 2, "arms are not those of its world")]
)
def test_a_stored_result_has_the_horizon_and_the_arms_of_its_world(factor, arms, words, unit, block, store, told):
    pulls = np.repeat(block.pulls * factor // arms, arms, axis=1)
    save(store, unit, replace(block, rounds=block.rounds * factor, pulls=pulls, suboptimal_pulls=pulls))
    assert store.load(unit) is None
    assert told == [f"the result of {unit}, is damaged ({words}); dropped, to be computed again"]


def test_a_fresh_store_has_dropped_what_it_held(study, store, engine, progress):
    run(study, store, engine, progress)
    store.close()
    with Store(store.folder, v1, fresh=True) as again:
        assert again.missing(units_of(study)) == units_of(study)


def test_blocks_of_other_lengths_are_not_joined(block):
    """The rounds of one would be taken for those of the other."""
    with pytest.raises(ValueError, match="blocks of runs differ in rounds or arms"):
        joined([block, replace(block, rounds=block.rounds * 2)])
