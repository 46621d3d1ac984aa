"""The recommended window and the heuristic that it minimises: what is known, brute force, and honest words."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import linprog

from ns_mab_gym import theory
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.cli.entry import main
from ns_mab_gym.figures.theory import diagnosis_figure
from ns_mab_gym.theory.sets import trailing, trailing_at

from .brute_force import extreme, margin, matrices, term_b, windows, worlds
from .conftest import paper_abrupt, paper_smooth


@pytest.mark.parametrize(
    ("known", "window", "words"),
    [
        (Knowledge(horizon=50_000), 2_942, "nothing but T = 50,000"),
        (Knowledge(horizon=50_000, breakpoints=1), 2_942, "Υ = 1 breakpoints"),
        (Knowledge(horizon=50_000, breakpoints=3), 1_698, "4√"),
        (Knowledge(horizon=50_000, breakpoints=0), 50_000, "no mean ever changes"),
        (Knowledge(horizon=50_000, lipschitz=1e-4), 1_585, "drift"),
        (Knowledge(horizon=50_000, lipschitz=1e-3), 252, "drift"),
        (Knowledge(horizon=50_000, lipschitz=1e-3, breakpoints=49_999), 252, "drift"),
        (Knowledge(horizon=50_000, lipschitz=0.5, breakpoints=3), 1_698, "breakpoints"),
        (Knowledge(horizon=2), 2, "nothing"),  # held to the horizon
        (Knowledge(horizon=1), 1, "nothing"),
    ],
)
def test_partial_knowledge(known, window, words):
    recommended = theory.recommend_window(known)
    assert recommended.window == window
    assert words in recommended.reason


# The least mean regret of 50 runs on a grid of 21 windows, each 1.5 times the one before:
# python scripts/diagnose.py NSBandit-Abrupt-v0 --agent beta-swts --measure --runs 50
@pytest.mark.parametrize(
    ("means", "beta", "gaussian"),
    [
        (paper_abrupt(general=False), 1_479, 3_234),
        (paper_abrupt(general=True), 2_187, 3_234),
        (paper_smooth(1e-4), 2_187, 4_782),
        (paper_smooth(1e-3), 457, 1_000),
    ],
    ids=["abrupt", "general abrupt", "smooth", "smooth fast"],
)
def test_the_minimiser_lies_within_a_factor_three_of_the_measured_best(means, beta, gaussian):
    assert 1 / 2 < theory.recommend_window(means).window / beta < 2
    assert 1 / 3 < theory.recommend_window(means, "gamma-swgts").window / gaussian < 3


@pytest.mark.parametrize(
    ("mu", "horizon", "window", "words"),
    [([0.2, 0.5, 0.9], 3_000, 3_000, "no gain in forgetting"), ([0.50, 0.51], 500, 222, "differ too little")],
)
def test_a_stationary_world_is_never_forgotten_unless_arms_are_too_close_to_tell(mu, horizon, window, words):
    recommended = theory.recommend_window(np.tile(mu, (horizon, 1)))
    assert recommended.window == window  # T, or the paper's 4√(T ln T)
    assert words in recommended.reason


def test_another_valley_is_mentioned():
    calm, late = np.tile([0.97, 0.86, 0.3], (14_000, 1)), np.tile([0.1, 0.3, 0.8], (2_000, 1))
    recommended = theory.recommend_window(np.concatenate([calm, late]))
    assert ", far from it, costs only " in recommended.reason


def test_by_theorem_is_the_least_total_on_the_grid(abrupt):
    means = abrupt[10_000:20_000]
    recommended = theory.recommend_window(means, by="theorem")
    grid = theory.window_grid(len(means))
    totals = [theory.bound(means, tau).total for tau in grid]
    assert recommended.window == grid[int(np.argmin(totals))]
    assert recommended.reason.startswith("it minimises the bound of Theorem 1")


def test_a_recommendation_is_a_window(abrupt):
    means = abrupt[13_000:17_000]
    recommended = theory.recommend_window(means)
    assert recommended == theory.recommend_window(theory.knowledge(means))
    assert theory.bound(means, recommended).window == recommended.window
    assert str(recommended).startswith(f"τ = {recommended.window:,}: ")


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([[0.1, 0.9]] * 5,), {"by": "luck"}, "unknown criterion 'luck'"),
        (([[0.1, 1.9]] * 5,), {}, "Assumption 1"),
        (([[0.1, 0.9]] * 5, "ucb1"), {}, "unknown agent of the theorems 'ucb1'"),
        (([0.1, 0.9],), {}, "must be a table of T rounds by K arms"),
        ((Knowledge(breakpoints=3),), {}, "needs at least the horizon T"),
    ],
)
def test_what_is_wrong_is_said(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        theory.recommend_window(*arguments, **options)


@pytest.mark.parametrize("horizon", [1, 2, 3, 50, 50_000])
def test_the_grid_ends_with_the_horizon(horizon):
    grid = theory.window_grid(horizon)
    assert grid == sorted(set(grid))
    assert (grid[0], grid[-1]) == (min(2, horizon), horizon)


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


@given(matrices, st.integers(1, 10), st.sampled_from(["beta-swts", "gamma-swgts"]))
def test_the_curve_is_the_worst_regret_of_the_probabilities(means, tau, agent):
    curve = theory.regret_curve(means, [tau], agent)
    assert curve.total == pytest.approx([worst_regret(means, tau, agent)], abs=1e-9)


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


@given(extreme, windows)
def test_the_curve_of_two_arms_is_the_sum_of_its_rounds(means, tau):
    """With two arms the worse one is played with probability min{1, ln τ/(Δ²τ)}, or 1 if it cannot be told apart."""
    means = means[:, :2]
    expected = 0.0
    for t in range(1, len(means) + 1):
        each = margin(means, t, tau)
        share = 1.0 if each <= 0 or each == math.inf else min(1.0, term_b("beta-swts", 1, tau, each))
        expected += share * float(abs(means[t - 1, 0] - means[t - 1, 1]))
    assert theory.regret_curve(means, [tau]).total == pytest.approx([expected], rel=1e-9, abs=1e-300)


def test_sampled_rounds_stand_for_all(monkeypatch, general_abrupt):
    windows = [30, 300, 3_000, 20_000]
    sampled = theory.regret_curve(general_abrupt, windows).total
    monkeypatch.setattr("ns_mab_gym.theory.windows.SAMPLE", 10 * len(general_abrupt))
    np.testing.assert_allclose(sampled, theory.regret_curve(general_abrupt, windows).total, rtol=0.01)


@given(
    hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1)),
    st.lists(st.integers(1, 40), min_size=1, max_size=4).map(sorted),
    st.data(),
)
def test_chosen_places_equal_the_full_pass(signal, windows, data):
    places = np.array(data.draw(st.lists(st.integers(0, len(signal) - 1), max_size=5)), dtype=np.intp)
    for ufunc in (np.minimum, np.maximum):
        full = trailing(signal, ufunc, windows)
        some = trailing_at(signal, ufunc, windows, places)
        for whole, part in zip(full, some, strict=True):
            np.testing.assert_array_equal(whole[places], part)


WORLDS = {
    "a change": np.repeat([[0.9, 0.2], [0.2, 0.9]], 300, axis=0),
    "no change": np.tile([0.2, 0.5, 0.9], (300, 1)),
    "too close": np.tile([0.50, 0.51], (500, 1)),
}


@pytest.mark.parametrize("means", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("agent", ["beta-swts", "gamma-swgts"])
def test_the_reason_for_a_window_says_that_it_is_a_heuristic(means, agent):
    reason = theory.recommend_window(means, agent).reason
    assert "heuristic" in reason
    assert "bound" not in reason
    assert "allow" not in reason
    assert "heuristic" in str(theory.describe(means, agent=agent))


def test_the_picture_and_the_command_say_so_too(capsys):
    titles = [axes.get_title("left") for axes in diagnosis_figure(WORLDS["a change"]).axes]
    assert "Heuristic: regret of beta-swts" in titles
    with pytest.raises(SystemExit):
        main(["diagnose", "--help"])
    assert "recommend a window, by a heuristic" in capsys.readouterr().out
