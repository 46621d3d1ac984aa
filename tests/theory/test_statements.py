"""Statements of the paper about its sets, gaps and bounds, and what of them holds: ⊆, ≥, and terms that grow with τ."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ns_mab_gym import theory

from .brute_force import margin, matrices, phased
from .conftest import paper_smooth

WINDOWS = [*range(3, 40), 76, 100, 300, 660, 1_000, 2_942, 4_000, 5_744]


@given(phased, st.integers(1, 12))
def test_no_round_becomes_learnable_as_the_window_grows(means, tau):
    shorter, longer = theory.unlearnable_set(means, [tau, tau + 1])
    assert not (shorter & ~longer).any()


def test_on_the_papers_worlds_term_b_decreases_from_a_window_of_three_on(abrupt, general_abrupt, smooth):
    for means in (abrupt, general_abrupt, smooth):
        decreases(means)


def decreases(means):
    pulls = [bound.learnable for bound in theory.bounds(means, [1, 2, *WINDOWS])]
    assert pulls[0] < pulls[1] < pulls[2]  # up to τ = e, as ln τ / τ does
    assert all(more > less for more, less in itertools.pairwise(pulls[2:]))


def test_term_b_increases_where_a_longer_window_has_a_smaller_gap():
    means = np.tile([0.9, 0.1], (60, 1))
    means[20, 0], means[30, 1] = 0.6, 0.55  # windows of more than ten rounds see both
    near, far = theory.bounds(means, [9, 12])
    assert (near.gap, far.gap) == (pytest.approx(0.35), pytest.approx(0.05))
    assert near.learnable == pytest.approx(60 * math.log(9) / (9 * 0.35**2))
    assert far.learnable == pytest.approx(60 * math.log(12) / (12 * 0.05**2))
    assert far.learnable > 30 * near.learnable


@given(phased, st.integers(1, 12))
def test_rounds_after_a_breakpoint_hold_the_unlearnable_ones_if_no_phase_has_two_best_arms(means, tau):
    best = means.max(axis=1, keepdims=True)
    untied = ((means == best).sum(axis=1) == 1).all()
    if untied:
        assert not (theory.pseudophase_set(means, tau) & theory.unlearnable_set(means, tau)).any()


@given(matrices, st.integers(1, 4), st.floats(1.01, 3))
def test_rounds_without_near_ties_are_learnable_with_at_least_the_gap_of_the_smooth_section(means, tau, factor):
    flat = 0.5 + 0.01 * np.cumsum(means - 0.5, axis=0)  # moves of at most 0.005
    sigma = theory.lipschitz(flat)
    delta = factor * 2 * sigma * tau + 1e-6
    clear = ~theory.near_ties(flat, delta)
    assert not (clear & theory.unlearnable_set(flat, tau)).any()
    for t in np.flatnonzero(clear) + 1:
        assert margin(flat, t, tau) >= delta - 2 * sigma * tau - 1e-12


def test_neither_the_set_nor_the_gap_of_the_smooth_section_is_an_equality():
    """The numbers that the pages quote."""
    means, tau, delta = paper_smooth(1e-4), 100, 0.05
    ties, unlearnable = theory.near_ties(means, delta), theory.unlearnable_set(means, tau)
    assert (int(ties.sum()), int(unlearnable.sum()), int((unlearnable & ties).sum())) == (37_077, 1_300, 1_300)
    least = theory.margins(means, tau)[~ties].min()
    assert (round(float(least), 3), round(delta - 2 * theory.lipschitz(means) * tau, 3)) == (0.047, 0.041)


@given(phased, st.integers(1, 8))
def test_the_learnable_rounds_of_an_arm_are_those_in_which_it_is_not_the_best(means, tau):
    best = theory.best_arms(means)
    for arm in range(means.shape[1]):
        rounds = theory.learnable_set(means, tau) & (best != arm)
        assert (theory.gaps(means, tau)[rounds, arm] > 0).all()


def test_the_window_lemma_needs_one_more_than_it_says():
    """All sets of rounds up to 9: the largest number of rounds of A with at most s others of A in the τ before."""
    for tau, s, horizon in itertools.product(range(1, 5), range(3), range(1, 10)):
        blocks = math.ceil(horizon / tau)
        most = 0
        for members in itertools.product((0, 1), repeat=horizon):
            recent = [sum(members[max(n - tau, 0) : n]) for n in range(horizon)]
            most = max(most, sum(one and few <= s for one, few in zip(members, recent, strict=True)))
        assert most <= (s + 1) * blocks
        if (tau, s, horizon) in ((1, 0, 1), (2, 1, 2)):
            assert most == s * blocks + 1  # above what is printed
