"""The runner computes what is missing, once, and gives the same numbers in any number of sittings."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ns_mab_gym.experiments import Store, collect, run


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "out", "v1") as opened:
        yield opened


def test_everything_is_computed_once_and_then_remembered(study, store, engine, progress):
    first = run(study, store, engine, progress)
    assert len(engine.calls) == len(first.computed) == len(first.blocks) == 2 * 3 * 3
    assert progress.started == [(0, 18)]
    again = run(study, store, engine, progress)
    assert len(engine.calls) == 18
    assert again.computed == ()
    assert progress.started[-1] == (18, 18)


def test_an_interrupted_run_goes_on_where_it_stopped(study, store, engine, progress):
    with Store(store.folder / "whole", "v1") as other:
        whole = collect(study, run(study, other, engine, progress))
    engine.calls.clear()

    def stopping(*args, **kwargs):
        if len(engine.calls) == 7:
            raise KeyboardInterrupt
        return engine(*args, **kwargs)

    with pytest.raises(KeyboardInterrupt):
        run(study, store, stopping, progress)
    run(study, store, engine, progress)
    assert len(engine.calls) == len(set(engine.calls)) == 18
    resumed = collect(study, run(study, store, engine, progress))
    for world, curves in whole.curves.items():
        for agent, curve in curves.items():
            assert np.array_equal(resumed.curves[world][agent].regret, curve.regret)


def test_any_executor_computes_the_same(study, store, engine, progress):
    with ThreadPoolExecutor(4) as executor:
        pooled = run(study, store, engine, progress, executor=executor)
    with Store(store.folder / "alone", "v1") as other:
        alone = run(study, other, engine, progress)
    assert pooled.blocks.keys() == alone.blocks.keys()
    assert all(np.array_equal(pooled.blocks[u].regret, alone.blocks[u].regret) for u in alone.blocks)


def test_curves_join_blocks_and_interpolate(study, store, engine, progress):
    curves = collect(study, run(study, store, engine, progress)).curves["abrupt"]["ts"]
    assert curves.regret.shape == (60, 20)
    assert len(curves.seeds) == 60
    assert np.allclose(curves.at(1_000), curves.final)
    assert np.allclose(curves.at(0), 0)
    assert np.allclose(curves.at(75), (curves.regret[:, 0] + curves.regret[:, 1]) / 2)
    assert np.allclose(curves.between(50, 150), curves.regret[:, 2] - curves.regret[:, 0])
