"""SW-LB-SDA: every arm it plays, worked out anew from the whole history, stage by stage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.agents.sw_lb_sda import DUE, _duel


class Referee:
    """The algorithm in plain words: lists of samples, cut out of the full history for every decision."""

    def __init__(self, n_arms: int, window: int, exponent: float = 1 / 3) -> None:
        self.k, self.tau = n_arms, window
        self.explore = math.log(window) ** exponent
        self.few = math.log(window) ** 2
        self.patience = int((n_arms - 1) * math.log(window) ** 2)
        self.history: list[tuple[int, float]] = []
        self.to_play = set(range(n_arms))
        self.winners = set(range(n_arms))
        self.stage, self.since, self.leader = 0, 0, -1
        self.drawn = dict.fromkeys(range(n_arms), 1)

    def samples(self, arm: int) -> list[float]:
        return [x for a, x in self.history[-self.tau :] if a == arm]

    def forced(self) -> int | None:
        last = {arm: t for t, (arm, _) in enumerate(self.history, 1)}
        gone = [i for i in range(self.k) if not self.samples(i)]
        return min(gone, key=lambda i: (last.get(i, 0), i), default=None)

    def act(self) -> int:
        forced = self.forced()
        return min(self.to_play) if forced is None else forced

    def observe(self, arm: int, reward: float) -> None:
        self.history.append((arm, reward))
        self.drawn[arm] = max(self.stage, 1)
        if arm in self.to_play:
            self.to_play.remove(arm)
            if not self.to_play:
                self.next_stage()

    def next_stage(self) -> None:
        self.stage += 1
        mine = [self.samples(i) for i in range(self.k)]
        share = min(self.stage, self.tau) / self.k
        if self.leader < 0 or len(mine[self.leader]) < share / 2:
            candidates = set(range(self.k))
        else:
            candidates = {i for i in self.winners if len(mine[i]) >= share} | {self.leader}
        leader = max(candidates, key=lambda i: (len(mine[i]), math.fsum(mine[i]), i == self.leader, -i))
        if leader != self.leader:
            self.leader, self.since = leader, self.stage
        self.winners = {i for i in range(self.k) if self.wins(i, mine)}
        if not self.winners:
            self.winners = {leader}
        self.to_play = set(self.winners)

    def wins(self, i: int, mine: list[list[float]]) -> bool:
        n, lead = len(mine[i]), mine[self.leader]
        if n == 0 or n < self.explore:
            return True
        if i == self.leader:
            return False
        block = lead[-n:]
        if math.fsum(mine[i]) / n >= math.fsum(block) / len(block):
            return True
        unmoved = self.stage - max(self.since, self.drawn[self.leader], self.drawn[i])
        return unmoved >= self.patience and n <= self.few


def draw(kind: str, mean: float, rng: np.random.Generator) -> float:
    noise = rng.random()
    rewards = {
        "bernoulli": float(noise < mean),
        "eighths": math.floor(8 * (mean + noise)) / 8,
        "gaussian": float(mean + 0.3 * rng.standard_normal()),
        "zero": 0.0,
    }
    return rewards[kind]


@pytest.mark.parametrize("kind", ["bernoulli", "eighths", "gaussian", "zero"])
@pytest.mark.parametrize(
    ("n_arms", "window"), [(2, 1), (2, 2), (2, 9), (3, 40), (4, 3), (5, 60), (10, 150), (3, 5_000)]
)
def test_every_arm_is_that_of_the_whole_history(kind, n_arms, window):
    """700 rounds, in which the order of the arms is turned round twice."""
    agent, referee = agents.SWLBSDA(n_arms, window=window), Referee(n_arms, window)
    rng = np.random.default_rng(window)
    means = np.linspace(0.2, 0.8, n_arms)
    for t in range(700):
        arm = agent.act()
        assert arm == referee.act(), f"round {t + 1}"
        agent.pending[:] = 0
        assert agent.act() == arm
        reward = draw(kind, means[arm] if (t // 250) % 2 else means[-1 - arm], rng)
        agent.observe(arm, reward)
        referee.observe(arm, reward)
        assert agent.state.clock[:2].tolist() == [referee.stage, referee.leader]


@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_arms_that_others_chose_and_another_exponent(exponent):
    """Rewards of any arm may come at any time: the winners still wait for their turn."""
    agent, referee = agents.SWLBSDA(4, window=50, exponent=exponent), Referee(4, 50, exponent)
    rng = np.random.default_rng(4)
    for _ in range(600):
        arm = agent.act()
        assert arm == referee.act()
        arm = int(rng.integers(4)) if rng.random() < 0.3 else arm
        reward = float(rng.random() < 0.3 + 0.1 * arm)
        agent.observe(arm, reward)
        referee.observe(arm, reward)


def prepared(samples: list[list[float]], window: int = 100) -> agents.SWLBSDA:
    """An agent that saw these samples, arm by arm."""
    agent = agents.SWLBSDA(len(samples), window=window)
    for arm, each in enumerate(samples):
        for x in each:
            agent.observe(arm, x)
    return agent


@pytest.mark.parametrize(
    ("stage", "since", "drawn", "expected"),
    [
        (60, 1, [1, 1, 55], [1]),  # arm 2 waits since stage 1, arm 3 does not
        (60, 1, [1, 1, 1], [1, 2]),
        (60, 1, [50, 1, 1], [0]),  # the leader was played lately
        (60, 50, [1, 1, 1], [0]),  # it leads since lately
        (43, 1, [1, 1, 1], [1, 2]),  # (3 − 1)(ln 100)² = 42.4
        (42, 1, [1, 1, 1], [0]),
    ],
)
def test_diversity(stage, since, drawn, expected):
    """The leader, 30 times 1, beats arms 2 and 3, five times 0 each, unless it stood still for 42 stages."""
    agent = prepared([[1.0] * 30, [0.0] * 5, [0.0] * 5])
    agent.state.clock[:] = [stage, 0, since, 0]
    agent.state.drawn[:] = drawn
    _duel(agent.state)
    assert np.flatnonzero(agent.state.outcomes == DUE).tolist() == expected
    assert agent.state.clock[3] == len(expected)


def test_forgetting_an_arm():
    """It comes first, and its old samples do not count in later duels."""
    agent = agents.SWLBSDA(3, window=1_000)
    rng = np.random.default_rng(3)
    for _ in range(200):
        arm = agent.act()
        agent.observe(arm, float(rng.random() < 0.2 + 0.3 * arm))
    agent.forget(2)
    assert agent.act() == 2
    agent.observe(2, 0.0)
    assert agent.state.window.pulls[2] == 1
    for _ in range(300):
        arm = agent.act()
        agent.observe(arm, float(arm == 0))
    assert agent.state.clock[1] == 0
    assert agent.state.window.pulls.argmax() == 0
    agent.forget()
    assert agent.state.totals.ends.tolist() == [0, 0, 0]
    assert agent.state.clock.tolist() == [0, -1, 0, 3]


def test_totals_do_not_drift(observe_all):
    """After 300 000 rounds far from 0, the last block of an arm is the sum of its samples to 1e-9 of its mean."""
    agent = agents.SWLBSDA(2, window=500)
    rng = np.random.default_rng(5)
    arms, rewards = rng.integers(0, 2, 300_003), 1e5 + rng.standard_normal(300_003)
    observe_all(agent.state, arms, rewards)
    totals, end = agent.state.totals.values[1], agent.state.totals.ends[1]
    mine = rewards[arms == 1]
    for n in (1, 10, 200):
        assert (totals[end] - totals[end - n]) / n == pytest.approx(math.fsum(mine[-n:]) / n, abs=1e-6)
    assert np.abs(totals).max() < 2 * 501 * 1.1e5
