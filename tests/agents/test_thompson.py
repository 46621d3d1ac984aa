"""Thompson sampling: the arm played has the law of the argmax of one draw from each posterior.

The agents do not draw arms that cannot win. That this changes nothing is shown against P(i) = ∫ f_i Π_{j≠i} F_j,
computed with SciPy from the posteriors that the paper writes down, by chi-square over 10^5 acts in fixed states.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents

ACTS = 100_000
LEVEL = 1e-4  # of each of about forty tests


def test_the_test_of_laws_can_fail():
    """A sampler with 2 % too much for one arm, or that plays arms which never win, is found out."""
    chances = np.array([0.5, 0.3, 0.2, 1e-7, 1e-6])
    assert agreement(np.array([50_000, 30_000, 20_000, 0, 0]), chances) > 0.9
    assert agreement(np.array([51_000, 29_000, 20_000, 0, 0]), chances) < LEVEL


# (successes, failures) of each arm
BETA_STATES: dict[str, list[tuple[int, int]]] = {
    "nothing seen, K = 10": [(0, 0)] * 10,
    "one failure": [(0, 1), (0, 0), (0, 0)],
    "wide": [(3, 2), (2, 3), (1, 1), (4, 4)],
    "narrow and close": [(3000, 2000), (2990, 2010), (3010, 1990), (2980, 2020), (3005, 1995)],
    "a clear leader, unseen rivals": [(900, 100), (0, 0), (0, 0), (0, 0)],
    "all equal, extreme": [(5000, 0)] * 3,
    "all failures": [(0, 50), (0, 60), (0, 55)],
    "extreme against unseen": [(5000, 0), (0, 0), (0, 5000)],
    "never won": [(0, 5000), (0, 4000), (1, 5000), (2, 9000)],
    "second place: three within 1 sd": [(60, 40), (57, 43), (55, 45), (10, 8), (2, 1)],
    "second place: first index ahead": [(51, 49), (50, 50), (48, 52), (45, 55), (40, 60)],
    "the paper's first phase, K = 10": [(2 * i, 18 * 2 - 2 * i) for i in range(1, 9)] + [(300, 245), (1200, 800)],
    "beyond the table of factorials": [(100_000, 50_000), (99_800, 50_200), (255, 128), (256, 127)],
}


@pytest.fixture
def seen(example, observe_all) -> Callable[..., agents.Agent]:
    """A function that makes an agent with the given (successes, failures) of each arm, all of them in its memory."""

    def make(name: str, states: list[tuple[int, int]]) -> agents.Agent:
        arms = np.repeat(np.arange(len(states)), [s + f for s, f in states])
        rewards = np.concatenate([np.repeat([1.0, 0.0], state) for state in states])
        agent = example(name, len(states), **({"window": arms.size + 1} if name == "beta-swts" else {}))
        observe_all(agent.state, arms, rewards)
        return agent

    return make


@pytest.mark.parametrize(("case", "name"), [(case, ("beta-swts", "ts")[n % 2]) for n, case in enumerate(BETA_STATES)])
def test_beta_posteriors(case, name, seen, count_acts):
    states = BETA_STATES[case]
    counts = count_acts(seen(name, states).state, np.ones(len(states), bool), np.random.default_rng(2), ACTS)
    assert agreement(counts, winning_chances([stats.beta(s + 1, f + 1) for s, f in states])) > LEVEL


@pytest.mark.parametrize("closed", [[0], [1, 2, 4], [0, 1, 2, 3]])
def test_beta_posteriors_of_the_arms_that_are_open(closed, seen, count_acts):
    states = BETA_STATES["second place: first index ahead"]
    mask = ~np.isin(np.arange(len(states)), closed)
    counts = count_acts(seen("ts", states).state, mask, np.random.default_rng(3), ACTS)
    assert not counts[closed].any()
    laws = [stats.beta(s + 1, f + 1) for i, (s, f) in enumerate(states) if mask[i]]
    assert agreement(counts[mask], winning_chances(laws)) > LEVEL


# (mean, pulls) of each arm
NORMAL_STATES: dict[str, list[tuple[float, int]]] = {
    "equal, K = 10": [(0.3, 7)] * 10,
    "wide": [(0.2, 1), (0.9, 2), (0.4, 1), (0.5, 3)],
    "a clear leader, a wide rival": [(0.9, 900), (0.2, 1), (0.1, 300)],
    "out of reach": [(0.0, 900), (50.0, 1), (-30.0, 1)],
    "second place: three within 1 sd": [(0.60, 100), (0.55, 90), (0.52, 110), (0.4, 12), (0.3, 3)],
    "second place: first index ahead": [(0.51, 100), (0.50, 100), (0.48, 100), (0.45, 100), (0.40, 100)],
    "one to two sd behind": [(1.0, 100), (0.87, 100), (0.82, 100), (0.9, 100), (0.75, 60)],
    "many, three sd behind": [(1.0, 1600)] + [(0.7, 100)] * 9,
}


@pytest.fixture
def seen_real(example, observe_all) -> Callable[..., agents.Agent]:
    """A function that makes a γ-SWGTS with the given (mean, pulls) of each arm, all of them in its memory."""

    def make(states: list[tuple[float, int]], gamma: float = 1.0) -> agents.Agent:
        pulls = [n for _, n in states]
        agent = example("gamma-swgts", len(states), window=sum(pulls) + 1, gamma=gamma)
        arms = np.repeat(np.arange(len(states)), pulls)
        observe_all(agent.state, arms, np.repeat([mean for mean, _ in states], pulls))
        return agent

    return make


@pytest.mark.parametrize(("case", "gamma"), [(case, (1.0, 0.25, 3.0)[n % 3]) for n, case in enumerate(NORMAL_STATES)])
def test_normal_posteriors(case, gamma, seen_real, count_acts):
    states = NORMAL_STATES[case]
    counts = count_acts(seen_real(states, gamma).state, np.ones(len(states), bool), np.random.default_rng(7), ACTS)
    laws = [stats.norm(mean, 1 / math.sqrt(gamma * n)) for mean, n in states]
    assert agreement(counts, winning_chances(laws)) > LEVEL


def test_normal_posteriors_of_the_arms_that_are_open(seen_real, count_acts):
    states = NORMAL_STATES["second place: first index ahead"]
    mask = np.array([False, True, False, True, True])
    counts = count_acts(seen_real(states, 0.5).state, mask, np.random.default_rng(8), ACTS)
    assert not counts[~mask].any()
    laws = [stats.norm(mean, 1 / math.sqrt(0.5 * n)) for i, (mean, n) in enumerate(states) if mask[i]]
    assert agreement(counts[mask], winning_chances(laws)) > LEVEL


def test_rewards_beyond_the_integers_decide_as_they_should(example, count_acts):
    """Means 10^19 standard deviations apart: no number on the way may overflow, in either form of the agent."""
    agent = example("gamma-swgts", 3, window=100)
    for arm, reward in enumerate([0.0, 1e19, -1e36]):
        agent.observe(arm, reward)
    assert count_acts(agent.state, np.ones(3, bool), np.random.default_rng(1), 1_000).tolist() == [0, 1_000, 0]
    assert {agent.act() for _ in range(10)} == {1}
