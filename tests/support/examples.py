"""What tests of many folders need: small agents of every kind, and which of them have which memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ns_mab_gym import agents, theory
from ns_mab_gym.agents.core.kernel import states_in
from ns_mab_gym.agents.parts.memories import Window


def known(n_arms: int, horizon: int) -> agents.Knowledge:
    """What is true of a world with two phases, in which every formula has something to work with."""
    phases = np.linspace(0.1, 0.9, n_arms)
    means = np.repeat([phases, phases[::-1]], [horizon - horizon // 2, horizon // 2], axis=0)
    return theory.knowledge(means)


def example_agent(name: str, n_arms: int = 3, horizon: int = 400, **parameters: Any) -> agents.Agent:
    """An agent that its own formulas tuned for a small world."""
    return agents.make(name, knowledge=known(n_arms, horizon), **parameters)


def has_a_window(agent: agents.Agent) -> bool:
    """Whether somewhere in the agent's state there is a window that forgets."""
    return any(isinstance(state, Window) and state.arms.size > 0 for state in states_in(agent.state))


HOUSE = list(agents.HOUSE)
# Those with a window of their own to set: bandit-over-windows chooses among many.
WINDOWED = [name for name in HOUSE if "window" in agents.kind(name).tunable() and has_a_window(example_agent(name))]
