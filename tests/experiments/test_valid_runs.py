"""Runs that cannot be are not stored, and blocks that do not fit each other are not joined."""

import math
from dataclasses import replace
from functools import partial

import pytest
from single_version import v1

from ns_mab_gym.experiments import Store, collect, run
from ns_mab_gym.experiments.runner import load, until_whole
from ns_mab_gym.experiments.unit_jobs import compute
from ns_mab_gym.experiments.units import units_of
from ns_mab_gym.experiments.valid_runs import InvalidRunsError


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


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("together", [True, False], ids=["all stored", "others computed now"])
def test_blocks_that_do_not_fit_each_other_are_computed_again(tmp_path, study, engine, progress, told, together):
    """Each is a result by itself; joined, the rounds of one would be taken for those of the other."""
    first, other = units_of(study)[0], compute(units_of(study)[0], engine, None)

    def read():
        run(study, store, engine, progress)
        curves = collect(study, partial(load, store), store.reject).curves
        return {world: {agent: runs.regret for agent, runs in there.items()} for world, there in curves.items()}

    with Store(tmp_path / "whole", v1) as store:
        whole = read()
    with Store(tmp_path / "fit", v1, told.append) as store:
        if together:
            run(study, store, engine, progress)
        store.save(first, replace(other, rounds=other.rounds * 2, pulls=other.pulls * 2))
        engine.calls.clear()
        found = until_whole(read, told.append)
        assert len(engine.calls) == (3 if together else 18 - 1 + 3)  # the blocks of this agent on this world
    assert all(
        (found[world][agent] == regret).all() for world, there in whole.items() for agent, regret in there.items()
    )
    assert [line.endswith("computing it again") for line in told] == [False] * 3 + [True]
    assert all("does not fit" in line for line in told)
