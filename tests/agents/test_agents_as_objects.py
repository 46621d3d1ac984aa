"""Agents and knowledge as Python objects: compared, hashed, shown, and given observations."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from examples import HOUSE, example_agent

from ns_mab_gym import agents
from ns_mab_gym.agents import Knowledge


@pytest.mark.parametrize("name", HOUSE)
def test_an_agent_equals_itself_alone_and_takes_parameters_by_name(name):
    """Two agents with the same parameters know different things once they have played.

    A number without a name cannot be taken for another parameter, and parameters can be added.
    """
    agent = example_agent(name)
    twin = agent.clone()
    assert agent == agent
    assert (agent == twin) is False
    assert {agent: 1, twin: 2} == {twin: 2, agent: 1}
    given = inspect.signature(agents.kind(name)).parameters.values()
    assert [each.name for each in given if each.kind is not each.KEYWORD_ONLY] == ["n_arms"]


def test_knowledge_is_shown_and_compared_without_the_matrix_of_means():
    """Which would fill the screen, and whose comparison is an array."""
    means = np.full((4, 2), 0.123)
    known = Knowledge(horizon=4, means=means)
    assert "0.123" not in repr(known)
    assert known == Knowledge(horizon=4, means=means + 1)
    assert known != Knowledge(horizon=5, means=means)
    with pytest.raises(AttributeError):
        known.horizon = 5  # type: ignore[misc]


class Recording:
    """An agent that keeps what it is shown."""

    def reset(self, seed=None):
        self.shown = []

    def act(self, observation=None):
        self.shown.append(observation)
        return 1

    def observe(self, arm, reward):
        pass


def test_the_check_shows_an_agent_what_an_environment_of_the_suite_would_or_nothing():
    """Observations are K + 2 numbers, and every second round none, because ``act()`` must work without one."""
    agent = Recording()
    agents.check_agent(agent, 4, rounds=20)
    shapes = [None if shown is None else (shown.shape, shown.dtype) for shown in agent.shown]
    assert shapes == [((6,), np.float32), None] * 10


class SavesNoMemory:
    """An agent that plays arm 1 for a while and then arm 0, and does not save for how long it has played."""

    def reset(self, seed=None):
        self.rounds = 0

    def act(self, observation=None):
        return int(self.rounds < 60)

    def observe(self, arm, reward):
        self.rounds += 1

    def state_dict(self):
        return {"name": "forgetful"}

    def load_state_dict(self, saved):
        pass


def test_the_check_saves_an_agent_that_knows_something():
    """A new one and one loaded from nothing would be the same."""
    with pytest.raises(agents.AgentCheckError, match=r"after load_state_dict\(state_dict\(\)\) it plays differently"):
        agents.check_agent(SavesNoMemory(), 2, rounds=100)
