"""Exponential weights and Tsallis-INF against their formulas, and weights that never overflow."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ns_mab_gym import agents
from ns_mab_gym.agents.exp3 import multiply, new_weights, reset_weights


@pytest.mark.parametrize("step", [0.7, 40.0, 290.0, 400.0, 2_000.0])
def test_shares_are_those_of_the_logarithms_beyond_the_range_of_floats(step):
    weights, logs = new_weights(4), np.zeros(4)
    rng = np.random.default_rng(1)
    for _ in range(60):
        arm, factor = int(rng.integers(4)), float(step * rng.random())
        multiply(weights, arm, factor)
        logs[arm] += factor
        exact = np.exp(logs - logs.max())
        np.testing.assert_allclose(weights.plain / weights.plain.sum(), exact / exact.sum(), rtol=1e-9, atol=1e-300)


def test_weights_that_were_rescaled_are_new_after_a_reset():
    weights = new_weights(3)
    multiply(weights, 1, 5_000.0)
    reset_weights(weights)
    multiply(weights, 0, 1.0)
    np.testing.assert_allclose(weights.plain, [np.e, 1.0, 1.0], rtol=1e-15)
    for after, new in zip(weights, new_weights(3), strict=True):
        np.testing.assert_array_equal(after[1:], new[1:])
    assert weights.reference[0] == 0


History = list[tuple[int, float]]


def mixture(weights: list[float], gamma: float) -> list[float]:
    """p_i = (1 − γ) w_i/Σw + γ/K, the sum with the arm's own weight."""
    return [(1 - gamma) * w / math.fsum(weights) + gamma / len(weights) for w in weights]


def weights_after(history: History, n_arms: int, gamma: float, alpha: float = 0.0) -> list[float]:
    """w(t + 1)_i = w(t)_i exp(γ x̂_i/K) + (eα/K) Σ_j w(t)_j, from w(1) = 1; α = 0 is Exp3."""
    weights = [1.0] * n_arms
    for arm, reward in history:
        p = mixture(weights, gamma)
        estimates = [reward / p[i] if i == arm else 0.0 for i in range(n_arms)]
        share = math.e * alpha / n_arms * math.fsum(weights)
        weights = [w * math.exp(gamma * x / n_arms) + share for w, x in zip(weights, estimates, strict=True)]
    return weights


@settings(deadline=None, max_examples=100)
@given(
    name=st.sampled_from(["rexp3", "exp3", "exp3s"]),
    n_arms=st.integers(2, 5),
    gamma=st.floats(0.01, 1),
    alpha=st.floats(1e-6, 1),
    batch=st.integers(1, 12),
    rewards=st.lists(st.floats(0, 1), max_size=25),
    seed=st.integers(0, 1_000),
)
def test_probabilities_equal_brute_force(name, n_arms, gamma, alpha, batch, rewards, seed):
    """In every round, whatever the rewards; Rexp3 counts from its last restart."""
    given = {"exp3s": {"alpha": alpha}, "rexp3": {"batch": batch}, "exp3": {}}[name]
    agent = agents.make(name, n_arms, gamma=gamma, **given)
    agent.reset(seed=seed)
    history: History = []
    for t, reward in enumerate(rewards):
        since = history[t // batch * batch :] if name == "rexp3" else history
        arm = agent.act()
        weights = weights_after(since, n_arms, gamma, alpha if name == "exp3s" else 0.0)
        np.testing.assert_allclose(agent.state.probabilities, mixture(weights, gamma), rtol=1e-11)
        if name != "exp3s":
            np.testing.assert_allclose(agent.state.weights.logs, np.log(weights), rtol=1e-11, atol=1e-13)
        agent.observe(arm, reward)
        history.append((arm, reward))


@pytest.mark.parametrize("name", ["exp3", "exp3s"])
def test_arms_are_drawn_with_their_probabilities(name, count_acts):
    """20 000 acts after some rounds, against probabilities from the full history; a chi-square test at 1e-4."""
    share = {"alpha": 0.01} if name == "exp3s" else {}
    agent = agents.make(name, 3, gamma=0.3, **share)
    agent.reset(seed=4)
    history: History = []
    for _ in range(20):
        arm = agent.act()
        agent.observe(arm, 0.5 * arm)
        history.append((arm, 0.5 * arm))
    counts = count_acts(agent.state, np.ones(3, np.bool_), np.random.default_rng(5), 20_000)
    chances = mixture(weights_after(history, 3, 0.3, share.get("alpha", 0.0)), 0.3)
    assert max(chances) > 1.5 * min(chances)
    assert stats.chisquare(counts, 20_000 * np.array(chances)).pvalue > 1e-4


def test_rexp3_starts_over_also_when_late_rewards_overrun_its_batch():
    agent = agents.make("rexp3", 2, batch=5, gamma=0.2)
    agent.reset(seed=1)
    for _ in range(7):
        agent.observe(1, 1.0)
    agent.act()
    assert agent.state.probabilities.tolist() == [0.5, 0.5]


def test_weights_neither_overflow_nor_vanish():
    """20 000 rounds in which one arm always pays, then the other: e^(γx̂/K) alone would overflow after 1 500 of them.

    The other arm's weight never falls below eα/K of the sum, and so it comes back within some hundred rounds.
    """
    agent = agents.Exp3S(2, gamma=0.5, alpha=1e-9)
    agent.reset(seed=2)
    back = 0
    for t in range(20_000):
        arm = agent.act()
        assert np.isfinite(agent.state.weights).all()
        share = agent.state.weights.min() / agent.state.weights.sum()
        assert t == 0 or share >= math.e * 1e-9 / 2 / (math.e + 2)
        back += t >= 10_000 and agent.state.probabilities[1] < 0.5
        agent.observe(arm, float(arm == (t >= 10_000)))
    assert back < 300
    assert agent.state.probabilities[1] == pytest.approx(0.75, abs=1e-3)


def test_rescaling_changes_nothing():
    """Exact rational arithmetic on the powers of e: after 700 rounds of reward 1 for arm 1 the ratio of the weights."""
    agent = agents.Exp3S(2, gamma=1.0, alpha=0.01)  # γ = 1: p = ½ always, x̂ = 2, and e^(γx̂/K) = e
    growth, share = Fraction(math.e), Fraction(math.e) * Fraction(0.01) / 2
    weights = [Fraction(1), Fraction(1)]
    for _ in range(700):
        agent.observe(0, 1.0)
        total = sum(weights)
        weights = [weights[0] * growth + share * total, weights[1] + share * total]
        weights = [Fraction(float(w / sum(weights))) for w in weights]
    ratio = agent.state.weights[1] / agent.state.weights[0]
    assert ratio == pytest.approx(float(weights[1] / weights[0]), rel=1e-9)


# Exp3-IX and Tsallis-INF estimate losses, 1 − x, and play by the sum of the estimates.


@settings(deadline=None, max_examples=100)
@given(
    n_arms=st.integers(2, 5),
    eta=st.one_of(st.just(0.0), st.floats(0.01, 2)),
    gamma=st.one_of(st.none(), st.floats(0.001, 0.5)),
    rewards=st.lists(st.floats(0, 1), max_size=25),
    seed=st.integers(0, 1_000),
)
def test_exp3_ix_equals_brute_force(n_arms, eta, gamma, rewards, seed):
    agent = agents.Exp3IX(n_arms, eta=eta, gamma=gamma)
    agent.reset(seed=seed)
    losses = [0.0] * n_arms
    for t, reward in enumerate(rewards, 1):
        rate = math.sqrt(math.log(n_arms) / (n_arms * t)) if eta == 0 else eta
        weights = [math.exp(-rate * loss) for loss in losses]
        arm = agent.act()
        np.testing.assert_allclose(agent.state.probabilities, np.array(weights) / math.fsum(weights), rtol=1e-11)
        agent.observe(arm, reward)
        losses[arm] += (1 - reward) / (weights[arm] / math.fsum(weights) + (rate / 2 if gamma is None else gamma))


def tsallis_weights(losses: list[float], eta: float) -> list[float]:
    """w_i = 4 (η (L̂_i − X))^(−2), with X by bisection between the X for which the largest is 1, and all are 1/K."""
    above, below = min(losses) - 2 / eta, min(losses) - 2 * math.sqrt(len(losses)) / eta
    for _ in range(200):
        x = (above + below) / 2
        above, below = (x, below) if math.fsum(4 / (eta * (loss - x)) ** 2 for loss in losses) > 1 else (above, x)
    return [4 / (eta * (loss - above)) ** 2 for loss in losses]


@settings(deadline=None, max_examples=100)
@given(
    n_arms=st.integers(2, 5),
    estimator=st.sampled_from(["rv", "iw"]),
    rate=st.one_of(st.none(), st.floats(0.5, 6)),
    rewards=st.lists(st.floats(0, 1), max_size=60),
    seed=st.integers(0, 1_000),
)
def test_tsallis_inf_equals_brute_force(n_arms, estimator, rate, rewards, seed):
    """Probabilities by bisection, and estimates by their definition: η = 4/√t or 2/√t unless it is given."""
    agent = agents.TsallisINF(n_arms, estimator=estimator, rate=rate)
    agent.reset(seed=seed)
    losses = [0.0] * n_arms
    for t, reward in enumerate(rewards, 1):
        eta = (rate or {"rv": 4, "iw": 2}[estimator]) / math.sqrt(t)
        w = tsallis_weights(losses, eta)
        arm = agent.act()
        np.testing.assert_allclose(agent.state.probabilities, w, rtol=1e-9)
        np.testing.assert_allclose(agent.state.losses, losses, rtol=1e-9, atol=1e-9)
        agent.observe(arm, reward)
        for i in range(n_arms):
            b = 0.5 if estimator == "rv" and w[i] >= eta**2 else 0.0
            losses[i] += ((1 - reward - b) / w[i] if i == arm else 0.0) + b


def test_tsallis_inf_finds_the_probabilities_wherever_the_last_ones_were():
    """From the uniform law to one arm alone and back: they add up to 1 to the last bits, and obey their formula."""
    rng, agent = np.random.default_rng(1), agents.TsallisINF(50)
    for spread in (0.0, 1e9, 1.0, 1e-9, 1e3, 0.0, 1e15, 30.0):
        agent.state.losses[:] = spread * rng.random(50)
        agent.act()
        w = agent.state.probabilities
        assert math.fsum(w) == pytest.approx(1, abs=1e-14)
        np.testing.assert_allclose(w, tsallis_weights(agent.state.losses.tolist(), 4.0), rtol=1e-9)


@pytest.mark.parametrize("name", ["exp3-ix", "tsallis-inf"])
def test_arms_are_drawn_with_their_probabilities_by_losses(name, count_acts):
    """20 000 acts in one state, against the formulas; a chi-square test at 1e-4."""
    agent = agents.make(name, 3, **({"eta": 0.7} if name == "exp3-ix" else {}))
    agent.state.losses[:] = 1.0, 0.0, 2.5
    counts = count_acts(agent.state, np.ones(3, np.bool_), np.random.default_rng(5), 20_000)
    if name == "exp3-ix":
        weights = [math.exp(-0.7 * loss) for loss in (1.0, 0.0, 2.5)]
        chances = np.array(weights) / math.fsum(weights)
    else:
        chances = np.array(tsallis_weights([1.0, 0.0, 2.5], 4.0))
    assert stats.chisquare(counts, 20_000 * chances / chances.sum()).pvalue > 1e-4


@pytest.mark.parametrize("estimator", ["rv", "iw"])
def test_the_estimates_of_tsallis_inf_have_the_losses_as_their_means(estimator):
    """Over the arm that is drawn, in a round in which reduced variance is for some arms alone: w ≥ η² = 16/400."""
    gained, rewards = np.zeros(3), [0.2, 0.9, 0.4]
    for arm in range(3):
        agent = agents.TsallisINF(3, estimator=estimator, rate=4.0)
        agent.state.losses[:], agent.state.rounds[0] = (0.0, 10.0, 60.0), 399
        agent.act()
        w = agent.state.probabilities
        assert w[1] > 0.04 > w[2]
        agent.observe(arm, rewards[arm])
        gained += w[arm] * (agent.state.losses - [0.0, 10.0, 60.0])
    np.testing.assert_allclose(gained, 1 - np.array(rewards), rtol=1e-9)
