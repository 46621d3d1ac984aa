"""Synthetic and random worlds follow their formulas and laws."""

import itertools
import math

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ns_mab_gym.rewards import Bernoulli, Gaussian
from ns_mab_gym.theory import breakpoints
from ns_mab_gym.worlds import DawWalk, Mixed, Periodic, Piecewise, RandomWalk, Rising, Rotting, Stationary, Variation


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


def test_the_walk_of_daw_has_the_steps_of_its_source():
    """μ' − (0.9836 μ + 0.0164 · 0.5) is N(0, 0.028²), from the walk's stationary law N(0.5, 0.028²/(1 − 0.9836²)).

    Away from the ends, where a walk beyond is shown as the end (KS at p > 1e-4).
    """
    means = DawWalk(horizon=20_000).means(4)
    assert DawWalk().means(1).shape == (300, 4)
    inside = (np.abs(means[:-1] - 0.5) < 0.3) & (np.abs(means[1:] - 0.5) < 0.5)
    steps = (means[1:] - 0.9836 * means[:-1] - 0.0164 * 0.5)[inside]
    assert steps.size > 50_000
    assert stats.kstest(steps, "norm", args=(0, 0.028)).pvalue > 1e-4
    starts = DawWalk(horizon=1, n_arms=5_000, step=0.01).means(5)[0]
    assert stats.kstest(starts, "norm", args=(0.5, 0.01 / math.sqrt(1 - 0.9836**2))).pvalue > 1e-4


def test_a_walk_of_daw_beyond_an_end_is_shown_as_the_end():
    """Of a stationary normal mean, as much lies at 0 and at 1 as beyond them: within 5 standard errors of one arm each.

    Arms of one round are independent.
    """
    shown = DawWalk(horizon=3, n_arms=100_000, step=0.1).means(6)[-1]
    beyond = stats.norm.sf(0.5, scale=0.1 / math.sqrt(1 - 0.9836**2))
    for end in (0.0, 1.0):
        assert np.mean(shown == end) == pytest.approx(beyond, abs=5 * math.sqrt(beyond * (1 - beyond) / 100_000))


def test_the_rewards_of_daw():
    """Of the id, Gaussian with 4 points of 100; another law, or another scale, can be asked for."""
    env = gym.make("NSBandit-DawWalk-v0").unwrapped
    assert (env.world, env.law) == (DawWalk(), Gaussian(scale=0.04))
    assert gym.make("NSBandit-DawWalk-v0", scale=0.1).unwrapped.law == Gaussian(scale=0.1)
    assert gym.make("NSBandit-DawWalk-v0", reward="bernoulli").unwrapped.law == Bernoulli()


def test_rising_arms_come_from_the_two_stated_families():
    """Each arm's curve is c(1 − e^(−rx)) or c(1 − (1 + rx)^(−1/2)): exact when refitted, both about equally often."""
    horizon, arms = 64, 2_000
    rng = np.random.default_rng(7)
    ceiling, rate = rng.random(arms), 50 ** rng.random(arms)
    means = Rising(horizon=horizon, n_arms=arms, fastest=50).means(7)
    x = np.arange(1, horizon + 1)[:, None] / horizon
    exponential, polynomial = (
        np.isclose(means, ceiling * curve, rtol=0, atol=1e-12).all(axis=0).sum()
        for curve in (1 - np.exp(-rate * x), 1 - (1 + rate * x) ** -0.5)
    )
    assert exponential + polynomial == arms
    assert abs(exponential - arms / 2) < 4 * math.sqrt(arms / 4)


def test_rotting_means_are_rising_ones_mirrored():
    np.testing.assert_array_equal(Rotting(horizon=2_000).means(3), 1 - Rising(horizon=2_000).means(3))


@given(st.integers(2, 3_000), st.integers(2, 12), st.floats(1e-6, 1))
def test_variation_spends_its_budget_exactly(horizon, k, share):
    budget = share * 0.3 * (horizon - 1)
    means = Variation(horizon=horizon, n_arms=k, budget=budget).means()
    rows = means.tolist()
    spent = math.fsum(max(abs(b - a) for a, b in zip(r, s, strict=True)) for r, s in itertools.pairwise(rows))
    assert spent == pytest.approx(budget, rel=1e-9, abs=1e-12)
    assert means.min() >= 0.1 - 1e-12
    assert means.max() <= 0.9 + 1e-12


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


def phase_lengths(means):
    return np.diff([1, *breakpoints(means), len(means) + 1])


@st.composite
def piecewise_worlds(draw):
    changes, spacing = draw(st.integers(0, 6)), draw(st.integers(1, 9))
    return Piecewise(
        horizon=(changes + 1) * spacing + draw(st.integers(0, 40)),
        n_arms=draw(st.integers(2, 12)),
        changes=changes,
        min_spacing=spacing,
        min_gap=draw(st.sampled_from([0.0, 0.05, 0.5, 0.99])),
    )


@given(piecewise_worlds(), st.integers(0, 2**32))
def test_changes_spacing_and_gap_are_honoured(world, seed):
    means = world.means(seed)
    lengths = phase_lengths(means)
    assert len(lengths) == world.changes + 1
    assert lengths.min() >= world.min_spacing
    first, second = np.sort(means, axis=1)[:, :-3:-1].T
    assert (first - second).min() >= world.min_gap - 1e-12


@given(st.just(0.0) | st.floats(1e-100, 1), st.integers(1, 20), st.integers(0, 2**32))
@example(1.0, 7, 0)
@example(0.0, 7, 0)
def test_a_rate_honours_the_spacing_but_for_the_last_phase(rate, spacing, seed):
    lengths = phase_lengths(Piecewise(horizon=200, n_arms=2, rate=rate, min_spacing=spacing).means(seed))
    assert lengths.sum() == 200
    assert all(length >= spacing for length in lengths[:-1])
    if rate == 0:
        assert len(lengths) == 1
    if rate == 1:
        assert set(lengths[:-1]) <= {spacing}


def test_placements_are_uniform_over_all_that_fit():
    """T = 9, two changes, phases of at least 2: the 10 placements are equally likely (chi-squared, p > 1e-4)."""
    world = Piecewise(horizon=9, n_arms=2, changes=2, min_spacing=2)
    allowed = [c for c in itertools.product(range(2, 10), repeat=3) if sum(c) == 9]
    rng = np.random.default_rng(0)
    drawn = [tuple(phase_lengths(world.means(rng)).tolist()) for _ in range(5_000)]
    counts = [drawn.count(lengths) for lengths in allowed]
    assert len(allowed) == 10
    assert sum(counts) == 5_000
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("spacing", [1, 4])
def test_a_phase_ends_with_the_rate_in_each_round_from_the_spacing_on(spacing):
    """What it lasts beyond the shortest is geometric (chi-squared of 0 to 9 rounds and of more, p > 1e-4)."""
    lengths = phase_lengths(Piecewise(horizon=40_000, n_arms=2, rate=0.2, min_spacing=spacing).means(2))[:-1]
    counts = np.bincount(np.minimum(lengths - spacing, 10), minlength=11)
    expected = [*(0.2 * 0.8 ** np.arange(10)), 0.8**10]
    assert stats.chisquare(counts, lengths.size * np.array(expected)).pvalue > 1e-4


@pytest.mark.parametrize(("k", "gap"), [(2, 0.0), (4, 0.0), (4, 0.2), (2, 0.6)])
def test_phase_means_have_the_law_of_rejection_sampling(k, gap):
    """Uniform means kept when the best leads by the gap: same best, second best and any arm (KS, p > 1e-4)."""
    rng = np.random.default_rng(2)
    tries = rng.random((400_000, k))
    ordered = np.sort(tries, axis=1)
    kept = tries[ordered[:, -1] - ordered[:, -2] >= gap][:5_000]
    world = Piecewise(horizon=5_000, n_arms=k, changes=4_999, min_gap=gap)
    drawn = world.means(3)
    for statistic in (lambda m: m.max(axis=1), lambda m: np.sort(m, axis=1)[:, -2], lambda m: m[:, 0]):
        assert stats.ks_2samp(statistic(kept), statistic(drawn)).pvalue > 1e-4
    assert stats.chisquare(np.bincount(drawn.argmax(axis=1), minlength=k)).pvalue > 1e-4
