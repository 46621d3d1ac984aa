"""Tiny, huge, tied and infinite gaps, single rounds and windows of one round: no number is ever NaN."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ns_mab_gym import theory

from .brute_force import changes, margin, pseudophase_gap, term_b

# Squares of the small and of the large numbers are beyond what a float can hold.
INSIDE = [0.0, 5e-324, 1e-200, 1e-160, 0.3, 0.5, 0.9, 1.0]
BEYOND = [*INSIDE, -1e200, -1e160, 1e160, 1e200]
shapes = st.tuples(st.integers(1, 6), st.integers(2, 3))
inside = hnp.arrays(np.float64, shapes, elements=st.sampled_from(INSIDE))
beyond = hnp.arrays(np.float64, shapes, elements=st.sampled_from(BEYOND))
constant = st.tuples(beyond, st.integers(1, 4)).map(lambda drawn: np.repeat(drawn[0][:1], drawn[1], axis=0))
worlds = st.tuples(st.just("beta-swts"), inside) | st.tuples(st.just("gamma-swgts"), beyond | constant)
windows = st.sampled_from([1, 2, 3, 7, 10**6])
tied, tiny, huge = np.full((3, 2), 0.5), np.tile([0.0, 1e-200], (3, 1)), np.tile([0.0, 1e200], (3, 1))


@given(worlds, windows)
@example(("beta-swts", tied), 1)
@example(("beta-swts", tiny), 1)
@example(("gamma-swgts", tiny), 1)
@example(("gamma-swgts", huge), 1)
@example(("beta-swts", np.array([[0.9, 0.1]])), 1)
def test_the_general_terms_are_those_of_exact_arithmetic(world, tau):
    agent, means = world
    T = len(means)
    margins = [margin(means, t, tau) for t in range(1, T + 1)]
    gap = min((each for each in margins if each > 0), default=math.inf)
    bound = theory.bound(means, tau, agent)
    assert bound.unlearnable == sum(each <= 0 for each in margins)
    assert bound.gap == gap
    check_b_and_c(bound, agent, T, tau)


@given(worlds, windows)
def test_the_abrupt_terms_are_those_of_exact_arithmetic(world, tau):
    agent, means = world
    gap = pseudophase_gap(means, changes(means), tau)
    if gap > 0:
        bound = theory.bound(means, tau, agent, setting="abrupt", breakpoints="every")
        assert bound.unlearnable == len(changes(means)) * tau
        assert bound.gap == gap
        check_b_and_c(bound, agent, len(means), tau)


@given(worlds, windows, st.sampled_from([5e-324, 1e-200, 0.4, 3.0, 1e200]))
def test_the_smooth_terms_are_those_of_exact_arithmetic(world, tau, delta):
    agent, means = world
    sigma = max((float(np.abs(after - before).max()) for before, after in itertools.pairwise(means)), default=0)
    if delta > 2 * sigma * tau:
        bound = theory.bound(means, tau, agent, setting="smooth", delta=delta)
        assert bound.gap == delta - 2 * sigma * tau
        assert bound.unlearnable >= theory.near_ties(means, delta).sum() * (1 - 1e-12)
        check_b_and_c(bound, agent, len(means), tau)


def check_b_and_c(bound, agent, T, tau):
    assert bound.learnable == pytest.approx(term_b(agent, T, tau, bound.gap), rel=1e-9, abs=1e-300)
    assert bound.forced == (T / tau if agent == "gamma-swgts" else 0.0)
    assert bound.total == bound.unlearnable + bound.learnable + bound.forced
    assert "nan" not in str(bound)


def test_without_learnable_rounds_or_with_windows_of_one_round_nothing_is_pulled_in_learnable_rounds():
    alternating = [[0.9, 0.1], [0.1, 0.9]] * 3
    assert theory.bound(alternating, 2).gap == math.inf
    for agent in ("beta-swts", "gamma-swgts"):
        assert theory.bound(alternating, 2, agent).learnable == 0.0
    for gap in (1e-200, 0.5):
        assert theory.bound([[0.0, gap]] * 3, 1).learnable == 0.0  # ln 1 = 0


@given(worlds)
def test_curves_recommendations_and_descriptions_have_no_nan(world):
    agent, means = world
    curve = theory.regret_curve(means, [1, 2, 3, 7, 10**6], agent)
    assert np.all(curve.unlearnable >= 0)  # which NaN is not
    assert np.all(curve.learnable >= 0)
    for by in ("regret", "theorem"):
        recommended = theory.recommend_window(means, agent, by=by)
        assert 1 <= recommended.window <= len(means)
        assert "nan" not in recommended.reason
    assert "nan" not in str(theory.describe(means, agent=agent))


@given(inside, windows)
def test_the_curve_of_two_arms_is_the_sum_of_its_rounds(means, tau):
    """With two arms the worse one is played with probability min{1, ln τ/(Δ²τ)}, or 1 if it cannot be told apart."""
    means = means[:, :2]
    expected = 0.0
    for t in range(1, len(means) + 1):
        each = margin(means, t, tau)
        share = 1.0 if each <= 0 or each == math.inf else min(1.0, term_b("beta-swts", 1, tau, each))
        expected += share * float(abs(means[t - 1, 0] - means[t - 1, 1]))
    assert theory.regret_curve(means, [tau]).total == pytest.approx([expected], rel=1e-9, abs=1e-300)
