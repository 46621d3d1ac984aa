"""Beliefs of Bayesian agents are calibrated on worlds drawn from their own priors.

Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari, Gelman, "Validating Bayesian Inference Algorithms
with Simulation-Based Calibration", arXiv 1804.06788): draw a world from the agent's prior, let the agent play it, and
rank the true mean of an arm in the coming round among draws from the agent's belief. If prior, update and draws are
right, all ranks are equally likely, whatever arms the agent chose to play. A further agent is a row of ``MODELS``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit
from scipy import stats

from ns_mab_gym import agents
from ns_mab_gym.agents.changepoint_ucb import ChangepointState
from ns_mab_gym.agents.core.kernel import act, observe
from ns_mab_gym.agents.kalman import KalmanState
from ns_mab_gym.agents.parts import single_changes

FloatArray = npt.NDArray[np.float64]
ARMS, ROUNDS, WORLDS, DRAWS = 3, 13, 4_000, 19  # 20 ranks, each expected 200 times
LEVEL = 1e-4  # of each chi-square test; the seeds are fixed


@dataclass(frozen=True)
class Model:
    """An agent, and the worlds that it expects.

    Attributes:
        agent: its name.
        parameters: those in which its prior is stated.
        means: from a generator to the (T + 1, K) means of a world of its prior, the coming round in the last row.
        digest: the SHA-256 of the worlds and the luck of their rounds, to six digits.
        noise: the standard deviation of rewards around their means; None if they are 0 or 1.
    """

    agent: str
    parameters: dict[str, Any]
    means: Callable[[np.random.Generator], FloatArray]
    digest: str
    noise: float | None = None


def still(a: float, b: float) -> Callable[[np.random.Generator], FloatArray]:
    """Means with the law Beta(a, b) that do not change."""
    return lambda rng: np.tile(rng.beta(a, b, ARMS), (ROUNDS + 1, 1))


def switching(hazards: list[float], together: bool) -> Callable[[np.random.Generator], FloatArray]:
    """Uniform means, drawn anew after a round with a hazard that is one of these, of all arms together or of each."""

    def means(rng: np.random.Generator) -> FloatArray:
        hazard, drawn = hazards[rng.integers(len(hazards))], rng.random((ROUNDS + 1, ARMS))
        for t in range(1, ROUNDS + 1):
            changes = rng.random(1 if together else ARMS) < hazard
            drawn[t] = np.where(changes, drawn[t], drawn[t - 1])
        return drawn

    return means


def changing(rates: tuple[float, ...]) -> Callable[[np.random.Generator], FloatArray]:
    """Uniform means, each drawn anew before a round with a rate of its own, which is one of these."""

    def means(rng: np.random.Generator) -> FloatArray:
        own, drawn = rng.choice(rates, ARMS), rng.random((ROUNDS + 1, ARMS))
        for t in range(1, ROUNDS + 1):
            drawn[t] = np.where(rng.random(ARMS) < own, drawn[t], drawn[t - 1])
        return drawn

    return means


def halved(depth: int, a: float) -> Callable[[np.random.Generator], FloatArray]:
    """Beta(a, a) means of each segment of 2^depth rounds, which are one segment or two halves, and so on, by coins."""

    def means(rng: np.random.Generator, depth: int = depth) -> FloatArray:
        if depth > 0 and rng.random() < 0.5:
            return np.concatenate([means(rng, depth - 1), means(rng, depth - 1)])
        return np.tile(rng.beta(a, a, ARMS), (2**depth, 1))

    return lambda rng: means(rng)[: ROUNDS + 1]


def walk(phi: float, mean: float, drift: float, start: float) -> Callable[[np.random.Generator], FloatArray]:
    """θ' = m + φ(θ − m) + N(0, σ_w²), from N(m, start²)."""

    def means(rng: np.random.Generator) -> FloatArray:
        away = rng.normal(scale=drift, size=(ROUNDS + 1, ARMS))
        away[0] *= start / drift
        for t in range(1, ROUNDS + 1):
            away[t] += phi * away[t - 1]
        return mean + away

    return means


AR = {"phi": 0.9, "mean": 0.2, "drift": 0.3}
WALK = {"drift": 0.4, "noise": 1.5, "prior": 2.0, "mean": -1.0}
HAZARDS = np.geomspace(1e-4, 0.1, 8).tolist()
FREQUENT = (0.01, 0.05, 0.2, 0.5)  # rates of single changes that 13 rounds can show
MODELS = [
    Model("ts", {}, still(1, 1), "33f40bc0df10ca7e7b4050aef3c815e0dcb21d3b2606dfc8375acdec61a62297"),
    Model(
        "switching-ts",
        {"hazard": 0.1},
        switching([0.1], together=True),
        "834216e2a36667fcc30e5f89af7e15ea6923d440d37a61e385b0d395ab956fc5",
    ),
    Model(
        "switching-ts",
        {"hazard": 0.1, "restart": "arm"},
        switching([0.1], together=False),
        "3a4bea0fd4ff0ce3579ef9c844392c8223620666c06b1d8aa9661d5d03f516d3",
    ),
    Model(
        "switching-ts",
        {"hazard": "learnt"},
        switching(HAZARDS, together=True),
        "609997a6e0fe55f20fed88908c69b8b6e4a0e326dc277563c08ed4969ac1f795",
    ),
    Model(
        "changepoint-ucb",
        {"prior": 0.5, "drift": 0.0, "single": 0.0},
        switching(HAZARDS, together=True),
        "609997a6e0fe55f20fed88908c69b8b6e4a0e326dc277563c08ed4969ac1f795",
    ),
    Model(
        "changepoint-ucb",
        {"prior": 0.5, "drift": 0.0, "single": 1.0},
        changing(FREQUENT),
        "4dc52a1945ab54a7c95dd16af8883606a91eb8ddeffe50e40a91736c22e6cda8",
    ),
    Model(
        "active-ptw", {"depth": 4}, halved(4, 0.5), "58f3b5fbe101161047492caeded0bb0ffceed222d2fdd85f8e728cead6469e84"
    ),
    Model(
        "predictive-sampling",
        AR | {"noise": 0.7},
        walk(**AR, start=0.3 / math.sqrt(1 - 0.9**2)),
        "c213ac00d402b83a0065597f9977e1a10d71b9564e159a2a358b3b12c32a0046",
        noise=0.7,
    ),
    Model(
        "kalman-ts",
        WALK,
        walk(1.0, -1.0, 0.4, start=2.0),
        "d3f4657f4c637db4fb2e64011275fbb98804d9c784e950d90e6054f58e7fcd49",
        noise=1.5,
    ),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.agent}, {model.parameters}")


def drawn(model: Model) -> tuple[FloatArray, FloatArray]:
    """(W, T + 1, K) means and (W, T) luck of worlds of the model's prior."""
    rng = np.random.default_rng(7)
    means = np.array([model.means(rng) for _ in range(WORLDS)])
    shape = WORLDS, ROUNDS
    return means, rng.random(shape) if model.noise is None else rng.standard_normal(shape)


class Recorder:
    """A generator that remembers the last Beta variate that was drawn from it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.random = self.rng.random

    def beta(self, a: float, b: float) -> float:
        self.last = float(self.rng.beta(a, b))
        return self.last


def posterior_draws(agent: agents.Agent, arm: int, seed: int) -> FloatArray:
    """Draws from an agent's belief about the mean of an arm in the coming round.

    Of Kalman's filter, from its normal law; of change-point UCB, from the Beta law of a hypothesis drawn by its weight,
    where each arm changes by itself of one for a rate drawn by its weight; of all others, what the agent's own rule
    draws for the arm when no other can be played.
    """
    if isinstance(agent.state, ChangepointState):
        rng, state = np.random.default_rng(seed), agent.state
        if state.odds_single == 1.0:
            own = state.single
            rates = rng.choice(own.rates.size, DRAWS, p=own.shares[arm])
            unchanged = rng.random(DRAWS) < own.kept[rates, arm]
            places = np.array([rng.choice(own.held[arm], p=own.weights[arm, : own.held[arm], q]) for q in rates])
            pulls, sums = np.where(unchanged, own.seen[arm, places].T, [[2.0], [1.0]])
            return rng.beta(sums, pulls - sums)
        drawn = rng.choice(state.totals.size, DRAWS, p=state.totals)
        pulls, sums = (state.seen[:, arm] - state.before[drawn, :, arm]).T
        return rng.beta(sums, pulls - sums)
    if isinstance(agent.state, KalmanState):
        spread = math.sqrt(agent.state.variances[arm])
        return np.random.default_rng(seed).normal(agent.state.means[arm], spread, DRAWS)
    agent.rng = recorder = Recorder(seed)  # type: ignore[assignment]
    samples = []
    for _ in range(DRAWS):
        agent.act(mask=np.arange(ARMS) == arm)
        samples.append(recorder.last)
    return np.array(samples)


def _play(state, mask, rng, means, luck, noise):
    for t in range(luck.size):
        arm = act(state, mask, rng)
        mean, chance = means[t, arm], luck[t]
        observe(state, arm, mean + noise * chance if noise > 0 else 1.0 * (chance < mean))


_compiled_play = njit(_play)


def ranks(model: Model, means: FloatArray, luck: FloatArray) -> npt.NDArray[np.int64]:
    """How often each rank of the true mean among the draws comes up, of one arm of each world after the play."""
    agent = agents.make(model.agent, ARMS, ROUNDS, **model.parameters)
    found = np.zeros(DRAWS + 1, np.int64)
    play = _compiled_play if isinstance(agent.state, ChangepointState) else _play  # compiled where that pays
    for world in range(WORLDS):
        agent.reset(seed=2 * world)
        play(agent.state, np.ones(ARMS, np.bool_), agent.rng, means[world], luck[world], model.noise or 0.0)
        arm = world % ARMS
        found[int((posterior_draws(agent, arm, seed=2 * world + 1) < means[world, -1, arm]).sum())] += 1
    return found


@pytest.fixture(autouse=True)
def _frequent_changes(monkeypatch):
    monkeypatch.setattr(single_changes, "RATES", FREQUENT)


@each_model
def test_all_ranks_are_equally_likely(model):
    means, luck = drawn(model)
    data = b"".join(np.round(each, 6).astype("<f8").tobytes() for each in (means, luck))
    assert hashlib.sha256(data).hexdigest() == model.digest
    assert stats.chisquare(ranks(model, means, luck)).pvalue > LEVEL


WRONG = [
    ("ts", {}, still(2, 2)),
    ("switching-ts", {"hazard": 0.1}, switching([0.3], together=True)),
    ("changepoint-ucb", {"single": 0.0}, switching([0.5], together=True)),
    ("changepoint-ucb", {"single": 1.0}, changing((0.9,))),
    ("active-ptw", {}, halved(4, 1.0)),
    ("predictive-sampling", {}, walk(0.9, 0.2, 0.6, 0.6 / math.sqrt(0.19))),
    ("kalman-ts", {}, walk(1.0, -1.0, 0.1, 2.0)),
]


@pytest.mark.parametrize(("agent", "parameters", "means"), WRONG, ids=[f"{each[0]}, {each[1]}" for each in WRONG])
def test_worlds_of_another_prior_are_noticed(agent, parameters, means):
    """Beta(2, 2) for uniform means, larger hazards, uniform means, twice and a quarter of the drift."""
    model = next(each for each in MODELS if each.agent == agent and parameters.items() <= each.parameters.items())
    wrong = Model(agent, model.parameters, means, "", model.noise)
    assert stats.chisquare(ranks(wrong, *drawn(wrong))).pvalue < LEVEL
