"""R-less-UCB: its projection and its index, worked out from every sample of every arm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from ns_mab_gym import agents, simulate, worlds
from ns_mab_gym.agents.parts.memories import append, forget_samples, new_samples

K = 3


def projection(x: Sequence[float], t: float, h: int) -> float:
    """(1/h) Σ_{l=N−h+1}^{N} [x_l + (t − l)(x_l − x_{l−h})/h], l from 1."""
    n = len(x)
    terms = [x[p - 1] + (t - p) * (x[p - 1] - x[p - 1 - h]) / h for p in range(n - h + 1, n + 1)]
    return math.fsum(terms) / h


def index(x: Sequence[float], t: int, epsilon: float, alpha: float, sigma: float) -> float:
    """The projection plus σ (t − N + h − 1) √(10 ln(1/δ)/h³), δ = t^−α; +∞ where h = 0."""
    n = len(x)
    h = math.floor(epsilon * n)
    if h == 0:
        return math.inf
    return projection(x, t, h) + sigma * (t - n + h - 1) * math.sqrt(10 * math.log(1 / t**-alpha) / h**3)


def choice(samples: list[list[float]], seen: list[int], t: int, mask: Sequence[bool], **constants: float) -> int:
    """Unseen arms, the one unseen longest first; then arms with h = 0, by their pulls; then the largest index."""
    opened = [i for i in range(len(samples)) if mask[i]]
    values = {i: index(samples[i], t, **constants) for i in opened}
    short = [i for i in opened if values[i] == math.inf]
    if short:
        return min(short, key=lambda i: (len(samples[i]), 0 if samples[i] else seen[i], i))
    return max(opened, key=lambda i: (values[i], -i))


def reward(kind: str, arm: int, t: int, rng: np.random.Generator) -> float:
    mu = [0.5, 1 - math.exp(-t / 150), 0.3 + t / 1_500][arm]
    noise = rng.random()
    return {"bernoulli": float(noise < mu), "gaussian": float(mu + 0.1 * rng.standard_normal()), "still": 0.5}[kind]


@pytest.mark.parametrize("kind", ["bernoulli", "gaussian", "still"])
@pytest.mark.parametrize(
    ("epsilon", "alpha", "sigma"), [(0.25, 4.0, 0.5), (0.25, 4.0, 0.01), (0.1, 2.5, 0.02), (0.49, 1.0, 0.1)]
)
@pytest.mark.parametrize("disturbed", [False, True], ids=["all arms", "closed and forgotten arms"])
def test_every_arm_is_that_of_the_definition(kind, epsilon, alpha, sigma, disturbed):
    agent = agents.RLessUCB(K, horizon=1_000, epsilon=epsilon, alpha=alpha, sigma=sigma)
    rng = np.random.default_rng(2)
    samples: list[list[float]] = [[] for _ in range(K)]
    seen = [0] * K
    for t in range(1, 501):
        mask = rng.random(K) < 0.7 if disturbed else np.ones(K, np.bool_)
        mask[t % K] = True
        arm = agent.act(mask=mask)
        expected = choice(samples, seen, t, mask.tolist(), epsilon=epsilon, alpha=alpha, sigma=sigma)
        values = [index(x, t, epsilon, alpha, sigma) for x in samples]
        tied = math.isfinite(values[arm]) and math.isclose(values[arm], values[expected], rel_tol=1e-12)
        assert arm == expected or tied, f"round {t}"
        assert agent.act(mask=mask) == arm
        samples[arm].append(reward(kind, arm, t, rng))
        seen[arm] = t
        agent.observe(arm, samples[arm][-1])
        if disturbed and t % 97 == 0:
            agent.forget(t % K)
            samples[t % K] = []


@pytest.mark.parametrize("n", [4, 5, 7, 8, 12, 100, 1_001])
def test_the_line_is_the_projection(n):
    """To 1e-9, for real rewards, at any later round; and running sums do not drift."""
    agent = agents.RLessUCB(2, horizon=2_000)
    x = np.random.default_rng(n).normal(3.0, 2.0, n).tolist()
    for each in x:
        agent.observe(0, each)
    level, slope, _ = agent.state.lines[:, 0]
    assert agent.state.spans[0] == n // 4
    for t in (n, n + 1, 3 * n):
        assert level + (t - n) * slope == pytest.approx(projection(x, t, n // 4), abs=1e-9 * t)


def test_running_sums_after_a_hundred_thousand_samples(observe_all):
    agent = agents.RLessUCB(2, horizon=100_000)
    x = np.random.default_rng(0).normal(1.0, 1.0, 100_000)
    observe_all(agent.state, np.zeros(100_000, np.int64), x)
    level, slope, _ = agent.state.lines[:, 0]
    assert level == pytest.approx(projection(x.tolist(), 100_000, 25_000), abs=1e-9)
    assert level + 1e5 * slope == pytest.approx(projection(x.tolist(), 200_000, 25_000), abs=1e-9)


FULL = (
    "the memory of samples is full: it holds one sample of each arm per round of the horizon that the agent was made "
    "for; make the agent with a longer horizon, or reset it between episodes"
)


def test_a_memory_that_is_full_says_so_interpreted_and_compiled():
    agent = agents.RLessUCB(2, horizon=5)
    for _ in range(5):
        agent.observe(0, 1.0)
    agent.observe(1, 1.0)  # of another arm there is room
    with pytest.raises(ValueError, match=FULL):
        agent.observe(0, 1.0)
    with pytest.raises(ValueError, match=FULL):
        simulate(worlds.Stationary(mu=(0.1, 0.9), horizon=50), agents.RLessUCB(2, horizon=5), runs=1)
    with pytest.raises(ValueError, match="horizon must be a positive integer, got 0"):
        new_samples(3, 0)


def test_samples_of_one_arm_or_of_all_are_dropped():
    samples = new_samples(3, 4)
    for arm in (0, 1, 1, 2):
        append(samples, arm, 0.5)
    forget_samples(samples, 1)
    assert samples.counts.tolist() == [1, 0, 1]
    append(samples, 1, 0.25)
    assert samples.values[1, 0] == 0.25
    forget_samples(samples, agents.ALL)
    assert samples.counts.tolist() == [0, 0, 0]
