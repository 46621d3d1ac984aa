"""RAW-UCB, FEWA and R-less-UCB: the arm that their definitions name, worked out from every reward of every arm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest

from ns_mab_gym import agents, simulate, worlds
from ns_mab_gym.agents.parts.memories import new_samples
from ns_mab_gym.agents.rotting import windows_of

K = 4
ROTTING = ["raw-ucb", "fewa"]
Samples = list[list[float]]
Means = Callable[[Sequence[float]], list[tuple[int, float]]]
every_rotting_agent = pytest.mark.parametrize("name", ROTTING)


def all_windows(samples: Sequence[float]) -> list[tuple[int, float]]:
    """(h, mean of the last h) for h = 1, 2, …, N."""
    sums = np.cumsum(np.array(samples)[::-1]).tolist()
    return [(h, total / h) for h, total in enumerate(sums, 1)]


def powers_of_two(samples: Sequence[float]) -> list[tuple[int, float]]:
    """(h, mean of h samples) for h = 1, 2, 4, …: the last h up to the last whole multiple of h/2 pulls."""
    n, windows = len(samples), [2**j for j in range(len(samples).bit_length())]
    ends = [n - n % max(h // 2, 1) for h in windows]
    return [(h, math.fsum(samples[end - h : end]) / h) for h, end in zip(windows, ends, strict=True) if h <= end]


def blocks(ratio: float) -> Means:
    """(h, mean of h samples) for any ratio, with the samples of each block in a list, as the authors describe it."""
    windows = [1]
    while windows[-1] < 1_000:
        windows.append(math.ceil(ratio * windows[-1]))

    def means(samples: Sequence[float]) -> list[tuple[int, float]]:
        pending: list[list[float] | None] = [[]] + [None] * (len(windows) - 1)
        current: dict[int, float] = {}
        for x in samples:
            pending[0] = []
            pending = [None if block is None else [*block, x] for block in pending]
            full = [block is not None and len(block) == h for block, h in zip(pending, windows, strict=True)]
            after = list(pending)
            for j, h in enumerate(windows):
                if full[j]:
                    current[h] = math.fsum(pending[j] or []) / h
                begins = pending[j] is None and full[j - 1]
                if j > 0 and (full[j] or begins):
                    after[j] = pending[j - 1]
            pending = after
        return sorted(current.items())

    return means


def unseen_first(samples: Samples, seen: list[int], mask: Sequence[bool]) -> int | None:
    empty = [i for i in range(len(samples)) if mask[i] and not samples[i]]
    return min(empty, key=lambda i: (seen[i], i), default=None)


def raw_ucb(
    samples: Samples, pulls: list[int], t: int, mask: Sequence[bool], means: Means, alpha: float, sigma: float
) -> int:
    """argmax_i min_h of the mean plus √(2ασ² ln t / h)."""
    lowest = {
        i: min(mean + math.sqrt(2 * alpha * sigma**2 * math.log(t) / h) for h, mean in means(samples[i]))
        for i in range(len(samples))
        if mask[i]
    }
    return max(lowest, key=lambda i: (lowest[i], -i))


def fewa(
    samples: Samples, pulls: list[int], t: int, mask: Sequence[bool], means: Means, alpha: float, sigma: float
) -> int:
    """Windows in turn: arms that have no such mean are played, and arms too far behind the best are dropped."""
    known = {i: means(samples[i]) for i in range(len(samples)) if mask[i]}
    kept = list(known)
    level = 0
    while True:
        short = [i for i in kept if len(known[i]) <= level]
        if short:
            return min(short, key=lambda i: (pulls[i], i))
        h = known[kept[0]][level][0]
        best = max(known[i][level][1] for i in kept)
        width = 2 * math.sqrt(2 * alpha * sigma**2 * math.log(t) / h)
        kept = [i for i in kept if known[i][level][1] >= best - width]
        if len(kept) == 1:
            return kept[0]
        level += 1


RULES = {"raw-ucb": raw_ucb, "fewa": fewa}


def falling(kind: str, rng: np.random.Generator) -> Iterator[Callable[[int], float]]:
    """For each round, the reward of an arm: means that fall one after another."""
    for t in range(10_000):
        drop = 0.5 * (np.array([60, 150, 260, 1_000]) < t)
        mu = np.array([0.9, 0.8, 0.65, 0.5]) - drop
        noise, normal = rng.random(), rng.standard_normal()
        yield {
            "bernoulli": lambda arm, mu=mu, noise=noise: float(noise < mu[arm]),
            "eighths": lambda arm, mu=mu, noise=noise: math.floor(8 * (mu[arm] + noise)) / 8,
            "gaussian": lambda arm, mu=mu, z=normal: float(mu[arm] + 0.5 * z),
            "constant": lambda arm, mu=mu: float(mu[arm]),
            "equal": lambda arm: 0.7,
        }[kind]


def game(
    agent: agents.Agent,
    name: str,
    means: Means,
    kind: str,
    *,
    rounds: int = 280,
    memory: int | None = None,
    masked: bool = False,
    forgets: bool = False,
    **constants: float,
) -> list[int]:
    """Play, and check every arm against the definition; returns the arms."""
    rng = np.random.default_rng(5)
    samples: Samples = [[] for _ in range(K)]
    seen, arms = [0] * K, []
    for t, reward in zip(range(1, rounds + 1), falling(kind, rng), strict=False):
        mask = rng.random(K) < 0.6 if masked else np.ones(K, np.bool_)
        mask[t % K] = True
        recent = [each if memory is None else each[-memory:] for each in samples]
        expected = unseen_first(recent, seen, mask.tolist())
        if expected is None:
            expected = RULES[name](recent, [len(each) for each in samples], t, mask.tolist(), means, **constants)
        arms.append(agent.act(mask=mask))
        assert arms[-1] == expected, f"round {t}"
        agent.pending[:] = 0
        assert agent.act(mask=mask) == expected  # an act changes nothing but what is under way
        agent.act(mask=~mask if (~mask).any() else mask)
        agent.pending[:] = 0  # these were no pulls
        samples[arms[-1]].append(reward(arms[-1]))
        seen[arms[-1]] = t
        agent.observe(arms[-1], samples[arms[-1]][-1])
        if forgets and t % 70 == 0:
            agent.forget(t % K)
            samples[t % K] = []
    return arms


@every_rotting_agent
@pytest.mark.parametrize("kind", ["bernoulli", "eighths", "gaussian", "constant"])
@pytest.mark.parametrize(("alpha", "sigma"), [(1.0, 0.5), (0.06, 0.5), (4.0, 1.0)])
def test_the_exact_form_plays_what_all_windows_say(name, kind, alpha, sigma):
    agent = agents.make(name, K, 1_000, alpha=alpha, subgaussian=sigma)
    arms = game(agent, name, all_windows, kind, alpha=alpha, sigma=sigma)
    assert set(arms) == set(range(K))


@every_rotting_agent
@pytest.mark.parametrize("kind", ["bernoulli", "eighths", "gaussian"])
@pytest.mark.parametrize("alpha", [0.06, 1.0])
def test_the_geometric_grid_plays_what_its_windows_say(name, kind, alpha):
    agent = agents.make(name, K, alpha=alpha, subgaussian=0.5, grid="geometric")
    game(agent, name, powers_of_two, kind, alpha=alpha, sigma=0.5)


@every_rotting_agent
@pytest.mark.parametrize("ratio", [1.1, 1.5, 3.0])
def test_grids_of_other_ratios(name, ratio):
    agent = agents.make(name, K, alpha=0.5, subgaussian=0.5, grid="geometric", ratio=ratio)
    game(agent, name, blocks(ratio), "bernoulli", rounds=150, alpha=0.5, sigma=0.5)


@every_rotting_agent
@pytest.mark.parametrize("grid", ["exact", "geometric"])
def test_closed_and_forgotten_arms(name, grid):
    agent = agents.make(name, K, 1_000, alpha=0.5, subgaussian=0.5, grid=grid)
    means = all_windows if grid == "exact" else powers_of_two
    game(agent, name, means, "gaussian", masked=True, forgets=True, alpha=0.5, sigma=0.5)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("memory", [20, 1_000])
def test_fewa_tries_no_window_while_all_rewards_are_equal(masked, memory):
    """The filter could drop nothing, and the windows to try would be as many as the rounds."""
    agent = agents.FEWA(K, horizon=memory)
    game(agent, "fewa", all_windows, "equal", memory=memory, masked=masked, forgets=True, alpha=0.06, sigma=0.5)
    assert agent.state.recent.tolist() == [0.0] * K  # no sum was ever taken
    agent.observe(0, 0.0)
    agent.act()
    assert agent.state.recent.any()


@every_rotting_agent
def test_beyond_its_horizon_the_exact_form_remembers_that_many_rewards_of_each_arm(name):
    agent = agents.make(name, K, 20, alpha=0.5, subgaussian=0.5)
    game(agent, name, all_windows, "eighths", memory=20, alpha=0.5, sigma=0.5)


@pytest.mark.parametrize("ratio", [1.01, 1.1, 1.5, 2.0, 2.5, 10.0])
def test_the_windows_of_a_grid(ratio):
    windows = windows_of(ratio)
    assert windows[0] == 1
    for one, two in pairwise(windows):
        assert two == -((-round(100 * ratio) * one) // 100)
    assert windows_of(2.0)[:12] == [2**j for j in range(12)]
    assert windows_of(1.1)[8:12] == [9, 10, 11, 13]  # 1.1 · 10 is 11, though 11.000000000000002 in floating point


# R-less-UCB: its projection and its index, worked out from every sample of every arm.


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
    agent = agents.RLessUCB(3, horizon=1_000, epsilon=epsilon, alpha=alpha, subgaussian=sigma)
    rng = np.random.default_rng(2)
    samples: list[list[float]] = [[] for _ in range(3)]
    seen = [0] * 3
    for t in range(1, 501):
        mask = rng.random(3) < 0.7 if disturbed else np.ones(3, np.bool_)
        mask[t % 3] = True
        arm = agent.act(mask=mask)
        expected = choice(samples, seen, t, mask.tolist(), epsilon=epsilon, alpha=alpha, sigma=sigma)
        values = [index(x, t, epsilon, alpha, sigma) for x in samples]
        tied = math.isfinite(values[arm]) and math.isclose(values[arm], values[expected], rel_tol=1e-12)
        assert arm == expected or tied, f"round {t}"
        agent.pending[:] = 0
        assert agent.act(mask=mask) == arm
        agent.pending[:] = 0
        samples[arm].append(reward(kind, arm, t, rng))
        seen[arm] = t
        agent.observe(arm, samples[arm][-1])
        if disturbed and t % 97 == 0:
            agent.forget(t % 3)
            samples[t % 3] = []


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
