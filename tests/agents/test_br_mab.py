"""BR-MAB: what it keeps, stores and takes back, recomputed from the full history."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np
import pytest

from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.agents import Knowledge
from ns_mab_gym.agents.parts.alarms import alarms_in

NORMAL = NormalDist()


def p_value(one: list[float], two: list[float], margin: float) -> float:
    """The larger p-value of two one-sided z-tests of |difference between two Bernoulli means| ≥ margin."""
    p, q = sum(one) / len(one), sum(two) / len(two)
    error = math.sqrt(p * (1 - p) / len(one) + q * (1 - q) / len(two))
    if error == 0:
        return float(abs(p - q) >= margin)
    return max(NORMAL.cdf((p - q - margin) / error), 1 - NORMAL.cdf((p - q + margin) / error))


@dataclass
class Arm:
    """Every sample of an arm, in lists."""

    kept: list[float] = field(default_factory=list)  # from before the last alarm
    own: list[float] = field(default_factory=list)  # since the last alarm
    taken: int | None = None
    concepts: list[list[float]] = field(default_factory=list)

    def known(self) -> list[float]:
        """All samples that count in the index."""
        return self.kept + self.own + ([] if self.taken is None else self.concepts[self.taken])

    def alarm(self, warmup: int, epsilon: float, h: float) -> bool:
        """CUSUM's verdict on the samples since the last alarm; the run above zero must be longer than ⌊h⌋."""
        if len(self.own) <= warmup:
            return False
        mean = sum(self.own[:warmup]) / warmup
        for sign in (1, -1):
            g, run = 0.0, 0
            for x in self.own[warmup:]:
                g = max(0.0, g + sign * (x - mean) - epsilon)
                run = run + 1 if g > 0 else 0
            if g > h:
                assert run > math.floor(h)
                return True
        return False

    def restart(self, history: int, capacity: int) -> None:
        everything = self.kept + self.own
        latest = self.own[-history:] if history else []
        rest = everything[: len(everything) - len(latest)]
        if self.taken is None:
            self.concepts = [*self.concepts, *([rest] if rest else [])][-capacity:]
        else:
            self.concepts[self.taken] = self.concepts[self.taken] + rest
        self.kept, self.own, self.taken = latest, [], None


PHASES = [[0.9, 0.5, 0.3], [0.1, 0.5, 0.8], [0.5, 0.9, 0.3]]


@pytest.mark.parametrize(
    ("history", "capacity", "seed"), [(4, 20, 1), (4, 20, 2), (0, 20, 3), (2, 2, 4), (4, 1, 5), (60, 20, 6)]
)
def test_the_whole_agent_from_the_full_history(history, capacity, seed):
    """Forced warm-ups, uniform exploration, indices, the test, the concepts; in a world that comes back."""
    h, warmup, epsilon, margin, level = 4.4871, 12, 0.1, 0.25, 0.05  # rounding must not decide: no sum equals h
    agent = agents.BRMAB(
        3, threshold=h, alpha=0.1, history=history, warmup=warmup, epsilon=epsilon, margin=margin, level=level,
        capacity=capacity,
    )  # fmt: skip
    agent.reset(seed=seed)
    rng, luck = np.random.default_rng(seed), np.random.default_rng(100 + seed)
    arms, last = [Arm() for _ in range(3)], [0] * 3
    alarms, takes = [], 0
    for t in range(1_500):
        short = [i for i in range(3) if len(arms[i].own) < warmup]
        if short:
            arm = min(short, key=lambda i: (len(arms[i].own), last[i], i))
        elif (u := rng.random()) < 0.1:
            arm = int(u / 0.1 * 3)
        else:
            known = [each.known() for each in arms]
            log_n = math.log(sum(map(len, known)))
            values = [sum(each) / len(each) + math.sqrt(2 * log_n / len(each)) for each in known]
            arm = values.index(max(values))
        assert agent.act() == arm, f"round {t + 1}"
        x = float(luck.random() < PHASES[t // 250 % 3][arm])
        agent.observe(arm, x)
        mine, last[arm] = arms[arm], t + 1
        mine.own.append(x)
        if len(mine.own) > warmup and mine.taken is None:
            fit = [c for c, each in enumerate(mine.concepts) if p_value(mine.kept + mine.own, each, margin) < level]
            mine.taken = fit[0] if fit else None
            takes += bool(fit)
        if mine.alarm(warmup, epsilon, h):
            mine.restart(history, capacity)
            alarms.append((t + 1, arm, False))
        window = agent.state.inner.window
        assert window.pulls.tolist() == [len(each.known()) for each in arms]
        assert window.sums.tolist() == [sum(each.known()) for each in arms]
    assert alarms_in(agent.state).tolist() == alarms
    assert len(alarms) >= 4
    assert takes >= 2
    for i, mine in enumerate(arms):
        stored = [[len(each), sum(each)] for each in mine.concepts]
        assert agent.state.concepts[i, : len(stored)].tolist() == stored
        assert agent.state.books[1 + i, 0] == len(stored) <= capacity


def settled(agent: agents.BRMAB, seed: int) -> np.ndarray:
    """How many concepts each arm has after ten phases of an arm that alternates between 0.9 and 0.1."""
    agent.reset(seed=seed)
    luck = np.random.default_rng(seed)
    for t in range(5_000):
        arm = agent.act()
        mean = 0.5 if arm else (0.9, 0.1)[t // 500 % 2]
        agent.observe(arm, float(luck.random() < mean))
    return agent.state.books[1:, 0]


def test_what_comes_back_is_recognised():
    """The arm that alternates has about two concepts however often it alternates; without taking back one per alarm."""
    given = {"threshold": 8.0, "alpha": 0.1, "history": 8, "epsilon": 0.2}
    with_history = [settled(agents.BRMAB(2, margin=0.3, **given), seed)[0] for seed in range(3)]
    without = [settled(agents.BRMAB(2, margin=0.0, **given), seed)[0] for seed in range(3)]
    assert max(with_history) <= 4
    assert min(without) >= 7


def test_tuning_from_the_means():
    """Means 0.8, 0.4, 0.8 and 0.5, 0.5, 0.9 in phases of 300, 500 and 200 rounds.

    The smallest change of a mean is 0.4, so ε = 0.2; two means of an arm differ by 0.4 at least, d = 0.2 → 0.1;
    M = min(30, 200/2 = 100); h = ln 500 = 6.2146, of which 6 samples are kept.
    """
    means = np.repeat([[0.8, 0.5], [0.4, 0.5], [0.8, 0.9]], [300, 500, 200], axis=0)
    agent = agents.make("br-mab", knowledge=theory.knowledge(means))
    assert agent.epsilon == pytest.approx(0.2)
    assert (agent.margin, agent.warmup, agent.history, agent.level) == (0.1, 30, 6, 0.05)
    assert agent.threshold == pytest.approx(math.log(500))
    close = np.repeat(
        [[0.50, 0.5], [0.53, 0.5], [0.56, 0.5]], [300, 500, 20], axis=0
    )  # d = 0.03/2, M = 20/2, ε = 0.015
    agent = agents.make("br-mab", knowledge=theory.knowledge(close))
    assert (agent.margin, agent.warmup) == (pytest.approx(0.015), 10)
    assert agent.epsilon == pytest.approx(0.015)
    assert agents.make("br-mab", knowledge=theory.knowledge(close), epsilon=0.3).epsilon == 0.3


def test_tuning_without_the_means_or_where_they_drift():
    blind = agents.make("br-mab", 10, 50_000)
    assert (blind.epsilon, blind.margin, blind.warmup, blind.history) == (0.1, 0.1, 30, 10)
    for world in (worlds.Smooth(horizon=50_000), worlds.Stationary(mu=(0.1,) * 9 + (0.9,), horizon=50_000)):
        told = agents.make("br-mab", knowledge=theory.knowledge(world.means()))
        assert told.parameters == blind.parameters


def test_breakpoints_that_the_means_do_not_show():
    """Constant means say nothing of changes: ε, d and M are those of unknown means, h and α those of Υ."""
    counted = Knowledge(horizon=1_000, n_arms=3, breakpoints=4)
    for rows in (1, 1_000):
        told = agents.make("br-mab", knowledge=replace(counted, means=np.full((rows, 3), 0.5)))
        assert told.parameters == agents.make("br-mab", knowledge=counted).parameters


def test_a_huge_threshold_with_a_history():
    agent = agents.make("br-mab", 3, 1_000, threshold=1e30, history=5)
    assert agent.history == 5
    assert agents.make("br-mab", 3, 1_000, threshold=1e6).history == 1_000_000


def test_forgetting_an_arm_forgets_its_concepts():
    agent = agents.BRMAB(2, threshold=2.0, alpha=0.1, history=2, warmup=5)
    settled(agent, 1)
    assert agent.state.books[1, 0] > 0
    before = agent.state.concepts[1].copy()
    agent.forget(0)
    assert not agent.state.concepts[0].any()
    assert not agent.state.books[1].any()
    np.testing.assert_array_equal(agent.state.concepts[1], before)
