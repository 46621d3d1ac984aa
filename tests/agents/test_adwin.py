"""ADWIN and ADR-TS: the histogram, the cuts and the alarms, against brute force from whole histories."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import forget, watch
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.agents.parts import detectors
from ns_mab_gym.agents.parts.alarms import alarms_in
from ns_mab_gym.agents.parts.detectors import ADWIN

DELTA = 1e-4


def differs(cut: str, history: list[float], old: np.ndarray) -> bool:
    """Whether the means of the first ``old`` samples and of the others differ by ε_cut, for any of these cuts.

    ε_cut is that of Komiyama and others, or that of Bifet and Gavaldà with δ' = δ/ln n.
    """
    n, total = len(history), np.cumsum(history)
    new = n - old
    gap = np.abs(total[old - 1] / old - (total[-1] - total[old - 1]) / new)
    if cut == "hoeffding":
        log = math.log(1 / DELTA)
        return bool((gap >= np.sqrt(log / (2 * old)) + np.sqrt(log / (2 * new))).any())
    m = 1 / (1 / old + 1 / new)
    log = math.log(2 * math.log(n) / DELTA)
    return bool((gap >= np.sqrt(2 / m * np.var(history) * log) + 2 / (3 * m) * log).any())


@functools.cache
def sizes(n: int, per_row: int) -> tuple[int, ...]:
    """The sizes of the buckets after n samples, the oldest first, by merging the two oldest of a size in a list."""
    if n == 0:
        return ()
    buckets, size = [*sizes(n - 1, per_row), 1], 1
    while buckets.count(size) > per_row:
        first = buckets.index(size)
        buckets[first : first + 2] = [2 * size]
        size *= 2
    return tuple(buckets)


@pytest.mark.parametrize("cut", ["hoeffding", "variance"])
@pytest.mark.parametrize(("every", "per_row"), [(1, 1_000), (10, 5), (4, 2)])
def test_alarms_are_those_of_the_definition(cut, every, per_row):
    """1 000 buckets of one sample have every cut; 5 or 2 of each size those between them."""
    rng = np.random.default_rng(per_row)
    state = ADWIN(delta=DELTA, cut=cut, every=every, per_row=per_row).new_state(2)
    histories: list[list[float]] = [[], []]
    alarms = 0
    for t in range(1_200):
        mean = (0.1, 0.8, 0.4)[t // 200 % 3]
        arm = int(rng.integers(2))
        reward = float(rng.random() < mean) if arm == 0 else float(rng.beta(3 * mean, 3 * (1 - mean)))
        history = histories[arm]
        history.append(reward)
        cuts = np.cumsum(sizes(len(history), per_row))[:-1]
        expected = len(history) % every == 0 and len(cuts) > 0 and differs(cut, history, cuts)
        assert watch(state, arm, reward) == expected, t
        if expected:
            alarms += 1
            forget(state, arm)
            history.clear()
    assert alarms >= 4


def test_a_full_histogram_forgets_its_oldest_bucket(monkeypatch):
    """With room for 2 · (2³ − 1) samples it holds the latest, and its totals are theirs."""
    monkeypatch.setattr(detectors, "LONGEST", 14)
    values = np.random.default_rng(2).random(100)
    state = ADWIN(delta=1e-100, per_row=2).new_state(1)
    assert state.filled.shape == (1, 3)
    for value in values:
        watch(state, 0, value)
    held = int((state.filled[0] * 2 ** np.arange(3)).sum())
    assert 7 <= held <= 14
    assert state.totals[0, :2].tolist() == pytest.approx([held, values[-held:].sum()])


def test_the_level_by_hand():
    """1/T³ = 8e-15 at T = 50 000; T = 1 counts as 2."""
    assert ADWIN.tune(Knowledge(horizon=50_000), {})["delta"] == pytest.approx(8e-15)
    assert agents.make("adr-ts", 10, 50_000).delta == pytest.approx(8e-15)
    assert agents.make("adr-ts", 10, 1).delta == 1 / 8
    assert agents.make("adr-ts", 10, delta=0.25).delta == 0.25


def test_adr_ts_forgets_everything_when_one_arm_changes():
    """ln(1/δ) = 9.21: after 150 ones √(9.21/300) + √(9.21/20) = 0.85 < 1 for ten zeros."""
    agent = agents.make("adr-ts", 3, delta=DELTA)
    for t in range(150):
        agent.observe(t % 3, 1.0)
        agent.observe(0, 1.0)
    for _ in range(10):
        agent.observe(0, 0.0)
    assert alarms_in(agent.state).tolist() == [(310, 0, True)]
    assert agent.state.inner.window.pulls.tolist() == [0, 0, 0]
    assert agent.state.detector.totals.sum() == 0


def test_adr_ts_forces_nothing_and_without_alarms_is_ts():
    agent, plain = agents.make("adr-ts", 4, delta=1e-100), agents.make("ts", 4)
    luck = np.random.default_rng(1)
    for each in (agent, plain):
        each.reset(seed=3)
    for _ in range(500):
        arm = agent.act()
        assert arm == plain.act()
        reward = float(luck.random() < 0.2 + 0.2 * arm)
        agent.observe(arm, reward)
        plain.observe(arm, reward)
