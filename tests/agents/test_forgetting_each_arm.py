"""forget(arm) is about that arm, whichever it is: the first too, whose number must not stand for all."""

from __future__ import annotations

import numpy as np
import pytest
from examples import HOUSE, example_agent

from ns_mab_gym import agents

K = 4
RACES = {"rexp3", "ser4", "exp3", "exp3s"}  # to forget one arm is to start over
ONE_BY_ONE = [name for name in HOUSE if hasattr(example_agent(name).state, "window") and name not in RACES]


@pytest.mark.parametrize("name", ONE_BY_ONE)
@pytest.mark.parametrize("forgotten", range(K))
def test_the_other_arms_keep_their_counts_and_sums(name, forgotten):
    """By hand, on a history in which every arm was pulled another number of times, each time with success."""
    agent = example_agent(name, K)
    for arm in range(K):
        for _ in range(arm + 1):
            agent.observe(arm, 1.0)
    agent.forget(forgotten)
    expected = [0 if arm == forgotten else arm + 1 for arm in range(K)]
    np.testing.assert_array_equal(agent.state.window.pulls, expected)
    np.testing.assert_array_equal(agent.state.window.sums, expected)
    agent.forget()
    np.testing.assert_array_equal(agent.state.window.pulls, np.zeros(K))


def test_all_is_no_arm():
    assert agents.ALL < 0


@pytest.mark.parametrize("name", ["kl-ucb", "sw-kl-ucb"])
def test_where_the_search_for_the_largest_index_begins_is_forgotten_with_all_arms_alone(name):
    agent = example_agent(name, K)
    for _ in range(60):
        arm = agent.act()
        agent.observe(arm, 0.9 if arm == 2 else 0.1)
    last, odds = agent.state.last[0], agent.state.odds[0]
    assert last == 2
    assert odds > 0
    agent.forget(1)
    assert (agent.state.last[0], agent.state.odds[0]) == (last, odds)
    agent.forget()
    assert (agent.state.last[0], agent.state.odds[0]) == (0, 0.0)
