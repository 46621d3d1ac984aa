"""MASTER against Procedure 1 and Algorithms 2, 3 and 7 of its source, written out from the full history."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import ALL
from ns_mab_gym.agents.parts.alarms import alarms_in

K = 3


@dataclass
class Instance:
    """One instance of UCB1, with every round in which it was active."""

    order: int
    start: int
    rounds: list[tuple[int, float]]


class FromTheSource:
    """MASTER that keeps everything and computes every number from it."""

    def __init__(self, n_arms: int, horizon: int, delta: float, c: float, tolerance: float, seed: int) -> None:
        self.n_arms, self.horizon, self.log, self.c, self.tolerance = (
            n_arms,
            horizon,
            math.log(horizon / delta),
            c,
            tolerance,
        )
        self.rng = np.random.default_rng(seed)
        self.t, self.alarms, self.why = 0, [], set()
        self.begin(0)

    def begin(self, n: int) -> None:
        self.n, self.since, self.instances, self.history, self.promised = n, self.t, [], [], []

    def rho(self, t: int) -> float:
        return math.sqrt(self.n_arms * self.log / t) + self.n_arms * self.log / t

    def rho_hat(self, t: int) -> float:
        return self.tolerance * 6 * (math.log2(self.horizon) + 1) * self.log * self.rho(t)

    def act(self) -> int:
        tau = self.t - self.since
        for m in range(self.n, -1, -1):
            if tau % 2**m == 0 and (m == self.n or self.rng.random() < self.rho(2**self.n) / self.rho(2**m)):
                self.instances.append(Instance(m, tau, []))
        covering = [each for each in self.instances if each.start <= tau < each.start + 2**each.order]
        self.active = min(covering, key=lambda each: each.order)
        self.indices = []
        for arm in range(self.n_arms):
            seen = [reward for played, reward in self.active.rounds if played == arm]
            n = max(1, len(seen))
            self.indices.append(sum(seen) / n + self.c * math.sqrt(self.log / n))
        return int(np.argmax(np.round(self.indices, 12)))

    def observe(self, arm: int, reward: float) -> None:
        self.active.rounds.append((arm, reward))
        self.history.append(reward)
        self.promised.append(min(1.0, max(self.indices)))
        self.t += 1
        tau = self.t - self.since
        ended = [each for each in self.instances if each.start + 2**each.order == tau]
        first = any(
            np.mean(self.history[each.start :]) >= min(self.promised) + 9 * self.rho_hat(2**each.order)
            for each in ended
        )
        second = np.mean(self.promised) - np.mean(self.history) >= 3 * self.rho_hat(tau)
        if first or second:
            self.why |= {"first"} if first else set()
            self.why |= {"second"} if second else set()
            self.alarms.append(self.t)
            self.begin(0)
        elif tau == 2**self.n:
            self.begin(min(self.n + 1, int(math.log2(self.horizon))))


# The world changes every 128 rounds; arm i pays with these probabilities in turn.
PHASES = [[0.9, 0.5, 0.1], [0.05, 0.0, 0.1], [0.0, 0.1, 1.0], [1.0, 1.0, 1.0]]


RESTARTING = [(2e-4, 1.0), (1e-4, 0.1), (5e-5, 0.05)]  # tolerances and widths with which tests fail here


@pytest.mark.parametrize(("tolerance", "c"), [(1.0, 1.0), *RESTARTING])
def test_every_arm_and_every_alarm_from_the_full_history(tolerance, c):
    """1 000 rounds, tuned for 700: schedule, active instance, index, both tests, restarts, and what comes after T."""
    agent = agents.Master(K, horizon=700, delta=0.01, c=c, tolerance=tolerance)
    agent.reset(seed=5)
    source = FromTheSource(K, 700, 0.01, c, tolerance, seed=5)
    luck = np.random.default_rng(6)
    for t in range(1_000):
        arm = agent.act()
        assert arm == source.act(), t
        reward = float(luck.random() < PHASES[t // 128 % 4][arm])
        agent.observe(arm, reward)
        source.observe(arm, reward)
    alarms = alarms_in(agent.state)
    assert alarms["round"].tolist() == source.alarms
    assert (alarms["arm"] == ALL).all()
    assert alarms["everything"].all()
    assert (len(source.alarms) > 2) == (tolerance < 1)


def test_both_tests_were_seen_to_fail():
    """The one above would prove nothing about a test that never fails in it."""
    why = set()
    for tolerance, c in RESTARTING:
        source, luck = FromTheSource(K, 700, 0.01, c, tolerance, seed=5), np.random.default_rng(6)
        for t in range(1_000):
            arm = source.act()
            source.observe(arm, float(luck.random() < PHASES[t // 128 % 4][arm]))
        why |= source.why
    assert why == {"first", "second"}


def test_acts_without_observations_change_nothing():
    one, two = (agents.Master(K, horizon=700, delta=0.01) for _ in range(2))
    for agent in (one, two):
        agent.reset(seed=3)
    for t in range(300):
        arms = {one.act() for _ in range(1 + t % 3)}
        assert arms == {two.act()}
        one.observe(t % K, float(t % 2))
        two.observe(t % K, float(t % 2))


def test_rewards_that_nobody_asked_for_go_to_the_instance_of_the_block():
    agent = agents.Master(K, horizon=700, delta=0.01)
    for t in range(3 + 4):  # blocks of 1 and 2 rounds, and the whole of the one of 4
        agent.observe(t % K, 1.0)
    np.testing.assert_array_equal(agent.state.pulls[2], [2, 1, 1])  # rounds 4 to 7
    assert agent.state.pulls[:2].sum() == 1 + 2
