"""The random piecewise-constant world: as many changes as asked for, spaced and gapped, with the stated laws."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ns_mab_gym.theory import breakpoints
from ns_mab_gym.worlds import Piecewise


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


def test_the_rate_is_the_chance_of_a_change():
    """Without spacing, each of T − 1 rounds changes with the rate: within 4 standard errors over 200 draws."""
    rate, horizon, draws = 0.03, 1_000, 200
    world = Piecewise(horizon=horizon, n_arms=2, rate=rate)
    rng = np.random.default_rng(1)
    changes = sum(len(breakpoints(world.means(rng))) for _ in range(draws))
    rounds = draws * (horizon - 1)
    assert abs(changes - rate * rounds) < 4 * math.sqrt(rounds * rate * (1 - rate))


def test_a_phase_ends_with_the_rate_as_soon_as_it_may():
    """The share of phases as short as the spacing allows is the rate, within 4 standard errors."""
    rate, spacing = 0.3, 4
    lengths = phase_lengths(Piecewise(horizon=20_000, n_arms=2, rate=rate, min_spacing=spacing).means(2))[:-1]
    shortest = np.count_nonzero(lengths == spacing) / lengths.size
    assert abs(shortest - rate) < 4 * math.sqrt(rate * (1 - rate) / lengths.size)


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
