"""The law of the next choice: against frequencies of acts, integrals by SciPy, and laws in closed form."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from examples import HOUSE, example_agent
from numba import njit
from scipy import integrate, stats

from ns_mab_gym import agents
from ns_mab_gym.agents.core.kernel import act, copied, imagine, rule
from ns_mab_gym.agents.core.probabilities import DRAWS, largest_beta_law, largest_gaussian_law

K = 4
FORMS: list[tuple[str, dict[str, Any]]] = [
    ("switching-ts", {"restart": "arm"}),
    ("switching-ts", {"hazard": "learnt"}),
    ("dsw-ts", {"f": "min"}),
    ("dsw-ts", {"f": "max", "window": None}),
    ("softmax", {"initial": 0.5, "cooling": True}),
    ("epsilon-greedy", {"epsilon": 0.0, "decay": 3.0}),
    ("tsallis-inf", {"estimator": "iw"}),
    ("bandit-over-windows", {"base": "beta-swts", "block": 20}),
    ("restarting", {"base": "kl-ucb", "exploration": "uniform", "rate": 0.3}),
    ("floor", {"base": "sw-ucb(window=20)", "share": 0.1}),
    ("floor", {"base": "cusum-ucb(threshold=5, alpha=0.2)", "share": 0.1}),
]
EVERY = [*((name, {}) for name in HOUSE), *FORMS]
MASKS = [None, np.array([False, True, True, True])]
LEVEL = 1e-5  # of each chi-square test
every_agent = pytest.mark.parametrize(("name", "parameters"), EVERY, ids=lambda given: str(given)[:50])


def in_the_middle(name: str, parameters: dict[str, Any], rounds: int) -> agents.Agent:
    """An agent after so many rounds, with three pulls under way if it can play late rewards."""
    agent = example_agent(name, K, **parameters)
    agent.reset(seed=rounds)
    luck = np.random.default_rng(rounds)
    for _ in range(rounds):
        arm = agent.act()
        agent.observe(arm, float(luck.random() < 0.4 + 0.05 * arm))
    for arm in (0, 2, 2) if agent.handles_delay and rounds % 2 else ():
        agent.pulled(arm)
    return agent


def snapshot(agent: agents.Agent) -> dict[str, bytes]:
    return {key: np.asarray(value).tobytes() for key, value in agent.state_dict().items()}


def assert_frequencies_agree(counts: np.ndarray, law: np.ndarray, drawn: bool) -> None:
    """Pearson's test on the arms that are to be played five times or more; of the others there are few.

    A law that was drawn itself has an error too, as if there were fewer acts.
    """
    times = counts.sum()
    common = law * times >= 5
    rare, expected = counts[~common].sum(), law[~common].sum() * times
    assert stats.poisson.sf(rare - 1, expected + 1e-12) > LEVEL, (counts, law)
    if common.sum() > 1:
        scale = 1 + times / DRAWS if drawn else 1.0
        statistic = (np.square(counts - law * times)[common] / (law * times)[common]).sum() / scale
        assert stats.chi2.sf(statistic, common.sum() - 1) > LEVEL, (counts, law)


@every_agent
def test_probabilities_are_those_of_the_next_act(name, parameters):
    """After histories of three lengths, with all arms and with three: 1 500 acts each, or one if nothing is drawn."""
    for rounds in (0, 17, 60):
        agent = in_the_middle(name, parameters, rounds)
        for mask in MASKS if agent.handles_mask else MASKS[:1]:
            before = snapshot(agent)
            law = agent.probabilities(mask)
            assert snapshot(agent) == before
            assert law.sum() == pytest.approx(1.0, abs=1e-12)
            assert (law >= 0).all()
            assert mask is None or (law[~mask] == 0).all()
            open_arms, state = np.ones(K, np.bool_) if mask is None else mask, agent._supposed()
            rng, counts = np.random.default_rng(rounds), np.zeros(K)
            for _ in range(1 if law.max() == 1.0 else 1_500):
                counts[act(copied(state, K), open_arms, rng)] += 1
            assert_frequencies_agree(counts, law, agents.kind(name).probability == "draws")


def _count(view, state, mask, nothing, rng, times):
    counts = np.zeros(mask.size)
    for _ in range(times):
        imagine(view, state, nothing)
        counts[act(view, mask, rng)] += 1
    return counts


@pytest.mark.slow
@every_agent
def test_probabilities_are_those_of_a_hundred_thousand_acts(name, parameters):
    agent, count = in_the_middle(name, parameters, 60), njit(_count)
    rng, nothing = np.random.default_rng(1), np.zeros(K, np.int64)
    counts = count(copied(agent.state, K), agent.state, np.ones(K, np.bool_), nothing, rng, 100_000)
    assert_frequencies_agree(counts, agent.probabilities(), agents.kind(name).probability == "draws")


def by_scipy(laws: list[Any], points: list[float]) -> np.ndarray:
    """∫ f_i Π F_j, piece by piece."""
    found = []
    for i, law in enumerate(laws):
        others = [other for j, other in enumerate(laws) if j != i]
        pieces = [
            integrate.quad(lambda x, f=law, rest=others: f.pdf(x) * np.prod([g.cdf(x) for g in rest]), low, high)[0]
            for low, high in pairwise(points)
        ]
        found.append(sum(pieces))
    return np.array(found)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([1, 1, 1], [1, 1, 1]), ([2, 3], [3, 2]), ([301, 280, 3.5], [700, 722, 9]), ([0.5, 1.5, 4], [0.5, 0.5, 2]),
        ([1, 40.2, 900], [900, 60, 1]),
    ],
)  # fmt: skip
def test_the_largest_of_beta_samples(a, b):
    laws = [stats.beta(*each) for each in zip(a, b, strict=True)]
    edges = np.concatenate([law.ppf([1e-9, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-9]) for law in laws])
    expected = by_scipy(laws, np.unique([0.0, *edges, 1.0]).tolist())
    found = largest_beta_law(np.array(a, float), np.array(b, float), np.ones(len(a), np.bool_))
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("count", [1.0, 1e3, 1e9])
def test_the_largest_of_equal_samples_is_any(count):
    same = np.full(30, count)
    np.testing.assert_allclose(largest_beta_law(same, 2 * same, np.ones(30, np.bool_)), 1 / 30, atol=1e-9)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_the_largest_of_two_gaussian_samples(size):
    """P(θ_1 > θ_2) = Φ((m_1 − m_2)/√(s_1² + s_2²)), whatever the unit."""
    for gap in (0.0, 0.3, 2.0, 7.0, 300.0):
        means, deviations = size * np.array([gap, 0.0, 99.0]), size * np.array([0.2, 1.5, 1.0])
        found = largest_gaussian_law(means, deviations, np.array([True, True, False]))
        expected = stats.norm.cdf(gap / np.hypot(0.2, 1.5))
        np.testing.assert_allclose(found, [expected, 1 - expected, 0.0], atol=1e-7)


def test_a_rule_without_a_law_is_drawn_ten_thousand_times():
    """Also one whose acts change its state; the state stays as it is."""

    class CoinState(NamedTuple):
        heads: np.ndarray

    def act_by_coin(state, mask, rng):
        state.heads[0] += 1
        return int(rng.random() < 0.25) if state.heads[0] == 1 else 2

    rule(CoinState, act_by_coin, lambda state, arm, reward: None)

    class Coin(agents.Agent):
        name = "coin"

        def _new_state(self) -> CoinState:
            return CoinState(np.zeros(1, np.int64))

    agent = Coin(3)
    law = agent.probabilities()
    assert agent.state.heads[0] == 0
    assert law[2] == 0
    assert abs(law[1] - 0.25) < 5 * np.sqrt(0.25 * 0.75 / DRAWS)
    assert (law == agent.probabilities()).all()


def test_a_mask_is_checked():
    with pytest.raises(ValueError, match="a mask needs 4 truth values, at least one of them true"):
        example_agent("ts", 4).probabilities(np.zeros(4, np.bool_))


# Floor: a mixture with a uniform choice.


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("base", ["ts", "gamma-swgts", "sw-ucb", "glr-ts"])
def test_a_floor_is_a_mixture(base, mask):
    """(1 − s) p + s/k, s = K m, with the same history; the proportions of the base are kept."""
    below = example_agent(base, K)
    above = agents.Floor(below, share=0.05)
    luck = np.random.default_rng(1)
    for arm in luck.integers(0, K, 50):
        reward = float(luck.random() < 0.3)
        below.observe(arm, reward)
        above.observe(arm, reward)
    open_arms = np.ones(K) if mask is None else mask
    expected = 0.8 * below.probabilities(mask) + 0.2 * open_arms / open_arms.sum()
    np.testing.assert_allclose(above.probabilities(mask), expected, atol=1e-12)


def test_a_floor_takes_an_agent_with_its_parameters():
    given = agents.SWUCB(3, window=50, xi=1.5)
    floor = agents.Floor(given, share=0.1)
    assert floor.base == "sw-ucb(window=50, xi=1.5, subgaussian=0.5)"
    assert (floor.n_arms, floor.accepts) == (3, "real")
    assert floor.clone().parameters == floor.parameters
    assert agents.Floor(agents.TS(2, binarize=True), share=0.1).binarize
    assert agents.Floor(2, share=0.5).probabilities().tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"share": 0.6}, "share must be at most 1/2, got 0.6; it is the least probability of each arm"),
        ({"share": 0}, "share must be a finite number above 0, got 0"),
        ({"base": "exp3"}, "base 'exp3' learns from the probability of its own choice; take another"),
        ({"base": "oracle"}, "base 'oracle' is told the means; take an agent that learns"),
        ({"base": "floor"}, "base 'floor' has a floor already"),
    ],
)
def test_a_floor_refuses(given, message):
    with pytest.raises(ValueError, match=message):
        agents.make("floor", 2, 100, **given)
