"""On a stationary bandit with means 0.1 and 0.9, every learning agent finds the better arm and stays with it.

The mark is 95 % of the last fifth of T = 20 000 rounds, in each of five runs, windowed agents with τ = 2 000 included.
Ser4 and Rexp3 have marks of their own.

* Ser4, tuned for N = 0 switches, has φ = 0 and never resets. It drops the worse arm after the first round-robin τ with
  0.8 ≥ 2√(ln(8τ²T)/(2τ)), about the 64th (the observed gap has a standard deviation of √(0.18/64) = 0.05, so certainly
  before the 200th), and then plays nothing but the better arm: 100 %.
* Rexp3 on a world without variation has one batch, Δ = T: γ = √(2 ln 2/((e − 1)T)) = 0.0064. The logarithm of the
  ratio of the weights grows by γ(0.9 − 0.1)/2 = 0.0025 a round, to 41 at round 16 000, where p = 1 − γ/2 = 99.7 %: the
  general mark holds. Restarted every 2 000 rounds, as a windowed agent forgets, γ = 0.0201 and the ratio grows by
  g = 0.0080 a round: over a batch of n rounds the better arm has (1 − γ)(ln(1 + e^{gn}) − ln 2)/(gn) + γ/2 = 94.8 %.
  The mark is that number, give or take 2 points.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from examples import HOUSE

from ns_mab_gym import agents, simulate, worlds

WORLD = worlds.Stationary(mu=(0.1, 0.9), horizon=20_000)
LEARNERS = [name for name in HOUSE if name != "random"]
WINDOWED = [name for name in LEARNERS if "window" in agents.kind(name).tunable()]
MARKS = {"ser4": 1.0}


def shares(name: str, **parameters: float) -> np.ndarray:
    """The better arm's share of the last fifth, in each of five runs."""
    runs = simulate(WORLD, name, runs=5, seed=1, record="all", agent_kwargs=parameters)
    return (runs.arms[:, -4_000:] == 1).mean(axis=1)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_better_arm_wins(name):
    assert shares(name).min() >= MARKS.get(name, 0.95)


@pytest.mark.parametrize("name", WINDOWED)
def test_the_better_arm_wins_in_a_window(name):
    assert shares(name, window=2_000).min() >= 0.95


def test_rexp3_with_restarts():
    """The last fifth is two whole batches."""
    gamma = math.sqrt(2 * math.log(2) / ((math.e - 1) * 2_000))
    growth = gamma * 0.8 / 2 * 2_000
    expected = (1 - gamma) * (math.log1p(math.exp(growth)) - math.log(2)) / growth + gamma / 2
    assert expected == pytest.approx(0.948, abs=1e-3)
    observed = shares("rexp3", batch=2_000)
    assert abs(observed.mean() - expected) < 0.02


def test_random_is_half_right():
    """The test can tell: 4 000 rounds, five standard errors."""
    assert np.abs(shares("random") - 0.5).max() < 5 * math.sqrt(0.25 / 4_000)
