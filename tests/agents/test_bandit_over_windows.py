"""Bandit over windows against its source's algorithm, with a new base on a window of its own in every block."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.agents.bandit_over_windows import window_grid
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError

K = 3
BASES = {
    "sw-ucb": lambda window: agents.SWUCB(K, window=window),
    "sw-ucb(xi=0.1)": lambda window: agents.SWUCB(K, window=window, xi=0.1),
    "beta-swts": lambda window: agents.BetaSWTS(K, window=window),
    "gamma-swgts(gamma=0.5)": lambda window: agents.GammaSWGTS(K, window=window, gamma=0.5),
    "sw-kl-ucb": lambda window: agents.SWKLUCB(K, window=window),
}


@pytest.mark.parametrize("base", BASES)
def test_every_arm_and_every_window_from_the_full_history(base):
    """60 blocks of 50 rounds: Exp3's probabilities from the mean rewards of earlier blocks, arms from a fresh base."""
    gamma, windows = 0.3, [1, 2, 7, 18, 50]  # 50^(1/4) = 2.66, 50^(1/2) = 7.07, 50^(3/4) = 18.8
    agent = agents.BanditOverWindows(K, block=50, gamma=gamma, base=base)
    agent.reset(seed=8)
    rng, luck = np.random.default_rng(8), np.random.default_rng(9)
    played: list[tuple[int, float, float]] = []  # window, its probability, mean reward
    for block in range(60):
        gains = [sum(x / p for j, p, x in played if j == i) for i in range(5)]
        weights = np.exp(gamma / 5 * np.array(gains))
        chances = (1 - gamma) * weights / weights.sum() + gamma / 5
        chosen = int(np.searchsorted(chances.cumsum(), rng.random(), side="right"))
        fresh = BASES[base](windows[chosen])
        fresh.rng = rng
        rewards = []
        for t in range(50):
            arm = agent.act()
            assert arm == fresh.act(), (block, t)
            rewards.append(float(luck.random() < [0.2, 0.5, 0.8][(arm + block // 10) % 3]))
            agent.observe(arm, rewards[-1])
            fresh.observe(arm, rewards[-1])
        played.append((chosen, chances[chosen], float(np.mean(rewards))))
        np.testing.assert_allclose(agent.state.probabilities, chances, rtol=1e-12)
    assert {j for j, _, _ in played} == set(range(5))


def test_the_grid_by_hand():
    """H = 707: Δ = ⌈6.56⌉ = 7, H^(1/7) = 2.553; H = 8: Δ = 3, powers of 2 exactly; H = 3: ⌊√3⌋ = 1 is there already."""
    assert window_grid(707) == [1, 2, 6, 16, 42, 108, 276, 707]
    assert window_grid(8) == [1, 2, 4, 8]
    assert window_grid(3) == [1, 3]
    assert window_grid(2) == [1, 2]
    assert window_grid(1) == [1]


def test_a_block_that_nobody_asked_for_has_the_longest_window_and_teaches_nothing():
    agent = agents.BanditOverWindows(2, block=10, gamma=0.5)
    agent.reset(seed=1)
    for _ in range(9):
        agent.observe(0, 1.0)
    assert agent.state.inner.window.pulls.tolist() == [9, 0]
    assert agent.act() == 1
    agent.observe(1, 1.0)
    assert agent.state.inner.window.pulls.tolist() == [0, 0]
    assert agent.state.weights.plain.tolist() == [1.0] * 4


def test_a_blocks_reward_is_clipped():
    """Rewards of 50 count as 1 and of −50 as 0: the weight grows by exp(γ/(J p)) = exp(γ), or not at all."""
    for reward, factor in [(50.0, math.exp(0.5)), (-50.0, 1.0), (0.25, math.exp(0.125))]:
        agent = agents.BanditOverWindows(2, block=10, gamma=0.5)
        agent.reset(seed=1)
        for _ in range(10):
            agent.observe(agent.act(), reward)
        assert agent.state.weights.plain.max() == pytest.approx(factor, rel=1e-12)


def test_the_rewards_that_the_base_takes():
    agent = agents.BanditOverWindows(2, block=10, gamma=0.5, base="beta-swts")
    with pytest.raises(UnsuitableRewardsError, match=r"beta-swts takes rewards that are 0 or 1, got a reward of 0\.5"):
        agent.observe(0, 0.5)
    agents.BanditOverWindows(2, block=10, gamma=0.5, base="beta-swts", binarize=True).observe(0, 0.5)
    agents.BanditOverWindows(2, block=10, gamma=0.5, base="gamma-swgts").observe(0, -2.5)


def test_one_way_to_write_the_base():
    for written in ("sw-ucb(xi=1.0)", " sw-ucb ( xi = 1 ) "):
        assert agents.BanditOverWindows(2, block=10, gamma=0.5, base=written).base == "sw-ucb(xi=1.0)"
    assert agents.BanditOverWindows(2, block=10, gamma=0.5, base="sw-ucb()").base == "sw-ucb"


def test_with_block_and_gamma_given_nothing_need_be_known():
    agent = agents.make("bandit-over-windows", n_arms=3, block=10, gamma=0.5)
    assert (agent.block, agent.gamma, agent.subgaussian, agent.mean) == (10, 0.5, 0.5, 0.5)
