"""Adaptive forgetting: estimates, their derivative and the factors against the full history, and the arms chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents

History = list[tuple[int, float]]
K = 3


def history(rounds: int, seed: int, binary: bool = True) -> History:
    """Rewards whose means change half way, so that the factors have something to learn."""
    rng = np.random.default_rng(seed)
    arms = rng.choice(K, rounds, p=[0.6, 0.3, 0.1])
    means = [0.15 + 0.7 * float((arm + 2 * t // rounds) % 2) for t, arm in enumerate(arms)]
    return [
        (int(arm), float(rng.random() < mean) if binary else float(rng.normal(mean)))
        for arm, mean in zip(arms, means, strict=True)
    ]


def weighted(rewards: Sequence[float], factors: Sequence[float], shift: float = 0.0) -> tuple[float, float, float]:
    """w, m and k: reward i counts Π_{p > i} (λ_p + shift) times, λ_p that which faded the rewards before reward p."""
    weights = [math.prod(each + shift for each in factors[i:]) for i in range(len(rewards))]
    m = math.fsum(w * x for w, x in zip(weights, rewards, strict=True))
    return math.fsum(weights), m, math.fsum(w * w for w in weights)


def learnt(rewards: Sequence[float], step: float, least: float) -> tuple[list[float], float]:
    """The factors that faded the rewards before each but the first, and the one to come, by a numerical derivative."""
    factors: list[float] = []  # [p] fades rewards 0 to p when reward p + 1 comes
    coming, h = 1.0, 1e-6

    def error(n: int, shift: float) -> float:
        w, m, _ = weighted(rewards[:n], factors[: n - 1], shift)
        return (m / w - rewards[n]) ** 2

    for n in range(1, len(rewards)):
        gradient = (error(n, h) - error(n, -h)) / (2 * h)
        factors.append(coming)
        coming = max(least, min(1.0, coming - step * gradient))
    return factors, coming


@pytest.mark.parametrize("kind", [agents.AFFUCB, agents.AFFTS])
@pytest.mark.parametrize(("step", "least"), [(0.001, 0.6), (0.05, 0.6), (0.5, 0.9), (0.0, 0.0)])
def test_everything_is_that_of_the_full_history(kind, step, least):
    """λ by numerical derivatives of the squared errors, and w, m and k as sums over all rewards of an arm."""
    played = history(80, seed=1)
    agent = kind(K, step=step, least=least)
    for arm, reward in played:
        agent.observe(arm, reward)
    memory, moved = agent.state.memory, []
    for arm in range(K):
        rewards = [x for a, x in played if a == arm]
        factors, coming = learnt(rewards, step, least)
        assert memory.factors[arm] == pytest.approx(coming, abs=1e-7)
        exact = weighted(rewards, factors)
        np.testing.assert_allclose(
            [memory.pulls[arm], memory.sums[arm], memory.squares[arm]], exact, rtol=1e-6, atol=1e-6
        )
        moved += [each < 1 for each in factors]
    assert any(moved) == (step > 0)


@pytest.mark.parametrize("delta", [0.05, 0.5, 1.0])
def test_the_largest_bound_is_played(delta):
    """Hoeffding: P(weighted mean + ε < mean) ≤ exp(−2 ε² w²/k) = δ; any real rewards, arms in turn first."""
    agent, played = agents.AFFUCB(K, step=0.01, delta=delta), history(60, seed=2, binary=False)
    assert [agent.act(mask=np.arange(K) >= arm) for arm in range(K)] == [0, 1, 2]
    agent.pending[:] = 0  # it was only asked
    for arm, reward in [(0, 0.5), (1, 0.25), (2, 1.0), *played]:
        agent.observe(arm, reward)
        if (seen := agent.state.memory.pulls > 0).all():
            w, m, k = agent.state.memory.pulls, agent.state.memory.sums, agent.state.memory.squares
            epsilon = np.sqrt(-math.log(delta) * k / (2 * w * w))
            bounds = m / w + epsilon
            assert bounds[agent.act()] >= bounds.max() - 1e-12
        else:
            assert agent.act() == int(np.argmin(seen))


def test_samples_are_those_of_the_faded_posteriors(count_acts):
    agent, played = agents.AFFTS(K, step=0.1, prior=1.5), history(60, seed=3)
    for arm, reward in played:
        agent.observe(arm, reward)
    laws = []
    for arm in range(K):
        rewards = [x for a, x in played if a == arm]
        w, m, _ = weighted(rewards, learnt(rewards, 0.1, 0.6)[0])
        laws.append(stats.beta(1.5 + m, 1.5 + w - m))
    wins = count_acts(agent.state, np.ones(K, bool), np.random.default_rng(4), 100_000)
    assert agreement(wins, winning_chances(laws)) > 1e-4


@pytest.mark.parametrize("kind", [agents.AFFUCB, agents.AFFTS])
def test_forgetting_one_arm(kind):
    """It has seen nothing and forgets nothing, as at first; the others are as they were."""
    agent, other = kind(K, step=0.1), kind(K, step=0.1)
    for arm, reward in history(50, seed=5):
        agent.observe(arm, reward)
        other.observe(arm, reward)
    agent.forget(1)
    for field, at_first in (("pulls", 0), ("sums", 0), ("squares", 0), ("sum_slopes", 0), ("factors", 1)):
        mine, others = (getattr(each.state.memory, field) for each in (agent, other))
        assert mine[1] == at_first
        np.testing.assert_array_equal(mine[[0, 2]], others[[0, 2]])
