"""The synthetic worlds move as their docstrings say."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ns_mab_gym.theory import breakpoints
from ns_mab_gym.worlds import Mixed, Periodic, RandomWalk, Rising, Rotting, Stationary, Variation


def test_stationary_means_stay():
    means = Stationary(mu=[0.3, 0.7, 0.2], horizon=5).means()
    assert means.tolist() == [[0.3, 0.7, 0.2]] * 5
    assert Stationary().n_arms == 10


def test_random_walk_steps_are_gaussian_away_from_the_walls():
    """Steps of arms that stay in the middle are N(0, step²): KS at p > 1e-4; the start is uniform."""
    step = 0.003
    means = RandomWalk(horizon=20_000, step=step).means(4)
    inside = np.abs(means[:-1] - 0.5) < 0.4  # a step from there never meets a wall
    moves = np.diff(means, axis=0)[inside]
    assert moves.size > 50_000
    assert stats.kstest(moves, "norm", args=(0, step)).pvalue > 1e-4
    starts = np.concatenate([RandomWalk(horizon=1).means(seed)[0] for seed in range(300)])
    assert stats.kstest(starts, "uniform").pvalue > 1e-4


def test_random_walk_is_reflected_at_both_walls():
    """One step from near a wall has the law of |x + step·N|, and of its mirror image at 1 (KS, p > 1e-4)."""
    step, pairs = 0.05, RandomWalk(horizon=2, n_arms=400_000, step=0.05).means(5)
    before, after = pairs
    folded_normal = stats.foldnorm(0.01 / step, scale=step)
    assert stats.kstest(after[np.abs(before - 0.01) < 5e-4], folded_normal.cdf).pvalue > 1e-4
    assert stats.kstest(1 - after[np.abs(before - 0.99) < 5e-4], folded_normal.cdf).pvalue > 1e-4


@pytest.mark.parametrize("step", [1e-6, 0.05, 1.0, 30.0])
def test_random_walk_stays_in_the_unit_interval(step):
    means = RandomWalk(horizon=5_000, step=step).means(6)
    assert means.min() >= 0
    assert means.max() <= 1


@pytest.mark.parametrize("seed", range(10))
def test_rising_means_are_increasing_and_concave(seed):
    means = Rising(horizon=2_000, fastest=300).means(seed)
    assert np.diff(means, axis=0).min() >= -1e-15
    assert np.diff(means, n=2, axis=0).max() <= 1e-14
    assert (means[-1] > means[0]).all()
    assert means.min() >= 0


def test_rising_arms_come_from_the_two_stated_families():
    """Each arm's curve is c(1 − e^(−rx)) or c(1 − (1 + rx)^(−1/2)): exact when refitted, both about equally often."""
    horizon, arms = 64, 2_000
    rng = np.random.default_rng(7)
    world = Rising(horizon=horizon, n_arms=arms, fastest=50)
    ceiling, rate = rng.random(arms), 50 ** rng.random(arms)
    means = world.means(7)
    exponential = polynomial = 0
    for arm in range(arms):
        x = [t / horizon for t in range(1, horizon + 1)]
        exp_curve = [ceiling[arm] * (1 - math.exp(-rate[arm] * v)) for v in x]
        root_curve = [ceiling[arm] * (1 - (1 + rate[arm] * v) ** -0.5) for v in x]
        exponential += np.allclose(means[:, arm], exp_curve, rtol=0, atol=1e-12)
        polynomial += np.allclose(means[:, arm], root_curve, rtol=0, atol=1e-12)
    assert exponential + polynomial == arms
    assert abs(exponential - arms / 2) < 4 * math.sqrt(arms / 4)


@pytest.mark.parametrize("seed", range(5))
def test_rotting_means_only_fall(seed):
    means = Rotting(horizon=2_000).means(seed)
    assert np.diff(means, axis=0).max() <= 1e-15
    assert (means[-1] < means[0]).all()
    np.testing.assert_allclose(means, 1 - Rising(horizon=2_000).means(seed), atol=1e-15)


@settings(deadline=None)
@given(st.integers(2, 3_000), st.integers(2, 12), st.floats(1e-6, 1))
def test_variation_spends_its_budget_exactly(horizon, k, share):
    budget = share * 0.3 * (horizon - 1)
    means = Variation(horizon=horizon, n_arms=k, budget=budget).means()
    rows = means.tolist()
    spent = math.fsum(max(abs(b - a) for a, b in zip(r, s, strict=True)) for r, s in itertools.pairwise(rows))
    assert spent == pytest.approx(budget, rel=1e-9, abs=1e-12)
    assert means.min() >= 0.1 - 1e-12
    assert means.max() <= 0.9 + 1e-12


def test_variation_at_the_default_settings():
    means = Variation().means()
    assert np.abs(np.diff(means, axis=0)).max(axis=1).sum() == pytest.approx(10, abs=1e-9)


@pytest.mark.parametrize(("period", "horizon"), [(2, 7), (7, 100), (250, 1_000), (900, 300)])
def test_periodic_means_repeat_exactly_and_follow_a_sine(period, horizon):
    means = Periodic(period=period, horizon=horizon, n_arms=4, amplitude=0.3).means()
    np.testing.assert_array_equal(means[period:], means[:-period])
    for t in range(1, horizon + 1, 13):
        expected = [0.5 + 0.3 * math.sin(2 * math.pi * (t / period + i / 4)) for i in range(4)]
        np.testing.assert_allclose(means[t - 1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("arms", "jumping"), [(10, 5), (2, 1), (5, 1), (5, 4)])
def test_mixed_arms_jump_or_drift(arms, jumping):
    world = Mixed(horizon=3_000, n_arms=arms, jumping=jumping, changes=3)
    means = world.means(8)
    jumps, drifts = means[:, :jumping], means[:, jumping:]
    assert len(breakpoints(np.column_stack([jumps, jumps]))) == 3
    moves = np.diff(drifts, axis=0)
    assert (moves != 0).all()
    assert np.abs(moves).max() < 6 * world.step
