"""What the agents' tests share: small agents of every kind, and a fast way to act many times in one state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples import HOUSE, example_agent
from numba import njit

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import act, observe
from ns_mab_gym.agents.detecting import ActiveAgent


@pytest.fixture(scope="session")
def example() -> Callable[..., agents.Agent]:
    """A function from an agent's name to an agent that its own formulas tuned for a small world."""
    return example_agent


def forces_an_unseen_arm(name: str) -> bool:
    """Whether an agent begins with all arms in turn, and plays one that it has not seen however good the others are."""
    in_turn = all(_begins_in_turn(name, seed) for seed in range(10))
    return in_turn and all(_forces(name, arm, seed) for arm in range(4) for seed in range(10))


def _begins_in_turn(name: str, seed: int) -> bool:
    agent = example_agent(name, 4)
    agent.reset(seed=seed)
    arms = []
    for _ in range(4):
        arms.append(agent.act())
        agent.observe(arms[-1], 1.0)
    return arms == [0, 1, 2, 3]


def _forces(name: str, unseen: int, seed: int) -> bool:
    agent = example_agent(name, 4)
    agent.reset(seed=seed)
    for t in range(120):
        agent.observe((unseen + 1 + t % 3) % 4, 1e6 if agent.accepts == "real" else 1.0)
    return agent.act() == unseen


def explores(name: str) -> bool:
    """Whether an agent has exploration beside that of the agent within, so that an unseen arm may have to wait."""
    return issubclass(agents.kind(name), ActiveAgent)


FORCED = [name for name in HOUSE if not explores(name) and forces_an_unseen_arm(name)]


@pytest.fixture(scope="session", params=FORCED)
def forced(request: pytest.FixtureRequest) -> str:
    """The name of each agent of the house that forces unseen arms, found by what it does."""
    return str(request.param)


@pytest.fixture(scope="session")
def forced_agents() -> list[str]:
    """All of those names."""
    return FORCED


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


def _observe_all(state, arms, rewards):
    for t in range(arms.size):
        observe(state, arms[t], rewards[t])


_compiled_observe_all = njit(_observe_all)


@pytest.fixture(scope="session")
def observe_all() -> Callable[..., Any]:
    """A function that shows a state many rounds, (state, arms, rewards): compiled where that pays."""
    return lambda state, arms, rewards: (_observe_all if arms.size < 20_000 else _compiled_observe_all)(
        state, arms, rewards
    )
