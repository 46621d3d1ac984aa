"""SW-UCB, KL-UCB and SW-KL-UCB: the arm played is the argmax of the index as the papers write it.

Indices are recomputed from the full history, KL indices by bisection.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_rules import History, Rule, after, check_choice, kl_budget, kl_index, kl_rule, ucb_rule

from ns_mab_gym import agents

REWARDS = {"binary": st.sampled_from([0.0, 1.0]), "mixed": st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0])}


@st.composite
def games(draw):
    """A number of arms and a history of any arms with binary rewards or rewards in [0, 1]."""
    n_arms = draw(st.integers(2, 5))
    rewards = REWARDS[draw(st.sampled_from(["binary", "mixed"]))]
    return n_arms, draw(st.lists(st.tuples(st.integers(0, n_arms - 1), rewards), max_size=50))


def play_along(agent: agents.Agent, history: History, window: float, rule: Rule) -> None:
    """Before every round of the history, the agent must want an arm that brute force wants."""
    for t in range(len(history) + 1):
        check_choice(agent.act(), history[:t], window, agent.n_arms, rule)
        if t < len(history):
            agent.observe(*history[t])


@settings(deadline=None)
@given(game=games(), window=st.integers(1, 60), xi=st.sampled_from([0.6, 0.01, 2.0]))
def test_sw_ucb_plays_the_largest_index(game, window, xi):
    n_arms, history = game
    play_along(agents.SWUCB(n_arms, window=window, xi=xi), history, window, ucb_rule(xi, window))


@settings(deadline=None)
@given(game=games(), c=st.sampled_from([3.0, 0.0, 1.0]))
def test_kl_ucb_plays_the_largest_index(game, c):
    n_arms, history = game
    play_along(agents.KLUCB(n_arms, c=c), history, math.inf, kl_rule(c, math.inf))


@settings(deadline=None)
@given(game=games(), window=st.integers(1, 60), c=st.sampled_from([3.0, 0.0, 1.0]))
def test_sw_kl_ucb_plays_the_largest_index(game, window, c):
    n_arms, history = game
    play_along(agents.SWKLUCB(n_arms, window=window, c=c), history, window, kl_rule(c, window))


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: agents.KLUCB(2, c=3.0), kl_rule(3.0, math.inf)),
        (lambda: agents.KLUCB(2, c=0.5), kl_rule(0.5, math.inf)),
        (lambda: agents.SWKLUCB(2, window=9), kl_rule(3.0, 9)),
        (lambda: agents.SWUCB(2, window=9), ucb_rule(0.6, 9)),
    ],
    ids=["c = 3", "c = 0.5", "windowed", "sw-ucb"],
)
def test_every_state_of_two_arms_with_up_to_nine_pulls(make, rule):
    """All counts and successes: each of the first ten rounds has its budget, with ln ln t clamped and not."""
    for n in range(1, 9):
        for m in range(1, 10 - n):
            for successes, rival in product(range(n + 1), range(m + 1)):
                arms = [(0, float(i < successes)) for i in range(n)] + [(1, float(i < rival)) for i in range(m)]
                agent = make()
                for arm, reward in arms:
                    agent.observe(arm, reward)
                check_choice(agent.act(), arms, math.inf, 2, rule)


def test_trap_kl_ucb_divides_by_the_pulls_of_the_arm():
    """Public code divides the budget by t. Then the arms' own counts do not matter, and the larger mean always wins.

    Arm 0: 60 of 100, arm 1: 1 of 2, t = 103: by N_i the indices are 0.790 and 1.000, by t 0.787 and 0.703.
    """
    agent = after(agents.KLUCB(2), [(100, 60.0), (2, 1.0)])
    budget = kl_budget(103, 3.0)
    assert kl_index(100, 60.0, budget) < kl_index(2, 1.0, budget)
    assert kl_index(103, 103 * 0.6, budget) > kl_index(103, 103 * 0.5, budget)
    assert agent.act() == 1


def test_trap_sw_ucb_takes_the_logarithm_of_the_minimum():
    """Public code has min(ln t, τ) for ln min(t, τ): after 1000 rounds with τ = 10, 6.9 instead of 2.3.

    In the window arm 0 has 8 successes in 9 pulls, arm 1 none in one. With ξ = 0.5 the indices are 1.25 and 1.07, with
    the trap 1.51 and 1.86.
    """
    agent = agents.SWUCB(2, window=10, xi=0.5)
    for _ in range(99):
        for t in range(10):
            agent.observe(int(t == 0), 0.0)
    agent.observe(1, 0.0)
    agent.observe(0, 0.0)
    for _ in range(8):
        agent.observe(0, 1.0)
    right = [8 / 9 + math.sqrt(0.5 * math.log(10) / 9), math.sqrt(0.5 * math.log(10))]
    trap = [8 / 9 + math.sqrt(0.5 * math.log(1001) / 9), math.sqrt(0.5 * math.log(1001))]
    assert right[0] > right[1]
    assert trap[0] < trap[1]
    assert agent.act() == 0


def test_trap_the_same_for_sw_kl_ucb():
    """After 2000 rounds, τ = 20, c = 0: 7 of 15 and 1 of 5 have 0.76 and 0.73 by ln 20, 0.88 and 0.92 by ln 2001."""
    agent = agents.SWKLUCB(2, window=20, c=0.0)
    for _ in range(1_980):
        agent.observe(0, 0.0)
    for arm, (n, successes) in enumerate([(15, 7), (5, 1)]):
        for i in range(n):
            agent.observe(arm, float(i < successes))
    right = [kl_index(15, 7, math.log(20)), kl_index(5, 1, math.log(20))]
    trap = [kl_index(15, 7, math.log(2001)), kl_index(5, 1, math.log(2001))]
    assert right[0] > right[1]
    assert trap[0] < trap[1]
    assert agent.act() == 0


def test_unseen_arms_are_played_at_once(forced, example):
    """All K of them, not K − 1, the first first; and again when the window has lost some, those lost first first."""
    agent = example(forced, 4)
    for expected in range(4):
        assert agent.act() == expected
        agent.observe(expected, 0.0)
    agent = example(forced, 4)
    for arm in (2, 0):
        agent.observe(arm, 1.0)
    assert agent.act() == 1
    if agent.handles_mask:
        assert agent.act(mask=np.array([True, False, True, True])) == 3
    if "window" in type(agent).tunable():
        agent = example(forced, 4, window=6)
        for arm in (3, 1, 0, 2, 0, 0):
            agent.observe(arm, 1.0)
        assert agent.state.window.pulls.all()
        agent.observe(0, 1.0)
        assert agent.act() == 3
        agent.observe(0, 1.0)
        assert agent.act() == 3
        agent.observe(3, 1.0)
        assert agent.act() == 1


@pytest.mark.parametrize("name", ["sw-ucb", "kl-ucb", "sw-kl-ucb"])
@pytest.mark.parametrize("rewards", [[1.0], [0.0], [1.0, 0.0, 0.0]])
def test_ties_go_to_the_lowest_index(name, rewards, example):
    """Whatever was played last: the tied arms were pulled in falling order, and the agent acted in between."""
    agent = example(name, 4, horizon=10_000)
    agent.observe(0, 0.0)
    for reward in rewards:
        for arm in (3, 2, 1):
            agent.observe(arm, reward)
            agent.act()
    for _ in range(len(rewards) + 3):
        agent.observe(0, 0.0)
    assert agent.act() == 1


@pytest.mark.parametrize(
    ("agent", "window", "rule"),
    [
        (agents.SWUCB(4, window=150), 150, ucb_rule(0.6, 150)),
        (agents.KLUCB(4), math.inf, kl_rule(3.0, math.inf)),
        (agents.SWKLUCB(4, window=150), 150, kl_rule(3.0, 150)),
        (agents.SWKLUCB(4, window=9), 9, kl_rule(3.0, 9)),
    ],
    ids=["sw-ucb", "kl-ucb", "sw-kl-ucb", "sw-kl-ucb, short"],
)
@pytest.mark.parametrize("digits", [0, 1], ids=["binary", "tenths"])
def test_a_whole_game_of_its_own(agent, window, rule, digits):
    """1 000 rounds as they come, in phases in which arms always or never win.

    With tenths, sums carry the residue of what left the window: an arm that only ever wins now has 0.9999… or 1.
    """
    rng = np.random.default_rng(11)
    agent.reset(seed=0)
    history: History = []
    for t in range(1_000):
        arm = agent.act()
        check_choice(arm, history, window, 4, rule)
        mean = [[0.2, 0.4, 0.5, 0.6], [1.0, 0.5, 1.0, 0.0], [0.0, 0.0, 0.3, 0.0]][t // 250 % 3][arm]
        history.append((arm, float(np.clip(round(mean + rng.uniform(-1, 1) * mean * (1 - mean), digits), 0, 1))))
        agent.observe(*history[-1])
