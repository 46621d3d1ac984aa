"""Rexp3: weights, probabilities and restarts equal those recomputed from the full history."""

from __future__ import annotations

import math
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ns_mab_gym import agents

History = list[tuple[int, float]]


def log_weights(history: History, n_arms: int, gamma: float, batch: int) -> list[float]:
    """The ln w at the beginning of round len(history) + 1: sums over the rounds since the restart, from scratch."""
    since = history[len(history) // batch * batch :]
    weights = [0.0] * n_arms
    for s, (arm, reward) in enumerate(since):
        p = mixture(log_weights(since[:s], n_arms, gamma, batch), gamma)
        weights[arm] += gamma * (reward / p[arm]) / n_arms
    return weights


def mixture(logs: list[float], gamma: float) -> list[float]:
    """p_i = (1 − γ) w_i/Σw + γ/K."""
    w = [math.exp(each - max(logs)) for each in logs]
    return [(1 - gamma) * each / sum(w) + gamma / len(w) for each in w]


class Naive:
    """The published algorithm once more, with plain weights and no care for overflow."""

    def __init__(self, n_arms: int, gamma: float, batch: int, seed: int) -> None:
        self.n_arms, self.gamma, self.batch = n_arms, gamma, batch
        self.rng = np.random.default_rng(seed)
        self.played = 0

    def act(self) -> int:
        if self.played % self.batch == 0:
            self.w = [1.0] * self.n_arms
        self.p = [(1 - self.gamma) * w / sum(self.w) + self.gamma / self.n_arms for w in self.w]
        return int(np.searchsorted(list(accumulate(self.p)), self.rng.random(), side="right"))

    def observe(self, arm: int, reward: float) -> None:
        self.w[arm] *= math.exp(self.gamma * (reward / self.p[arm]) / self.n_arms)
        self.played += 1


@settings(deadline=None, max_examples=60)
@given(
    n_arms=st.integers(2, 5),
    gamma=st.floats(0.01, 1),
    batch=st.integers(1, 12),
    rewards=st.lists(st.floats(0, 1), max_size=14),
    seed=st.integers(0, 1_000),
)
def test_weights_and_probabilities_equal_brute_force(n_arms, gamma, batch, rewards, seed):
    """To 1e-12, in every round, whatever the rewards."""
    agent = agents.Rexp3(n_arms, gamma=gamma, batch=batch)
    agent.reset(seed=seed)
    history: History = []
    for reward in rewards:
        arm = agent.act()
        state = agent.state_dict()
        logs = log_weights(history, n_arms, gamma, batch)
        np.testing.assert_allclose(state["state.probabilities"], mixture(logs, gamma), rtol=1e-12)
        np.testing.assert_allclose(state["state.weights.logs"], logs, rtol=1e-12, atol=1e-14)
        assert math.fsum(state["state.probabilities"]) == pytest.approx(1, abs=1e-12)
        agent.observe(arm, reward)
        history.append((arm, reward))


@pytest.mark.parametrize("batch", [7, 50, 10_000])
@pytest.mark.parametrize("gamma", [0.05, 0.5, 1.0])
def test_the_game_equals_that_of_the_naive_form(gamma, batch):
    """Arm for arm over 600 rounds, drawn by inversion from the same uniforms."""
    agent, naive = agents.Rexp3(4, gamma=gamma, batch=batch), Naive(4, gamma, batch, seed=3)
    agent.reset(seed=3)
    rewards = np.random.default_rng(4).random((600, 4)) * [0.2, 0.5, 0.9, 1.0]
    arms = []
    for t in range(600):
        arms.append(agent.act())
        assert arms[-1] == naive.act(), f"round {t + 1}"
        for player in (agent, naive):
            player.observe(arms[-1], float(rewards[t, arms[-1]]))
    assert set(arms) == {0, 1, 2, 3}


def test_trap_probabilities_are_normalised_with_the_own_weight():
    """Public code leaves the arm's own weight out of Σw.

    K = 2, γ = ½: one reward of 1 on an arm with p = ½ gives it w = exp(½ (1/½)/2) = e^½, hence
    p = ½ e^½/(e^½ + 1) + ¼ = 0.5612 (with the trap ½ e^½/1 + ¼ = 1.07).
    """
    agent = agents.Rexp3(2, gamma=0.5, batch=100)
    agent.reset(seed=0)
    arm = agent.act()
    agent.observe(arm, 1.0)
    agent.act()
    p = agent.state_dict()["state.probabilities"]
    assert p[arm] == pytest.approx(0.5 * math.sqrt(math.e) / (math.sqrt(math.e) + 1) + 0.25, abs=1e-15)
    assert p[arm] == pytest.approx(0.5612, abs=1e-4)
    assert p.sum() == pytest.approx(1, abs=1e-15)


def test_a_restart_comes_every_batch_and_forgets_all():
    """Round Δ + 1 is played uniformly, as round 1 was; round Δ is not."""
    agent = agents.Rexp3(3, gamma=0.3, batch=5)
    agent.reset(seed=1)
    uniform = []
    for _ in range(20):
        arm = agent.act()
        uniform.append(bool(np.allclose(agent.state_dict()["state.probabilities"], 1 / 3, atol=1e-15)))
        agent.observe(arm, 1.0)
    assert [t + 1 for t, even in enumerate(uniform) if even] == [1, 6, 11, 16]


def test_weights_never_overflow():
    """200 000 rounds without a restart: plain weights would overflow; probabilities stay those of the logarithms."""
    agent = agents.Rexp3(2, gamma=0.1, batch=10**9)
    agent.reset(seed=2)
    logs = [0.0, 0.0]
    for t in range(200_000):
        arm = agent.act()
        if t % 997 == 0:
            np.testing.assert_allclose(agent.state.probabilities, mixture(logs, 0.1), rtol=1e-9)
        reward = float(arm == (t > 100_000))  # the arms change places half way: the weaker one must come back
        logs[arm] += 0.1 * (reward / float(agent.state.probabilities[arm])) / 2
        agent.observe(arm, reward)
    assert max(logs) > 5_000
    assert np.isfinite(agent.state.weights.plain).all()
    np.testing.assert_allclose(agent.state.weights.logs, logs, rtol=1e-9)


def test_the_least_probability_is_the_uniform_share():
    agent = agents.Rexp3(4, gamma=0.2, batch=10**6)
    agent.reset(seed=3)
    for _ in range(3_000):
        arm = agent.act()
        agent.observe(arm, float(arm == 2))
    agent.act()
    np.testing.assert_allclose(agent.state.probabilities, [0.05, 0.05, 0.85, 0.05], atol=1e-12)
