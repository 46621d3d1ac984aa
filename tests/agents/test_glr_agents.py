"""GLR-klUCB and GLR-TS: the forced exploration, the index, the restarts and the tuning, from whole histories."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.agents.parts.alarms import alarms_in

K = 4


def play(agent: agents.Agent, rounds: int, seed: int = 1) -> tuple[list[int], list[float]]:
    """Arms and rewards where the best arm is another one in every 300 rounds."""
    luck = np.random.default_rng(seed)
    agent.reset(seed=seed)
    arms: list[int] = []
    rewards: list[float] = []
    for t in range(rounds):
        arms.append(agent.act())
        mean = 0.1 + 0.25 * ((arms[-1] + t // 300) % agent.n_arms)
        rewards.append(float(luck.random() < mean))
        agent.observe(arms[-1], rewards[-1])
    return arms, rewards


def restarts_before(agent: agents.Agent, t: int) -> list[tuple[int, int]]:
    """Rounds and arms of the alarms before round t."""
    return [(int(r), int(a)) for r, a, _ in alarms_in(agent.state) if r < t]


@pytest.mark.parametrize("name", ["glr-klucb", "glr-ts"])
@pytest.mark.parametrize("restart", ["local", "global"])
@pytest.mark.parametrize("growing", [True, False])
def test_arms_are_forced_in_turn_counted_from_the_first_round(name, restart, growing):
    """In round t arm (t − 1) mod P, if below K, with P = max(K + 1, ⌊K/(α₁√k)⌋), k − 1 alarms before it."""
    agent = agents.make(name, K, 1_000, restart=restart, rate=0.3, growing=growing)
    arms, _ = play(agent, 1_500)
    assert len(alarms_in(agent.state)) >= 3
    periods = set()
    for t, arm in enumerate(arms, 1):
        k = len(restarts_before(agent, t)) + 1
        period = max(K + 1, math.floor(K / (0.3 * (math.sqrt(k) if growing else 1.0))))
        periods.add(period)
        if (t - 1) % period < K:
            assert arm == (t - 1) % period, t
    assert 13 in periods
    assert len(periods) > 1 or not growing


def index(pulls: int, total: float, budget: float) -> float:
    """max{q : N d(μ̂, q) ≤ budget}, by bisection."""
    mean = total / pulls
    low, high = mean, 1.0
    for _ in range(60):
        q = (low + high) / 2
        d = (mean * math.log(mean / q) if mean > 0 else 0.0) + (
            (1 - mean) * math.log((1 - mean) / (1 - q)) if mean < 1 else 0.0
        )
        low, high = (q, high) if pulls * d <= budget else (low, q)
    return low


@pytest.mark.parametrize("restart", ["local", "global"])
def test_the_index_of_glr_klucb_counts_from_the_restart_of_the_arm(restart):
    """Where nothing is forced: argmax of max{q : N_i d(μ̂_i, q) ≤ ln(t − τ_i)}, on the samples since τ_i."""
    agent = agents.make("glr-klucb", K, 1_000, restart=restart, rate=0.02, growing=False)
    period = 200  # ⌊4/0.02⌋
    arms, rewards = play(agent, 1_200)
    alarms = alarms_in(agent.state)
    assert len(alarms) >= 2
    compared = 0
    for t in range(1, 1_201):
        if (t - 1) % period < K:
            continue
        since = [
            max([int(r) for r, a, _ in alarms if r < t and (restart == "global" or a == i)], default=0)
            for i in range(K)
        ]
        seen = [[rewards[s] for s in range(since[i], t - 1) if arms[s] == i] for i in range(K)]
        if not all(seen):
            assert not seen[arms[t - 1]]  # an arm without samples comes first
            continue
        indices = [index(len(x), sum(x), math.log(t - since[i])) for i, x in enumerate(seen)]
        assert indices[arms[t - 1]] >= max(indices) - 1e-9, t
        compared += 1
    assert compared > 1_000


def test_no_arm_is_left_out_when_all_are_played_in_an_even_period():
    """Arms are tested after every tenth pull of their own: each of four arms played in turn is found to have changed.

    A test in every tenth round would meet arms 1 and 3 alone, in rounds 10 and 20, 30 and 40, ….
    """
    agent = agents.make("glr-klucb", K, 1_000)
    for t in range(400):
        agent.observe(t % K, float(t < 200))
    assert sorted(alarms_in(agent.state)["arm"].tolist()) == [0, 1, 2, 3]


def test_without_alarms_and_exploration_glr_ts_is_ts_to_the_bit():
    agent, plain = agents.make("glr-ts", K, 1_000, delta=1e-100, rate=0.0), agents.make("ts", K)
    assert play(agent, 1_500) == play(plain, 1_500)
    for key, value in plain.state_dict().items():
        if key.startswith("state."):
            np.testing.assert_array_equal(agent.state_dict()[key.replace("state.", "state.inner.", 1)], value)
    np.testing.assert_array_equal(agent.state_dict()["generator"], plain.state_dict()["generator"])


def test_the_tuning_by_hand():
    """T = 50 000, K = 10: δ = 0.0044721, α₁ = √(10 · 10.819778/50 000) = 0.0465184, 0.05 times that for GLR-TS."""
    local, everything = (agents.make("glr-klucb", 10, 50_000, restart=r) for r in ("local", "global"))
    assert (local.splits, everything.splits) == (10, 5)
    for agent in (local, everything):
        assert agent.delta == pytest.approx(0.0044721, abs=1e-7)
        assert agent.rate == pytest.approx(0.0465184, abs=1e-7)
        assert (agent.every, agent.c, agent.factor, agent.growing) == (10, 0.0, 1.0, True)
    sampling = agents.make("glr-ts", 10, 50_000)
    assert (sampling.restart, sampling.splits) == ("global", 5)
    assert sampling.rate == pytest.approx(0.00232592, abs=1e-8)
    assert agents.make("glr-klucb", 10, 50_000, rate=0.5, delta=0.25, splits=3).parameters.items() >= {
        ("rate", 0.5), ("delta", 0.25), ("splits", 3),
    }  # fmt: skip
