"""forget: the state of an agent after it forgot one arm, or all."""

from __future__ import annotations

import numpy as np
import pytest
from examples import HOUSE, WINDOWED, example_agent

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import RULES

K = 4
FORGETFUL = [name for name in HOUSE if RULES[type(example_agent(name).state)].forget is not None]
# Their memory is about the race between arms: to forget one arm is to start over.
RACES = {"rexp3", "ser4", "exp3", "exp3s"}
every_forgetful_agent = pytest.mark.parametrize("name", FORGETFUL)


def play(agent: agents.Agent, rounds: int, seed: int) -> list[int]:
    luck = np.random.default_rng(seed)
    arms = []
    for _ in range(rounds):
        arms.append(agent.act())
        agent.observe(arms[-1], float(luck.random() < 0.2 + 0.2 * arms[-1]))
    return arms


def test_every_agent_that_learns_can_forget():
    assert set(HOUSE) - set(FORGETFUL) == {"random", "oracle"}
    with pytest.raises(NotImplementedError, match="RandomState cannot forget: give rule"):
        example_agent("random").forget()


@every_forgetful_agent
def test_after_forgetting_all_it_plays_like_a_new_agent(name):
    old, new = example_agent(name, K), example_agent(name, K)
    old.reset(seed=1)
    play(old, 450, seed=2)
    old.forget()
    new.reset(seed=3)
    old.rng = np.random.default_rng(3)
    assert play(old, 300, seed=4) == play(new, 300, seed=4)


@every_forgetful_agent
def test_forgetting_one_arm_leaves_the_others(name):
    """Counts and sums equal those of a history in which the arm was never played; races start over."""
    agent = example_agent(name, K)
    agent.reset(seed=1)
    play(agent, 120, seed=2)
    if name in RACES:
        agent.forget(0)
        fresh = example_agent(name, K)
        for key, value in fresh.state_dict().items():
            if key.startswith("state."):
                np.testing.assert_array_equal(agent.state_dict()[key], value, err_msg=key)
        return
    before = agent.state_dict()
    agent.forget(0)  # whose number must not stand for all
    after = agent.state_dict()
    for key in (key for key in before if key.endswith((".pulls", ".sums"))):  # other memories have tests of their own
        expected = before[key].copy()
        expected[..., 0] = 0
        np.testing.assert_array_equal(after[key], expected)


@pytest.mark.parametrize(("name", "window"), [*zip(WINDOWED, (1, 3, 7, 40, 3), strict=False), ("beta-swts", 7)])
def test_a_forgotten_arm_stays_forgotten_while_the_window_slides(name, window):
    """Brute force: rounds of arm 1 before the moment of forgetting count for nothing, then and later."""
    agent = agents.make(name, K, 1_000, window=window)
    history: list[tuple[int, float] | None] = []
    rng = np.random.default_rng(window)
    for t in range(150):
        if t % 31 == 17:
            agent.forget(1)
            history = [None if each is not None and each[0] == 1 else each for each in history]
        arm, reward = int(rng.integers(K)), float(rng.integers(2))
        agent.observe(arm, reward)
        history.append((arm, reward))
        kept = [each for each in history[-window:] if each is not None]
        state = agent.state_dict()
        assert state["state.window.pulls"].tolist() == [sum(a == i for a, _ in kept) for i in range(K)]
        assert state["state.window.sums"].tolist() == [sum(x for a, x in kept if a == i) for i in range(K)]


def test_bad_arms():
    agent = example_agent("ts", K)
    with pytest.raises(ValueError, match="an arm must be an integer from 0 to 3, got 4"):
        agent.forget(4)
    with pytest.raises(TypeError, match=r"an arm must be an integer from 0 to 3, got 1\.5"):
        agent.forget(1.5)


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
