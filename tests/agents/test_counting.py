"""What the t of an index counts after single arms were forgotten: rounds, samples, or rounds since the arm's restart.

Indices are recomputed from the full history with the moments at which arms were forgotten.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from index_rules import kl_index

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import ALL, act, forget, observe
from ns_mab_gym.agents.kl_ucb import new_kl_state
from ns_mab_gym.agents.parts.indices import COUNTING
from ns_mab_gym.agents.sw_ucb import new_ucb1_state

K = 3


class Histories:
    """Every round and every restart; what each arm remembers is looked up anew each time."""

    def __init__(self) -> None:
        self.rounds: list[tuple[int, float]] = []
        self.restarts = [0] * K

    def samples(self, arm: int) -> list[float]:
        return [x for t, (a, x) in enumerate(self.rounds) if a == arm and t >= self.restarts[arm]]

    def log_t(self, arm: int, counting: str) -> float:
        t = len(self.rounds) + 1
        counted = {"rounds": t, "samples": sum(len(self.samples(i)) for i in range(K)), "arm": t - self.restarts[arm]}
        return math.log(counted[counting])

    def wanted(self, index: str, counting: str) -> list[float]:
        found = []
        for arm in range(K):
            mine = self.samples(arm)
            mean, log_t = math.fsum(mine) / len(mine), self.log_t(arm, counting)
            bonus = math.sqrt(2.0 * log_t / len(mine))
            found.append(mean + bonus if index == "ucb" else kl_index(len(mine), math.fsum(mine), log_t))
        return found


STATES = {"ucb": lambda counting: new_ucb1_state(K, 2.0, counting), "kl": lambda c: new_kl_state(K, None, 0.0, c)}


@pytest.mark.parametrize("counting", COUNTING)
@pytest.mark.parametrize("index", STATES)
@pytest.mark.parametrize("seed", range(4))
def test_the_largest_index_is_played_after_arms_were_forgotten(index, counting, seed):
    rng, mask = np.random.default_rng(seed), np.ones(K, np.bool_)
    state, history, told_apart = STATES[index](counting), Histories(), 0
    for t in range(250):
        if t % 41 == 40:
            arm = int(rng.integers(K))
            forget(state, arm)
            history.restarts[arm] = t
        chosen = act(state, mask, rng)
        empty = [arm for arm in range(K) if not history.samples(arm)]
        if empty:
            assert chosen in empty
        else:
            indices = history.wanted(index, counting)
            assert indices[chosen] >= max(indices) - 1e-9
            others = [history.wanted(index, other) for other in COUNTING if other != counting]
            told_apart += any(int(np.argmax(other)) != int(np.argmax(indices)) for other in others)
        arm = chosen if rng.random() < 0.7 else int(rng.integers(K))
        reward = float(rng.random() < 0.3 + 0.2 * arm)
        observe(state, arm, reward)
        history.rounds.append((arm, reward))
    assert told_apart > 0  # else another way of counting would have passed


@pytest.mark.parametrize("index", STATES)
def test_after_all_was_forgotten_time_begins_again(index):
    state, fresh = (STATES[index]("arm") for _ in range(2))
    rng, mask = np.random.default_rng(0), np.ones(K, np.bool_)
    for t in range(60):
        observe(state, t % K, float(t % 2))
        if t == 30:
            forget(state, 1)
    forget(state, ALL)
    for t in range(100):
        arm = act(fresh, mask, rng)
        assert act(state, mask, rng) == arm
        for each in (state, fresh):
            observe(each, arm, float(t % 3 == arm))


def test_ucb1_is_the_index_of_its_source():
    """ξ = 2: at every round of a game argmax μ̂ + √(2 ln t/N), each arm once first."""
    agent, history, luck = agents.UCB1(K), Histories(), np.random.default_rng(5)
    for t in range(300):
        arm = agent.act()
        if t < K:
            assert arm == t
        else:
            indices = history.wanted("ucb", "rounds")
            assert arm == indices.index(max(indices))
        history.rounds.append((arm, float(luck.random() < 0.2 + 0.3 * arm)))
        agent.observe(*history.rounds[-1])
