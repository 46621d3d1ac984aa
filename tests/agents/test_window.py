"""The sliding window: equal to brute force on any history, without drift, and nothing beside it is remembered."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from examples import WINDOWED
from hypothesis import given, settings
from hypothesis import strategies as st

from ns_mab_gym import agents
from ns_mab_gym.agents.core.protocol import generator_from, generator_state

REWARDS = {"binary": st.sampled_from([0.0, 1.0]), "unit": st.floats(0, 1), "real": st.floats(-1e3, 1e3)}
every_windowed_agent = pytest.mark.parametrize("name", WINDOWED)
# It remembers who led in the stage before and who was played when; and ln τ is a constant of its duels.
DUELLISTS = {"sw-lb-sda"}


def histories(name: str, n_arms: int = 4, longest: int = 60):
    return st.lists(st.tuples(st.integers(0, n_arms - 1), REWARDS[agents.kind(name).accepts]), max_size=longest)


def brute_force(history: list[tuple[int, float]], window: int, n_arms: int) -> tuple[list[int], list[float]]:
    """N_i and S_i at round t = len(history) + 1, straight from the paper: s from max(t − τ, 1) to t − 1."""
    t = len(history) + 1
    rounds = [history[s - 1] for s in range(max(t - window, 1), t)]
    mine = [[reward for arm, reward in rounds if arm == i] for i in range(n_arms)]
    return [len(m) for m in mine], [math.fsum(m) for m in mine]


def test_there_are_windowed_agents():
    assert {"beta-swts", "gamma-swgts", "sw-ucb", "sw-kl-ucb"} <= set(WINDOWED)


@every_windowed_agent
@settings(deadline=None)
@given(data=st.data(), window=st.integers(1, 70))
def test_counts_and_sums_equal_brute_force_on_any_history(name, data, window):
    """Pulls exactly, sums to 1e-9, after every round of any history and for any window."""
    agent = agents.make(name, 4, 1_000, window=window)
    history = data.draw(histories(name))
    for t, (arm, reward) in enumerate(history):
        agent.observe(arm, reward)
        pulls, sums = brute_force(history[: t + 1], window, 4)
        state = agent.state_dict()
        assert state["state.window.pulls"].tolist() == pulls
        np.testing.assert_allclose(state["state.window.sums"], sums, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in WINDOWED if name not in DUELLISTS])
@settings(deadline=None, max_examples=60)
@given(data=st.data(), window=st.integers(1, 12), seed=st.integers(0, 2**31))
def test_nothing_but_the_window_is_remembered(name, data, window, seed, example, forced_agents):
    """After τ rounds or more, an agent plays on like one that saw nothing but the last τ rounds.

    An agent that forces unseen arms remembers one thing more, in which order it last saw them; not what they paid.
    Rewards are eighths, so that sums are exact in any order. The agent acts in between, so that what it computes once
    and keeps (means, normalisers, where a search begins) is there to be out of date.
    """
    eighths = {"binary": st.sampled_from([0.0, 1.0]), "unit": st.integers(0, 8), "real": st.integers(-80, 80)}
    scale = {"binary": 1.0, "unit": 8.0, "real": 8.0}[agents.kind(name).accepts]
    pairs = st.tuples(st.integers(0, 3), eighths[agents.kind(name).accepts].map(lambda x: x / scale))
    history = data.draw(st.lists(pairs, min_size=window, max_size=40))
    old, young = (example(name, 4, window=window) for _ in range(2))
    old.reset(seed=1)
    for arm, reward in history:
        old.act()
        old.observe(arm, reward)
    if name in forced_agents:
        for arm in reversed(dict.fromkeys(arm for arm, _ in reversed(history[:-window]))):
            young.observe(arm, 0.0)
    for arm, reward in history[-window:]:
        young.observe(arm, reward)
    words = generator_state(np.random.default_rng(seed))
    for agent in (old, young):
        agent.rng = generator_from(words)
    assert [old.act() for _ in range(20)] == [young.act() for _ in range(20)]


def test_no_drift_after_a_million_rounds_far_from_zero(observe_all):
    """γ-SWGTS on Gaussian rewards: windowed means equal those of the window's contents to 1e-9 at any time.

    The agent is stopped at odd places between laps of its ring, and right after a lap. The posterior's own means must
    keep it too. At 1e5, sums that are never added up afresh are off by some 1e-9.
    """
    offset = 1e5
    window, rounds = 2_942, 1_000_000
    agent = agents.GammaSWGTS(10, window=window)
    rng = np.random.default_rng(8)
    seen_arms, seen_rewards = np.empty(0, np.int64), np.empty(0)
    stops = [*range(0, rounds - 99_999, 100_003), window * (rounds // window), rounds]
    for begin, end in pairwise(stops):
        arms = rng.integers(0, 10, end - begin)
        rewards = offset + rng.standard_normal(end - begin)
        observe_all(agent.state, arms, rewards)
        seen_arms = np.concatenate([seen_arms, arms])[-window:]
        seen_rewards = np.concatenate([seen_rewards, rewards])[-window:]
        exact = np.array([math.fsum(seen_rewards[seen_arms == i]) for i in range(10)])
        pulls = np.bincount(seen_arms, minlength=10)
        state = agent.state_dict()
        np.testing.assert_array_equal(state["state.window.pulls"], pulls)
        np.testing.assert_allclose(state["state.window.sums"] / pulls, exact / pulls, rtol=0, atol=1e-9)
        np.testing.assert_allclose(state["state.means"], exact / pulls, rtol=0, atol=1e-9)
    assert agent.state.window.clock[0] == rounds


@pytest.mark.parametrize("jump", [1e3, 1e6])
def test_rewards_that_come_down_from_far_leave_nothing_behind(jump):
    """When large rewards have left the window, the means are those of the small ones that remain, to 1e-9."""
    agent = agents.GammaSWGTS(2, window=1_000)
    rng = np.random.default_rng(9)
    high, low = jump + rng.standard_normal(1_500), rng.standard_normal(1_250)
    for t, reward in enumerate([*high, *low]):
        agent.observe(t % 2, float(reward))
    state = agent.state_dict()
    exact = [math.fsum(low[-1_000:][i::2]) / 500 for i in range(2)]
    np.testing.assert_allclose(state["state.window.sums"] / state["state.window.pulls"], exact, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "unwindowed"),
    [("beta-swts", "ts"), ("sw-kl-ucb", "kl-ucb"), *((name, None) for name in WINDOWED if name not in DUELLISTS)],
)
def test_a_window_of_the_whole_horizon_forgets_nothing(name, unwindowed, example):
    """With τ ≥ T: array_equal with the unwindowed twin, or, where the suite has none, with τ = 10 T."""
    horizon = 1_500
    other = example(unwindowed, 4, horizon) if unwindowed else example(name, 4, horizon, window=10 * horizon)
    pair = [example(name, 4, horizon, window=horizon), other]
    binary = "binary" in {agent.accepts for agent in pair}  # else a mixture of binary and other rewards in [0, 1]
    rng = np.random.default_rng(3)
    for agent in pair:
        agent.reset(seed=4)
    for t in range(horizon):
        arm, same = (agent.act() for agent in pair)
        assert arm == same, f"round {t + 1}"
        mean = 0.2 + 0.15 * arm
        reward = float(rng.random() < mean) if binary or t % 2 else rng.random() * mean
        for agent in pair:
            agent.observe(arm, reward)
