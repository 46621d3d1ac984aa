"""MASTER against Procedure 1 and Algorithms 2, 3 and 7 of its source, written out from the full history."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from ns_mab_gym import agents, simulate, worlds
from ns_mab_gym.agents.core.kernel import ALL
from ns_mab_gym.agents.master import thresholds
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


def test_the_thresholds_by_hand():
    """ln(T/δ) = 21.64, ρ(50 000) = √(216.4/50 000) + 216.4/50 000 = 0.07011, ρ̂ = 6 · 16.61 · 21.64 · ρ = 151.2."""
    first, second = thresholds(10, 50_000, 1 / 50_000, 50_000)
    assert first == pytest.approx(9 * 151.2, rel=1e-3)
    assert second == pytest.approx(3 * 151.2, rel=1e-3)


def test_no_test_fails_at_the_thresholds_of_the_source():
    """Both statistics are at most 1; the thresholds, least at the end, are in the hundreds."""
    run = simulate(worlds.Abrupt(horizon=5_000), "master", runs=3, seed=1)
    assert all(len(alarms) == 0 for alarms in run.alarms)
    agent = agents.make("master", 2, 5_000)
    agent.reset(seed=1)
    for t in range(5_000):
        agent.observe(agent.act(), float(t < 2_500))
    first, second = agent.state.levels[4:]
    assert -1 <= first <= 1
    assert 0 < second <= 1
    assert min(thresholds(2, 5_000, 1 / 5_000, 5_000)) > 100


def worse_share(rounds: float, log: float) -> float:
    """The share of UCB1's rounds on the worse of two arms, with means 0.1 and 0.9, where both indices are level."""
    low, high = 0.0, rounds / 2
    for _ in range(60):
        middle = (low + high) / 2
        worse, better = math.sqrt(log / max(1, middle)), math.sqrt(log / max(1, rounds - middle))
        low, high = (middle, high) if worse > better + 0.8 else (low, middle)
    return low / rounds


def test_the_better_arm_wins_but_for_the_random_starts():
    """Stationary means 0.1 and 0.9, T = 20 000, the last fifth, 40 runs, four standard errors.

    In the block of 2^14 rounds that begins at 16 383, a round has an instance of order m with probability
    q_m = ρ(2^14)/ρ(2^m), which is active if there is none of a lower order, and learns in that share of its rounds.
    """
    log, free, lost = 2 * math.log(20_000), 1.0, 0.0
    rho = [math.sqrt(2 * log / 2**m) + 2 * log / 2**m for m in range(15)]
    for m in range(15):
        start = rho[14] / rho[m]
        lost += start * free * worse_share(min(2**m, 20_000 - 16_383) * free, log)
        free *= 1 - start
    assert lost == pytest.approx(0.0549, abs=1e-4)
    run = simulate(worlds.Stationary(mu=(0.1, 0.9), horizon=20_000), "master", runs=40, seed=1, record="all")
    observed = (run.arms[:, -4_000:] == 1).mean(axis=1)
    assert abs(observed.mean() - (1 - lost)) < 4 * observed.std(ddof=1) / math.sqrt(40)


@pytest.mark.parametrize("n_arms", [2, 10, 200])
@pytest.mark.parametrize("horizon", [1, 2, 50, 50_000, 10**6])
def test_the_tuning_at_the_ends(n_arms, horizon):
    agent = agents.make("master", n_arms, horizon)
    assert agent.delta == (0.5 if horizon == 1 else 1 / horizon)
    assert len(agent.state.rates) == math.floor(math.log2(horizon)) + 1
    assert (np.diff(agent.state.rates) < 0).all()
    for t in range(60):
        agent.observe(agent.act(), float(t % 2))


def test_what_is_known_changes_nothing_and_what_is_given_counts():
    known = agents.Knowledge(n_arms=4, horizon=1_000, breakpoints=7, variation=3.0)
    assert agents.make("master", knowledge=known).parameters == agents.make("master", 4, 1_000).parameters
    assert agents.make("master", 4, 1_000, delta=0.2).delta == 0.2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"horizon": 0}, "horizon must be a positive integer, got 0"),
        ({"delta": 0.0}, "delta must be a finite number above 0, got 0.0"),
        ({"delta": 1.5}, r"delta must lie in \[0, 1\], got 1.5"),
        ({"horizon": 1, "delta": 1.0}, "delta must lie below 1 where the horizon is 1, got 1"),
        ({"c": -1.0}, "c must be a finite number above 0, got -1.0"),
        ({"tolerance": 0.0}, "tolerance must be a finite number above 0, got 0.0; 1 is the source's"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(ValueError, match=message):
        agents.Master(K, **({"horizon": 100, "delta": 0.01} | given))
