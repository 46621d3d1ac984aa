"""Theorems 3 and 4 by both definitions of breakpoints: Υ_T and Δ_τ come from the same one, and ties are named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ns_mab_gym import theory

from .brute_force import changes, pseudophase_gap, term_b

matrices = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 10), st.integers(2, 3)), elements=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])
)
# Rows that repeat, so that phases are longer than the windows.
phased = st.tuples(matrices, st.integers(1, 6)).map(lambda drawn: np.repeat(drawn[0], drawn[1], axis=0))
agents = st.sampled_from(["beta-swts", "gamma-swgts"])


@settings(max_examples=300, deadline=None)
@given(phased, st.integers(1, 8), agents)
def test_every_breakpoint_is_counted_and_the_gap_is_taken_between_them(means, tau, agent):
    gap = pseudophase_gap(means, changes(means), tau)
    if gap == 0:
        with pytest.raises(theory.AssumptionError, match="share the best mean"):
            theory.bound(means, tau, agent, setting="abrupt", breakpoints="every")
        return
    bound = theory.bound(means, tau, agent, setting="abrupt", breakpoints="every")
    assert (bound.breakpoints, bound.definition) == (len(changes(means)), 3)
    check_terms(bound, agent, means, tau, gap)


@settings(max_examples=300, deadline=None)
@given(phased, st.integers(1, 8), agents)
def test_general_breakpoints_give_both_terms_too(means, tau, agent):
    ordered = np.sort(means, axis=1)
    if (ordered[:, -1] == ordered[:, -2]).any():
        with pytest.raises(theory.AssumptionError, match="Definition 6 wants one best arm"):
            theory.bound(means, tau, agent, setting="abrupt")
        return
    bound = theory.bound(means, tau, agent, setting="abrupt")
    cuts = theory.general_breakpoints(means).tolist()  # whose own tests compare them with all ways to cut
    assert (bound.breakpoints, bound.definition) == (len(cuts), 6)
    assert len(cuts) <= len(changes(means))
    check_terms(bound, agent, means, tau, pseudophase_gap(means, cuts, tau))


def check_terms(bound, agent, means, tau, gap):
    T = len(means)
    assert bound.unlearnable == bound.breakpoints * tau
    assert bound.gap == pytest.approx(gap)
    assert bound.learnable == pytest.approx(term_b(agent, T, tau, gap))
    assert bound.forced == (T / tau if agent == "gamma-swgts" else 0.0)


def test_a_change_that_keeps_the_best_arm_ahead_counts_only_by_definition_3():
    means = np.repeat([[0.9, 0.1], [0.9, 0.4], [0.2, 0.8]], 20, axis=0)
    every = theory.bound(means, 5, setting="abrupt", breakpoints="every")
    general = theory.bound(means, 5, setting="abrupt")
    assert (every.breakpoints, general.breakpoints) == (2, 1)
    assert (every.unlearnable, general.unlearnable) == (10, 5)
    assert every.gap == general.gap == pytest.approx(0.5)


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
    assert text.endswith("no round but the first is learnable, so it says nothing")


def test_both_definitions_agree_where_every_change_changes_the_best_arm(abrupt):
    every = theory.bounds(abrupt, [100, 2_942], setting="abrupt", breakpoints="every")
    general = theory.bounds(abrupt, [100, 2_942], setting="abrupt")
    assert [(each.total, each.gap) for each in every] == [(each.total, each.gap) for each in general]


def test_an_unknown_word_is_refused_with_the_nearest_in_every_setting():
    for setting in ("general", "abrupt"):
        with pytest.raises(ValueError, match="unknown breakpoints 'evry'; did you mean 'every'"):
            theory.bound([[0.9, 0.1]] * 5, 2, setting=setting, breakpoints="evry")
