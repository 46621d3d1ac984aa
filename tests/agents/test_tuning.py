"""Parameters derived from knowledge: the numbers of the paper's experiments, or a message that says what is missing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from examples import HOUSE

from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.agents import Knowledge, MissingKnowledgeError

T, K = 50_000, 10
KNOW_THE_WORLD = ("oracle", "oracle-restart")
NEED_THE_HORIZON = (
    "beta-swts", "gamma-swgts", "sw-ucb", "sw-lb-sda", "exp3", "exp3s", "d-ucb", "d-ts", "ds-ts", "r-less-ucb",
    "raw-ucb", "fewa", "cusum-ucb", "pht-ucb", "m-ucb", "br-mab", "glr-klucb", "adr-ts", "active-ptw",
    "predictive-sampling", "master", "bandit-over-windows",
)  # fmt: skip
TESTS = {"m-ucb": "a test of two halves", "br-mab": "a CUSUM test", "glr-klucb": "glr", "adr-ts": "adwin"}


@pytest.fixture(scope="module")
def abrupt() -> Knowledge:
    return theory.knowledge(worlds.Abrupt().means())


@pytest.mark.parametrize("name", ["beta-swts", "gamma-swgts", "sw-ucb"])
def test_the_window_of_the_paper_is_rounded_down(name):
    """4√(50 000 ln 50 000) = 2942.08; and at T = 10 000, 4√(10 000 ln 10 000) = 1213.9 gives 1213."""
    assert 4 * math.sqrt(T * math.log(T)) == pytest.approx(2942.08, abs=0.01)
    assert agents.make(name, K, T).window == 2942
    assert agents.make(name, K, 10_000).window == 1213
    assert agents.make(name, K, 1).window == 1


@pytest.mark.parametrize(
    ("sigma", "window"), [(1e-4, 1585), (1e-3, 252), (1e-5, 10_000), (0.04, 14), (None, 252), (0.05, 252), (0.89, 252)]
)
def test_the_window_of_sw_kl_ucb_is_rounded_up(sigma, window):
    """σ^(−4/5): 1584.9, 251.2, 10^4 to the digit; where σ is unknown or the means jump, σ = 0.001 stands in."""
    agent = agents.make("sw-kl-ucb", K, T, knowledge=Knowledge(lipschitz=sigma))
    assert (agent.window, agent.c) == (window, 3.0)


def test_the_window_of_sw_kl_ucb_is_at_most_the_horizon():
    assert agents.make("sw-kl-ucb", K, 500, knowledge=Knowledge(lipschitz=1e-4)).window == 500
    assert agents.make("sw-kl-ucb", K, 500, knowledge=Knowledge(lipschitz=0.0)).window == 500
    assert agents.make("sw-kl-ucb", K, knowledge=Knowledge(lipschitz=1e-4)).window == 1585
    with pytest.raises(MissingKnowledgeError, match=r"sw-kl-ucb .* needs `horizon` \(T\)"):
        agents.make("sw-kl-ucb", K, knowledge=Knowledge(lipschitz=0.0))


def test_sw_kl_ucb_on_the_papers_worlds(abrupt):
    """The author's σ for the smooth worlds; on the abrupt world the largest jump is 0.89, so σ = 0.001."""
    assert abrupt.lipschitz == pytest.approx(0.89)
    assert agents.make("sw-kl-ucb", knowledge=abrupt).window == 252


def test_rexp3_on_the_abrupt_world(abrupt):
    """V_T = 3 · 0.89: at each breakpoint arm 1 moves from 0.1 to 0.99 or back, further than any other.

    K ln K = 10 ln 10 = 23.0259. Δ = ⌈23.0259^(1/3) (50 000/2.67)^(2/3)⌉ = ⌈2.84494 · 705.192⌉ = ⌈2006.2⌉ = 2007 and
    γ = √(23.0259/(1.718282 · 2007)) = 0.081712.
    """
    assert abrupt.variation == pytest.approx(2.67)
    unrounded = (10 * math.log(10)) ** (1 / 3) * (50_000 / 2.67) ** (2 / 3)
    assert unrounded == pytest.approx(2006.2, abs=0.1)
    agent = agents.make("rexp3", knowledge=abrupt)
    assert agent.batch == 2007
    assert agent.gamma == pytest.approx(0.081712, abs=1e-6)


def test_rexp3_at_the_ends():
    """No variation: one batch. Much of it: short batches, and γ is at most 1."""
    still = agents.make("rexp3", K, 1_000, knowledge=Knowledge(variation=0.0))
    assert still.batch == 1_000
    assert still.gamma == pytest.approx(math.sqrt(10 * math.log(10) / ((math.e - 1) * 1_000)))
    assert agents.make("rexp3", K, 1_000, knowledge=Knowledge(variation=500.0)).gamma == 1.0
    given = agents.make("rexp3", K, batch=100)  # γ follows from a given Δ
    assert given.gamma == pytest.approx(math.sqrt(10 * math.log(10) / ((math.e - 1) * 100)))
    assert agents.make("rexp3", K, batch=100, gamma=0.25).gamma == 0.25


def test_ser4_on_the_abrupt_world(abrupt):
    """δ = 1/T, ε = 1/(KT), φ = √(N/(T K ln(KT))), N = 4: the best arm changes at each of the three breakpoints."""
    assert abrupt.switches == 3
    agent = agents.make("ser4", knowledge=abrupt)
    assert agent.delta == 2e-5
    assert agent.epsilon == pytest.approx(2e-6, rel=1e-12)
    assert agent.phi == pytest.approx(math.sqrt(4 / (500_000 * math.log(500_000))), rel=1e-12)
    assert agent.phi == pytest.approx(7.808e-4, abs=1e-7)
    assert agent.factor == 2.0


@pytest.mark.parametrize(
    ("world", "phases"),
    [
        (worlds.Abrupt(), 4),  # arm 10, 1, 10, 1
        (worlds.Stationary(mu=(0.1, 0.9), horizon=20_000), 1),
        # best arms 1, 1, 3, 2, 2, 1, 3: coming back is a change too, and what the other arms do is none
        (worlds.Table(rows=[[5, 1, 3], [6, 4, 4], [1, 2, 7], [3, 9, 4], [2, 8, 7], [8, 3, 1], [0, 1, 2]]), 5),
    ],
    ids=["abrupt", "stationary", "by hand"],
)
def test_the_n_of_ser4_counts_the_phases_of_the_best_arm(world, phases):
    """N − 1 switches, so N = 1 in a world that stands still, where φ > 0 all the same."""
    means = world.means()
    horizon, n_arms = means.shape
    agent = agents.make("ser4", knowledge=theory.knowledge(means))
    expected = phases / (horizon * n_arms * math.log(n_arms * horizon))
    assert agent.phi**2 == pytest.approx(expected, rel=1e-12)
    assert agent.phi > 0


@pytest.mark.parametrize(("scale", "gamma"), [(None, 1.0), (0.5, 1.0), (0.25, 1.0), (1.0, 0.25), (2.0, 1 / 16)])
def test_gamma_swgts_takes_the_largest_gamma_that_the_theorems_allow(scale, gamma):
    """min{1/(4λ²), 1}; Bernoulli rewards are ¼-subgaussian, λ = ½."""
    assert agents.make("gamma-swgts", K, T, knowledge=Knowledge(subgaussian=scale)).gamma == gamma


def test_fixed_constants():
    assert agents.make("sw-ucb", K, T).xi == 0.6
    assert agents.make("kl-ucb", K).c == 3.0


def test_a_given_parameter_wins_over_the_formula(abrupt):
    assert agents.make("beta-swts", knowledge=abrupt, window=7).window == 7
    assert agents.make("gamma-swgts", knowledge=abrupt, gamma=0.1).gamma == 0.1
    assert agents.make("gamma-swgts", knowledge=abrupt, gamma=0.1).window == 2942
    assert agents.make("rexp3", knowledge=abrupt, gamma=0.5).batch == 2007
    assert agents.make("ser4", knowledge=abrupt, phi=0.0).delta == 2e-5
    assert agents.make("sw-kl-ucb", knowledge=abrupt, window=9).window == 9


def test_arguments_win_over_the_knowledge(abrupt):
    assert agents.make("beta-swts", 4, 10_000, knowledge=abrupt).n_arms == 4
    assert agents.make("beta-swts", 4, 10_000, knowledge=abrupt).window == 1213


@pytest.mark.parametrize("name", HOUSE)
def test_what_describe_knows_is_enough_for_every_agent(name):
    means = np.random.default_rng(0).random((300, 3))
    agent = agents.make(name, knowledge=theory.describe(means))
    assert agent.n_arms == 3
    assert agent.act() in range(3)


@pytest.mark.parametrize(
    ("name", "known", "missing"),
    [
        ("beta-swts", {}, r"`n_arms` \(K\)"),
        ("rexp3", {"n_arms": K}, r"`horizon` \(T\) and `variation` \(V_T, the total variation of the means\)"),
        ("rexp3", {"n_arms": K, "horizon": T}, r"`variation` \(V_T, the total variation of the means\)"),
        ("ser4", {"n_arms": K, "horizon": T}, r"`switches` \(the number of changes of the best arm\)"),
        *((name, {"n_arms": K, "horizon": T}, r"`means` \(the \(T, K\) matrix of means\)") for name in KNOW_THE_WORLD),
        *((name, {"n_arms": K}, r"`horizon` \(T\)") for name in NEED_THE_HORIZON),
    ],
)
def test_missing_knowledge_is_named(name, known, missing):
    words = (
        rf"^{TESTS.get(name, name)} is tuned by its paper's formula, which needs {missing}; give that, or pass "
        r"knowledge=ns_mab_gym.theory.describe\(means\), or set the agent's own parameters$"
    )
    with pytest.raises(MissingKnowledgeError, match=words):
        agents.make(name, knowledge=Knowledge(**known))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("beta-swts", {"window": 5}),
        ("kl-ucb", {}),
        ("sw-kl-ucb", {"window": 5}),
        ("rexp3", {"batch": 5, "gamma": 0.1}),
        ("ser4", {"delta": 0.1, "epsilon": 0.0, "phi": 0.01}),
        ("oracle", {"means": [[0.1, 0.2, 0.3]]}),
        ("random", {}),
    ],
)
def test_parameters_need_no_knowledge(name, parameters):
    agent = agents.make(name, 3, **parameters)
    for key, value in parameters.items():
        np.testing.assert_array_equal(getattr(agent, key), value)


def test_knowledge_is_shown_and_compared_without_the_matrix_of_means():
    """Which would fill the screen, and whose comparison is an array."""
    means = np.full((4, 2), 0.123)
    known = Knowledge(horizon=4, means=means)
    assert "0.123" not in repr(known)
    assert known == Knowledge(horizon=4, means=means + 1)
    assert known != Knowledge(horizon=5, means=means)
    with pytest.raises(AttributeError):
        known.horizon = 5  # type: ignore[misc]
