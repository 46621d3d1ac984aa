"""The generalised likelihood ratio test: against brute force from whole histories, and against its theory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

from ns_mab_gym.agents.core.kernel import ALL, forget, watch
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.agents.parts.detectors import GLR, _changed
from ns_mab_gym.agents.parts.memories import COUNT

K = 3


def divergence(p: float, q: float) -> float:
    """d(p, q), by its definition."""
    total = 0.0
    for a, b in ((p, q), (1 - p, 1 - q)):
        if a > 0:
            total += a * math.log(a / b)
    return total


def statistic(history: list[float], s: int) -> float:
    """s d(μ̂_{1:s}, μ̂_{1:n}) + (n − s) d(μ̂_{s+1:n}, μ̂_{1:n}); 0 if all samples are equal to 0, or to 1."""
    n, mean = len(history), np.mean(history)
    if mean <= 0 or mean >= 1:
        return 0.0
    first, second = np.mean(history[:s]), np.mean(history[s:])
    return s * divergence(first, mean) + (n - s) * divergence(second, mean)


def rewards(kind: str, rng: np.random.Generator, mean: float) -> float:
    return float(rng.random() < mean) if kind == "binary" else float(rng.beta(2 * mean, 2 * (1 - mean)))


@pytest.mark.parametrize("kind", ["binary", "unit"])
@pytest.mark.parametrize(("every", "splits", "factor"), [(1, 1, 1.0), (10, 10, 1.0), (10, 5, 3.0), (3, 7, 1.0)])
def test_alarms_are_those_of_the_definition(kind, every, splits, factor):
    """Brute force on each arm's samples since its last alarm; some successes are rare."""
    rng = np.random.default_rng(every + splits)
    state = GLR(delta=0.05, factor=factor, every=every, splits=splits).new_state(K)
    histories: list[list[float]] = [[] for _ in range(K)]
    alarms = 0
    for t in range(900):
        if t % 150 == 0:
            means = rng.permutation([0.02, 0.5, 0.95])
        arm = int(rng.integers(K))
        reward = rewards(kind, rng, means[arm])
        history = histories[arm]
        history.append(reward)
        n = len(history)
        beta = math.log(factor * n**1.5 / 0.05)
        expected = n % every == 0 and any(statistic(history, s) >= beta for s in range(splits, n, splits))
        assert watch(state, arm, reward) == expected, t
        if expected:
            alarms += 1
            everything = alarms % 3 == 0
            forget(state, ALL if everything else arm)
            for i in range(K):
                if everything or i == arm:
                    histories[i].clear()
    assert alarms >= 4  # else nothing was tested


def test_the_screen_without_logarithms_drops_no_split_that_the_test_would_take():
    """One split, thresholds a hair below and above its statistic, also with means so close that the bound is tight."""
    rng = np.random.default_rng(5)
    for _ in range(2_000):
        s, rest = (int(n) for n in 10 ** rng.uniform(0.5, 5, 2))
        mean = rng.uniform(0.01, 0.99)
        first, second = s * mean, rest * np.clip(mean + 10 ** rng.uniform(-3, 0) * rng.choice([-1, 1]), 0, 1)
        n, total = s + rest, first + second
        value = s * divergence(first / s, total / n) + rest * divergence(second / rest, total / n)
        row = np.array([[s, n], [first, total]], float)
        if value > 1e-3:
            assert _changed(row, 1, value * (1 - 1e-6))
            assert not _changed(row, 1, value * (1 + 1e-6))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_samples_are_no_change(value):
    state = GLR(delta=0.99, every=1, splits=1).new_state(1)
    assert not any(watch(state, 0, value) for _ in range(300))


@njit
def _watch_all(state, rewards):
    """After how many samples the first alarm is sounded; 0 if none is."""
    for t in range(rewards.size):
        if watch(state, 0, rewards[t]):
            return t + 1
    return 0


def test_what_a_full_memory_keeps():
    """Sums of what came before, every one of the first samples, and gaps of at most ε times the nearer end."""
    rng = np.random.default_rng(1)
    values = (rng.random(50_000) < 0.3).astype(float)
    state = GLR(delta=1e-100, every=10, splits=10, memory=1024).new_state(1)
    assert _watch_all(state, values[:10_230]) == 0
    kept = state.prefixes.kept[0]
    np.testing.assert_array_equal(state.prefixes.points[0, COUNT, :kept], np.arange(10, 10_231, 10))
    assert _watch_all(state, values[10_230:]) == 0
    kept = state.prefixes.kept[0]
    assert kept < 1024
    counts, sums = state.prefixes.points[0, :, : kept + 1].copy()
    assert counts[-1] == 50_000
    np.testing.assert_array_equal(sums, values.cumsum()[counts.astype(int) - 1])
    assert (counts[:-1] % 10 == 0).all()
    assert (np.diff(counts) > 0).sum() >= kept - 1  # the last point may be that of all samples
    left, right = counts[:-2], counts[1:-1]
    assert (right - left <= np.maximum(10, np.minimum(left, 50_000 - left) / 64)).all()


def test_a_thinned_grid_finds_almost_the_largest_statistic():
    """Wherever the change was; the gaps are at most 1/32 of the distance to the nearer end, the loss twice that."""
    rng = np.random.default_rng(2)
    for change in (300, 3_000, 10_000, 19_000, 19_900):
        values = (rng.random(20_000) < np.where(np.arange(20_000) < change, 0.5, 0.3)).astype(float)
        state = GLR(delta=1e-100, every=30_000, splits=1, memory=1024).new_state(1)
        _watch_all(state, values)
        total = values.cumsum()
        n, mean = 20_000, total[-1] / 20_000

        def all_statistics(s: np.ndarray, total=total, n=n, mean=mean) -> np.ndarray:
            pieces = []
            for size, share in ((s, total[s - 1] / s), (n - s, (total[-1] - total[s - 1]) / (n - s))):
                share = np.clip(share, 1e-15, 1 - 1e-15)
                pieces.append(size * (share * np.log(share / mean) + (1 - share) * np.log((1 - share) / (1 - mean))))
            return pieces[0] + pieces[1]

        kept = state.prefixes.points[0, COUNT, : state.prefixes.kept[0] - 1].astype(int)
        assert len(kept) < 1024
        assert all_statistics(kept).max() >= (1 - 2 / 32) * all_statistics(np.arange(1, n)).max()


def test_the_level_by_hand():
    """1/√50 000 = 0.0044721; T = 1 counts as 2."""
    assert GLR.tune(Knowledge(horizon=50_000), {})["delta"] == pytest.approx(0.0044721, abs=1e-7)
    assert GLR.tune(Knowledge(horizon=1), {}) == {"delta": 1 / math.sqrt(2)}
    assert GLR.tune(Knowledge(), {"delta": 0.5}) == {}
