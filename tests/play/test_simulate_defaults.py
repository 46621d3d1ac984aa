"""What ``simulate`` does if it is told nothing: fifty runs from seed 0, on as many threads as there are cores."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.play.episode import seed_pair

WORLD = worlds.Abrupt(horizon=40)


def test_fifty_runs_from_seed_0() -> None:
    runs = nsb.simulate(WORLD, "random")
    assert runs.seeds == [seed_pair(0, run) for run in range(50)]
    assert runs.regret.shape == (50, 40)
    assert runs.arms is runs.rewards is None


@pytest.mark.parametrize("cores", [None, 1, 3])
def test_the_runs_are_the_same_on_any_machine_even_if_it_does_not_tell_its_cores(
    cores: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = nsb.simulate(WORLD, "random", runs=4, record="all", n_jobs=1)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    runs = nsb.simulate(WORLD, "random", runs=4, record="all")
    np.testing.assert_array_equal(runs.arms, expected.arms)
    np.testing.assert_array_equal(runs.regret, expected.regret)
