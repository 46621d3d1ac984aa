"""The bounds' terms equal the theorems' formulas, also for gaps whose squares no float holds; what fails is named."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ns_mab_gym import theory

from .brute_force import changes, margin, matrices, pseudophase_gap, term_b, windows, worlds

tied, tiny, huge = np.full((3, 2), 0.5), np.tile([0.0, 1e-200], (3, 1)), np.tile([0.0, 1e200], (3, 1))
drifting = np.column_stack((np.linspace(0.9, 0.8, 11), np.full(11, 0.1)))  # σ = 0.01


def check_terms(bound, agent, means, tau, gap, theorem):
    T = len(means)
    assert bound.theorem == theorem + (agent == "gamma-swgts")
    assert bound.gap == pytest.approx(gap, rel=1e-15)
    assert bound.learnable == pytest.approx(term_b(agent, T, tau, bound.gap), rel=1e-9, abs=1e-300)
    assert bound.forced == (T / tau if agent == "gamma-swgts" else 0.0)
    assert bound.total == bound.unlearnable + bound.learnable + bound.forced
    assert "nan" not in str(bound)


@given(worlds, windows)
@example(("beta-swts", tied), 1)
@example(("beta-swts", tiny), 1)
@example(("gamma-swgts", tiny), 1)
@example(("gamma-swgts", huge), 1)
@example(("beta-swts", np.array([[0.9, 0.1]])), 1)
def test_the_general_terms_are_those_of_exact_arithmetic(world, tau):
    agent, means = world
    margins = [margin(means, t, tau) for t in range(1, len(means) + 1)]
    bound = theory.bound(means, tau, agent)
    assert bound.unlearnable == sum(each <= 0 for each in margins)
    check_terms(bound, agent, means, tau, min((each for each in margins if each > 0), default=math.inf), 1)


@given(matrices, st.integers(1, 14), st.sampled_from([0.1, 0.3, 0.7]))
def test_a_threshold_makes_a_superset_with_a_gap_of_at_least_it(means, tau, delta):
    margin = theory.margins(means, tau)
    bound = theory.bound(means, tau, delta=delta)
    assert bound.unlearnable == np.count_nonzero(margin < delta)
    assert bound.gap == margin[margin >= delta].min()


@given(worlds, windows, st.sampled_from([5e-324, 1e-200, 0.4, 3.0, 1e200]), st.sampled_from(["all", "best"]))
@example(("gamma-swgts", drifting), 3, 0.4, "all")
@example(("beta-swts", drifting), 7, 0.4, "best")
def test_the_smooth_terms_are_those_of_exact_arithmetic(world, tau, delta, pairs):
    agent, means = world
    sigma = max((float(np.abs(after - before).max()) for before, after in itertools.pairwise(means)), default=0)
    if delta > 2 * sigma * tau:
        bound = theory.bound(means, tau, agent, setting="smooth", delta=delta, pairs=pairs)
        assert bound.unlearnable >= theory.near_ties(means, delta, pairs=pairs).sum() * (1 - 1e-12)
        fit = theory.tie_growth(means, delta, pairs=pairs)
        assert bound.unlearnable == pytest.approx(fit.F * len(means) ** fit.beta)
        check_terms(bound, agent, means, tau, delta - 2 * sigma * tau, 5)


def test_many_windows_keep_their_order(abrupt):
    taus = [500, 20, 3_000, 20]
    for setting in ("general", "abrupt"):
        several = theory.bounds(abrupt, taus, setting=setting)
        assert several == [theory.bound(abrupt, tau, setting=setting) for tau in taus]


def test_it_prints_its_terms_and_what_they_are_not(abrupt):
    text = str(theory.bound(abrupt, 1_000, "gamma-swgts"))
    assert text.startswith("Theorem 2, gamma-swgts, τ = 1,000, gap 0.05")
    assert [line.split()[-1] for line in text.splitlines()[1:4]] == ["3,000", "120,124", "50"]
    assert "a shape, not a guarantee; above T = 50,000, which is true of every agent: it does not help" in text


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
        (flat, {"breakpoints": "evry"}, ValueError, "unknown breakpoints 'evry'; did you mean 'every'"),
        (flat, {"agent": "beta-swtz"}, ValueError, "did you mean 'beta-swts'"),
        (flat, {"window": 0}, ValueError, "window must be a positive integer, got 0"),
        (flat, {"delta": -0.1}, ValueError, r"delta \(Δ′\)"),
    ],
)
def test_what_fails_is_named(means, options, error, words):
    with pytest.raises(error, match=words):
        theory.bound(means, **({"window": 5} | options))


@given(worlds, windows)
def test_every_breakpoint_is_counted_and_the_gap_is_taken_between_them(world, tau):
    agent, means = world
    gap = pseudophase_gap(means, changes(means), tau)
    if gap == 0:
        with pytest.raises(theory.AssumptionError, match="share the best mean"):
            theory.bound(means, tau, agent, setting="abrupt", breakpoints="every")
        return
    bound = theory.bound(means, tau, agent, setting="abrupt", breakpoints="every")
    assert (bound.breakpoints, bound.definition) == (len(changes(means)), 3)
    assert bound.unlearnable == bound.breakpoints * tau
    check_terms(bound, agent, means, tau, gap, 3)


@given(worlds, windows)
def test_general_breakpoints_give_both_terms_too(world, tau):
    agent, means = world
    ordered = np.sort(means, axis=1)
    if (ordered[:, -1] == ordered[:, -2]).any():
        with pytest.raises(theory.AssumptionError, match="Definition 6 wants one best arm"):
            theory.bound(means, tau, agent, setting="abrupt")
        return
    bound = theory.bound(means, tau, agent, setting="abrupt")
    cuts = theory.general_breakpoints(means).tolist()  # whose own tests compare them with all ways to cut
    assert (bound.breakpoints, bound.definition) == (len(cuts), 6)
    assert len(cuts) <= len(changes(means))
    assert bound.unlearnable == bound.breakpoints * tau
    check_terms(bound, agent, means, tau, pseudophase_gap(means, cuts, tau), 3)


def test_a_tie_in_a_phase_that_no_pseudophase_reaches_matters_to_definition_6_only():
    means = np.repeat([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], [9, 2, 9], axis=0)
    for tau in (2, 3):  # the tied phase has two rounds
        assert theory.bound(means, tau, setting="abrupt", breakpoints="every").gap == pytest.approx(0.8)
    for tau, which in ((1, "every"), (1, "general"), (2, "general")):
        with pytest.raises(theory.AssumptionError, match="share the best mean"):
            theory.bound(means, tau, setting="abrupt", breakpoints=which)
    with pytest.raises(theory.AssumptionError, match=r"\(τ = 1\); ask for setting='general'"):
        theory.bounds(means, [2, 1], setting="abrupt", breakpoints="every")


def test_a_world_that_is_not_piecewise_constant_is_told_so(general_abrupt, smooth):
    for means in (general_abrupt, smooth):
        bound = theory.bound(means, 100, setting="abrupt", breakpoints="every")
        assert (bound.breakpoints, bound.unlearnable, bound.gap) == (49_999, 4_999_900, np.inf)
        words = "Definition 3 counts 49,999 breakpoints in T = 50,000 rounds, so (A) alone is not below T"
        assert words in str(bound)
        assert "not piecewise constant" in str(bound)
    assert "piecewise" not in str(theory.bound(general_abrupt, 100, setting="abrupt"))


def test_a_bound_without_learnable_rounds_says_so():
    means = [[0.9, 0.1], [0.1, 0.9]] * 10
    text = str(theory.bound(means, 1, setting="abrupt", breakpoints="every"))  # (A) is T − 1
    assert text.splitlines()[0] == "Theorem 3, beta-swts, τ = 1, gap ∞, Υ_T = 19 (Definition 3)"
    assert text.endswith("no round but the first is learnable: it does not help")
