"""ε-greedy, softmax, the gradient bandit and explore-then-commit, against their definitions from full histories."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ns_mab_gym import agents

K = 3
History = list[tuple[int, float]]
REWARDS = st.lists(
    st.tuples(st.integers(0, K - 1), st.one_of(st.floats(-2, 2), st.floats(-600, 600), st.floats(0, 0.01))), max_size=25
)


def estimate(rewards: list[float], step: float, initial: float | None) -> float:
    """Q from all rewards of an arm: eq. 2.1 or eq. 2.6, and without a first value its weights divided by their sum."""
    if step == 0:
        return math.fsum(rewards) / len(rewards) if rewards else initial or 0.0
    weights = [step * (1 - step) ** (len(rewards) - i) for i in range(1, len(rewards) + 1)]
    total = math.fsum(w * x for w, x in zip(weights, rewards, strict=True))
    if initial is not None:
        return (1 - step) ** len(rewards) * initial + total
    return total / math.fsum(weights) if rewards else 0.0


def estimates(history: History, step: float, initial: float | None) -> list[float]:
    return [estimate([x for a, x in history if a == i], step, initial) for i in range(K)]


@settings(deadline=None, max_examples=200)
@given(
    name=st.sampled_from(["epsilon-greedy", "softmax"]),
    step=st.one_of(st.just(0.0), st.floats(0.01, 1)),
    initial=st.one_of(st.none(), st.sampled_from([-3.5, 0.0, 0.25, 5.0])),
    history=REWARDS,
)
def test_estimates_equal_brute_force(name, step, initial, history):
    agent = agents.make(name, K, step=step, initial=initial)
    for arm, reward in history:
        agent.observe(arm, reward)
    largest = max([abs(x) for _, x in history] + [abs(initial or 0.0)])
    np.testing.assert_allclose(
        agent.state.estimates.q, estimates(history, step, initial), rtol=1e-12, atol=1e-13 * largest
    )


SEEN: History = [(0, 0.2), (1, 0.5), (2, 0.4), (1, 0.3), (2, 0.9)]


def chances(agent: agents.Agent, count_acts, mask=(True, True, True)) -> np.ndarray:
    return count_acts(agent.state, np.array(mask), np.random.default_rng(5), 20_000)


@pytest.mark.parametrize(
    ("parameters", "epsilon"),
    [
        ({"epsilon": 0.3}, 0.3),
        ({"epsilon": 0.0, "decay": 0.5}, 0.5 * 3 / 6),  # cK/(d² t) in round 6
        ({"epsilon": 0.05, "decay": 0.2}, 0.2 * 3 / 6),
        ({"epsilon": 0.25, "decay": 0.2}, 0.25),
        ({"epsilon": 0.0, "decay": 50.0}, 1.0),
    ],
)
@pytest.mark.parametrize("mask", [(True, True, True), (True, True, False)])
def test_epsilon_greedy_plays_every_open_arm_with_its_probability(parameters, epsilon, mask, count_acts):
    """Arm 3 has the highest mean, 0.65, then arm 2 with 0.4; a chi-square test at 1e-4."""
    agent = agents.make("epsilon-greedy", K, step=0, **parameters)
    for arm, reward in SEEN:
        agent.observe(arm, reward)
    n_open, greedy = sum(mask), 2 if mask[2] else 1
    expected = np.array([mask[i] * (epsilon / n_open + (1 - epsilon) * (i == greedy)) for i in range(K)])
    counts = chances(agent, count_acts, mask)
    assert not counts[expected == 0].any()
    assert stats.chisquare(counts[expected > 0], 20_000 * expected[expected > 0]).pvalue > 1e-4


def test_without_exploration_it_is_greedy_and_draws_no_arm():
    agent = agents.EpsilonGreedy(K, epsilon=0.0)
    for arm, reward in [(0, 1.0), (1, 1.0), (2, 0.0)]:
        agent.observe(arm, reward)
    assert {agent.act() for _ in range(100)} == {0}  # the first of two equal ones


def test_optimism_tries_every_arm_and_soon_wears_off():
    """With Q₁ = 5 and rewards of 0 or 1, each reward disappoints, as in section 2.6; no arm is forced."""
    agent, arms = agents.EpsilonGreedy(K, epsilon=0.0, step=0.1, initial=5.0), []
    for _ in range(300):
        arms.append(agent.act())
        agent.observe(arms[-1], float(arms[-1] == 1))
    assert arms[:3] == [0, 1, 2]
    assert min(arms[:60].count(i) for i in range(K)) >= 10
    assert set(arms[-100:]) == {1}


@pytest.mark.parametrize("mask", [(True, True, True), (True, False, True)])
@pytest.mark.parametrize(("cooling", "temperature"), [(False, 0.4), (True, 0.4)])
def test_softmax_draws_by_gibbs(cooling, temperature, mask, count_acts):
    """Means 0.2, 0.4 and 0.65 and the temperature of round 6, τ or τ/ln(5 + e); a chi-square test at 1e-4."""
    agent = agents.Softmax(K, temperature=temperature, cooling=cooling, step=0)
    for arm, reward in SEEN:
        agent.observe(arm, reward)
    tau = temperature / math.log(5 + math.e) if cooling else temperature
    weights = np.array(mask) * np.exp(np.array([0.2, 0.4, 0.65]) / tau)
    counts, expected = chances(agent, count_acts, mask), weights / weights.sum()
    np.testing.assert_allclose(agent.state.probabilities, expected, rtol=1e-12)
    assert not counts[expected == 0].any()
    assert stats.chisquare(counts[expected > 0], 20_000 * expected[expected > 0]).pvalue > 1e-4


@settings(deadline=None, max_examples=100)
@given(history=REWARDS, baseline=st.booleans(), step=st.floats(0.001, 0.05), seed=st.integers(0, 99))
def test_preferences_follow_the_gradient(history, baseline, step, seed):
    """Eq. 2.12 with the baseline of the rewards before, and probabilities of eq. 2.11 in every round."""
    agent = agents.GradientBandit(K, step=step, baseline=baseline)
    agent.reset(seed=seed)
    h, before = [0.0] * K, []
    for _, reward in history:
        largest = max(h)
        weights = [math.exp(each - largest) for each in h]
        pi = [w / math.fsum(weights) for w in weights]
        arm = agent.act()
        np.testing.assert_allclose(agent.state.probabilities, pi, rtol=1e-8, atol=1e-300)
        agent.observe(arm, reward)
        mean = math.fsum(before) / len(before) if before else reward
        gain = step * (reward - (mean if baseline else 0.0))
        h = [h[i] + gain * ((i == arm) - pi[i]) for i in range(K)]
        before.append(reward)
        np.testing.assert_allclose(agent.state.preferences, h, rtol=1e-8, atol=1e-10)


def test_the_step_is_the_gradient_of_the_expected_reward():
    """Section 2.8: the mean of the change of H, over arms, is α times the gradient of Σ π_i q_i, by differences."""
    q, h = np.array([0.3, 0.9, 0.5]), np.array([0.4, -0.2, 0.1])

    def expected(preferences):
        weights = np.exp(preferences)
        return weights @ q / weights.sum()

    gradient = [(expected(h + e) - expected(h - e)) / 2e-5 for e in 1e-5 * np.eye(3)]
    for baseline in (False, True):
        mean = np.zeros(3)
        for arm in range(K):
            agent = agents.GradientBandit(K, step=1.0, baseline=baseline)
            agent.reset(seed=1)
            agent.state.preferences[:], agent.state.average[0], agent.state.rounds[0] = h, 0.7, 10
            agent.act()
            agent.observe(arm, q[arm])
            mean += agent.state.probabilities[arm] * (agent.state.preferences - h)
        np.testing.assert_allclose(mean, gradient, rtol=1e-6)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_explore_then_commit_by_algorithm_1(m):
    """Arms in turn for mK rounds, then the best by these rewards alone, however the others turn out."""
    for seed in range(20):
        rng, agent, arms, rewards = np.random.default_rng(seed), agents.ExploreThenCommit(K, m=m), [], []
        for t in range(m * K + 30):
            arms.append(agent.act())
            rewards.append(float(rng.normal()) if t < m * K else -100.0)
            agent.observe(arms[-1], rewards[-1])
        assert arms[: m * K] == [t % K for t in range(m * K)]
        means = [np.mean([rewards[t] for t in range(m * K) if arms[t] == i]) for i in range(K)]
        assert set(arms[m * K :]) == {int(np.argmax(means))}


def test_a_committed_agent_explores_what_it_forgot_and_passes_over_closed_arms():
    agent = agents.ExploreThenCommit(K, m=2)
    for arm, reward in [(0, 1.0), (1, 3.0), (2, 2.0)] * 2:
        agent.observe(arm, reward)
    assert agent.act() == 1
    assert agent.act(mask=np.array([True, False, True])) == 2
    agent.pending[:] = 0
    agent.forget(1)
    for reward in (0.0, 0.0):
        assert agent.act() == 1
        agent.observe(1, reward)
    assert agent.act() == 2


@pytest.mark.parametrize("horizon", [2, 100, 5_000])
@pytest.mark.parametrize("gaps", [(0.0, 0.02), (0.0, 0.3), (0.0, 0.001, 0.4), (0.0, 0.1, 0.1, 0.5), (0.0, 0.0)])
def test_m_minimises_the_bound(horizon, gaps):
    """The m of the least bound on a grid of real numbers from 1 to T/K, rounded up as in eq. 6.5."""
    grid = np.arange(1.0, max(1, horizon // len(gaps)) + 5e-4, 1e-3)
    bound = sum(grid * d + horizon * d * np.exp(-grid * d * d / (4 * 0.25)) for d in gaps)
    known = agents.Knowledge(horizon=horizon, n_arms=len(gaps), subgaussian=0.5, means=np.full((3, 1), 0.7) - [gaps])
    assert -2e-3 < agents.make("explore-then-commit", knowledge=known).m - grid[np.argmin(bound)] < 1
