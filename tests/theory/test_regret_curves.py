"""The heuristic regret equals a linear program over the same probabilities; sampling changes little."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from ns_mab_gym import theory
from ns_mab_gym.theory import regret_curves
from ns_mab_gym.theory.extremes import trailing, trailing_at

matrices = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 8), st.integers(2, 4)), elements=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])
)


def worst_regret(means, tau, agent):
    """Σ_t max Σ_i q_i (μ*_t − μ_{i,t}) over q ≤ p_t, Σ q ≤ 1, by linear programming."""
    total = 0.0
    for row, gaps in zip(means, theory.gaps(means, tau), strict=True):
        p = []
        for gap in gaps:
            if gap <= 0 or gap == math.inf:
                p.append(1.0)
            elif agent == "beta-swts":
                p.append(min(1.0, math.log(tau) / gap**2 / tau))
            else:
                p.append(min(1.0, (math.log(tau * gap**2 + math.e**6) / gap**2 + 1) / tau))
        loss = row.max() - row
        total -= linprog(-loss, A_ub=[[1.0] * len(row)], b_ub=[1.0], bounds=[(0, each) for each in p]).fun
    return total


@settings(max_examples=60, deadline=None)
@given(matrices, st.integers(1, 10), st.sampled_from(["beta-swts", "gamma-swgts"]))
def test_the_curve_is_the_worst_regret_of_the_probabilities(means, tau, agent):
    curve = theory.regret_curve(means, [tau], agent)
    assert curve.total == pytest.approx([worst_regret(means, tau, agent)], abs=1e-9)
    assert np.all(curve.unlearnable >= 0)
    assert np.all(curve.learnable >= 0)


def test_sampled_rounds_stand_for_all(monkeypatch, general_abrupt):
    windows = [30, 300, 3_000, 20_000]
    sampled = theory.regret_curve(general_abrupt, windows).total
    monkeypatch.setattr(regret_curves, "SAMPLE", 10 * len(general_abrupt))
    np.testing.assert_allclose(sampled, theory.regret_curve(general_abrupt, windows).total, rtol=0.01)


@settings(deadline=None)
@given(
    hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1)),
    st.lists(st.integers(1, 40), min_size=1, max_size=4).map(sorted),
    st.data(),
)
def test_chosen_places_equal_the_full_pass(signal, windows, data):
    places = np.array(data.draw(st.lists(st.integers(0, len(signal) - 1), max_size=5)), dtype=np.intp)
    for extreme in (np.minimum, np.maximum):
        full = trailing(signal, extreme, windows)
        some = trailing_at(signal, extreme, windows, places)
        for whole, part in zip(full, some, strict=True):
            np.testing.assert_array_equal(whole[places], part)
