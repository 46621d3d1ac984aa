"""Thompson sampling: the arm played has the law of the argmax of one draw from each posterior.

The agents do not draw arms that cannot win. That this changes nothing is shown against P(i) = ∫ f_i Π_{j≠i} F_j,
computed here with SciPy from the posteriors that the paper writes down, by chi-square over 10^5 acts in fixed states.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special, stats

from ns_mab_gym import agents

FloatArray = npt.NDArray[np.float64]
ACTS = 100_000
LEVEL = 1e-4  # of a test; about 100 of them, so that a right sampler with another seed fails once in a hundred times


def chances(density: Callable[..., FloatArray], tail: Callable[..., FloatArray], edges: FloatArray) -> FloatArray:
    """P(θ_i is the largest) for each arm i, by Gauss and Legendre's rule on the pieces between the edges.

    Args:
        density: from points (n, 1) to the densities (n, K) there.
        tail: the same for the distribution functions.
        edges: between which the integrands are smooth.
    """
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = np.diff(edges)[:, None] / 2
    x = ((edges[:-1] + edges[1:])[:, None] / 2 + half * nodes).reshape(-1, 1)
    f, cdf = density(x), tail(x)  # (n, K)
    others = np.array([np.prod(np.delete(cdf, i, axis=1), axis=1) for i in range(f.shape[1])]).T
    return np.asarray(((half * weights).reshape(-1, 1) * f * others).sum(axis=0))


def beta_chances(successes: FloatArray, failures: FloatArray) -> FloatArray:
    """P(i) for independent Beta(S + 1, F + 1)."""
    law = stats.beta(successes + 1.0, failures + 1.0)
    quantiles = np.concatenate([law.ppf(q) for q in (1e-12, 1e-6, 1e-3, 0.05, 0.3, 0.5, 0.7, 0.95, 0.999, 1 - 1e-6)])
    return chances(law.pdf, law.cdf, np.unique(np.concatenate([[0.0, 1.0], np.linspace(0, 1, 21), quantiles])))


def normal_chances(means: FloatArray, deviations: FloatArray) -> FloatArray:
    """P(i) for independent N(mean, deviation²)."""
    law = stats.norm(means, deviations)
    steps = np.concatenate([means + z * deviations for z in range(-9, 10)])
    return chances(law.pdf, law.cdf, np.unique(steps))


def chi_square(counts: npt.NDArray[np.int64], expected: FloatArray) -> tuple[float, int]:
    """The statistic over the arms expected at least 5 times, given how often those came in all, and its freedom."""
    common = expected >= 5
    given = expected[common] * (counts[common].sum() / expected[common].sum())
    return float(((counts[common] - given) ** 2 / given).sum()), int(common.sum()) - 1


def p_value(counts: npt.NDArray[np.int64], expected: FloatArray) -> float:
    """Of the chi-square test, and of a Poisson test for the arms expected fewer than 5 times: twice the smaller."""
    statistic, freedom = chi_square(counts, expected)
    p = float(stats.chi2.sf(statistic, freedom)) if freedom else 1.0
    rare = expected < 5
    if rare.any():
        seen, mean = counts[rare].sum(), expected[rare].sum()
        p = min(1.0, 2 * min(p, 2 * stats.poisson.sf(seen - 1, mean), 2 * stats.poisson.cdf(seen, mean)))
    return p


def test_chances_against_closed_forms_and_independent_draws():
    """Two arms, of which one is uniform: P = E θ; equal arms: 1/K; and a million draws of every arm."""
    np.testing.assert_allclose(beta_chances(np.array([3.0, 0.0]), np.array([8.0, 0.0])), [4 / 13, 9 / 13], atol=1e-12)
    np.testing.assert_allclose(beta_chances(np.full(10, 40.0), np.full(10, 9.0)), np.full(10, 0.1), atol=1e-12)
    z = 0.3 / math.hypot(0.5, 1.2)
    two = normal_chances(np.array([0.3, 0.0]), np.array([0.5, 1.2]))
    np.testing.assert_allclose(two, [stats.norm.cdf(z), stats.norm.sf(z)], atol=1e-12)
    rng = np.random.default_rng(1)
    successes, failures = np.array([30.0, 3, 0, 55]), np.array([20.0, 1, 0, 40])
    draws = rng.beta(successes + 1, failures + 1, size=(1_000_000, 4)).argmax(axis=1)
    assert p_value(np.bincount(draws, minlength=4), 1e6 * beta_chances(successes, failures)) > LEVEL
    means, deviations = np.array([1.0, 0.8, -2.0]), np.array([0.1, 0.3, 1.5])
    draws = (means + deviations * rng.standard_normal((1_000_000, 3))).argmax(axis=1)
    assert p_value(np.bincount(draws, minlength=3), 1e6 * normal_chances(means, deviations)) > LEVEL


def test_the_chi_square_test_can_fail():
    """A sampler with 2 % too much for one arm is found out."""
    expected = ACTS * np.array([0.5, 0.3, 0.2, 1e-7, 1e-6])
    assert p_value(np.array([50_000, 30_000, 20_000, 0, 0]), expected) > 0.9
    assert p_value(np.array([51_000, 29_000, 20_000, 0, 0]), expected) < LEVEL
    assert p_value(np.array([49_990, 30_000, 20_000, 10, 0]), expected) < LEVEL
    assert p_value(np.array([99_990, 10]), ACTS * np.array([1 - 1e-6, 1e-6])) < LEVEL
    assert p_value(np.array([100_000, 0]), ACTS * np.array([1 - 1e-6, 1e-6])) > LEVEL


# (successes, failures) of each arm
BETA_STATES: dict[str, list[tuple[int, int]]] = {
    "nothing seen, K = 2": [(0, 0), (0, 0)],
    "nothing seen, K = 10": [(0, 0)] * 10,
    "one success": [(1, 0), (0, 0), (0, 0)],
    "one failure": [(0, 1), (0, 0), (0, 0)],
    "wide": [(3, 2), (2, 3), (1, 1), (4, 4)],
    "narrow": [(300, 200), (290, 210), (305, 195), (280, 220)],
    "narrow and close": [(3000, 2000), (2990, 2010), (3010, 1990), (2980, 2020), (3005, 1995)],
    "a clear leader": [(900, 100), (5, 5), (20, 30), (1, 4), (50, 50)],
    "a clear leader, unseen rivals": [(900, 100), (0, 0), (0, 0), (0, 0)],
    "all equal": [(40, 60)] * 6,
    "all equal, extreme": [(5000, 0)] * 3,
    "all failures": [(0, 50), (0, 60), (0, 55)],
    "all successes": [(50, 0), (60, 0), (55, 0)],
    "extreme against unseen": [(5000, 0), (0, 0), (0, 5000)],
    "extreme against good": [(5000, 0), (4990, 10), (300, 0), (20, 0)],
    "never won": [(0, 5000), (0, 4000), (1, 5000), (2, 9000)],
    "only failures and one unseen": [(0, 5000), (0, 5000), (0, 0)],
    "second place: three within 1 sd": [(60, 40), (57, 43), (55, 45), (10, 8), (2, 1)],
    "second place: the wide rival": [(600, 400), (6, 5), (5, 5), (3, 4)],
    "second place: last index ahead": [(40, 60), (45, 55), (48, 52), (50, 50), (51, 49)],
    "second place: first index ahead": [(51, 49), (50, 50), (48, 52), (45, 55), (40, 60)],
    "the paper's first phase, K = 10": [(2 * i, 18 * 2 - 2 * i) for i in range(1, 9)] + [(300, 245), (1200, 800)],
    "ten rivals of many widths": [(2**i, 2**i) for i in range(10)],
    "a leader by mean, another by width": [(70, 30), (1, 0), (0, 0), (2, 1)],
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


@pytest.mark.parametrize("name", ["beta-swts", "ts"])
@pytest.mark.parametrize("case", BETA_STATES)
def test_beta_posteriors(case, name, seen, count_acts):
    states = BETA_STATES[case]
    agent = seen(name, states)
    expected = beta_chances(*np.array(states, float).T)
    assert expected.sum() == pytest.approx(1, abs=1e-9)
    counts = count_acts(agent.state, np.ones(len(states), bool), np.random.default_rng(2), ACTS)
    assert p_value(counts, ACTS * expected) > LEVEL


@pytest.mark.parametrize("closed", [[0], [3], [0, 1], [1, 2, 4], [0, 1, 2, 3]])
@pytest.mark.parametrize("case", ["second place: first index ahead", "narrow and close"])
def test_beta_posteriors_of_the_arms_that_are_open(case, closed, seen, count_acts):
    states = BETA_STATES[case]
    mask = np.ones(len(states), bool)
    mask[closed] = False
    agent = seen("ts", states)
    expected = np.zeros(len(states))
    expected[mask] = beta_chances(*np.array(states, float)[mask].T)
    counts = count_acts(agent.state, mask, np.random.default_rng(3), ACTS)
    assert not counts[closed].any()
    assert mask.sum() == 1 or p_value(counts[mask], ACTS * expected[mask]) > LEVEL


def test_beta_posteriors_on_average_over_many_states(seen, count_acts):
    """200 random states with 10 000 acts each: the chi-squares add up, so that a small bias everywhere would show."""
    rng = np.random.default_rng(4)
    totals = np.zeros(2)
    for _ in range(200):
        k = int(rng.integers(2, 8))
        pulls = np.exp(rng.uniform(0, np.log(1_000), k)).astype(int)
        successes = rng.binomial(pulls, np.clip(rng.normal(rng.uniform(0.05, 0.95), 0.05, k), 0, 1))
        agent = seen("ts", list(zip(successes, pulls - successes, strict=True)))
        expected = 10_000 * beta_chances(successes.astype(float), (pulls - successes).astype(float))
        totals += chi_square(count_acts(agent.state, np.ones(k, bool), rng, 10_000), expected)
    assert LEVEL < stats.chi2.sf(*totals) < 1 - LEVEL


def test_the_normaliser_of_the_density(seen):
    """−ln B(S + 1, F + 1) against SciPy's, from small counts to large: an error of 1e-4 would hide in 10^5 acts."""
    states = [(s, f) for s in (0, 1, 7, 127, 254, 255, 256, 1_000, 20_000) for f in (1, 3, 128, 254, 255, 300, 30_000)]
    agent = seen("ts", [(60_000, 3), *states])
    for _ in range(300):
        agent.act()
    known = agent.state_dict()["state.log_norms"][1:]
    computed = ~np.isnan(known)
    assert computed.mean() > 0.9
    exact = [-special.betaln(s + 1, f + 1) for s, f in states]
    np.testing.assert_allclose(known[computed], np.array(exact)[computed], rtol=1e-12, atol=1e-9)


def test_trap_the_posterior_counts_successes_not_pulls(seen, count_acts):
    """Public code has Beta(N + 1, …) for Beta(S + 1, …). Ten failures against an unseen arm: P = E Beta(1, 11) = 1/12.

    With N + 1 it is E Beta(11, 11) = 1/2. Within five standard errors of 1/12.
    """
    agent = seen("ts", [(0, 10), (0, 0)])
    counts = count_acts(agent.state, np.ones(2, bool), np.random.default_rng(5), ACTS)
    assert abs(counts[0] / ACTS - 1 / 12) < 5 * math.sqrt(11 / 12 / 12 / ACTS)


@pytest.mark.parametrize("name", ["beta-swts", "ts"])
def test_beta_agents_force_no_play(name, seen, count_acts):
    """An unseen arm has Beta(1, 1): after 30 successes of the other it is played in 1 of 32 rounds, not at once."""
    agent = seen(name, [(30, 0), (0, 0)])
    counts = count_acts(agent.state, np.ones(2, bool), np.random.default_rng(6), ACTS)
    assert abs(counts[1] / ACTS - 1 / 32) < 5 * math.sqrt(31 / 32 / 32 / ACTS)


# (mean, pulls) of each arm
NORMAL_STATES: dict[str, list[tuple[float, int]]] = {
    "equal, K = 2": [(0.5, 1), (0.5, 1)],
    "equal, K = 10": [(0.3, 7)] * 10,
    "wide": [(0.2, 1), (0.9, 2), (0.4, 1), (0.5, 3)],
    "narrow": [(0.50, 5000), (0.51, 5000), (0.49, 4000), (0.505, 3000)],
    "a clear leader": [(0.9, 900), (0.2, 15), (0.4, 9), (0.1, 30)],
    "a clear leader, a wide rival": [(0.9, 900), (0.2, 1), (0.1, 300)],
    "out of reach": [(0.0, 900), (50.0, 1), (-30.0, 1)],
    "negative": [(-5.0, 3), (-5.2, 4), (-4.9, 2)],
    "second place: three within 1 sd": [(0.60, 100), (0.55, 90), (0.52, 110), (0.4, 12), (0.3, 3)],
    "second place: last index ahead": [(0.40, 100), (0.45, 100), (0.48, 100), (0.50, 100), (0.51, 100)],
    "second place: first index ahead": [(0.51, 100), (0.50, 100), (0.48, 100), (0.45, 100), (0.40, 100)],
    "one to two sd behind": [(1.0, 100), (0.87, 100), (0.82, 100), (0.9, 100), (0.75, 60)],
    "many, two sd behind": [(1.0, 1600)] + [(0.8, 100)] * 9,
    "many, three sd behind": [(1.0, 1600)] + [(0.7, 100)] * 9,
    "ten rivals of many widths": [(0.5 - 0.3 / math.sqrt(2**i), 2**i) for i in range(10)],
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


@pytest.mark.parametrize("gamma", [1.0, 0.25, 3.0])
@pytest.mark.parametrize("case", NORMAL_STATES)
def test_normal_posteriors(case, gamma, seen_real, count_acts):
    states = NORMAL_STATES[case]
    agent = seen_real(states, gamma)
    means, pulls = np.array(states).T
    expected = normal_chances(means, 1 / np.sqrt(gamma * pulls))
    assert expected.sum() == pytest.approx(1, abs=1e-9)
    counts = count_acts(agent.state, np.ones(len(states), bool), np.random.default_rng(7), ACTS)
    assert p_value(counts, ACTS * expected) > LEVEL


def test_normal_posteriors_of_the_arms_that_are_open(seen_real, count_acts):
    states = NORMAL_STATES["second place: first index ahead"]
    means, pulls = np.array(states).T
    mask = np.array([False, True, False, True, True])
    counts = count_acts(seen_real(states, 0.5).state, mask, np.random.default_rng(8), ACTS)
    assert not counts[~mask].any()
    expected = ACTS * normal_chances(means[mask], 1 / np.sqrt(0.5 * pulls[mask]))
    assert p_value(counts[mask], expected) > LEVEL


def test_normal_posteriors_on_average_over_many_states(seen_real, count_acts):
    """As above: 200 random states, chi-squares added up."""
    rng = np.random.default_rng(9)
    totals = np.zeros(2)
    for _ in range(200):
        k = int(rng.integers(2, 8))
        pulls = np.exp(rng.uniform(0, np.log(60), k)).astype(int)
        means = rng.normal(0, 0.3, k)
        agent = seen_real(list(zip(means, pulls, strict=True)))
        expected = 10_000 * normal_chances(means, 1 / np.sqrt(pulls))
        totals += chi_square(count_acts(agent.state, np.ones(k, bool), rng, 10_000), expected)
    assert LEVEL < stats.chi2.sf(*totals) < 1 - LEVEL


def test_rewards_beyond_the_integers_decide_as_they_should(example, count_acts):
    """Means 10^19 standard deviations apart: no number on the way may overflow, in either form of the agent."""
    agent = example("gamma-swgts", 3, window=100)
    for arm, reward in enumerate([0.0, 1e19, -1e36]):
        agent.observe(arm, reward)
    assert count_acts(agent.state, np.ones(3, bool), np.random.default_rng(1), 1_000).tolist() == [0, 1_000, 0]
    assert {agent.act() for _ in range(10)} == {1}
