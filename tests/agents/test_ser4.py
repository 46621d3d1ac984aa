"""Ser4: the round-robins run over the active set that the full history implies; resets come at their rate."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, permutations

import numpy as np
from hypothesis import given
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
