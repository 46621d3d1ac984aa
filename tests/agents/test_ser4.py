"""Ser4: the round-robins run over the active set that the full history implies; resets come at their rate."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ns_mab_gym import agents

History = list[tuple[int, float]]


def threshold(tau: int, n_arms: int, delta: float, factor: float = 2.0) -> float:
    return factor * math.sqrt(math.log(4 * n_arms * tau**2 / delta) / (2 * tau))


def active_set(since: History, n_arms: int, delta: float, epsilon: float, factor: float) -> tuple[set[int], int]:
    """The active arms after these rounds since the last reset, from scratch, and the place in the round-robin.

    Along the way, every round-robin must have visited each active arm once.
    """
    active, place, tau = set(range(n_arms)), 0, 0
    while len(since) - place >= len(active):
        robin = [arm for arm, _ in since[place : place + len(active)]]
        assert sorted(robin) == sorted(active)
        place += len(active)
        tau += 1
        mean = {k: float(np.mean([x for arm, x in since[:place] if arm == k])) for k in active}
        best = min(active, key=lambda k: (-mean[k], k))
        if tau >= math.log(n_arms / delta):
            cut = threshold(tau, n_arms, delta, factor)
            active = {k for k in active if k == best or mean[best] - mean[k] + epsilon < cut}
    return active, len(since) - place


def play(agent: agents.Agent, rounds: int, reward) -> tuple[History, list[int]]:
    """A game; and the rounds, from 0, before which the agent started afresh, read off its pulls since the reset."""
    history: History = []
    resets = []
    for t in range(rounds):
        arm = agent.act()
        history.append((arm, reward(t, arm)))
        agent.observe(*history[-1])
        if agent.state.pulls.sum() == 1 and t > 0:
            resets.append(t)
    return history, resets


@settings(deadline=None, max_examples=60)
@given(
    n_arms=st.integers(2, 4),
    delta=st.sampled_from([0.9, 0.3, 0.01]),
    epsilon=st.sampled_from([0.0, 0.01, 0.4]),
    phi=st.sampled_from([0.0, 0.01, 0.1]),
    factor=st.sampled_from([2.0, 1.0, 0.3]),
    spread=st.floats(0, 3),
    rounds=st.integers(1, 250),
    seed=st.integers(0, 10_000),
)
def test_the_active_set_equals_brute_force(n_arms, delta, epsilon, phi, factor, spread, rounds, seed):
    """Every arm played, in any game with or without resets, is one of the active set that has not had its turn yet."""
    agent = agents.Ser4(n_arms, delta=delta, epsilon=epsilon, phi=phi, factor=factor)
    agent.reset(seed=seed)
    noise = np.random.default_rng(seed).normal(size=rounds)
    history, resets = play(agent, rounds, lambda t, arm: spread * arm + noise[t])
    for begin, end in zip([0, *resets], [*resets, rounds], strict=True):
        since = history[begin:end]
        active, turns = active_set(since, n_arms, delta, epsilon, factor)  # checks every round-robin that was completed
        begun = [arm for arm, _ in since[len(since) - turns :]]
        assert len(set(begun)) == len(begun)
        assert set(begun) <= active
    state = agent.state_dict()
    since = history[resets[-1] if resets else 0 :]
    active, _ = active_set(since, n_arms, delta, epsilon, factor)
    assert set(state["state.order"][: state["state.clock"][0]].tolist()) == active
    assert state["state.pulls"].tolist() == [sum(arm == k for arm, _ in since) for k in range(n_arms)]
    sums = [math.fsum(x for arm, x in since if arm == k) for k in range(n_arms)]
    np.testing.assert_allclose(state["state.sums"], sums, atol=1e-9)


@pytest.mark.parametrize(
    ("n_arms", "delta", "epsilon"), [(2, 0.05, 0.0), (2, 0.05, 0.1), (5, 0.5, 0.0), (3, 1e-6, 0.0)]
)
def test_trap_an_arm_that_was_dropped_does_not_come_back(n_arms, delta, epsilon):
    """Public code compares where it should assign, and drops nothing; and its threshold lacks 1/τ, and stays above 1.

    With rewards of 1 for arm 0 and 0 for the others, these are dropped after the first round-robin τ ≥ ln(K/δ) with
    1 + ε ≥ 2√(ln(4Kτ²/δ)/(2τ)): they are played τ times each and never again.
    """
    tau = next(
        tau
        for tau in range(1, 10_000)
        if tau >= math.log(n_arms / delta) and 1 + epsilon >= threshold(tau, n_arms, delta)
    )
    assert all(2 * math.sqrt(math.log(4 * n_arms * t**2 / delta) / 2) > 1 + epsilon for t in range(1, 10_000))
    agent = agents.Ser4(n_arms, delta=delta, epsilon=epsilon, phi=0.0)
    agent.reset(seed=0)
    rounds = n_arms * tau + 500
    history, _ = play(agent, rounds, lambda t, arm: float(arm == 0))
    pulls = Counter(arm for arm, _ in history)
    assert pulls == {0: tau + 500} | dict.fromkeys(range(1, n_arms), tau)
    assert {arm for arm, _ in history[n_arms * tau :]} == {0}


def test_the_threshold_by_hand():
    """K = 2, δ = 0.05: 1.0116 after 22 round-robins, 0.9933 after 23; so a gap of 1 is seen after the 23rd."""
    assert threshold(22, 2, 0.05) == pytest.approx(1.0116, abs=1e-4)
    assert threshold(23, 2, 0.05) == pytest.approx(0.9933, abs=1e-4)
    agent = agents.Ser4(2, delta=0.05, epsilon=0.0, phi=0.0)
    agent.reset(seed=1)
    history, _ = play(agent, 100, lambda t, arm: float(arm == 1))
    assert sum(arm == 0 for arm, _ in history) == 23


def test_the_factor_by_hand():
    """K = 2, δ = 0.05, one radius for two: a gap of 1 is seen where ln(160τ²) ≤ 2τ, 7.27 > 6 and 7.85 ≤ 8: at τ = 4."""
    agent = agents.Ser4(2, delta=0.05, epsilon=0.0, phi=0.0, factor=1.0)
    agent.reset(seed=1)
    history, _ = play(agent, 100, lambda t, arm: float(arm == 1))
    assert sum(arm == 0 for arm, _ in history) == 4


def test_no_arm_is_dropped_before_ln_k_over_delta():
    """With a gap of 100 the threshold is passed at once; only τ ≥ ln(K/δ) = ln(3/1e-4) = 10.3 holds the arms."""
    agent = agents.Ser4(3, delta=1e-4, epsilon=0.0, phi=0.0)
    agent.reset(seed=2)
    history, _ = play(agent, 200, lambda t, arm: 100.0 * (arm == 2))
    assert Counter(arm for arm, _ in history)[0] == 11


def test_the_best_arm_is_never_dropped_and_ties_go_to_the_lowest_index():
    """With ε above any threshold every arm goes but the best; of equal arms the lowest index stays."""
    for seed in range(8):
        agent = agents.Ser4(4, delta=0.5, epsilon=50.0, phi=0.0)
        agent.reset(seed=seed)
        history, _ = play(agent, 60, lambda t, arm: 0.0 if arm == 0 else 1.0)
        assert {arm for arm, _ in history[-20:]} == {1}


def test_every_round_robin_has_a_fresh_order_uniform_over_all():
    """3 000 round-robins of equal arms: each of the 6 orders equally often, and independent of the one before."""
    agent = agents.Ser4(3, delta=0.01, epsilon=0.0, phi=0.0)
    agent.reset(seed=3)
    history, _ = play(agent, 9_000, lambda t, arm: 0.5)
    robins = [tuple(arm for arm, _ in history[i : i + 3]) for i in range(0, 9_000, 3)]
    orders = list(permutations(range(3)))
    counts = Counter(robins)
    assert stats.chisquare([counts[order] for order in orders]).pvalue > 1e-4
    following = Counter(pairwise(robins))
    table = np.array([[following[a, b] for b in orders] for a in orders])
    assert stats.chi2_contingency(table).pvalue > 1e-4


def test_resets_come_after_every_round_with_probability_phi():
    """20 000 rounds with φ = 0.02: the number of resets within 4 standard errors, and geometric waits between them."""
    agent = agents.Ser4(3, delta=0.01, epsilon=0.0, phi=0.02)
    agent.reset(seed=4)
    history, resets = play(agent, 20_000, lambda t, arm: float(arm == 1))
    chances = 20_000 - 1  # after every round but the last
    assert abs(len(resets) - 0.02 * chances) < 4 * math.sqrt(0.02 * 0.98 * chances)
    waits = np.diff(resets)
    edges = [1, 10, 25, 50, 80, 120, 200, 10**9]
    cdf = 1 - 0.98 ** (np.array(edges) - 1)
    seen = np.histogram(waits, edges)[0]
    assert stats.chisquare(seen, len(waits) * np.diff(cdf) / np.diff(cdf).sum()).pvalue > 1e-4
    for t in resets:  # all arms come back
        robin = [arm for arm, _ in history[t : t + 3]]
        if len(robin) == 3 and not {t + 1, t + 2} & set(resets):
            assert sorted(robin) == [0, 1, 2]


def test_no_reset_without_phi():
    agent = agents.Ser4(3, delta=0.01, epsilon=0.0, phi=0.0)
    agent.reset(seed=5)
    assert play(agent, 5_000, lambda t, arm: 0.5)[1] == []
