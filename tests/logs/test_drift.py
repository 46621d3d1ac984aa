"""Drift beside chance: levels and power, laws of the deals, and every estimate against brute force."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym.logs import drift as module
from ns_mab_gym.logs.drift import BesideChance, drift_of
from ns_mab_gym.logs.log import Log
from ns_mab_gym.logs.page import write_page
from ns_mab_gym.means import best_arm_switches

HOURS, RATES = 120, np.array([0.10, 0.12, 0.15])
STEP = np.where(np.arange(HOURS) < 50, 0.05, -0.05)


def rates_log(rng, shape=0.0, trials=300):
    """Hours of three arms, of which the second moves by the shape."""
    means = np.tile(RATES, (HOURS, 1))
    means[:, 1] += shape
    times = np.datetime64("2026-01-01T00", "s") + 3_600 * np.arange(HOURS)
    return Log.from_counts(rng.binomial(trials, means), trials, times, ("blue", "green", "red"))


def revenues(rng, n=600):
    """Decisions at any time, whose rewards are mostly 0 and else skewed."""
    rewards = (rng.random(n) < 0.3) * rng.lognormal(2, 1, n)
    return Log(np.sort(rng.uniform(0, 1e5, n)), rng.integers(2, size=n), rewards, ("a", "b"))


@pytest.fixture(scope="module")
def stepped():
    return rates_log(np.random.default_rng(0), STEP).drift(permutations=199)


@pytest.mark.parametrize("made", [rates_log, revenues])
def test_where_nothing_moves_p_values_are_uniform_or_larger(made):
    """60 logs: at most three standard errors more than α of them below α; and no p-value favoured, by Kolmogorov."""
    p = np.array(
        [
            [each.p_value for each in (drift.moves, drift.switches, drift.variation, drift.gain)]
            for drift in (made(np.random.default_rng(seed)).drift(39, seed) for seed in range(60))
        ]
    )
    for alpha in (0.05, 0.1, 0.25, 0.5):
        assert np.all((p <= alpha + 1e-9).mean(axis=0) <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / len(p)))
    spread = p[:, 0] - np.random.default_rng(0).random(len(p)) / 40  # a p-value is a multiple of 1/40
    assert stats.kstest(spread, "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("step", STEP),
        ("trend", 0.08 * (0.5 - np.arange(HOURS) / HOURS)),
        ("wave", 0.05 * np.sin(2 * np.pi * np.arange(HOURS) / 24)),
        ("spell", 0.08 * (np.abs(np.arange(HOURS) - 40) < 8)),
    ],
)
def test_what_moves_is_found_and_named(kind, shape):
    """Ten logs: the arm that moves always, by its kind in most, and the others within 2.5 standard errors of 5 %."""
    drifts = [rates_log(np.random.default_rng(seed), shape).drift(99, seed) for seed in range(10)]
    assert all(drift.p_values[1] <= 0.05 for drift in drifts)
    assert sum(drift.changes[1].kind == kind for drift in drifts) >= 8
    assert sum(np.count_nonzero(drift.p_values[[0, 2]] <= 0.05) for drift in drifts) <= 3


def test_the_words_name_arm_means_and_date(stepped):
    first, second = stepped.sentences()
    assert first.startswith("green fell from 16.9 % to 6.9 %")
    assert first.endswith(" % around 3 January (p = 0.005).")  # 50 hours after the beginning
    assert second == "blue and red do not move beyond noise."
    assert "The best arm changes beyond noise (p = 0.005), once by the curves." in stepped.advice()
    assert "3 arms, 108,000 decisions from 1 January 2026 to 5 January 2026, in 120 cells of 1 hour." in str(stepped)
    assert "count as drift" in str(stepped)


def test_where_nothing_moves_a_fixed_arm_is_enough():
    drift = rates_log(np.random.default_rng(1)).drift(99)
    assert drift.sentences() == ["blue, green and red do not move beyond noise."]
    assert "red all the time, or a learner that forgets nothing, is enough as far as this log can tell" in str(drift)


def cross_validated(sums, counts, h):
    """The squared errors of each cell of one arm, predicted from all others, and the estimates, by loops."""
    errors, curve, few = [], [], 1e-6 * sum(counts) / len(counts)
    mean = sum(sums) / sum(counts)
    for here in range(len(sums)):
        above, below = few * mean, few
        for there in range(len(sums)):
            if there != here:
                weight = math.exp(-(((here - there) / h) ** 2) / 2) if h < math.inf else 1.0
                above, below = above + weight * sums[there], below + weight * counts[there]
        errors.append(counts[here] * (sums[here] / counts[here] - above / below) ** 2 if counts[here] else 0.0)
        curve.append((above + sums[here]) / (below + counts[here]) if h < math.inf else mean)
    return np.array(errors), np.array(curve)


@pytest.mark.parametrize("seed", range(4))
def test_curves_and_bandwidths_are_those_of_loops(seed):
    """The longest bandwidth of those whose error is within one standard error of the least, and its estimate."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, 40).astype(float)
    sums = rng.binomial(counts.astype(int), 0.5 + 0.3 * np.sin(np.arange(40) / (3 + 3 * seed))).astype(float)
    kernels, grid = module._kernels(40)
    tried = {h: cross_validated(sums, counts, h) for h in grid}
    best = min(tried.values(), key=lambda each: each[0].sum())[0]
    allowed = [h for h, (errors, _) in tried.items() if (errors - best).sum() <= np.sqrt(((errors - best) ** 2).sum())]
    curves, chosen = module._smoothed(np.stack([sums, sums[::-1]]), counts, kernels)
    assert grid[chosen] == max(allowed)
    np.testing.assert_allclose(curves[0], tried[max(allowed)][1], rtol=1e-9)


def test_switches_variation_and_gain_are_those_of_the_curves(stepped):
    curves, share = stepped.curves, stepped.counts.sum(axis=1) / stepped.counts.sum()
    assert stepped.switches.value == len(best_arm_switches(curves)) == 1
    assert stepped.variation.value == pytest.approx(
        sum(max(abs(a - b) for a, b in zip(one, two, strict=True)) for one, two in itertools.pairwise(curves.tolist()))
    )
    assert stepped.gain.value == pytest.approx(share @ curves.max(axis=1) - (share @ curves).max())
    assert stepped.best_fixed == 2


def test_bands_of_a_constant_rate_are_wilsons():
    log = Log.from_counts([[3, 50], [4, 50], [5, 50], [2, 50]], 100)
    drift = log.drift(19)
    assert np.isinf(drift.bandwidths).all()
    assert drift.effective[:, 0].tolist() == [400] * 4
    wilson = stats.binomtest(14, 400).proportion_ci(method="wilson")
    np.testing.assert_allclose([drift.low[0, 0], drift.high[0, 0]], [wilson.low, wilson.high], rtol=1e-6)


def test_bands_of_other_rewards_are_normal():
    log = Log(np.arange(1.0, 41), np.arange(40) % 2, np.tile([1.0, 5.0, 3.0, 9.0], 10), ("a", "b"))
    drift = log.drift(19)
    half = stats.norm.ppf(0.975) * np.sqrt([1.0, 4.0]) / math.sqrt(20)  # arm a: 1 and 3, arm b: 5 and 9
    np.testing.assert_allclose(drift.curves[0], [2.0, 7.0])
    np.testing.assert_allclose(drift.high[0] - drift.curves[0], half, rtol=1e-6)


def dealt(log, permutations, seed=0):
    cells = (log.times - log.times[0]).astype(np.intp)
    rewards = module._Rewards(log, cells, int(cells[-1]) + 1)
    sums = rewards.deals(0, permutations, np.random.default_rng(seed)) + rewards.centres[0] * rewards.counts[0]
    return sums, rewards


def test_deals_of_zeros_and_ones_have_the_hypergeometric_law():
    """20 decisions of an arm, 7 of them with reward 1, 5 in the first cell: a chi-square test of 5,000 deals."""
    log = Log.from_counts([[3, 1], [2, 1], [2, 1]], [[5, 2], [10, 2], [5, 2]])
    sums, _ = dealt(log, 5_000)
    np.testing.assert_array_equal(sums[0], [3, 2, 2])
    np.testing.assert_array_equal(sums.sum(axis=1), 7)
    expected = 5_000 * stats.hypergeom(20, 7, 5).pmf(np.arange(6))
    seen = np.bincount(sums[1:, 0].astype(int), minlength=6)
    assert stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue > 0.001


@pytest.mark.parametrize("trials", [None, 4])
def test_deals_of_other_rewards_keep_their_total_and_have_the_variance_of_sampling_without_replacement(trials):
    """n σ² (N − n)/(N − 1) of n of N rewards, where a row of several decisions counts as one reward, up to 1/N."""
    rng = np.random.default_rng(5)
    times, values = np.repeat([0.0, 1.0, 2.0], [10, 20, 30]), rng.normal(3, 2, 60)
    rows = None if trials is None else np.full(60, trials)
    log = Log(np.append(times, 2.0), np.append(np.zeros(60, np.intp), 1), np.append(values, 0.5), ("a", "b"),
              None if rows is None else np.append(rows, trials))  # fmt: skip
    sums, rewards = dealt(log, 4_000)
    each = 1 if trials is None else trials
    np.testing.assert_allclose(sums.sum(axis=1), each * values.sum())
    size, total = each * np.array([10, 20, 30]), 60 * each
    variance = rewards.variance(0) * size * (total - size) / (total - 1)
    np.testing.assert_allclose(sums[1:].mean(axis=0), size * values.mean(), atol=4 * np.sqrt(variance.max() / 4_000))
    np.testing.assert_allclose(sums[1:].var(axis=0), variance, rtol=5 * math.sqrt(2 / 4_000) + 1 / 60)
    assert rewards.variance(0) == pytest.approx(each * values.var())


def test_p_counts_the_log_itself_and_ties():
    found = BesideChance.of(np.array([3.0, 1.0, 3.0, 2.0, 5.0]))
    assert found == BesideChance(3.0, 2.75, pytest.approx(np.quantile([1, 3, 2, 5], 0.95)), 3 / 5)


def test_neither_units_of_rewards_nor_of_time_change_anything():
    log = revenues(np.random.default_rng(2))
    first = log.drift(99, seed=4)
    other = Log(log.times * 60 + 1e4, log.arms, 100 * log.rewards + 7, log.names).drift(99, seed=4)
    np.testing.assert_allclose(other.p_values, first.p_values)
    np.testing.assert_allclose(other.curves, 100 * first.curves + 7, rtol=1e-9)
    assert other.gain.p_value == first.gain.p_value
    assert np.array_equal(drift_of(log, 99, 4).p_values, first.p_values)  # the same seed, the same numbers


def test_gaps_late_arms_and_rare_arms_do_no_harm(tmp_path):
    """No warning, no number that is not finite; and the curve of a late arm is not drawn before it comes."""
    times = np.concatenate([np.arange(100), np.arange(400, 500)]).astype(float)
    arms = np.where(times < 450, np.arange(200) % 2, np.arange(200) % 3)
    arms[3] = 3  # a single time
    log = Log(times, arms, (np.arange(200) % 7 == 0).astype(float), ("a", "b", "late", "once"))
    drift = log.drift(19)
    assert drift.gaps == ((99.0, 400.0),)
    assert "No decision from 99 to 400." in str(drift)
    for each in (drift.curves, drift.low, drift.high, drift.effective, drift.p_values):
        assert np.isfinite(each).all()
    axes = drift.plot(tmp_path / "drift.png").axes[0]
    [late] = [line for line in axes.lines if line.get_label() == "late"]
    assert np.nanmin(np.asarray(late.get_xdata())[np.isfinite(late.get_ydata())]) > 449
    assert (tmp_path / "drift.png").stat().st_size > 5_000


@pytest.mark.parametrize("reward", [0.1, 0.3, 2.5, 500.0, 1e6 + 0.1])
def test_two_times_and_constant_rewards_are_no_drift(reward):
    """Whatever rounding makes of the sums of equal rewards, of one decision a row or of several."""
    rng = np.random.default_rng(0)
    arms, times, several = rng.integers(2, size=800), np.arange(800.0), rng.integers(1, 90, 800)
    for log in (
        Log(np.array([0.0, 1.0]), np.array([0, 1]), np.array([1.0, 1.0]), ("a", "b")),
        Log(times, arms, np.full(800, reward), ("a", "b")),
        Log(times, arms, np.where(arms, reward, 1.7 * reward), ("a", "b")),
        Log(times, arms, np.where(arms, reward, 1.7 * reward), ("a", "b"), several),
    ):
        drift = log.drift(19)
        assert drift.p_values.tolist() == [1, 1]
        assert (drift.switches.p_value, drift.variation.p_value, drift.gain.p_value) == (1, 1, 1)


def test_the_axis_fits_rates_of_three_percent():
    log = Log.from_counts(np.random.default_rng(0).binomial(1_000, [0.03, 0.02], (60, 2)), 1_000)
    low, high = log.drift(19).plot().axes[0].get_ylim()
    assert 0.01 < low < 0.02 < 0.03 < high < 0.05


def test_the_cells_are_few_and_those_of_dates_are_whole_units():
    for days, cell in ((30, 7_200), (365, 86_400), (730, 2 * 86_400), (3_000, 8 * 86_400), (0.5, 120)):
        times = np.linspace(0, days * 86_400, 5_000)
        drift = Log(times, np.arange(5_000) % 2, np.ones(5_000), ("a", "b"), dated=True).drift(19)
        assert drift.width == cell
        assert len(drift.times) <= module.CELLS


@pytest.mark.parametrize("times", [[0, 5_400], [0, 0.5], [0, 1.5, 3], np.arange(10) / 20, [0, 2.5 * 86_400]])
def test_short_logs_with_dates_have_two_cells_at_least(times):
    times = 1.7e9 + np.asarray(times)
    drift = Log(times, np.arange(len(times)) % 2, np.ones(len(times)), ("a", "b"), dated=True).drift(19)
    assert 2 <= len(drift.times) <= len(times)


def test_arms_that_were_never_shown_are_left_out_and_said():
    arms = np.arange(50) % 2 * 2
    drift = Log(np.arange(50.0), arms, (np.arange(50) % 3) * 1.0, ("a", "never", "b")).drift(19)
    assert (drift.log.names, drift.curves.shape[1]) == (("a", "b"), 2)
    assert "Never shown: never." in str(drift)


def test_a_log_of_one_time_does_not_move():
    one = Log(np.array([1.0]), np.array([0]), np.array([1.0]), ("a", "b"))
    for log in (one, Log.from_counts([[1, 1], [2, 1]], 5, times=[3, 3]), Log.from_counts([[0, 0], [0, 0]], 0)):
        with pytest.raises(ValueError, match="a log needs decisions at several times"):
            log.drift()
        with pytest.raises(ValueError, match="a log needs decisions at several times"):
            log.in_decisions("1h")


def test_more_decisions_than_numpy_deals_are_shuffled_by_rows():
    """A billion decisions a cell: an arm whose rate halves moves, and one that stands still does not."""
    wins = np.random.default_rng(0).binomial(10**9, [[0.01, 0.02]] * 15 + [[0.01, 0.01]] * 15)
    assert (Log.from_counts(wins, 10**9).drift(99).p_values <= 0.05).tolist() == [False, True]


def test_strange_names_do_no_harm_to_words_pictures_and_pages(tmp_path):
    names = ("<script>alert(1)</script>", "a\nb", "", "$\\frac{$", "_x", "\x00\x1b[31m", "\u202eleft")
    drift = Log(np.arange(700.0), np.arange(700) % 7, np.arange(700) % 3 / 2, names).drift(19)
    assert not {"\x00", "\x1b", "\u202e"} & set(str(drift))
    assert "a\\nb" in str(drift)
    write_page(drift, tmp_path / "page.html", "log")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_too_few_permutations_are_refused():
    with pytest.raises(ValueError, match="permutations must be an integer of at least 19, got 5"):
        revenues(np.random.default_rng(0)).drift(5)
