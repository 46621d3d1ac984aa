"""On a stationary bandit with means 0.1 and 0.9, every learning agent finds the better arm and stays with it.

The mark is 95 % of the last fifth of T = 20 000 rounds, in each of five runs, windowed agents with τ = 2 000 included.
The others explore by design for longer, and their tests play them arm by arm beside their definitions.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from examples import HOUSE

from ns_mab_gym import agents, simulate, worlds

WORLD = worlds.Stationary(mu=(0.1, 0.9), horizon=20_000)
OTHERS = ("random", "ser4", "r-less-ucb", "master", "bandit-over-windows")
LEARNERS = [name for name in HOUSE if name not in OTHERS]
WINDOWED = [name for name in LEARNERS if "window" in agents.kind(name).tunable()]


def shares(name: str, runs: int = 5, **parameters: float) -> np.ndarray:
    """The better arm's share of the last fifth, in each run."""
    played = simulate(WORLD, name, runs=runs, seed=1, record="all", agent_kwargs=parameters)
    return (played.arms[:, -4_000:] == 1).mean(axis=1)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_better_arm_wins(name):
    assert shares(name).min() >= 0.95


@pytest.mark.parametrize("name", WINDOWED)
def test_the_better_arm_wins_in_a_window(name):
    assert shares(name, window=2_000).min() >= 0.95


def test_ser4_without_resets():
    assert shares("ser4", phi=0.0).min() == 1.0


def test_random_is_half_right():
    """The test can tell: 4 000 rounds, five standard errors."""
    assert np.abs(shares("random") - 0.5).max() < 5 * math.sqrt(0.25 / 4_000)
