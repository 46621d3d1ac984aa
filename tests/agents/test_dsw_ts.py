"""f-dsw TS: both memories against the full history, and the law of the arm played against numerical integration."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from winning import agreement

from ns_mab_gym import agents

Floats = npt.NDArray[np.float64]
LEVEL = 1e-4  # of each of some thirty tests
ACTS = 100_000
GRID = np.linspace(0, 1, 1_501)


def average_cdf(one: stats.rv_continuous, two: stats.rv_continuous) -> Floats:
    """P((θ + ϑ)/2 ≤ z) = ∫ P(ϑ ≤ 2z − u) dP(θ ≤ u) at the points of the grid."""
    quantiles = (np.arange(1_000) + 0.5) / 1_000
    return np.asarray(two.cdf(2 * GRID[:, None] - one.ppf(quantiles)[None, :]).mean(axis=1))


def combined_cdf(f: str, one: stats.rv_continuous, two: stats.rv_continuous) -> Floats:
    """The distribution function of f of two independent samples."""
    if f == "mean":
        return average_cdf(one, two)
    if f == "max":
        return np.asarray(one.cdf(GRID) * two.cdf(GRID))
    return np.asarray(1 - one.sf(GRID) * two.sf(GRID))


def chances(cdfs: list[Floats]) -> Floats:
    """P(arm i has the largest f) = ∫ ∏_{j≠i} F_j dF_i, by the rule of the trapezium."""
    table = np.array(cdfs)  # (K, grid)
    others = np.array([np.prod(np.delete(table, i, axis=0), axis=0) for i in range(len(cdfs))])
    found = ((others[:, 1:] + others[:, :-1]) / 2 * np.diff(table, axis=1)).sum(axis=1)
    assert found.sum() == pytest.approx(1, abs=1e-4)
    return np.asarray(found / found.sum())


def beta(successes: float, failures: float) -> stats.rv_continuous:
    return stats.beta(successes + 1, failures + 1)


def test_chances_against_closed_forms():
    """The average of two uniforms has a triangular law; equal arms win equally; max of uniforms against one uniform."""
    uniform = beta(0, 0)
    triangle = np.where(GRID <= 0.5, 2 * GRID**2, 1 - 2 * (1 - GRID) ** 2)
    np.testing.assert_allclose(average_cdf(uniform, uniform), triangle, atol=1e-5)
    np.testing.assert_allclose(chances([average_cdf(beta(3, 4), uniform)] * 3), np.full(3, 1 / 3), atol=1e-9)
    np.testing.assert_allclose(chances([combined_cdf("max", uniform, uniform), GRID]), [2 / 3, 1 / 3], atol=1e-6)
    np.testing.assert_allclose(chances([combined_cdf("min", uniform, uniform), GRID]), [1 / 3, 2 / 3], atol=1e-6)


History = list[tuple[int, float]]


def memories(history: History, n_arms: int, gamma: float, window: int | None) -> list[list[tuple[float, float]]]:
    """For each arm (successes, failures): discounted by rounds, and among its own last pulls; from scratch."""
    t, found = len(history), []
    for i in range(n_arms):
        mine = [(s, x) for s, (arm, x) in enumerate(history, 1) if arm == i]
        faded = [math.fsum(gamma ** (t - s) for s, x in mine if x == value) for value in (1, 0)]
        last = [x for _, x in mine][-(window or t or 1) :]
        found.append([(faded[0], faded[1]), (last.count(1.0), last.count(0.0))])
    return found


@settings(deadline=None, max_examples=60)
@given(
    gamma=st.floats(0.1, 1),
    window=st.one_of(st.none(), st.integers(1, 12)),
    history=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0])), max_size=60),
    forgotten=st.integers(-1, 2),
)
def test_both_memories_equal_those_of_the_full_history(gamma, window, history, forgotten):
    """The window counts an arm's own pulls, not rounds; what was forgotten in the middle counts for nothing."""
    agent = agents.DSWTS(3, gamma=gamma, window=window)
    kept: History = []
    for t, (arm, reward) in enumerate(history):
        if t == 20 and forgotten >= 0:
            agent.forget(forgotten)
            kept = [(-1 if a == forgotten else a, x) for a, x in kept]
        agent.observe(arm, reward)
        kept.append((arm, reward))
    for i, ((s, f), (r, g)) in enumerate(memories(kept, 3, gamma, window)):
        assert agent.state.memory.sums[i] == pytest.approx(s, rel=1e-12, abs=1e-30)
        assert agent.state.memory.pulls[i] == pytest.approx(s + f, rel=1e-12, abs=1e-30)
        assert agent.state.recent.sums[i] == r
        assert agent.state.recent.pulls[i] == r + g


def play(seed: int, rounds: int, favour: list[float], means: list[float]) -> History:
    rng = np.random.default_rng(seed)
    arms = rng.choice(len(favour), rounds, p=np.array(favour) / sum(favour))
    return [(int(a), float(rng.random() < means[a])) for a in arms]


CASES: dict[str, tuple[float, int | None, History]] = {
    "nothing seen": (0.9, 5, []),
    "alike, below one half": (0.98, 20, play(1, 300, [1, 1, 1, 1], [0.3, 0.35, 0.25, 0.3])),
    "alike, above three quarters": (0.98, 20, play(2, 300, [1, 1, 1, 1], [0.9, 0.93, 0.88, 0.9])),
    "a leader and faded rivals": (0.9, 50, play(3, 400, [300, 5, 5, 5], [0.9, 0.7, 0.5, 0.8])),
    "the memories disagree": (
        0.99,
        5,
        [*play(4, 200, [1, 1, 1, 1], [0.9, 0.9, 0.1, 0.5]), *play(5, 40, [1, 1, 1, 1], [0.1, 0.5, 0.9, 0.5])],
    ),
    "without failures": (0.95, 10, [(i % 4, 1.0) for i in range(60)]),
    "without successes": (0.95, 10, [(i % 4, 0.0) for i in range(60)]),
    "nothing forgotten": (1.0, None, play(6, 200, [4, 1, 2, 1], [0.6, 0.4, 0.55, 0.5])),
}


@pytest.mark.parametrize(
    ("case", "f"),
    [
        (case, f)
        for n, case in enumerate(CASES)
        for f in ("mean", "min", "max")
        if f in ("mean", ("mean", "min", "max")[n % 3])
    ],
)
def test_the_arm_played_has_the_law_of_the_largest_f(case, f, count_acts, observe_all):
    """After a history, and again some rounds later, when what was computed about the other arms is old."""
    gamma, window, history = CASES[case]
    agent = agents.DSWTS(4, gamma=gamma, window=window, f=f)
    observe_all(agent.state, np.array([a for a, _ in history], np.int64), np.array([x for _, x in history], np.float64))
    more = [(3, 1.0), (3, 0.0), (2, 1.0), (3, 1.0), (2, 0.0), (2, 1.0), (3, 1.0)] * 2
    for seen in (history, [*history, *more]):
        counts = count_acts(agent.state, np.ones(4, bool), np.random.default_rng(1), ACTS)
        found = memories(seen, 4, gamma, window)
        expected = chances([combined_cdf(f, beta(*one), beta(*two)) for one, two in found])
        assert agreement(counts, expected) > LEVEL
        observe_all(agent.state, np.array([a for a, _ in more]), np.array([x for _, x in more]))


def test_defaults():
    for horizon in (1, 2, 50, 50_000, 10**6):
        agent = agents.make("dsw-ts", 10, horizon)
        assert (agent.gamma, agent.window, agent.f) == (0.999, 500, "mean")
