"""Intervals of means and shares: exact, as resampled by hand, and holding what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym.run_intervals import Interval, mean_of, share_of


def test_a_share_of_runs_has_the_exact_interval():
    for hits, runs in ((0, 7), (3, 7), (7, 7), (20, 200), (999, 2000)):
        exact = stats.binomtest(hits, runs).proportion_ci(0.95, "exact")
        counts = np.repeat([1.0, 0.0], [hits, runs - hits])
        assert share_of(counts, np.ones(runs)) == pytest.approx((hits / runs, exact.low, exact.high), abs=1e-9)


def test_a_share_of_breakpoints_has_the_effective_number_of_trials():
    """Missed 0, 1, 2 and 1 of 2: the variance over runs is 1/32, that of 8 independent trials, less for 3 degrees."""
    size = 8 * (stats.t.ppf(0.975, 7) / stats.t.ppf(0.975, 3)) ** 2
    low, high = stats.beta.ppf(0.025, size / 2, size / 2 + 1), stats.beta.ppf(0.975, size / 2 + 1, size / 2)
    assert share_of(np.array([0.0, 1, 2, 1]), np.full(4, 2.0)) == pytest.approx((0.5, low, high))


def test_breakpoints_that_always_end_alike_are_worth_as_many_trials_as_runs():
    exact = stats.binomtest(3, 10).proportion_ci(0.95, "exact")
    together = share_of(np.repeat([4.0, 0.0], [3, 7]), np.full(10, 4.0))
    assert together == pytest.approx((0.3, exact.low, exact.high))


def test_runs_with_many_breakpoints_count_as_kish_says():
    none = share_of(np.zeros(3), np.array([1.0, 2.0, 7.0]))
    assert none.high == pytest.approx(1 - 0.025 ** (54 / 100))  # 10² / (1 + 4 + 49)


@pytest.mark.parametrize("alike", ["independent", "mixed", "alike"])
def test_intervals_of_shares_hold_what_they_promise(alike):
    """4 breakpoints in each of 30 runs, missed with probability 0.2: at least 95 % of 500 intervals, less 2.5 SE."""
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(500):
        own = {"independent": np.full(30, 0.2), "mixed": rng.beta(0.4, 1.6, 30), "alike": rng.random(30) < 0.2}[alike]
        share = share_of(rng.binomial(4, own).astype(float), np.full(30, 4.0))
        held += share.low <= 0.2 <= share.high
    assert held / 500 > 0.95 - 2.5 * (0.95 * 0.05 / 500) ** 0.5


def test_intervals_of_means_take_runs_as_units():
    """Bursts: a run has 10 false alarms or none. Those who took alarms as units would be far too sure."""
    rng = np.random.default_rng(12)
    held, naive = 0, 0
    for _ in range(300):
        counts = 10.0 * (rng.random(40) < 0.3)
        mean = mean_of(counts, np.ones(40))
        held += mean.low <= 3 <= mean.high
        naive += abs(mean.value - 3) < 1.96 * (mean.value / 40) ** 0.5
    assert held / 300 > 0.95 - 3 * (0.95 * 0.05 / 300) ** 0.5  # 0.912
    assert naive / 300 < 0.7


def test_the_interval_of_a_mean_is_that_of_resampled_runs():
    rng = np.random.default_rng(13)
    counts = rng.integers(0, 4, 25).astype(float)
    totals = np.array([rng.gamma(2.0, 50.0, int(count)).sum() for count in counts])
    picked = rng.integers(0, 25, (20_000, 25))
    means = totals[picked].sum(axis=1) / counts[picked].sum(axis=1)
    expected = (totals.sum() / counts.sum(), *np.quantile(means, [0.025, 0.975]))
    assert mean_of(totals, counts) == pytest.approx(expected, rel=0.02)
    assert mean_of(totals, counts) == mean_of(totals, counts)


def test_resamples_without_any_detection_are_left_out():
    mean = mean_of(np.array([10.0, 30.0, 0, 0, 0, 0, 0]), np.array([1.0, 1, 0, 0, 0, 0, 0]))
    assert mean == Interval(20.0, 10.0, 30.0)
