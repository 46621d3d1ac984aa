"""R-less-UCB: its projection and its index, worked out from every sample of every arm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.agents import Knowledge, MissingKnowledgeError

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


def test_a_straight_line_is_continued():
    """x_l = 0.1 + 0.002 l for 100 samples: μ̂(t) = 0.1 + 0.002 t exactly, whatever h is."""
    agent = agents.RLessUCB(2, horizon=200)
    for place in range(1, 101):
        agent.observe(0, 0.1 + 0.002 * place)
    level, slope, width = agent.state.lines[:, 0]
    assert level == pytest.approx(0.3, abs=1e-12)
    assert slope == pytest.approx(0.002, abs=1e-12)
    assert width == pytest.approx(0.5 * math.sqrt(40) / 25**1.5, rel=1e-12)


def test_running_sums_after_a_hundred_thousand_samples(observe_all):
    agent = agents.RLessUCB(2, horizon=100_000)
    x = np.random.default_rng(0).normal(1.0, 1.0, 100_000)
    observe_all(agent.state, np.zeros(100_000, np.int64), x)
    level, slope, _ = agent.state.lines[:, 0]
    assert level == pytest.approx(projection(x.tolist(), 100_000, 25_000), abs=1e-9)
    assert level + 1e5 * slope == pytest.approx(projection(x.tolist(), 200_000, 25_000), abs=1e-9)


def test_the_index_by_hand():
    """x = 0, 0, 1, 0, …: with N = 4, h = 1 it is x_4 + (t − 4)(x_4 − x_3) and the bonus σ(t − 4)√(40 ln t)."""
    assert projection([0.0, 0.0, 1.0, 0.0], 6, 1) == -2.0
    assert projection([0, 0, 1, 0, 2, 4, 4, 6], 10, 2) == (4 + 3 * (4 - 2) / 2 + 6 + 2 * (6 - 4) / 2) / 2
    assert index([0.0, 0.0, 1.0, 0.0], 6, 0.25, 4.0, 0.5) == pytest.approx(-2 + 0.5 * 2 * math.sqrt(40 * math.log(6)))
    assert index([1.0] * 3, 6, 0.25, 4.0, 0.5) == math.inf


def test_arms_with_too_few_samples_are_played_in_turn():
    """⌊N/4⌋ = 0 until the fourth sample of each arm."""
    agent = agents.RLessUCB(K, horizon=100)
    arms = []
    for _ in range(4 * K):
        arms.append(agent.act())
        agent.observe(arms[-1], 1.0)
    assert arms == [*range(K)] * 4
    assert agent.state.spans.tolist() == [1] * K


def test_tuning():
    blind = agents.make("r-less-ucb", 10, 50_000)
    assert (blind.epsilon, blind.alpha, blind.sigma, blind.horizon) == (0.25, 4.0, 0.5, 50_000)
    told = agents.make("r-less-ucb", 10, 50_000, knowledge=Knowledge(subgaussian=0.1, breakpoints=3))
    assert told.sigma == 0.1
    with pytest.raises(MissingKnowledgeError, match=r"r-less-ucb .* needs `horizon` \(T\)"):
        agents.make("r-less-ucb", 10)


@pytest.mark.parametrize("n_arms", [2, 10, 200])
@pytest.mark.parametrize("horizon", [1, 2, 50, 50_000, 1_000_000])
def test_defaults_at_the_ends(n_arms, horizon):
    for breakpoints in (0, horizon):
        agent = agents.make("r-less-ucb", n_arms, horizon, knowledge=Knowledge(breakpoints=breakpoints))
        for _ in range(min(horizon, 30)):
            agent.observe(agent.act(), 1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"epsilon": 0.5},
            "epsilon must be below 1/2, got 0.5; two blocks of that share must fit; the source takes 1/4",
        ),
        ({"epsilon": 0.0}, "epsilon must be a finite number above 0, got 0.0; two blocks"),
        ({"alpha": 0.0}, "alpha must be a finite number above 0"),
        ({"sigma": -1.0}, "sigma must be a finite number above 0, got -1.0; 1/2 for rewards"),
        ({"horizon": 0}, "horizon must be a positive integer, got 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        agents.make("r-less-ucb", 3, **({"horizon": 10} | parameters))


def test_a_memory_that_is_full_says_so():
    agent = agents.RLessUCB(2, horizon=5)
    for _ in range(5):
        agent.observe(0, 1.0)
    with pytest.raises(ValueError, match="make the agent with a longer horizon"):
        agent.observe(0, 1.0)
