"""The lazy races have the law of the plain ones, with any counts; the plain ones have the law of the posteriors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import integrate, stats

from ns_mab_gym.agents.parts.forced import highest
from ns_mab_gym.agents.parts.races import (
    largest_beta,
    largest_beta_plain,
    largest_gaussian,
    largest_gaussian_plain,
    log_factorial,
    log_norm,
    normal_beyond,
)

DRAWS = 200_000
# (pulls, successes) of each arm: whole, real as discounted memories have them, tiny, without failures.
COUNTS = {
    "whole": ([20, 30, 25, 3], [12, 17, 15, 1]),
    "discounted": ([20.4, 30.7, 25.1, 3.3], [12.2, 17.9, 15.4, 1.1]),
    "below one": ([0.3, 0.05, 0.9, 0.0], [0.1, 0.05, 0.2, 0.0]),
    "no failures": ([4.5, 4.0, 2.5, 0.5], [4.5, 3.9, 2.5, 0.5]),
    "hundreds": ([900.5, 870.25, 300.75, 40.5], [540.25, 515.5, 181.5, 20.0]),
    "one far ahead": ([500.5, 500.5, 10.5, 2.5], [450.5, 100.5, 5.5, 0.5]),
}
NORMALS = {
    "alike": ([0.5, 0.48, 0.52, 0.4], [4.0, 5.0, 4.5, 1.5]),
    "one far ahead": ([5.0, 1.0, 0.5, 0.2], [2.0, 3.0, 0.7, 0.4]),
    "real": ([-2.5, -2.25, -3.0, -2.0], [0.9, 1.4, 0.3, 2.2]),
}


def beta_law(pulls, successes):
    """P(arm i has the largest sample) = ∫ f_i ∏ F_j, by quadrature over the Beta laws of SciPy."""
    laws = [stats.beta(s + 1, n - s + 1) for n, s in zip(pulls, successes, strict=True)]
    return law(laws, 0, 1)


def normal_law(means, roots):
    laws = [stats.norm(m, 1 / r) for m, r in zip(means, roots, strict=True)]
    return law(laws, min(means) - 40 / min(roots), max(means) + 40 / min(roots))


def law(laws, low, high):
    def density(x, i):
        return laws[i].pdf(x) * math.prod(other.cdf(x) for j, other in enumerate(laws) if j != i)

    peaks = sorted({float(np.clip(each.ppf(q), low, high)) for each in laws for q in (0.001, 0.25, 0.5, 0.75, 0.999)})
    edges = [low, *(p for p in peaks if low < p < high), high]
    pieces = list(itertools.pairwise(edges))
    chances = [sum(integrate.quad(density, a, b, args=(i,))[0] for a, b in pieces) for i in range(len(laws))]
    assert sum(chances) == pytest.approx(1, abs=1e-6)
    return np.array(chances)


@njit
def count_beta(pulls, sums, mask, rng, times, lazy):
    means, log_norms = (sums + 1.0) / (pulls + 2.0), np.full(pulls.size, np.nan)
    counts = np.zeros(pulls.size)
    for _ in range(times):
        if lazy:
            counts[largest_beta(pulls, sums, means, log_norms, mask, rng)] += 1
        else:
            counts[largest_beta_plain(pulls, sums, mask, rng)] += 1
    return counts


@njit
def count_gaussian(means, roots, mask, rng, times, lazy):
    counts = np.zeros(means.size)
    for _ in range(times):
        if lazy:
            counts[largest_gaussian(means, roots, highest(means, mask), mask, rng)] += 1
        else:
            counts[largest_gaussian_plain(means, roots, mask, rng)] += 1
    return counts


def assert_has_the_law(counts, chances):
    """A chi-square test at 1e-6 over the arms expected at least five times; the others hardly ever win."""
    often = chances * counts.sum() >= 5
    assert counts[~often].sum() <= 30
    expected = chances[often] / chances[often].sum() * counts[often].sum()
    if often.sum() > 1:
        assert stats.chisquare(counts[often], expected).pvalue > 1e-6


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "plain"])
@pytest.mark.parametrize("which", COUNTS)
def test_beta_races_have_the_law_of_the_posteriors(which, lazy):
    pulls, sums = (np.array(each, dtype=np.float64) for each in COUNTS[which])
    counts = count_beta(pulls, sums, np.ones(4, np.bool_), np.random.default_rng(1), DRAWS, lazy)
    assert_has_the_law(counts, beta_law(pulls, sums))


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "plain"])
@pytest.mark.parametrize("which", NORMALS)
def test_gaussian_races_have_the_law_of_the_posteriors(which, lazy):
    means, roots = (np.array(each) for each in NORMALS[which])
    counts = count_gaussian(means, roots, np.ones(4, np.bool_), np.random.default_rng(2), DRAWS, lazy)
    assert_has_the_law(counts, normal_law(means, roots))


@pytest.mark.parametrize("lazy", [True, False], ids=["lazy", "plain"])
def test_arms_that_are_closed_take_no_part(lazy):
    pulls, sums = np.array([20.5, 30.5, 25.5, 3.5]), np.array([18.5, 17.5, 15.5, 1.5])
    mask = np.array([False, True, False, True])
    counts = count_beta(pulls, sums, mask, np.random.default_rng(3), DRAWS, lazy)
    assert counts[[0, 2]].sum() == 0
    assert_has_the_law(counts[[1, 3]], beta_law(pulls[[1, 3]], sums[[1, 3]]))
    means, roots = np.array([9.0, 0.5, 9.0, 0.4]), np.array([1.0, 3.0, 1.0, 2.0])
    counts = count_gaussian(means, roots, mask, np.random.default_rng(4), DRAWS, lazy)
    assert counts[[0, 2]].sum() == 0
    assert_has_the_law(counts[[1, 3]], normal_law(means[[1, 3]], roots[[1, 3]]))


@njit
def tail_draws(a, rng, times):
    draws = np.empty(times)
    for i in range(times):
        draws[i] = normal_beyond(a, rng)
    return draws


@pytest.mark.parametrize("a", [1.0, 1.5, 3.0, 8.0])
def test_draws_beyond_a_point_have_the_law_of_the_normal_tail(a):
    draws = tail_draws(a, np.random.default_rng(5), DRAWS)
    assert draws.min() >= a
    assert stats.kstest(stats.norm.sf(draws) / stats.norm.sf(a), "uniform").pvalue > 1e-6


@given(st.floats(0, 5_000), st.floats(0, 5_000))
def test_the_normaliser_is_that_of_the_beta_law(successes, failures):
    exact = -(math.lgamma(successes + 1) + math.lgamma(failures + 1) - math.lgamma(successes + failures + 2))
    assert log_norm(successes, failures) == pytest.approx(exact, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("n", [0, 1, 2, 17, 255, 255.5, 256, 256.5, 300.25, 1e4, 1e8])
def test_log_factorial_compiled_equals_interpreted_and_is_right(n):
    compiled = njit(lambda x: log_factorial(x))
    assert compiled(float(n)) == log_factorial(float(n))
    assert log_factorial(float(n)) == pytest.approx(math.lgamma(n + 1), rel=1e-14, abs=1e-13)


@given(st.floats(0, 255.9))
def test_compiled_and_interpreted_races_agree_to_the_bit_for_real_counts(n):
    assert LOG_FACTORIAL(n) == log_factorial(n)


LOG_FACTORIAL = njit(lambda x: log_factorial(x))
