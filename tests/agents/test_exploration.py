"""Exploration reaches every arm, the last one too, and no more often than it says."""

from __future__ import annotations

import numpy as np
import pytest
from examples import HOUSE, example_agent

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import states_in
from ns_mab_gym.agents.parts.exploration import (
    EXPLORATION,
    Exploration,
    Explorer,
    advance,
    explored,
    forget_exploration,
)


def plan(explorer: Explorer, n_arms: int, rounds: int, mask: np.ndarray | None = None) -> list[int]:
    """Which arm is explored in each round, -1 for none, if no alarm is sounded."""
    is_open = np.ones(n_arms, np.bool_) if mask is None else mask
    rng, arms = np.random.default_rng(1), []
    for _ in range(rounds):
        arms.append(int(explored(explorer, is_open, rng)))
        advance(explorer, n_arms, alarm=False)
    return arms


def explorer_of(name: str, n_arms: int) -> Explorer | None:
    """The part of the agent that explores, if it has one and it is at work."""
    found = [state for state in states_in(example_agent(name, n_arms).state) if isinstance(state, Explorer)]
    return found[0] if found and found[0].kind != EXPLORATION["none"] else None


EXPLORING = [name for name in HOUSE if explorer_of(name, 3) is not None]


@pytest.mark.parametrize("name", EXPLORING)
@pytest.mark.parametrize("n_arms", [2, 20])
def test_every_agent_that_explores_reaches_every_arm(name, n_arms):
    """Whatever the agent within would play; each arm is due 20 times, or about that."""
    explorer = explorer_of(name, n_arms)
    rate = min(1.0, explorer.rate)
    seen = plan(explorer, n_arms, rounds=int(20 * n_arms / rate))
    assert set(seen) - {-1} == set(range(n_arms))


def test_the_agents_that_explore():
    assert {"cusum-ucb", "pht-ucb", "m-ucb", "br-mab"} <= set(EXPLORING)


def test_in_turn_by_hand():
    """K = 3: with a rate of 0.4, P = ⌊7.5⌋ = 7; with 0.9, ⌊3.33⌋ is too little, so P = K + 1 = 4."""
    assert plan(Exploration("in turn", 0.4).new_state(), 3, 17) == [0, 1, 2, -1, -1, -1, -1] * 2 + [0, 1, 2]
    assert plan(Exploration("in turn", 0.9).new_state(), 3, 9) == [0, 1, 2, -1] * 2 + [0]
    assert plan(Exploration("in turn", 1e-100).new_state(), 3, 9) == [0, 1, 2] + [-1] * 6


def test_in_turn_growing_with_the_episode():
    """In episode 4 the rate is doubled, P = ⌊3/0.8⌋ = 3 → 4; in the first it is 0.4."""
    explorer = Exploration("in turn", 0.4, growing=True).new_state()
    assert plan(explorer, 3, 8) == [0, 1, 2, -1, -1, -1, -1, 0]
    for _ in range(3):
        advance(explorer, 3, alarm=True)
    assert plan(explorer, 3, 8) == [0, 1, 2, -1] * 2
    forget_exploration(explorer)
    assert plan(explorer, 3, 8) == [0, 1, 2, -1, -1, -1, -1, 0]


def turns(explorer: Explorer, n_arms: int, rounds: int) -> list[int]:
    """The rounds, counted from 1, in which turns begin."""
    arms = plan(explorer, n_arms, rounds)
    begins = [s for s, arm in enumerate(arms, 1) if arm == 0]
    for s in begins:
        assert arms[s - 1 : s - 1 + n_arms] == list(range(n_arms))[: rounds - s + 1]
    assert sum(arm >= 0 for arm in arms) == sum(min(n_arms, rounds - s + 1) for s in begins)
    return begins


def test_diminishing_by_hand():
    """K = 3, α = 1, u ← ⌈u + 3√u + 9/4⌉: 1, ⌈6.25⌉ = 7, ⌈17.19⌉ = 18, ⌈32.98⌉ = 33, ⌈52.48⌉ = 53."""
    explorer = Exploration("diminishing", 1.0).new_state()
    assert turns(explorer, 3, 60) == [1, 7, 18, 33, 53]
    advance(explorer, 3, alarm=True)
    assert turns(explorer, 3, 10) == [1, 7]
    forget_exploration(explorer)
    assert turns(explorer, 3, 10) == [1, 7]


def test_diminishing_turns_do_not_overlap():
    """With α = 100 the formula says that the next turn begins before this one has ended: it begins at its end."""
    assert turns(Exploration("diminishing", 100.0).new_state(), 3, 30) == list(range(1, 31, 3))
    assert turns(Exploration("diminishing", 1e-100).new_state(), 3, 30) == [1]


def test_a_closed_arm_leaves_its_turn_to_the_agent():
    mask = np.array([True, False, True])
    assert plan(Exploration("in turn", 0.5).new_state(), 3, 8, mask) == [0, -1, 2, -1, -1, -1, 0, -1]
    assert set(plan(Exploration("uniform", 1.0).new_state(), 3, 200, mask)) == {0, -1, 2}


def test_a_rate_of_zero_draws_nothing():
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    for kind in EXPLORATION:
        assert explored(Exploration(kind, 0.0).new_state(), np.ones(3, np.bool_), rng) == -1
    assert rng.random() == other.random()


def test_tuned_agents_explore_even_at_the_ends():
    """From T and K alone every agent here has some exploration, if there are two rounds or more."""
    for name in ("cusum-ucb", "pht-ucb", "br-mab"):
        assert 0 < agents.make(name, 200, 2).alpha < 0.61
    assert 0 < agents.make("m-ucb", 200, 10**6).gamma < agents.make("m-ucb", 200, 2).gamma == 1.0
