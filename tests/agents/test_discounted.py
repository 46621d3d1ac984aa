"""The memory of discounting agents: counts and sums against the full history, however long it is, and forgetting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from discounted_history import DISCOUNTING, by_definition
from hypothesis import given, settings
from hypothesis import strategies as st

from ns_mab_gym import agents
from ns_mab_gym.agents.parts.discounted import FAINT, blind_discount


@settings(deadline=None, max_examples=60)
@given(
    name=st.sampled_from(DISCOUNTING),
    gamma=st.floats(0.05, 1),
    history=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0])), max_size=60),
)
def test_counts_and_sums_equal_those_of_the_full_history(name, gamma, history):
    agent = agents.make(name, 3, 1_000, gamma=gamma)
    for arm, reward in history:
        agent.observe(arm, reward)
    pulls, sums = by_definition(history, 3, gamma)
    np.testing.assert_allclose(agent.state.memory.pulls, pulls, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(agent.state.memory.sums, sums, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("gamma", [blind_discount(10**7), 1 - 1e-7], ids=["blind", "slow"])
def test_nothing_drifts_in_ten_million_rounds(gamma, observe_all):
    """Real rewards; the arms 1 to 4 are rare, very rare, last seen long ago, and never seen."""
    rng = np.random.default_rng(1)
    arms = np.where(rng.random(10**7) < 0.01, 1, 0)
    arms[rng.integers(0, 10**7, 50)] = 2
    arms[:100] = 3
    rewards = rng.random(10**7)
    agent = agents.make("d-ucb", 5, gamma=gamma)
    observe_all(agent.state, arms, rewards)
    weights = np.power(gamma, np.arange(10**7 - 1, -1, -1.0))
    for i in range(3):
        mine = arms == i
        np.testing.assert_allclose(agent.state.memory.pulls[i], weights[mine].sum(), rtol=1e-9)
        np.testing.assert_allclose(agent.state.memory.sums[i], (weights[mine] * rewards[mine]).sum(), rtol=1e-9)
    old = weights[:100].sum()
    np.testing.assert_allclose(agent.state.memory.pulls[3], old if old > FAINT else 0.0, rtol=1e-9)
    assert agent.state.memory.pulls[4] == 0


@pytest.mark.parametrize("name", DISCOUNTING)
@pytest.mark.parametrize("gamma", [0.3, 0.5, 0.9])
def test_an_arm_long_unseen_fades_to_nothing(name, gamma):
    """Its counts reach 0, not the smallest float above it; and the agent acts at every age."""
    agent = agents.make(name, 3, 1_000, gamma=gamma)
    agent.reset(seed=1)
    agent.observe(1, 1.0)
    faded = math.ceil(math.log(FAINT) / math.log(gamma)) + 2
    for t in range(faded):
        agent.observe(2 * (t % 2), 1.0)
        if t % 7 == 0:
            assert agent.act() in range(3)
    assert agent.state.memory.pulls[1] == agent.state.memory.sums[1] == 0
    if name in ("d-ucb", "ds-ts"):
        assert agent.act() == 1


@pytest.mark.parametrize("name", DISCOUNTING)
def test_successes_never_outnumber_pulls(name, observe_all):
    """To the last bit, on histories of 20 000 rounds in which failures are rare: Beta laws need F ≥ 0."""
    rng = np.random.default_rng(2)
    for gamma in (0.7, 0.97, 0.9993):
        agent = agents.make(name, 4, 1_000, gamma=gamma)
        for _ in range(40):
            arms, rewards = rng.integers(0, 4, 500), (rng.random(500) < 0.995).astype(float)
            observe_all(agent.state, arms, rewards)
            assert (agent.state.memory.pulls >= agent.state.memory.sums).all()
            assert (agent.state.memory.sums >= 0).all()


@pytest.mark.parametrize("name", DISCOUNTING)
def test_a_forgotten_arm_is_new_and_the_others_go_on(name):
    agent = agents.make(name, 3, 1_000, gamma=0.9)
    for arm in (0, 1, 2, 1, 0):
        agent.observe(arm, 1.0)
    before = agent.state.memory.pulls.copy()
    agent.forget(0)
    assert agent.state.memory.pulls.tolist() == [0.0, before[1], before[2]]
    assert agent.state.memory.sums.tolist() == [0.0, before[1], before[2]]
    agent.observe(0, 0.0)
    np.testing.assert_allclose(agent.state.memory.pulls, [1.0, 0.9 * before[1], 0.9 * before[2]], rtol=1e-15)


@pytest.mark.parametrize("name", [*DISCOUNTING, "exp3", "exp3s"])
def test_with_all_arms_forgotten_the_state_is_the_new_one(name):
    agent, new = (agents.make(name, 3, 1_000) for _ in range(2))
    for t in range(50):
        agent.act()
        agent.observe(t % 3, float(t % 2))
    agent.forget()
    for key, value in new.state_dict().items():
        if key.startswith("state."):
            np.testing.assert_array_equal(agent.state_dict()[key], value, err_msg=key)
