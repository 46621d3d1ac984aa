"""Predictive sampling: Kalman's filter, and what an infinite future would tell, against the joint Gaussian law."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents

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
