"""Bounds on Beta tails, and draws beyond a point, against SciPy's Beta laws; bounds that are old but still bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import stats

from ns_mab_gym.agents.parts.fading import beyond, chance_bound, expire, shelf_life
from ns_mab_gym.agents.parts.races import log_norm


def bound(successes, failures, x, norm=math.nan):
    return chance_bound(
        successes, failures, np.array([norm]), 0, 1 / x, 1 / (1 - x), math.log(x), math.log(1 - x)
    )  # fmt: skip


counts = st.floats(0, 3_000) | st.floats(0, 2)


@given(counts, counts, st.floats(1e-4, 1 - 1e-4))
def test_it_is_a_bound(successes, failures, x):
    tail = stats.beta(successes + 1, failures + 1).sf(x)
    assert min(bound(successes, failures, x), 1) >= tail * (1 - 1e-9)


@given(counts, counts, st.floats(1e-4, 1 - 1e-4), st.floats(0, 1))
def test_the_norm_of_larger_counts_is_a_bound_too(successes, failures, x, factor):
    """−ln B(cS + 1, cF + 1) grows with c: what was computed before the counts shrank still bounds."""
    old = log_norm(successes, failures)
    assert log_norm(factor * successes, factor * failures) <= old + 1e-9
    tail = stats.beta(factor * successes + 1, factor * failures + 1).sf(x)
    assert min(bound(factor * successes, factor * failures, x, old), 1) >= tail * (1 - 1e-9)


@pytest.mark.parametrize(
    ("successes", "failures", "x"), [(0.3, 0.4, 0.9), (20.5, 30.5, 0.55), (3, 800, 0.02), (5, 0, 0.9)]
)
def test_it_is_close_where_it_matters(successes, failures, x):
    """Within a factor of 2 of the tail: else arms would be drawn in vain."""
    assert bound(successes, failures, x) < 2 * stats.beta(successes + 1, failures + 1).sf(x)


@njit
def draws_beyond(successes, failures, p, x, rng, times):
    found = np.empty(times)
    for i in range(times):
        found[i] = beyond(successes, failures, p, x, rng)
    return found


@pytest.mark.parametrize(
    ("successes", "failures", "x"),
    [(0.3, 0.4, 0.9), (0.0, 0.01, 0.7), (20.5, 30.5, 0.55), (3.0, 800.0, 0.01), (5.0, 0.0, 0.9), (0.0, 0.0, 0.6)],
)
@pytest.mark.parametrize("slack", [1.0, 1.3])
def test_draws_beyond_a_point(successes, failures, x, slack):
    """They come with probability P(θ > x)/p, to four standard errors, and have the law of θ given that."""
    law, p = stats.beta(successes + 1, failures + 1), bound(successes, failures, x)
    if failures > 0:
        p *= slack  # as an old norm does
    found = draws_beyond(successes, failures, p, x, np.random.default_rng(1), 100_000)
    came = found[found >= 0]
    chance = law.sf(x) / p if failures > 0 else 1.0
    assert abs(came.size / 100_000 - chance) <= 4 * math.sqrt(chance * (1 - chance) / 100_000) + 1e-12
    assert came.min() > x
    assert stats.kstest(law.sf(came) / law.sf(x), "uniform").pvalue > 1e-4


def test_bounds_expire_with_a_pull_and_with_age():
    bounds = np.zeros(3)
    expire(bounds, 1, 7, 4)
    assert np.isnan(bounds).tolist() == [False, True, False]
    expire(bounds, 2, 8, 4)
    assert np.isnan(bounds).all()


@pytest.mark.parametrize(
    ("gamma", "rounds"), [(0.01, 1), (0.5, 1), (0.875, 1), (0.99, 12), (0.9989, 114), (1.0, 10**6)]
)
def test_bounds_are_renewed_before_counts_have_shrunk_by_a_fifth(gamma, rounds):
    assert shelf_life(gamma) == pytest.approx(rounds, abs=1)
    assert gamma ** shelf_life(gamma) > 0.8 or shelf_life(gamma) == 1


def test_compiled_and_interpreted_agree_to_the_bit():
    compiled, rng = njit(bound_of), np.random.default_rng(2)
    for _ in range(500):
        s, f, x = 50 * rng.random(), 50 * rng.random(), rng.random()
        assert compiled(s, f, np.full(1, np.nan), x) == bound_of(s, f, np.full(1, np.nan), x)
        one, two = np.random.default_rng(3), np.random.default_rng(3)
        assert draws_beyond(s, f, 0.5, x, one, 1)[0] == beyond(s, f, 0.5, x, two)


def bound_of(s, f, norms, x):
    return chance_bound(s, f, norms, 0, 1 / x, 1 / (1 - x), math.log(x), math.log(1 - x))
