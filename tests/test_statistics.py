"""Statistics equal plain loops over their definitions, and SciPy's where it has them."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym import statistics
from ns_mab_gym.statistics import Interval, estimated, lower_bound, mean_of, share_of, t_quantile

RNG = np.random.default_rng(7)


def test_mean_sd_and_interval_agree_with_scipy():
    samples = RNG.exponential(100, size=50)
    ours = statistics.estimate(samples)
    theirs = stats.bootstrap((samples,), np.mean, n_resamples=10_000, method="percentile", rng=1).confidence_interval
    assert ours.mean == pytest.approx(samples.mean())
    assert ours.sd == pytest.approx(np.std(samples, ddof=1))
    assert ours.se == pytest.approx(stats.sem(samples))
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.15 * ours.se)


def test_one_run_has_no_spread_and_two_have_one():
    assert statistics.estimate(np.array([3.0])) == statistics.Estimate(3.0, 0.0, 0.0, 3.0, 3.0)
    assert statistics.estimate(np.array([3.0, 5.0])).se == pytest.approx(1.0)


def studentised_interval(samples, tail):
    """The intervals of the means of columns from the quantiles of their bootstrap t."""
    mean, se, t = statistics.bootstrap_t(samples)
    below, above = np.quantile(t, [tail, 1 - tail], axis=0)
    return mean - above * se, mean - below * se


def test_a_resampled_t_is_that_of_the_resample():
    """By brute force: each resample is drawn out, and has its own mean and its own standard error, with R − 1."""
    samples = np.random.default_rng(2).exponential(size=(7, 2))
    mean, se, t = statistics.bootstrap_t(samples)
    assert se == pytest.approx(stats.sem(samples, axis=0))
    for weights, ours in zip(statistics._weights(7)[:200], t, strict=False):
        resample = np.repeat(samples, np.rint(7 * weights).astype(int), axis=0)
        error = np.maximum(stats.sem(resample, axis=0), se / 5)  # which a resample without spread has
        assert ours == pytest.approx((resample.mean(axis=0) - mean) / error)


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
    assert np.allclose(statistics.ranks_of(finals).mean(axis=1), expected)


def test_the_probability_of_improvement_counts_ties_half():
    agent, reference = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 2.0, 5.0])
    assert statistics.improved(agent, reference).tolist() == [1, 0.5, 0, 1]


def test_a_paired_difference_is_sharper_than_its_parts():
    luck = RNG.normal(0, 100, size=40)
    finals = {"a": 1_000 + luck, "b": 1_010 + luck + RNG.normal(0, 1, size=40)}
    first, second = statistics.summarise(finals, "a")
    assert (first.label, first.difference, first.improvement) == ("a", None, None)
    assert second.difference.low > 0  # although the intervals of a and b overlap
    assert second.final.low < first.final.high
    assert second.rank > first.rank


def resampled_t(samples):
    """(B,) the t of each bootstrap sample, drawn out one by one, and the mean and the standard error of the samples."""
    runs, error = len(samples), stats.sem(samples)
    drawn = np.array([np.repeat(samples, each) for each in np.rint(runs * statistics._weights(runs)).astype(int)])
    spread = drawn.std(axis=1, ddof=1) / runs**0.5
    return (drawn.mean(axis=1) - samples.mean()) / np.maximum(spread, error / 5), samples.mean(), error


def test_the_factor_of_pairs_is_the_quantile_of_the_largest_t():
    finals = np.random.default_rng(3).normal([[0.0], [1.0], [5.0]], [[1.0], [2.0], [3.0]], size=(3, 8))
    pairs = [resampled_t(finals[a] - finals[b])[0] for a, b in ((0, 1), (0, 2), (1, 2))]
    assert statistics.pairwise_factor(finals) == pytest.approx(np.quantile(np.abs(pairs).max(axis=0), 0.95))
    assert statistics.pairwise_factor(finals[:, :5]) > 0
    assert math.isnan(statistics.pairwise_factor(finals[:, :4]))
    assert math.isnan(statistics.pairwise_factor(finals[:1]))


def test_own_and_shared_intervals_by_brute_force():
    """Of three differences one is settled: the shared intervals are those of the largest and least t of the others."""
    three = np.random.default_rng(4).exponential([1.0, 2.0, 3.0], size=(9, 3)).T - [[1.0], [0.5], [2.0]]
    t, mean, error = (np.array(each) for each in zip(*map(resampled_t, three), strict=True))
    asked = []

    def settled(place, own):
        asked.append((place, own))
        return place == 1

    def ends(place, least, largest):  # 250 of 10,000 lie outside on either side
        low, high = (
            mean[place] - np.sort(each)[rank] * error[place] for each, rank in ((largest, 9_749), (least, 250))
        )
        return pytest.approx((low, high))

    left = t[[0, 2]]
    for _ in range(2):  # what was resampled once is known
        found = statistics.intervals_of(list(three), settled)
        for place, (own, shared) in enumerate(found):
            assert own == ends(place, t[place], t[place])
            assert shared == ends(place, left.min(axis=0), left.max(axis=0))
    assert asked == [(place, found[place][0]) for place in (0, 1, 2)] * 2
    alone = statistics.intervals_of(list(three), lambda *_: True)  # all are settled: the first one's
    assert alone[2][1] == ends(2, t[0], t[0])


def test_no_more_is_remembered_than_memory_is_meant_to_hold(monkeypatch):
    monkeypatch.setattr(statistics, "MOST_KNOWN", 2)
    monkeypatch.setattr(statistics, "_KNOWN", {})
    samples = [np.arange(6.0) ** power for power in (1, 2, 3)]
    statistics.intervals_of(samples, lambda *_: False)
    assert list(statistics._KNOWN) == [each.tobytes() for each in samples[1:]]


def test_a_mean_has_an_interval_from_five_samples_on():
    samples = np.array([3.0, 1, 4, 1, 5])
    assert statistics.mean_interval(samples)[1:] == (
        statistics.estimate(samples).low,
        statistics.estimate(samples).high,
    )
    few = statistics.mean_interval(samples[:4])
    assert few.value == 2.25
    assert np.isnan(few[1:]).all()


def test_at_most_five_names_are_said():
    assert statistics.may_be_as_good(list("a")) == "a may be as good"
    assert statistics.may_be_as_good(list("abcde")) == "a, b, c, d and e may be as good"
    assert statistics.may_be_as_good(list("abcdefg")) == "a, b, c, d, e and 2 more may be as good"


def test_figures_as_text():
    assert Interval(0.125, 0.05, 0.5).as_share() == "12.5 % (5.0 to 50.0 %)"
    assert Interval(100.0, 99.94, 1234.5).as_number() == "100 (99.9 to 1,234)"
    assert Interval(math.nan, 0, 1).as_number() == Interval(math.nan, 0, 1).as_share() == "–"
    said = {"2.5 ± 0.6": [1, 2, 3, 4], "120 ± 12": [100, 120, 140], "101 ± 0.6": [100, 101, 102], "5 ± 0": [5]}
    said |= {"1,000 ± 0.0": [1_000], "10 ± 1.0": [9, 11], "0 ± 0": [0, 0]}
    assert {statistics.mean_se(np.array(each, dtype=float)): each for each in said.values()} == said


def test_a_summary_compares_all_with_the_reference_and_few_runs_have_no_interval():
    finals = {"a": np.array([5.0, 6, 7, 8, 9]), "b": np.array([1.0, 6, 2, 9, 3])}
    b, a = statistics.summarise(finals, "a")
    assert (b.label, b.rank, b.improvement.mean) == ("b", 1.3, 0.7)  # less in three runs of five, equal in one
    assert b.difference.mean == pytest.approx(-2.8)
    assert a.final.low < 7 < a.final.high
    few = statistics.summarise({label: each[:4] for label, each in finals.items()}, "a")
    assert np.isnan([(row.final.low, row.final.high) for row in few]).all()
    alone, _ = statistics.summarise({"a": np.ones(1), "b": np.full(1, 3.0)}, "b")
    assert math.isnan(alone.difference.sd)


def test_runs_that_always_end_alike_are_worth_all_their_trials():
    """One of two in each of 10 runs: no variance over the runs, so 20 trials, less for the 9 degrees of freedom."""
    size = 20 * (stats.t.ppf(0.975, 19) / stats.t.ppf(0.975, 9)) ** 2
    low, high = stats.beta.ppf([0.025, 0.975], [size / 2, size / 2 + 1], [size / 2 + 1, size / 2])
    assert share_of(np.ones(10), np.full(10, 2.0)) == pytest.approx((0.5, low, high))
    assert np.isnan(share_of(np.zeros(3), np.zeros(3))).all()
    assert np.isnan(mean_of(np.zeros(3), np.zeros(3))).all()
    assert mean_of(np.array([4.0, 6.0]), np.array([2.0, 3.0]))[0] == 2
    assert np.isnan(mean_of(np.array([4.0, 6.0]), np.array([2.0, 3.0]))[1:]).all()


@pytest.mark.parametrize("tail", [0.0, -0.1, 0.51])
def test_a_tail_that_is_none_is_refused(tail):
    with pytest.raises(ValueError, match=r"tail must be above 0 and at most 0\.5"):
        t_quantile(tail, 9)


@pytest.mark.parametrize("freedom", [1, 2, 3, 30, 199, 10**6])
def test_quantiles_are_those_of_student(freedom):
    """For 1 and 2 degrees of freedom in closed form, else those whose tail is what was asked for."""
    for tail in (0.5, 0.1, 0.025, 1e-3, 1e-6):
        t = t_quantile(tail, freedom)
        assert stats.t.sf(t, freedom) == pytest.approx(tail, rel=1e-9)
        if freedom == 1:
            assert t == pytest.approx(math.tan(math.pi * (0.5 - tail)), rel=1e-9, abs=1e-12)
        if freedom == 2:
            assert t == pytest.approx((1 - 2 * tail) / math.sqrt(2 * tail * (1 - tail)), rel=1e-9, abs=1e-12)


def test_intervals_are_those_of_student():
    samples = np.random.default_rng(5).exponential(size=12)
    low, high = stats.t.interval(0.95, 11, samples.mean(), stats.sem(samples))
    assert estimated(samples) == pytest.approx((samples.mean(), low, high, 12))
    assert lower_bound(samples, 0.025) == pytest.approx(low)
    assert estimated(samples[:1])[1:3] == (-math.inf, math.inf)
    assert lower_bound(samples[:0], 0.1) == -math.inf


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


def test_one_run_counts_as_one_trial_however_many_breakpoints_it_has():
    low, high = stats.beta.ppf(0.025, 0.25, 1.75), stats.beta.ppf(0.975, 1.25, 0.75)
    assert share_of(np.array([1.0]), np.array([4.0])) == pytest.approx((0.25, low, high))


def test_runs_with_many_breakpoints_count_as_kish_says():
    trials, worth = np.array([1.0, 2.0, 7.0]), 100 / 54  # 10² / (1 + 4 + 49)
    assert share_of(0 * trials, trials) == pytest.approx((0, 0, 1 - 0.025 ** (1 / worth)))
    assert share_of(trials, trials) == pytest.approx((1, 0.025 ** (1 / worth), 1))


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


def test_without_scipy_an_interval_says_what_to_install():
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "import numpy as np; from ns_mab_gym.statistics import estimate, t_quantile\n"
        "estimate(np.arange(9.0))\n"
        "t_quantile(0.025, 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: intervals need SciPy: pip install 'ns-mab-gym[experiments]'" in done.stderr
    assert "estimate(" not in done.stderr
