"""Theory beside measurement: what the windows of a grid cost when played."""

import math

import numpy as np
import pytest

from ns_mab_gym import simulate, theory
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.rewards import Gaussian
from ns_mab_gym.tuning import diagnosis
from ns_mab_gym.worlds import Table


@pytest.fixture(scope="module")
def comparison():
    calm = np.tile([0.9, 0.2, 0.1], (300, 1))
    return diagnosis.compare_windows(np.concatenate([calm, calm[:, ::-1]]), runs=3, ratio=4)


def test_a_comparison_says_what_the_recommendation_loses(comparison):
    regret = comparison.measured.regret.mean(axis=1)
    by_window = dict(zip(comparison.measured.windows, regret, strict=True))
    assert by_window[comparison.best] == min(by_window[tau] for tau in comparison.grid)
    assert comparison.loss == pytest.approx(by_window[comparison.recommended.window] / by_window[comparison.best] - 1)
    assert "the recommended window loses" in str(comparison)


def test_measured_pulls_are_those_of_worse_arms(comparison):
    pulls, T = comparison.measured.pulls, 600
    assert pulls.shape == (len(comparison.measured.windows), 3)
    assert np.all(pulls >= 0)
    assert np.all(pulls.sum(axis=1) <= T)
    # Arm 1 is never the best, arm 0 in half of the rounds: regret follows from the pulls of each.
    loss = np.array([0.8, 0.7, 0.8])
    np.testing.assert_allclose(pulls @ loss, comparison.measured.regret.mean(axis=1))


def test_only_bernoulli_means_are_played():
    with pytest.raises(theory.AssumptionError, match="Assumption 1"):
        diagnosis.measure([[2.0, 0.1]] * 5, [2], "gamma-swgts")


@pytest.mark.parametrize("scale", [0.25, 60.0])
def test_the_law_of_the_world_is_measured(scale):
    """The window is the one for this λ, and the runs are those of the agent on rewards of this law."""
    means, law = np.repeat([[90.0, 20.0, 10.0], [10.0, 20.0, 90.0]], 100, axis=0), Gaussian(scale=scale)
    comparison = diagnosis.compare_windows(means, "gamma-swgts", law=law, runs=2, ratio=4)
    assert comparison.recommended == theory.recommend_window(means, "gamma-swgts", subgaussian=scale)
    env = NSBanditEnv(Table(rows=means), reward=law)
    played = simulate(env, "gamma-swgts", runs=2, seed=0, agent_kwargs={"window": comparison.grid[0]})
    np.testing.assert_array_equal(comparison.measured.of(comparison.grid[0]), played.final)
    assert comparison.measured.subgaussian == scale


def test_where_all_arms_are_alike_nothing_is_lost():
    comparison = diagnosis.compare_windows([[0.5, 0.5]] * 50, runs=2, ratio=4)
    assert comparison.measured.regret.max() == 0
    assert comparison.loss == 0
    assert math.isnan(comparison.loss_error)
    assert "the recommended window loses +0.0%" in str(comparison)
