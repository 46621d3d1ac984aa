"""The bounds' terms equal the theorems' formulas, and every assumption that fails is named."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ns_mab_gym import theory

matrices = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 12), st.integers(2, 3)), elements=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])
)


def term_b(agent, T, tau, gap, gamma=1.0):
    if gap == math.inf:
        return 0.0
    if agent == "beta-swts":
        return T * math.log(tau) / (gap**2 * tau)
    return T * math.log(tau * gap**2 + math.e**6) / (gamma * gap**2 * tau)


@settings(max_examples=200, deadline=None)
@given(matrices, st.integers(1, 14), st.sampled_from(["beta-swts", "gamma-swgts"]))
def test_general_terms_are_those_of_theorems_1_and_2(means, tau, agent):
    T = len(means)
    bound = theory.bound(means, tau, agent)
    assert bound.unlearnable == theory.unlearnable_set(means, tau).sum()
    assert bound.gap == theory.gap(means, tau)
    assert bound.learnable == pytest.approx(term_b(agent, T, tau, bound.gap))
    assert bound.forced == (T / tau if agent == "gamma-swgts" else 0.0)
    assert bound.total == bound.unlearnable + bound.learnable + bound.forced
    assert bound.theorem == (1 if agent == "beta-swts" else 2)


@settings(deadline=None)
@given(matrices, st.integers(1, 14), st.sampled_from([0.1, 0.3, 0.7]))
def test_a_threshold_makes_a_superset_with_a_gap_of_at_least_it(means, tau, delta):
    margin = theory.margins(means, tau)
    bound = theory.bound(means, tau, delta=delta)
    assert bound.unlearnable == np.count_nonzero(margin < delta)
    assert bound.gap == margin[margin >= delta].min()


@pytest.mark.parametrize("tau", [100, 2942, 9_000])
def test_abrupt_terms_are_those_of_theorems_3_and_4(abrupt, general_abrupt, tau):
    for means in (abrupt, general_abrupt):
        beta = theory.bound(means, tau, setting="abrupt")
        gaussian = theory.bound(means, tau, "gamma-swgts", setting="abrupt", gamma=0.25)
        assert (beta.theorem, gaussian.theorem) == (3, 4)
        assert beta.unlearnable == gaussian.unlearnable == 3 * tau
        assert beta.gap == pytest.approx(0.05)  # 0.60 − 0.55 in the first and third phase
        assert beta.learnable == pytest.approx(term_b("beta-swts", 50_000, tau, 0.05))
        assert gaussian.learnable == pytest.approx(term_b("gamma-swgts", 50_000, tau, 0.05, gamma=0.25))
        assert gaussian.forced == 50_000 / tau


@pytest.mark.parametrize("pairs", ["all", "best"])
def test_smooth_terms_are_those_of_theorems_5_and_6(smooth, pairs):
    delta, tau = 0.03, 20
    gap = delta - 2 * theory.lipschitz(smooth) * tau
    for agent, theorem in (("beta-swts", 5), ("gamma-swgts", 6)):
        bound = theory.bound(smooth, tau, agent, setting="smooth", delta=delta, pairs=pairs)
        fit = theory.tie_growth(smooth, delta, pairs=pairs)
        assert bound.theorem == theorem
        assert bound.unlearnable == pytest.approx(fit.F * 50_000**fit.beta)
        assert bound.unlearnable >= theory.near_ties(smooth, delta, pairs=pairs).sum() * (1 - 1e-12)
        assert bound.gap == gap
        assert bound.learnable == pytest.approx(term_b(agent, 50_000, tau, gap))


def test_many_windows_keep_their_order(abrupt):
    taus = [500, 20, 3_000, 20]
    for setting in ("general", "abrupt"):
        several = theory.bounds(abrupt, taus, setting=setting)
        assert several == [theory.bound(abrupt, tau, setting=setting) for tau in taus]


def test_it_prints_its_terms_and_what_they_are_not(abrupt):
    text = str(theory.bound(abrupt, 1_000, "gamma-swgts"))
    assert text.startswith("Theorem 2, gamma-swgts, τ = 1,000, gap 0.05")
    assert [line.split()[-1] for line in text.splitlines()[1:4]] == ["3,000", "120,124", "50"]
    assert "a shape, not a guarantee; above T = 50,000, so it says nothing" in text


flat = [[0.9, 0.1]] * 20


@pytest.mark.parametrize(
    ("means", "options", "error", "words"),
    [
        (flat, {"agent": "gamma-swgts", "gamma": 1.5}, theory.AssumptionError, r"γ ≤ min\{1/\(4λ²\), 1\} = 1"),
        (flat, {"agent": "gamma-swgts", "gamma": 0.5, "subgaussian": 1.0}, theory.AssumptionError, "= 0.25 for λ = 1"),
        (flat, {"agent": "gamma-swgts", "gamma": -1.0}, ValueError, "gamma must be .* above 0"),
        (flat, {"gamma": 1.0}, ValueError, "gamma is a parameter of gamma-swgts"),
        ([[1.2, 0.1]] * 5, {}, theory.AssumptionError, r"Assumption 1, Bernoulli.*got 0.1 to 1.2"),
        ([[0.5, 0.5]] * 5, {"setting": "abrupt"}, theory.AssumptionError, "two share the best mean in 5 rounds"),
        (flat, {"setting": "smooth"}, ValueError, "needs delta"),
        ([[0.9, 0.1], [0.8, 0.1]], {"setting": "smooth", "delta": 0.5}, theory.AssumptionError, "wants Δ′ > 2στ"),
        (flat, {"setting": "smoth"}, ValueError, "did you mean 'smooth'"),
        (flat, {"agent": "beta-swtz"}, ValueError, "did you mean 'beta-swts'"),
        (flat, {"window": 0}, ValueError, "window must be a positive integer, got 0"),
        (flat, {"delta": -0.1}, ValueError, r"delta \(Δ′\)"),
    ],
)
def test_what_fails_is_named(means, options, error, words):
    with pytest.raises(error, match=words):
        theory.bound(means, **({"window": 5} | options))
