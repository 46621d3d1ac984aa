"""Kalman's filter against the joint Gaussian law of all rounds, and the agents that sample from it or add a bonus.

Predictive sampling: what an infinite future would tell, against that law too.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents, worlds
from ns_mab_gym.agents.kalman import fitted_walk

FloatArray = npt.NDArray[np.float64]
PHI, MEAN, DRIFT, NOISE = (0.9, 0.5, 0.99), (0.2, -1.0, 3.0), (0.3, 1.0, 0.05), (0.7, 0.2, 1.5)
ACTS = 100_000
PROCESSES = [(0.9, 0.3, 0.5), (0.5, 1.0, 0.2), (0.999, 0.01, 0.5), (0.3, 2.0, 3.0), (0.95, 0.1, 0.0), (0.8, 0.05, 4.0)]


def make(variance: str = "predictive") -> agents.Agent:
    return agents.PredictiveSampling(3, phi=PHI, mean=MEAN, drift=DRIFT, noise=NOISE, variance=variance)


def history(rounds: int) -> tuple[npt.NDArray[np.int64], FloatArray]:
    rng = np.random.default_rng(rounds)
    return rng.integers(3, size=rounds), rng.normal(0.0, 2.0, rounds)


def told(agent: agents.Agent, rounds: int) -> agents.Agent:
    for arm, reward in zip(*history(rounds), strict=True):
        agent.observe(int(arm), float(reward))
    return agent


def conditioned(arm: int, rounds: int) -> tuple[float, float]:
    """The law of an arm's mean after so many rounds, by conditioning the joint normal law of all of its rounds at once.

    Stationary: Cov(θ_s, θ_t) = σ_w²/(1 − φ²) φ^|s − t|.
    """
    arms, rewards = history(rounds)
    seen = np.flatnonzero(arms == arm)
    variance = DRIFT[arm] ** 2 / (1 - PHI[arm] ** 2)
    among = variance * PHI[arm] ** np.abs(seen[:, None] - seen[None]) + NOISE[arm] ** 2 * np.eye(seen.size)
    across = variance * PHI[arm] ** (rounds - seen)
    weights = np.linalg.solve(among, across)
    return float(MEAN[arm] + weights @ (rewards[seen] - MEAN[arm])), float(variance - weights @ across)


@pytest.mark.parametrize("rounds", [0, 1, 2, 7, 60, 300])
def test_the_filter_gives_the_law_of_the_coming_round(rounds):
    state = told(make(), rounds).state
    exact = np.array([conditioned(arm, rounds) for arm in range(3)]).T
    np.testing.assert_allclose([state.means, state.variances], exact, rtol=1e-10)


def foreseen(p: float, phi: float, drift: float, noise: float, rewards: int = 600) -> float:
    """Var E[θ | the next rewards], for θ ~ N(·, P) in the coming round: c' Σ⁻¹ c from their joint covariance."""
    steps = np.arange(1, rewards + 1)
    of_state = phi ** (2 * steps) * p + drift**2 * (1 - phi ** (2 * steps)) / (1 - phi**2)  # Var θ after k rounds
    first = np.minimum(steps[:, None], steps[None])
    among = of_state[first - 1] * phi ** np.abs(steps[:, None] - steps[None]) + noise**2 * np.eye(rewards)
    across = phi**steps * p
    return float(across @ np.linalg.solve(among, across))


@pytest.mark.parametrize(("phi", "drift", "noise"), PROCESSES)
@pytest.mark.parametrize("rounds", [0, 5])
def test_a_sample_varies_as_what_the_future_would_make_one_expect(phi, drift, noise, rounds):
    """600 future rewards, after which nothing more is learnt of the coming round."""
    agent = agents.PredictiveSampling(2, phi=phi, drift=drift, noise=noise)
    for _ in range(rounds):
        agent.observe(0, 0.3)
    for arm in range(2):
        p = float(agent.state.variances[arm])
        assert 1 / agent.state.roots[arm] ** 2 == pytest.approx(foreseen(p, phi, drift, noise), rel=1e-8)


@pytest.mark.parametrize("variance", ["predictive", "posterior"])
@pytest.mark.parametrize("rounds", [0, 40])
def test_samples_win_as_often_as_they_should(variance, rounds, count_acts):
    """N(m, Var E[θ | the future]), or Thompson's N(m, P); the filter does not depend on how arms are sampled."""
    agent = told(make(variance), rounds)
    laws = []
    for arm in range(3):
        mean, p = conditioned(arm, rounds)
        spread = foreseen(p, PHI[arm], DRIFT[arm], NOISE[arm]) if variance == "predictive" else p
        laws.append(stats.norm(mean, math.sqrt(spread)))
    wins = count_acts(agent.state, np.ones(3, bool), np.random.default_rng(rounds), ACTS)
    assert agreement(wins, winning_chances(laws)) > 1e-4


def test_forgetting_returns_an_arm_to_its_stationary_law():
    agent, other = told(make(), 50), told(make(), 50)
    agent.forget(0)
    assert agent.state.means[0] == 0.2
    assert agent.state.variances[0] == pytest.approx(0.09 / 0.19, rel=1e-12)
    for field in ("means", "variances", "roots"):
        np.testing.assert_array_equal(getattr(agent.state, field)[1:], getattr(other.state, field)[1:])


# Walks that begin with a prior, and need not have a stationary law.

SHOWN: list[tuple[float, float, float, float, float]] = [  # φ, m, σ_w, σ_z and σ_0
    (1.0, 0.5, 0.1, 0.5, 4.0),
    (1.0, -2.0, 0.01, 3.0, 0.2),
    (0.9836, 0.5, 0.028, 0.04, 0.32),
    (0.3, 1.0, 2.0, 0.0, 0.7),
]


def walk_law(rounds: int, phi: float, mean: float, drift: float, noise: float, prior: float) -> FloatArray:
    """(2, 3) means and variances of the three arms in the coming round, by conditioning all rounds at once.

    θ_t − m = φ^t (θ_0 − m) + Σ_{s ≤ t} φ^(t − s) W_s, so that Cov(θ_s, θ_t) = B_s · B_t with the rows B_t of the
    coefficients of θ_0 and of W_1, W_2, …, each times its standard deviation.
    """
    arms, rewards = history(rounds)
    coefficients = np.array([[phi ** (t - s) if s <= t else 0.0 for s in range(rounds + 1)] for t in range(rounds + 1)])
    coefficients *= np.where(np.arange(rounds + 1) == 0, prior, drift)
    covariance = coefficients @ coefficients.T
    laws = np.empty((2, 3))
    for arm in range(3):
        seen = np.flatnonzero(arms == arm)
        among = covariance[np.ix_(seen, seen)] + noise**2 * np.eye(seen.size)
        weights = np.linalg.solve(among, covariance[seen, -1])
        laws[:, arm] = (
            mean + weights @ (rewards[seen] - mean),
            covariance[-1, -1] - weights @ covariance[seen, -1],
        )
    return laws


@pytest.mark.parametrize("walk", SHOWN)
@pytest.mark.parametrize("rounds", [0, 1, 2, 7, 60])
def test_the_filter_of_a_walk_with_a_prior(walk, rounds):
    phi, mean, drift, noise, prior = walk
    agent = told(agents.KalmanTS(3, phi=phi, mean=mean, drift=drift, noise=noise, prior=prior), rounds)
    np.testing.assert_allclose([agent.state.means, agent.state.variances], walk_law(rounds, *walk), rtol=1e-9)


def test_thompson_sampling_on_a_walk_wins_as_often_as_it_should(count_acts):
    agent = told(agents.KalmanTS(3, drift=0.5, noise=2.0), 9)
    laws = [stats.norm(mean, math.sqrt(p)) for mean, p in walk_law(9, 1.0, 0.5, 0.5, 2.0, 4.0).T]
    wins = count_acts(agent.state, np.ones(3, bool), np.random.default_rng(1), ACTS)
    assert agreement(wins, winning_chances(laws)) > 1e-4


@pytest.mark.parametrize("width", [0.0, 0.7, 3.0])
def test_the_largest_bound_of_a_walk_is_played(width):
    """After forty histories, the law by conditioning."""
    for rounds in range(40):
        agent = told(agents.KalmanUCB(3, drift=0.3, noise=1.0, width=width), rounds)
        means, variances = walk_law(rounds, 1.0, 0.5, 0.3, 1.0, 4.0)
        bounds = means + width * np.sqrt(variances)
        assert bounds[agent.act()] >= bounds.max() - 1e-9


@pytest.mark.parametrize("kind", [agents.KalmanTS, agents.KalmanUCB])
def test_forgetting_returns_an_arm_to_the_prior(kind):
    agent, other = (told(kind(3, drift=0.2, prior=3.0, mean=-1.0), 50) for _ in range(2))
    agent.forget(1)
    mine, others = (getattr(each.state, "filter", each.state) for each in (agent, other))
    assert (mine.means[1], mine.variances[1]) == (-1.0, 9.0)
    np.testing.assert_array_equal(mine.means[[0, 2]], others.means[[0, 2]])
    np.testing.assert_array_equal(mine.variances[[0, 2]], others.variances[[0, 2]])


def test_the_process_of_daw_is_found_from_its_means():
    """φ within 5 standard errors √((1 − φ²)/n) of the source's, σ_w within 5 of σ_w/√(2n), m within 5 of its own."""
    means = worlds.DawWalk(horizon=20_000, step=0.01).means(1)  # steps so small that no mean reaches 0 or 1
    phi, mean, drift = fitted_walk(means)
    n = 4 * 19_999
    assert phi == pytest.approx(0.9836, abs=5 * math.sqrt((1 - 0.9836**2) / n))
    assert drift == pytest.approx(0.01, abs=5 * 0.01 / math.sqrt(2 * n))
    assert mean == pytest.approx(0.5, abs=5 * 0.01 / (1 - 0.9836) / math.sqrt(n))
    agent = agents.make("kalman-ts", knowledge=agents.Knowledge(n_arms=4, subgaussian=0.04, means=means))
    assert (agent.phi, agent.mean, agent.drift, agent.noise, agent.prior) == (phi, mean, drift, 0.04, 0.32)


def test_a_world_that_stands_still_is_told_the_least_drift():
    known = agents.Knowledge(n_arms=2, subgaussian=2.0, means=np.array([[0.2, 0.7]] * 5))
    agent = agents.make("kalman-ucb", knowledge=known)
    assert (agent.phi, agent.mean, agent.drift) == (1.0, pytest.approx(0.45), 2e-6)
