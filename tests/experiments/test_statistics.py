"""Statistics equal plain loops over their definitions, and SciPy's where it has them."""

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym.experiments import statistics

RNG = np.random.default_rng(7)


def test_mean_sd_and_interval_agree_with_scipy():
    samples = RNG.exponential(100, size=50)
    ours = statistics.estimate(samples)
    theirs = stats.bootstrap((samples,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    assert ours.mean == pytest.approx(samples.mean())
    assert ours.sd == pytest.approx(np.std(samples, ddof=1))
    assert ours.se == pytest.approx(stats.sem(samples))
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.15 * ours.se)


def test_the_same_samples_give_the_same_interval():
    samples = RNG.normal(size=30)
    assert statistics.estimate(samples) == statistics.estimate(samples.copy())


def test_one_run_has_no_spread():
    assert statistics.estimate(np.array([3.0])) == statistics.Estimate(3.0, 0.0, 0.0, 3.0, 3.0)


def studentised_interval(samples, tail):
    """The intervals of the means of columns from the quantiles of their bootstrap t."""
    mean, se, t = statistics.bootstrap_t(samples)
    below, above = np.quantile(t, [tail, 1 - tail], axis=0)
    return mean - above * se, mean - below * se


def test_studentised_intervals_of_normal_samples_are_students():
    samples = RNG.normal(5, 2, size=(50, 40))
    low, high = studentised_interval(samples, 0.025)
    half = stats.t.ppf(0.975, 49) * stats.sem(samples)
    assert np.mean((high - low) / 2 / half) == pytest.approx(1, abs=0.05)


def test_studentised_intervals_cover_far_out_in_the_tails():
    samples = RNG.exponential(size=(20, 400))
    low, high = studentised_interval(samples, 0.005)
    assert np.mean((low <= 1) & (high >= 1)) > 0.97  # 0.99 is meant; percentiles reach 0.93


def test_samples_that_are_all_alike_have_a_point_for_an_interval():
    low, high = studentised_interval(np.full((12, 2), 7.0), 0.001)
    assert low.tolist() == high.tolist() == [7.0, 7.0]


def test_a_few_samples_that_differ_do_not_make_an_interval_endless():
    samples = np.full((50, 1), -499.0)
    samples[:3] = -400.0
    low, high = studentised_interval(samples, 0.001)
    assert -700 < low[0] < samples.mean() < high[0] < -300


def test_ranks_equal_scipys():
    finals = RNG.integers(0, 6, size=(5, 40)).astype(float)  # with ties
    expected = stats.rankdata(finals, axis=0).mean(axis=1)
    assert np.allclose(statistics.mean_ranks(finals), expected)


def test_the_probability_of_improvement_counts_ties_half():
    agent, reference = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 2.0, 5.0])
    assert statistics.improved(agent, reference).mean() == (1 + 0.5 + 0 + 1) / 4


def test_a_paired_difference_is_sharper_than_its_parts():
    luck = RNG.normal(0, 100, size=40)
    finals = {"a": 1_000 + luck, "b": 1_010 + luck + RNG.normal(0, 1, size=40)}
    first, second = statistics.summarise(finals, "a")
    assert (first.label, first.difference, first.improvement) == ("a", None, None)
    assert second.difference.low > 0  # although the intervals of a and b overlap
    assert second.final.low < first.final.high
    assert second.rank > first.rank
