"""Runs that cannot be are not stored, and blocks that do not fit each other are not joined."""

import math
from dataclasses import replace

import pytest

from ns_mab_gym.experiments import Store, StoreError, run
from ns_mab_gym.experiments.runner import load
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.experiments.valid_runs import InvalidRunsError


def v1(unit):
    """The version of the code that computes a unit: one for all."""
    return "v1"


@pytest.fixture
def told():
    return []


@pytest.mark.parametrize("place", ["regret", "seeds", "pulls", "seconds"])
def test_an_engine_that_gives_nonsense_is_told_so_before_it_is_stored(tmp_path, study, engine, place):
    unit = units_of(study)[0]
    block = compute(unit, engine, None)
    broken = {
        "regret": replace(block, regret=block.regret * math.nan),
        "seeds": replace(block, seeds=[(0, 0)] * len(block)),
        "pulls": replace(block, pulls=block.pulls * 2),
        "seconds": replace(block, seconds=math.inf),
    }[place]
    said = rf"the result of ts on .* cannot be stored: its {place} .*; correct the agent, the world or the engine"
    with Store(tmp_path / "out", v1) as store, pytest.raises(InvalidRunsError, match=said):
        store.save(unit, broken)


def test_blocks_that_do_not_fit_each_other_are_computed_again(tmp_path, study, engine, progress, told):
    """Each is a result by itself; joined, the rounds of one would be taken for those of the other."""
    with Store(tmp_path / "fit", v1, told.append) as store:
        whole = {unit: load(store, unit) for unit in run(study, store, engine, progress).units}
        first, second = (store.path(unit) for unit in units_of(study)[:2])
        other = compute(units_of(study)[0], engine, None)
        store.save(units_of(study)[0], replace(other, rounds=other.rounds * 2, pulls=other.pulls * 2))
        engine.calls.clear()
        run(study, store, engine, progress)
        assert all((load(store, unit).rounds == block.rounds).all() for unit, block in whole.items())
        assert len(engine.calls) == 3  # the blocks of this agent on this world
        assert first.exists()
        assert second.exists()
    assert all("does not fit the other runs" in line for line in told)


def test_stored_blocks_that_do_not_fit_what_is_computed_now_are_told(tmp_path, study, engine, progress, told):
    unit = units_of(study)[0]
    other = compute(unit, engine, None)
    with Store(tmp_path / "fit", v1, told.append) as store:
        store.save(unit, replace(other, rounds=other.rounds * 2, pulls=other.pulls * 2))
        with pytest.raises(
            StoreError, match=r"does not fit what was computed now.*the same command computes all of it"
        ):
            run(study, store, engine, progress)
        outcome = run(study, store, engine, progress)
        assert {tuple(load(store, unit).rounds) for unit in outcome.units} == {tuple(other.rounds)}
