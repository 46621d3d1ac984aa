"""Predictive sampling: Thompson sampling that does not explore what will soon be worth nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import choice, number, positive
from .core.kernel import ALL, BoolArray, FloatArray, forgotten, rule
from .core.knowledge import Knowledge, suggested_window
from .core.protocol import Agent
from .parts.races import highest, largest_gaussian

PerArm = float | Sequence[float]  # the same for all arms, or one number for each
PHI, MEAN, DRIFT, NOISE, FUTURE = range(5)  # rows of the model
FINEST = 1e-70  # the smallest drift, as its fourth power is needed
PHI_HINT = "for means that stay use ts"
DRIFT_HINT = "it is the standard deviation of one round's change"
NOISE_HINT = "it is the standard deviation of a reward around its mean"


class KalmanState(NamedTuple):
    """The law N(m, P) of each arm's mean in the coming round, by Kalman's filter, and how each arm is sampled."""

    means: FloatArray  # (K,) m
    variances: FloatArray  # (K,) P
    roots: FloatArray  # (K,) √(P + y)/P, the root of the precision of the arm's sample
    model: FloatArray  # (5, K) φ, m, σ_w², σ_z² and y of each arm


def act(state: KalmanState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ N(m_i, P_i²/(P_i + y_i)); play argmax θ_i."""
    return largest_gaussian(state.means, state.roots, highest(state.means, mask), mask, rng)


def observe(state: KalmanState, arm: int, reward: float) -> None:
    """Update the law of the arm played, then predict the next round of every arm."""
    means, variances, roots, model = state.means, state.variances, state.roots, state.model
    gain = variances[arm] / (variances[arm] + model[NOISE, arm])
    means[arm] += gain * (reward - means[arm])
    variances[arm] *= 1.0 - gain
    for i in range(means.size):
        phi = model[PHI, i]
        means[i] = model[MEAN, i] + phi * (means[i] - model[MEAN, i])
        variances[i] = phi * phi * variances[i] + model[DRIFT, i]
        roots[i] = math.sqrt(variances[i] + model[FUTURE, i]) / variances[i]


def forget(state: KalmanState, arm: int) -> None:
    """Return one arm, or with ``ALL`` every arm, to its stationary law N(m, σ_w²/(1 − φ²))."""
    for i in forgotten(arm, state.means.size):
        phi = state.model[PHI, i]
        state.means[i] = state.model[MEAN, i]
        state.variances[i] = state.model[DRIFT, i] / (1.0 - phi * phi)
        state.roots[i] = math.sqrt(state.variances[i] + state.model[FUTURE, i]) / state.variances[i]


rule(KalmanState, act, observe, forget)


def future_noise(phi: float, drift: float, noise: float) -> float:
    """y, the fixed point of y = (σ_w² + σ_z² y/(σ_z² + y))/φ².

    All rewards that the arm would give after the coming round tell of its mean in that round as much as one look at it
    through noise of variance y: the next round's mean is seen through its own reward and, in parallel, through all
    later ones, and is φ times this round's mean plus drift.

    >>> round(future_noise(0.5, 1.0, 0.0), 9)  # without noise the next reward tells all: σ_w²/φ²
    4.0

    Args:
        phi: φ.
        drift: σ_w.
        noise: σ_z.
    """
    w, z = drift * drift, noise * noise
    half = 0.5 * (w + (1.0 - phi * phi) * z)  # φ² y² − 2 half y − σ_w² σ_z² = 0
    return (half + math.sqrt(half * half + phi * phi * w * z)) / (phi * phi)


@dataclass(eq=False)
class PredictiveSampling(Agent):
    """Predictive sampling: each arm an AR(1) process, explored the less the faster it forgets.

    Source:
        Liu, Van Roy, Xu, "Nonstationary Bandit Learning via Predictive Sampling", AISTATS 2023, arXiv 2205.01970.
    Rule:
        The mean of an arm follows θ' = m + φ(θ − m) + W, W ~ N(0, σ_w²), and its rewards are θ + Z, Z ~ N(0, σ_z²);
        Kalman's filter gives N(m_i, P_i) for the coming round. Imagine all the rewards that the arm would give later,
        and play the arm whose mean in the coming round they would lead one to expect highest: a sample from
        N(m_i, P_i²/(P_i + y)), y the fixed point of y = (σ_w² + σ_z² y/(σ_z² + y))/φ², the noise through which that
        future shows the coming round. ``variance="posterior"`` samples from N(m_i, P_i), which is plain Thompson
        sampling.
    Tuning:
        Source: the φ, m, σ_w and σ_z of the world's own processes, which may differ from arm to arm. Ours, blind:
        φ = exp(−1/τ), τ = 4√(T ln T) rounded down, m = ½, σ_w² = (1 − φ²)/12, so that a mean that was not seen for
        long has the mean and the variance of a uniform one, and σ_z = λ (½ if it is not given).
    Knowledge:
        T, and λ.
    Deviations:
        None in law; samples that cannot be the largest are not drawn (see ``agents/parts/races.py``). An arm begins in
        its stationary law. The fixed point was derived here, as the limit of what N future rewards tell; of the source
        only its beginning could be read, which states the principle. Rewards other than Gaussian ones, Bernoulli ones
        for example, are taken as if they were Gaussian.

    >>> agent = PredictiveSampling(2, phi=(0.999, 0.5))
    >>> agent.state.variances.round(3)  # the second arm moves as far as the first, but much faster
    array([0.083, 0.083])
    >>> (1 / agent.state.roots**2).round(3)  # what one learns of it is soon worth nothing: it is hardly explored
    array([0.077, 0.006])

    Attributes:
        phi: φ, of each arm or of all: how much of a mean's distance from m is left after one round, between 0 and 1.
        mean: m, of each arm or of all: what an arm's mean returns to.
        drift: σ_w, of each arm or of all: the standard deviation of one round's change; √((1 − φ²)/12) if not given.
        noise: σ_z, of each arm or of all: the standard deviation of a reward around its mean.
        variance: ``"predictive"``, or ``"posterior"`` for Thompson sampling with the same filter.
    """

    name: ClassVar[str] = "predictive-sampling"

    phi: PerArm = field(kw_only=True)
    mean: PerArm = field(default=0.5, kw_only=True)
    drift: PerArm | None = field(default=None, kw_only=True)
    noise: PerArm = field(default=0.5, kw_only=True)
    variance: str = field(default="predictive", kw_only=True)

    def _check(self) -> None:
        self.phi = self._per_arm("phi", self.phi, partial(positive, least=1e-6, below=1, hint=PHI_HINT))
        self.mean = self._per_arm("mean", self.mean, number)
        drift = np.sqrt((1 - np.square(self.phi)) / 12).tolist() if self.drift is None else self.drift
        self.drift = self._per_arm("drift", drift, partial(positive, least=FINEST, hint=DRIFT_HINT))
        self.noise = self._per_arm("noise", self.noise, partial(positive, allow_zero=True, hint=NOISE_HINT))
        choice("variance", self.variance, ("predictive", "posterior"))

    def _per_arm(self, what: str, given: object, check: Callable[[str, object], float]) -> PerArm:
        """The given number, or one for each arm as a tuple, if each of them passes the check."""
        if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or np.ndim(given) == 0:
            return check(what, given)
        if len(given) != self.n_arms:
            raise ValueError(f"{what} must be one number or {self.n_arms} of them, one per arm, got {len(given)}")
        return tuple(check(what, each) for each in given)

    def _new_state(self) -> KalmanState:
        k = self.n_arms
        model = np.zeros((5, k))
        model[PHI], model[MEAN], model[DRIFT], model[NOISE] = self.phi, self.mean, self.drift, self.noise
        if self.variance == "predictive":
            model[FUTURE] = [future_noise(*model[[PHI, DRIFT, NOISE], i].tolist()) for i in range(k)]
        model[[DRIFT, NOISE]] **= 2
        state = KalmanState(np.zeros(k), np.zeros(k), np.zeros(k), model)
        forget(state, ALL)
        return state

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """φ = exp(−1/τ) with τ = 4√(T ln T), and σ_z = λ."""
        tuned: dict[str, Any] = {"noise": 0.5 if knowledge.subgaussian is None else knowledge.subgaussian}
        if "phi" not in given:
            tuned["phi"] = math.exp(-1 / suggested_window(*knowledge.need(cls.name, "horizon")))
        return tuned
