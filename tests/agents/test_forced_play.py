"""Forced play: arms 1 to K in turn; later, of the arms without an observation in memory, the one unseen longest."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from examples import known

from ns_mab_gym import agents

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
