"""Sets and gaps equal a brute-force reading of Definitions 1 and 2, ties included, for one window or many."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ns_mab_gym import theory

shapes = st.tuples(st.integers(1, 14), st.integers(2, 4))
few_values = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0])  # ties are the rule
any_value = st.floats(-2, 2, allow_nan=False)
matrices = hnp.arrays(np.float64, shapes, elements=few_values) | hnp.arrays(np.float64, shapes, elements=any_value)
# Matrices that stay put for a while: without them most rounds would be unlearnable.
calm = st.tuples(matrices, st.integers(1, 6)).map(lambda pair: np.repeat(pair[0], pair[1], axis=0))
windows = st.integers(1, 20)


def brute_gaps(means, tau):
    """Δ_{i,t,τ} for rounds t = 1..T and arms i = 1..K, word for word; infinite for i*(t) and empty windows."""
    T, K = means.shape
    mu = {(i, t): means[t - 1, i - 1] for t in range(1, T + 1) for i in range(1, K + 1)}
    result = np.full((T, K), math.inf)
    for t in range(1, T + 1):
        best = min(i for i in range(1, K + 1) if mu[i, t] == max(mu[j, t] for j in range(1, K + 1)))
        window = [s for s in range(t - tau, t) if s >= 1]
        for i in range(1, K + 1):
            if i != best and window:
                result[t - 1, i - 1] = min(mu[best, s] for s in window) - max(mu[i, s] for s in window)
    return result


@settings(max_examples=500, deadline=None)
@given(matrices | calm, windows)
def test_sets_and_gaps_equal_the_definitions(means, tau):
    expected = brute_gaps(means, tau)
    learnable = (expected > 0).all(axis=1)  # Definition 1: no arm has min μ_{i*} ≤ max μ_i
    np.testing.assert_array_equal(theory.gaps(means, tau), expected)
    np.testing.assert_array_equal(theory.learnable_set(means, tau), learnable)
    np.testing.assert_array_equal(theory.unlearnable_set(means, tau), ~learnable)
    assert theory.gap(means, tau) == expected[learnable].min()
    margin = np.where(learnable, expected.min(axis=1), 0.0)
    np.testing.assert_array_equal(theory.margins(means, tau), margin)


@settings(max_examples=100, deadline=None)
@given(matrices | calm, st.lists(windows, min_size=1, max_size=6))
def test_many_windows_at_once_equal_one_at_a_time(means, taus):
    masks = theory.unlearnable_set(means, taus)
    assert masks.shape == (len(taus), len(means))
    for tau, mask, gap in zip(taus, masks, theory.gap(means, taus), strict=True):
        np.testing.assert_array_equal(mask, theory.unlearnable_set(means, tau))
        assert gap == theory.gap(means, tau)


@settings(deadline=None)
@given(matrices | calm, windows)
def test_a_longer_window_learns_no_new_round(means, tau):
    assert np.all(theory.unlearnable_set(means, tau) <= theory.unlearnable_set(means, tau + 1))


@settings(deadline=None)
@given(matrices | calm)
def test_the_first_round_is_learnable_and_alone_leaves_an_infinite_gap(means):
    assert theory.learnable_set(means, 3)[0]
    assert theory.gap(means[:1], 3) == math.inf


def test_a_window_longer_than_the_horizon_is_the_whole_past():
    means = np.random.default_rng(0).random((50, 3))
    means[:, 0] += 0.9
    np.testing.assert_array_equal(theory.unlearnable_set(means, 49), theory.unlearnable_set(means, 10**9))


@pytest.mark.parametrize("tau", [1, 7, 500, 2942, 9_999, 10_000, 15_001, 60_000])
def test_in_the_abrupt_world_the_unlearnable_rounds_follow_the_breakpoints(abrupt, tau):
    expected = np.zeros(50_000, dtype=bool)
    for breakpoint_ in (15_000, 30_001, 40_000):  # "t < 15000 or 30000 < t < 40000"
        expected[breakpoint_ - 1 : breakpoint_ - 1 + tau] = True
    np.testing.assert_array_equal(theory.unlearnable_set(abrupt, tau), expected)
    np.testing.assert_array_equal(theory.pseudophase_set(abrupt, tau), ~expected)


def test_where_the_union_and_the_definition_differ_the_definition_wins():
    calm_change = np.array([[0.9, 0.1]] * 5 + [[0.9, 0.2]] * 5)  # a breakpoint that leaves the leader on top
    assert not theory.unlearnable_set(calm_change, 3).any()
    assert np.flatnonzero(~theory.pseudophase_set(calm_change, 3)).tolist() == [5, 6, 7]
    tie = np.array([[0.5, 0.5]] * 5)
    assert theory.unlearnable_set(tie, 3).tolist() == [False, True, True, True, True]
    assert theory.pseudophase_set(tie, 3).all()


@pytest.mark.parametrize(
    ("window", "error", "words"),
    [
        (0, ValueError, r"window must be a positive integer, got 0; the paper suggests .* = 9"),
        (-3, ValueError, "got -3"),
        (2.0, TypeError, "positive integer, got 2.0"),
        (True, TypeError, "got True"),
        ("7", TypeError, "got '7'"),
        ([], ValueError, "empty sequence"),
        ([3, 0], ValueError, "got 0"),
    ],
)
@pytest.mark.parametrize("function", [theory.unlearnable_set, theory.learnable_set, theory.gap])
def test_a_bad_window_is_refused_with_the_reason(function, window, error, words):
    with pytest.raises(error, match=words):
        function([[0.1, 0.2]] * 4, window)
