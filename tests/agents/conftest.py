"""What the agents' tests share: small agents of every kind, and a fast way to act many times in one state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import example_agent
from numba import njit

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import act, observe


@pytest.fixture(scope="session")
def example() -> Callable[..., agents.Agent]:
    """A function from an agent's name to an agent that its own formulas tuned for a small world."""
    return example_agent


@njit  # without a cache on disk, which would not notice an edit of an agent
def _count_acts(state, mask, rng, times):
    counts = np.zeros(mask.size, np.int64)
    for _ in range(times):
        counts[act(state, mask, rng)] += 1
    return counts


@pytest.fixture(scope="session")
def count_acts() -> Callable[..., Any]:
    """A compiled function from (state, mask, generator, times) to how often each arm was chosen."""
    return _count_acts


@njit
def _observe_all(state, arms, rewards):
    for t in range(arms.size):
        observe(state, arms[t], rewards[t])


@pytest.fixture(scope="session")
def observe_all() -> Callable[..., Any]:
    """A compiled function that shows a state many rounds: (state, arms, rewards)."""
    return _observe_all
