"""The sliding window: equal to brute force on any history, without drift, and nothing beside it is remembered."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from examples import WINDOWED, known
from hypothesis import given
from hypothesis import strategies as st

from ns_mab_gym import agents
from ns_mab_gym.agents.core.protocol import generator_from, generator_state

REWARDS = {"binary": st.sampled_from([0.0, 1.0]), "unit": st.floats(0, 1), "real": st.floats(-1e3, 1e3)}
every_windowed_agent = pytest.mark.parametrize("name", WINDOWED)
# It remembers who led in the stage before and who was played when; and ln τ is a constant of its duels.
DUELLISTS = {"sw-lb-sda"}


def brute_force(history: list[tuple[int, float]], window: int, n_arms: int) -> tuple[list[int], list[float]]:
    """N_i and S_i at round t = len(history) + 1, straight from the paper: s from max(t − τ, 1) to t − 1.

    Rounds of an arm that was forgotten since are those of arm −1.
    """
    t = len(history) + 1
    rounds = [history[s - 1] for s in range(max(t - window, 1), t)]
    mine = [[reward for arm, reward in rounds if arm == i] for i in range(n_arms)]
    return [len(m) for m in mine], [math.fsum(m) for m in mine]


def test_there_are_windowed_agents():
    assert {"beta-swts", "gamma-swgts", "sw-ucb", "sw-kl-ucb"} <= set(WINDOWED)


@every_windowed_agent
@given(data=st.data(), window=st.integers(1, 70))
def test_counts_and_sums_equal_brute_force_on_any_history(name, data, window):
    """Pulls exactly, sums to 1e-9, after every round of any history and for any window; arm 1 is forgotten at times."""
    agent = agents.make(name, 4, 1_000, window=window)
    rounds = st.tuples(st.integers(0, 3), REWARDS[agents.kind(name).accepts], st.sampled_from([False] * 9 + [True]))
    history: list[tuple[int, float]] = []
    for arm, reward, forgets in data.draw(st.lists(rounds, max_size=60)):
        if forgets:
            agent.forget(1)
            history = [(-1 if each == 1 else each, x) for each, x in history]
        agent.observe(arm, reward)
        history.append((arm, reward))
        pulls, sums = brute_force(history, window, 4)
        state = agent.state_dict()
        assert state["state.window.pulls"].tolist() == pulls
        np.testing.assert_allclose(state["state.window.sums"], sums, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in WINDOWED if name not in DUELLISTS])
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


# Forced play: arms 1 to K in turn; later, of the arms without an observation in memory, the one unseen longest.

K = 10
WINDOWS = range(1, K + 3)
Masks = npt.NDArray[np.bool_]


def make(name: str, window: int, n_arms: int = K) -> agents.Agent:
    """The agent with this window, if it has one."""
    windowed = "window" in agents.kind(name).tunable()
    return agents.make(name, knowledge=known(n_arms, 2_000), **({"window": window} if windowed else {}))


def memory(agent: agents.Agent) -> int | None:
    """How many rounds the agent remembers; None for all of them."""
    return getattr(agent, "window", None)


def forced_arm(arms: list[int], window: int | None, mask: Iterable[bool]) -> int | None:
    """From the arms of all rounds so far: the open arm to be forced now, or None if each was seen in the window."""
    recent = arms if window is None else arms[-window:]
    last = {arm: t for t, arm in enumerate(arms, 1)}
    unseen = [i for i, is_open in enumerate(mask) if is_open and i not in recent]
    return min(unseen, key=lambda i: (last.get(i, 0), i), default=None)


def check(arms: list[int], window: int | None, masks: Masks) -> None:
    """Wherever an arm must be forced, it was that one."""
    for t, arm in enumerate(arms):
        must = forced_arm(arms[:t], window, masks[t])
        assert must in (None, arm), f"round {t + 1}"


def play(agent: agents.Agent, masks: Masks) -> list[int]:
    """The arms of a game in which arm i pays with probability (i + 1)/(K + 1)."""
    luck = np.random.default_rng(1)
    agent.reset(seed=2)
    arms = []
    for mask in masks:
        arms.append(agent.act(mask=None if mask.all() else mask))
        agent.observe(arms[-1], float(luck.random() < (arms[-1] + 1) / (K + 1)))
    return arms


def test_the_agents_that_force_play_are_found_by_what_they_do(forced_agents):
    assert {"gamma-swgts", "sw-ucb", "kl-ucb", "sw-kl-ucb"} <= set(forced_agents)
    assert not {"beta-swts", "ts", "rexp3", "ser4", "random", "oracle"} & set(forced_agents)


def test_every_arm_is_played_with_every_window(forced):
    """I_t = t for t ≤ K, and afterwards the arm unseen longest: with τ < K that is the arms in turn for ever."""
    for window in WINDOWS:
        agent = make(forced, window)
        arms = play(agent, np.ones((60, K), np.bool_))
        assert arms[:K] == list(range(K))
        check(arms, memory(agent), np.ones((60, K), np.bool_))
        if memory(agent) is None:
            break
        if window < K:
            assert arms == [t % K for t in range(60)]


def test_every_open_arm_is_played(forced):
    """In each block of 30 rounds five arms are closed: each of the other five, seen or not before, is played."""
    blocks = [np.isin(np.arange(K), np.random.default_rng(b).permutation(K)[:5]) for b in range(12)]
    masks = np.repeat(blocks, 30, axis=0)
    for window in (1, 4, 5, K + 2) if make(forced, 1).handles_mask else ():
        agent = make(forced, window)
        arms = play(agent, masks)
        assert masks[np.arange(len(arms)), arms].all()
        check(arms, memory(agent), masks)
        for b, is_open in enumerate(blocks):
            if window < 5 and memory(agent) is not None:
                assert set(arms[30 * b : 30 * (b + 1)]) == set(np.flatnonzero(is_open))
        assert set(arms) == set(range(K))


def test_of_forgotten_arms_the_one_unseen_longest_comes_first(forced):
    """Last seen: arm 2 in round 4, arm 4 in round 6, arm 1 in round 7. Forgotten in another order, played in this."""
    agent = make(forced, 100, n_arms=5)
    for arm in (0, 1, 3, 2, 0, 4, 1, 3):
        agent.observe(arm, 1.0)
    for arm in (4, 1, 2):
        agent.forget(arm)
    played = []
    for _ in range(3):
        played.append(agent.act())
        agent.observe(played[-1], 0.0)
    assert played == [2, 4, 1]


def test_an_arm_that_is_forgotten_again_and_again_does_not_keep_the_others_waiting(forced):
    agent = make(forced, 100)
    arms = []
    for _ in range(3 * K):
        arms.append(agent.act())
        agent.observe(arms[-1], 1.0)
        agent.forget(arms[-1])
    assert arms == [*range(K)] * 3


def test_rounding_does_not_hide_an_unseen_arm(forced):
    """0.3 + 0.6 − 0.3 − 0.6 is not 0 but below it: an arm has left the window if its pulls say so, not its sum."""
    assert 0.3 + 0.6 - 0.3 - 0.6 < 0
    agent = make(forced, 5, n_arms=2)
    for arm, reward in [(0, 0.3), (0, 0.6), *[(1, 0.5)] * 5]:
        agent.observe(arm, reward)
    assert memory(agent) is None or agent.act() == 0
