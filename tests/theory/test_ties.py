"""Near-ties equal their definition, their growth is bounded by the fit, and the paper's inequality holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ns_mab_gym import theory

matrices = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(2, 4)),
    elements=st.integers(0, 8).map(lambda eighths: eighths / 8),  # differences are exact
)
deltas = st.sampled_from([0.125, 0.2, 0.25, 0.5, 2.0])


@settings(deadline=None)
@given(matrices, deltas)
def test_near_ties_equal_their_definition(means, delta):
    K = means.shape[1]
    expected = [
        any(abs(row[i] - row[j]) < delta for i in range(K) for j in range(K) if i != j) for row in means.tolist()
    ]
    assert theory.near_ties(means, delta).tolist() == expected
    leader = [sorted(row)[-1] - sorted(row)[-2] < delta for row in means.tolist()]
    assert theory.near_ties(means, delta, pairs="best").tolist() == leader


@settings(deadline=None)
@given(matrices, deltas)
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


@pytest.mark.parametrize("pairs", ["all", "best"])
@pytest.mark.parametrize("delta", [0.005, 0.02, 0.045])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_far_from_ties_the_gap_is_at_least_delta_less_two_sigma_tau(smooth, delta, share, pairs):
    sigma = theory.lipschitz(smooth)
    tau = max(1, int(share * delta / (2 * sigma)))  # within the paper's condition Δ′ > 2στ
    far = ~theory.near_ties(smooth, delta, pairs=pairs)
    far[0] = False  # round 1 has an empty window
    assert far.any()
    assert theory.gaps(smooth, tau)[far].min() >= delta - 2 * sigma * tau - 1e-12
    assert not np.any(far & theory.unlearnable_set(smooth, tau))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0.0,), "delta .* above 0, got 0.0"), ((float("nan"),), "got nan"), ((-1,), "got -1")],
)
def test_a_bad_threshold_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        theory.near_ties([[0.1, 0.2]], *arguments)


def test_an_unknown_comparison_is_refused_with_the_nearest_word():
    with pytest.raises(ValueError, match="unknown pairs 'bset'; did you mean 'best'"):
        theory.near_ties([[0.1, 0.2]], 0.1, pairs="bset")
