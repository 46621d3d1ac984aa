"""Sets, gaps, phases and near-ties equal a brute-force reading of the paper's definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
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


@given(matrices | calm, st.lists(windows, min_size=1, max_size=6))
def test_many_windows_at_once_equal_one_at_a_time(means, taus):
    masks = theory.unlearnable_set(means, taus)
    assert masks.shape == (len(taus), len(means))
    for tau, mask, gap in zip(taus, masks, theory.gap(means, taus), strict=True):
        np.testing.assert_array_equal(mask, theory.unlearnable_set(means, tau))
        assert gap == theory.gap(means, tau)


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
        (2.0, TypeError, "positive integer, got 2.0"),
        ([], ValueError, "empty sequence"),
        ([3, 0], ValueError, "got 0"),
    ],
)
@pytest.mark.parametrize("function", [theory.unlearnable_set, theory.learnable_set, theory.gap])
def test_a_bad_window_is_refused_with_the_reason(function, window, error, words):
    with pytest.raises(error, match=words):
        function([[0.1, 0.2]] * 4, window)


fifths = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(2, 3)),
    elements=st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
)

# No two arms can tie: each has fractions of its own.
untied = fifths.map(lambda means: means + 0.01 * np.arange(means.shape[1]))


def admissible(means, rounds):
    """Definition 6 for one phase, word for word; rounds and arms as in the paper."""
    best = {t: int(np.argmax(means[t - 1])) for t in rounds}
    lowest = min(means[t - 1, best[t]] for t in rounds)
    others = [i for t in rounds for i in range(means.shape[1]) if i != best[t]]
    return all(lowest > max(means[t - 1, i] for t in rounds) for i in others)


def fewest(means):
    """The smallest number of general breakpoints over all ways to cut, or None if no way is admissible."""
    T = len(means)
    for size in range(T):
        for cuts in itertools.combinations(range(2, T + 1), size):
            edges = [1, *cuts, T + 1]
            if all(admissible(means, range(a, b)) for a, b in itertools.pairwise(edges)):
                return size
    return None


@given(fifths | untied)
def test_general_breakpoints_are_admissible_and_fewest(means):
    if fewest(means) is None:
        with pytest.raises(ValueError, match="share the best mean"):
            theory.general_breakpoints(means)
        return
    cuts = theory.general_breakpoints(means).tolist()
    assert len(cuts) == fewest(means)
    assert all(admissible(means, range(a, b)) for a, b in itertools.pairwise([1, *cuts, len(means) + 1]))
    assert [phase.start for phase in theory.phases(means, general=True)] == [1, *cuts]


def test_the_breakpoints_of_the_abrupt_worlds_are_their_three_switches(abrupt, general_abrupt):
    switches = [15_000, 30_001, 40_000]
    for means in (abrupt, general_abrupt):
        assert theory.general_breakpoints(means).tolist() == theory.best_arm_switches(means).tolist() == switches
    assert theory.breakpoints(abrupt).tolist() == switches
    assert len(theory.breakpoints(general_abrupt)) == 49_999  # the sinusoids move in every round


@given(untied, st.integers(1, 10), st.booleans())
def test_phases_partition_and_pseudophases_skip_the_window(means, tau, general):
    phases, pseudo = theory.phases(means, general=general), theory.pseudophases(means, tau, general=general)
    assert [t for phase in phases for t in phase] == list(range(1, len(means) + 1))
    assert pseudo[0] == phases[0]
    for phase, rest in zip(phases[1:], pseudo[1:], strict=True):
        assert list(rest) == [t for t in phase if t >= phase.start + tau]
    union = {t for rest in pseudo for t in rest}
    mask = theory.pseudophase_set(means, tau, general=general)
    assert union == set((np.flatnonzero(mask) + 1).tolist())


@given(untied, st.integers(1, 10))
def test_rounds_of_general_pseudophases_are_learnable(means, tau):
    pseudo = theory.pseudophase_set(means, tau, general=True)
    assert np.all(pseudo <= theory.learnable_set(means, tau))


eighths = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.integers(0, 8).map(lambda number: number / 8),  # differences are exact
)
deltas = st.sampled_from([0.125, 0.2, 0.25, 0.5, 2.0])


@given(eighths, deltas)
def test_near_ties_equal_their_definition(means, delta):
    K = means.shape[1]
    expected = [
        any(abs(row[i] - row[j]) < delta for i in range(K) for j in range(K) if i != j) for row in means.tolist()
    ]
    assert theory.near_ties(means, delta).tolist() == expected
    leader = [sorted(row)[-1] - sorted(row)[-2] < delta for row in means.tolist()]
    assert theory.near_ties(means, delta, pairs="best").tolist() == leader


@given(eighths, deltas)
def test_the_fit_bounds_the_count_at_every_horizon(means, delta):
    fit = theory.tie_growth(means, delta)
    counts = np.cumsum(theory.near_ties(means, delta))
    bounds = np.array([fit(n) for n in range(1, len(means) + 1)])
    assert 0 <= fit.beta <= 1
    assert np.all(counts <= bounds * (1 + 1e-12))
    assert counts.any() == (fit.F > 0)
    if fit.F > 0:
        assert np.any(counts >= bounds * (1 - 1e-12)), "a smaller F would do"


@pytest.mark.parametrize("power", [0.3, 0.5, 0.8])
def test_the_fit_recovers_a_known_growth(power):
    T = 100_000
    counts = np.floor(5 * np.arange(T + 1) ** power)
    tied = np.diff(counts) > 0  # |F_n| is about 5 n^power once n is large enough for at most one tie a round
    means = np.where(tied[:, None], [0.5, 0.5], [0.9, 0.1])
    fit = theory.tie_growth(means, 0.1)
    assert fit.beta == pytest.approx(power, abs=0.05)


def test_without_near_ties_the_fit_is_zero():
    fit = theory.tie_growth([[0.9, 0.1]] * 10, 0.5)
    assert (fit.F, fit.beta, fit(10)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("delta", "share", "pairs"), [(0.005, 0.5, "all"), (0.02, 0.95, "best"), (0.045, 0.1, "all")])
def test_far_from_ties_the_gap_is_at_least_delta_less_two_sigma_tau(smooth, delta, share, pairs):
    sigma = theory.lipschitz(smooth)
    tau = max(1, int(share * delta / (2 * sigma)))  # within the paper's condition Δ′ > 2στ
    far = ~theory.near_ties(smooth, delta, pairs=pairs)
    far[0] = False  # round 1 has an empty window
    assert far.any()
    assert theory.gaps(smooth, tau)[far].min() >= delta - 2 * sigma * tau - 1e-12
    assert not np.any(far & theory.unlearnable_set(smooth, tau))


@pytest.mark.parametrize(
    ("delta", "pairs", "words"),
    [
        (0.0, "all", "delta .* above 0, got 0.0"),
        (math.nan, "all", "got nan"),
        (-1, "all", "got -1"),
        (0.1, "bset", "unknown pairs 'bset'; did you mean 'best'"),
    ],
)
def test_a_bad_threshold_or_comparison_is_refused(delta, pairs, words):
    with pytest.raises(ValueError, match=words):
        theory.near_ties([[0.1, 0.2]], delta, pairs=pairs)


def test_a_phase_ends_where_the_best_arm_only_reaches_what_a_rival_had():
    """Definition 6 wants the best arm's smallest mean strictly above every other arm's largest."""
    assert theory.general_breakpoints([[0.9, 0.5], [0.5, 0.4], [0.8, 0.3]]).tolist() == [2]
    assert theory.general_breakpoints([[0.9, 0.5], [0.51, 0.4], [0.8, 0.3]]).tolist() == []
