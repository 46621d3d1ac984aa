"""The record of results: regret at any round, by interpolation between those that were recorded."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym.runs import Runs


def record(rounds: list[int], regret: list[list[float]]) -> Runs:
    none = np.zeros((len(regret), 2), np.int64)
    pairs = [(0, 0) for _ in regret]
    return Runs(np.array(rounds), np.array(regret), none, none, pairs, [{} for _ in regret], 0.0)


@pytest.mark.parametrize("round_", [0, 3, 10, 12.5, 20, 31, 40])
def test_regret_at_a_round_is_interpolated_from_nought_at_the_start(round_):
    runs = record([10, 20, 40], [[1.0, 5.0, 6.0], [0.0, 2.0, 8.0]])
    expected = [np.interp(round_, [0, 10, 20, 40], [0.0, *row]) for row in runs.regret]
    np.testing.assert_allclose(runs.at(round_), expected, rtol=1e-14)
    np.testing.assert_allclose(runs.between(round_, 40), runs.final - expected, rtol=1e-14)


def test_an_episode_of_one_round():
    runs = record([1], [[0.25]])
    assert (runs.horizon, runs.steps, len(runs)) == (1, 1, 1)
    assert [runs.at(0)[0], runs.at(1)[0], runs.final[0]] == [0.0, 0.25, 0.25]
