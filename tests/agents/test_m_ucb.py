"""M-UCB: its test and its choices, recomputed from the full history."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.agents import Knowledge, forget
from ns_mab_gym.agents.core.kernel import watch
from ns_mab_gym.agents.parts.alarms import alarms_in
from ns_mab_gym.agents.parts.detectors import Halves

T, K = 50_000, 10


def differs(history: list[float], w: int, b: float) -> bool:
    """Whether there are w samples and the sums of the two halves of the last w differ by more than b."""
    last = history[-w:]
    return len(last) == w and abs(math.fsum(last[w // 2 :]) - math.fsum(last[: w // 2])) > b


@pytest.mark.parametrize("w", [2, 4, 6, 20])
@pytest.mark.parametrize("law", ["bernoulli", "uniform"])
def test_the_test_from_the_full_history(w, law):
    """Three arms that change; sums after the first lap of the ring, in the middle of laps, and after an alarm."""
    b = 0.21 * w if w > 2 else 0.8
    state, rng = Halves(b, samples=w).new_state(3), np.random.default_rng(w)
    histories: list[list[float]] = [[], [], []]
    alarms = 0
    for t in range(1_500):
        arm = int(rng.integers(3))
        mean = (0.1, 0.5, 0.9)[(arm + t // 500) % 3]
        x = float(rng.random() < mean) if law == "bernoulli" else float(0.5 * rng.random() + 0.5 * mean)
        histories[arm].append(x)
        alarm = differs(histories[arm], w, b)
        assert watch(state, arm, x) == alarm
        if len(histories[arm]) >= w:
            newer, older = sum(histories[arm][-w:][w // 2 :]), sum(histories[arm][-w:][: w // 2])
            np.testing.assert_allclose(state.statistics[arm, 1:3], [older, newer], rtol=0, atol=1e-12)
        if alarm:
            alarms += 1
            histories[arm] = []
            forget(state, arm)
    assert alarms >= 2 or law == "uniform"


def watch_many(state, rewards):
    alarms = 0
    for x in rewards:
        alarms += watch(state, 0, x)
    return alarms


def test_the_sums_do_not_drift():
    """One huge sample costs the small ones their digits; when it has left the ring, nothing of that may remain.

    And after 50 000 samples of many sizes both sums equal those of the ring's contents to 1e-12.
    """
    state = Halves(1e9, samples=6).new_state(1)
    watch_many(state, np.array([1e16, *[0.1] * 17]))
    np.testing.assert_allclose(state.statistics[0, 1:3], [0.3, 0.3], rtol=0, atol=1e-12)
    rewards = np.random.default_rng(3).random(50_003) ** 9
    assert watch_many(state, rewards) == 0
    np.testing.assert_allclose(state.statistics[0, 1:3], [rewards[-6:-3].sum(), rewards[-3:].sum()], rtol=0, atol=1e-12)


def reference(n_arms: int, w: int, b: float, gamma: float, agent: agents.Agent, rounds: int) -> list[int]:
    """Plays the agent beside Algorithm 1 written from the full history; returns the rounds of the alarms."""
    luck, period = np.random.default_rng(6), max(n_arms + 1, math.floor(n_arms / gamma))
    histories: list[list[float]] = [[] for _ in range(n_arms)]
    start, alarms = 0, []
    for t in range(1, rounds + 1):
        turn = (t - start - 1) % period
        if turn < n_arms:
            arm = turn
        else:
            log_t = math.log(t - start)
            values = [sum(each) / len(each) + math.sqrt(2 * log_t / len(each)) for each in histories]
            arm = values.index(max(values))
        assert agent.act() == arm, f"round {t}"
        x = float(luck.random() < (0.1, 0.5, 0.9)[(arm + t // 400) % 3])
        agent.observe(arm, x)
        histories[arm].append(x)
        if differs(histories[arm], w, b):
            histories = [[] for _ in range(n_arms)]
            start = t
            alarms.append(t)
    return alarms


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
def test_the_whole_agent_from_the_full_history(gamma):
    """All arms restart; turns and the logarithm count from the restart."""
    agent = agents.MUCB(4, threshold=6.0, samples=20, gamma=gamma)
    agent.reset(seed=1)
    alarms = reference(4, 20, 6.0, gamma, agent, 1_600)
    assert alarms_in(agent.state)["round"].tolist() == alarms
    assert alarms_in(agent.state)["everything"].all()
    assert len(alarms) >= 3


def test_tuning():
    """b = √(100 ln(2·10·T²)) = √(100 · 24.63530) = 49.6340; γ² = 30 (2b + 3√200)/(2T) = 30 · 141.6943/100 000."""
    informed = agents.make("m-ucb", K, T, knowledge=Knowledge(breakpoints=3))
    assert (informed.samples, informed.xi) == (200, 2.0)
    assert informed.threshold == pytest.approx(49.6340, abs=1e-4)
    assert informed.gamma == pytest.approx(0.206176, abs=1e-6)
    blind = agents.make("m-ucb", K, T)
    assert blind.threshold == informed.threshold
    assert blind.gamma == pytest.approx(informed.gamma / math.sqrt(3))
    for changes in (0, 1, T - 1, T):
        assert agents.make("m-ucb", K, T, knowledge=Knowledge(breakpoints=changes)).gamma == blind.gamma
    assert agents.make("m-ucb", K, T, samples=800).threshold == pytest.approx(2 * blind.threshold)
    wide = agents.make("m-ucb", K, T, samples=800, threshold=0.0)
    assert wide.gamma == pytest.approx(math.sqrt(10 * 3 * math.sqrt(800) / 100_000))
    assert agents.make("m-ucb", K, 100).gamma == 1.0
    assert agents.make("m-ucb", 3, threshold=1.0, gamma=0.5).gamma == 0.5
