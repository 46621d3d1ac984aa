"""Races between posteriors have the law of one draw from each, also where counts fade; and ln Γ for them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents
from ns_mab_gym.agents.parts.races import (
    beyond,
    chance_bound,
    expire,
    largest_beta_plain,
    log_factorial,
    log_norm,
    normal_beyond,
    shelf_life,
)

DRAWS = 200_000


@njit
def count_plain(pulls, sums, mask, rng, times):
    counts = np.zeros(pulls.size)
    for _ in range(times):
        counts[largest_beta_plain(pulls, sums, mask, rng)] += 1
    return counts


@pytest.mark.parametrize("closed", [[], [0, 2]])
def test_the_race_that_draws_every_arm_has_the_law_of_the_posteriors(closed):
    """The others fall back on it where a sample is 0 or 1, which is too rare to be met in their tests."""
    pulls, sums = np.array([20.4, 30.7, 25.1, 3.3]), np.array([12.2, 17.9, 15.4, 1.1])
    mask = ~np.isin(np.arange(4), closed)
    counts = count_plain(pulls, sums, mask, np.random.default_rng(1), DRAWS)
    assert not counts[closed].any()
    laws = [stats.beta(s + 1, n - s + 1) for n, s in zip(pulls[mask], sums[mask], strict=True)]
    assert agreement(counts[mask], winning_chances(laws)) > 1e-6


@njit
def tail_draws(a, rng, times):
    draws = np.empty(times)
    for i in range(times):
        draws[i] = normal_beyond(a, rng)
    return draws


@pytest.mark.parametrize("a", [1.0, 1.5, 3.0, 8.0])
def test_draws_beyond_a_point_have_the_law_of_the_normal_tail(a):
    draws = tail_draws(a, np.random.default_rng(5), DRAWS)
    assert draws.min() >= a
    assert stats.kstest(stats.norm.sf(draws) / stats.norm.sf(a), "uniform").pvalue > 1e-6


@given(st.floats(0, 5_000), st.floats(0, 5_000))
def test_the_normaliser_is_that_of_the_beta_law(successes, failures):
    exact = -(math.lgamma(successes + 1) + math.lgamma(failures + 1) - math.lgamma(successes + failures + 2))
    assert log_norm(successes, failures) == pytest.approx(exact, rel=1e-12, abs=1e-10)


@given(st.floats(0, 300) | st.integers(0, 300).map(float) | st.floats(300, 1e8))
def test_log_factorial_is_that_of_the_gamma_function(n):
    assert log_factorial(n) == pytest.approx(math.lgamma(n + 1), rel=1e-14, abs=1e-13)


def bound(successes, failures, x, norm=math.nan):
    return chance_bound(
        successes, failures, np.array([norm]), 0, 1 / x, 1 / (1 - x), math.log(x), math.log(1 - x)
    )  # fmt: skip


counts = st.floats(0, 3_000) | st.floats(0, 2)


@given(counts, counts, st.floats(1e-4, 1 - 1e-4), st.floats(0, 1))
def test_the_norm_of_larger_counts_is_a_bound_too(successes, failures, x, factor):
    """−ln B(cS + 1, cF + 1) grows with c: what was computed before the counts shrank still bounds."""
    old = log_norm(successes, failures)
    assert log_norm(factor * successes, factor * failures) <= old + 1e-9
    tail = stats.beta(factor * successes + 1, factor * failures + 1).sf(x)
    assert min(bound(factor * successes, factor * failures, x, old), 1) >= tail * (1 - 1e-9)


@pytest.mark.parametrize(
    ("successes", "failures", "x"), [(0.3, 0.4, 0.9), (20.5, 30.5, 0.55), (3, 800, 0.02), (5, 0, 0.9)]
)
def test_it_is_close_where_it_matters(successes, failures, x):
    """Within a factor of 2 of the tail: else arms would be drawn in vain."""
    assert bound(successes, failures, x) < 2 * stats.beta(successes + 1, failures + 1).sf(x)


@njit
def draws_beyond(successes, failures, p, x, rng, times):
    found = np.empty(times)
    for i in range(times):
        found[i] = beyond(successes, failures, p, x, rng)
    return found


@pytest.mark.parametrize(
    ("successes", "failures", "x"),
    [(0.3, 0.4, 0.9), (0.0, 0.01, 0.7), (20.5, 30.5, 0.55), (3.0, 800.0, 0.01), (5.0, 0.0, 0.9), (0.0, 0.0, 0.6)],
)
@pytest.mark.parametrize("slack", [1.0, 1.3])
def test_draws_beyond_a_point(successes, failures, x, slack):
    """They come with probability P(θ > x)/p, to four standard errors, and have the law of θ given that."""
    law, p = stats.beta(successes + 1, failures + 1), bound(successes, failures, x)
    if failures > 0:
        p *= slack  # as an old norm does
    found = draws_beyond(successes, failures, p, x, np.random.default_rng(1), 100_000)
    came = found[found >= 0]
    chance = law.sf(x) / p if failures > 0 else 1.0
    assert abs(came.size / 100_000 - chance) <= 4 * math.sqrt(chance * (1 - chance) / 100_000) + 1e-12
    assert came.min() > x
    assert stats.kstest(law.sf(came) / law.sf(x), "uniform").pvalue > 1e-4


def test_bounds_expire_with_a_pull_and_with_age():
    bounds = np.zeros(3)
    expire(bounds, 1, 7, 4)
    assert np.isnan(bounds).tolist() == [False, True, False]
    expire(bounds, 2, 8, 4)
    assert np.isnan(bounds).all()


@pytest.mark.parametrize(
    ("gamma", "rounds"), [(0.01, 1), (0.5, 1), (0.875, 1), (0.99, 12), (0.9989, 114), (1.0, 10**6)]
)
def test_bounds_are_renewed_before_counts_have_shrunk_by_a_fifth(gamma, rounds):
    assert shelf_life(gamma) == pytest.approx(rounds, abs=1)
    assert gamma ** shelf_life(gamma) > 0.8 or shelf_life(gamma) == 1


@pytest.mark.parametrize("n", [-1e-16, -0.5, -3.0, -7.25, -1e5 - 0.5, -1e300, -math.inf, math.nan])
def test_below_zero_it_is_as_at_zero(n):
    """Counts that rounding, or a forged state, made negative neither leave the table nor count up for ever."""
    assert log_factorial(n) == 0.0


# The arm that an agent plays has the law of the argmax of one draw from each posterior: P(i) = ∫ f_i Π_{j≠i} F_j,
# computed with SciPy from the posteriors that the paper writes down, by chi-square over 10^5 acts in fixed states.

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
