"""Kalman's filter of arms whose means drift: Thompson sampling, upper confidence bounds, and predictive sampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import choice, fraction, number, positive
from .core.kernel import ALL, BoolArray, FloatArray, forget, forgotten, observe, rule
from .core.knowledge import Knowledge, suggested_window
from .core.probabilities import largest_gaussian_law
from .core.protocol import Agent
from .parts.races import highest, largest_gaussian

PerArm = float | Sequence[float]  # the same for all arms, or one number for each
PHI, MEAN, DRIFT, NOISE, PRIOR, FUTURE, CENTRED = range(7)  # rows of the model
FINEST = 1e-70  # the smallest drift, as its fourth power is needed
PHI_HINT = "for means that stay use ts"
DRIFT_HINT = "it is the standard deviation of one round's change"
NOISE_HINT = "it is the standard deviation of a reward around its mean"
PRIOR_HINT = "it is the standard deviation of what is believed of a mean before the first round"


class KalmanState(NamedTuple):
    """The law N(m, P) of each arm's mean in the coming round, by Kalman's filter, and how each arm is sampled.

    Means follow θ' = m + φ(θ − m) + W, W ~ N(0, σ_w²), from θ ~ N(m, σ_0²), and rewards are θ + Z, Z ~ N(0, σ_z²).
    """

    means: FloatArray  # (K,) m
    variances: FloatArray  # (K,) P
    roots: FloatArray  # (K,) √(P + y)/P, the root of the precision of the arm's sample
    # (7, K) φ, m, σ_w², σ_z², σ_0² and y of each arm; y = 0 for a sample from N(m, P); and what is known of m: 1, it is
    # given; −1, it is the first reward; 0, it will be
    model: FloatArray


def new_filter(
    n_arms: int, phi: PerArm, mean: PerArm | None, drift: PerArm, noise: PerArm, prior: PerArm, future: PerArm = 0.0
) -> KalmanState:
    """The filter before the first round; φ, m, σ_w > 0, σ_z, σ_0² > 0 and y are of all arms, or one of each.

    Without m, it is the first reward, of whichever arm.
    """
    model = np.zeros((7, n_arms))
    model[PHI], model[DRIFT], model[NOISE] = phi, np.square(drift), np.square(noise)
    if mean is not None:
        model[MEAN], model[CENTRED] = mean, 1.0
    model[PRIOR], model[FUTURE] = prior, future
    state = KalmanState(np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms), model)
    forget_kalman(state, ALL)
    return state


def act_kalman_ts(state: KalmanState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ N(m_i, P_i²/(P_i + y_i)); play argmax θ_i."""
    return largest_gaussian(state.means, state.roots, highest(state.means, mask), mask, rng)


def observe_kalman(state: KalmanState, arm: int, reward: float) -> None:
    """Update the law of the arm played, then predict the next round of every arm."""
    means, variances, roots, model = state.means, state.variances, state.roots, state.model
    if model[CENTRED, 0] == 0.0:
        for i in range(means.size):
            means[i] = model[MEAN, i] = reward
            model[CENTRED, i] = -1.0
    gain = variances[arm] / (variances[arm] + model[NOISE, arm])
    means[arm] += gain * (reward - means[arm])
    variances[arm] *= 1.0 - gain
    for i in range(means.size):
        phi = model[PHI, i]
        means[i] = model[MEAN, i] + phi * (means[i] - model[MEAN, i])
        variances[i] = phi * phi * variances[i] + model[DRIFT, i]
        roots[i] = math.sqrt(variances[i] + model[FUTURE, i]) / variances[i]


def forget_kalman(state: KalmanState, arm: int) -> None:
    """Return one arm, or with ``ALL`` every arm, to N(m, σ_0²), what was believed of it before the first round."""
    for i in forgotten(arm, state.means.size):
        if arm == ALL and state.model[CENTRED, i] < 0.0:
            state.model[MEAN, i] = state.model[CENTRED, i] = 0.0
        state.means[i] = state.model[MEAN, i]
        state.variances[i] = state.model[PRIOR, i]
        state.roots[i] = math.sqrt(state.variances[i] + state.model[FUTURE, i]) / state.variances[i]


class KalmanUCBState(NamedTuple):
    """The filter, and the width c of the bonus."""

    filter: KalmanState
    width: float


def act_kalman_ucb(state: KalmanUCBState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of m_i + c √P_i."""
    means, variances = state.filter.means, state.filter.variances
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        index = means[i] + state.width * math.sqrt(variances[i])
        if index > highest and mask[i]:
            arm, highest = i, index
    return arm


def observe_kalman_ucb(state: KalmanUCBState, arm: int, reward: float) -> None:
    """Update the law of the arm played, then predict the next round of every arm."""
    observe(state.filter, arm, reward)


def forget_kalman_ucb(state: KalmanUCBState, arm: int) -> None:
    """Return one arm, or with ``ALL`` every arm, to N(m, σ_0²)."""
    forget(state.filter, arm)


def expect_kalman_ucb(state: KalmanUCBState, arm: int, pulls: int) -> None:
    """Let P fall as it would by so many rewards in one round."""
    variance, noise = state.filter.variances[arm], state.filter.model[NOISE, arm]
    state.filter.variances[arm] = variance * (noise / (noise + pulls * variance))


def probabilities_kalman_ts(state: KalmanState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest)."""
    return largest_gaussian_law(state.means, 1.0 / state.roots, mask)


rule(KalmanState, act_kalman_ts, observe_kalman, forget_kalman, probabilities=probabilities_kalman_ts)
rule(KalmanUCBState, act_kalman_ucb, observe_kalman_ucb, forget_kalman_ucb, expect_kalman_ucb)


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
        φ = exp(−1/τ), τ = 4√(T ln T) rounded down, m = ½, σ_w² = (2λ)² (1 − φ²)/12, so that a mean that was not seen
        for long has the mean and the variance of one that is uniform on [0, 1], and σ_z = λ, the subgaussian scale of
        the rewards. Where they lie in another interval m is its middle, and without bounds the first reward.
    Knowledge:
        T; λ, ½ if it is not given; and the interval in which rewards lie, [0, 1] if neither is given.
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
        mean: m, of each arm or of all: what an arm's mean returns to; None for the first reward.
        drift: σ_w, of each arm or of all: the standard deviation of one round's change; √((1 − φ²)/12) if not given.
        noise: σ_z, of each arm or of all: the standard deviation of a reward around its mean.
        variance: ``"predictive"``, or ``"posterior"`` for Thompson sampling with the same filter.
    """

    name: ClassVar[str] = "predictive-sampling"
    probability: ClassVar[str] = "quadrature"

    phi: PerArm = field(kw_only=True)
    mean: PerArm | None = field(default=0.5, kw_only=True)
    drift: PerArm | None = field(default=None, kw_only=True)
    noise: PerArm = field(default=0.5, kw_only=True)
    variance: str = field(default="predictive", kw_only=True)

    def _check(self) -> None:
        self.phi = self._per_arm("phi", self.phi, partial(positive, least=1e-6, below=1, hint=PHI_HINT))
        self.mean = None if self.mean is None else self._per_arm("mean", self.mean, number)
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
        phi, drift, noise = (
            np.broadcast_to(np.asarray(given, np.float64), self.n_arms) for given in (self.phi, self.drift, self.noise)
        )
        future: PerArm = 0.0
        if self.variance == "predictive":
            future = [future_noise(*each) for each in zip(phi.tolist(), drift.tolist(), noise.tolist(), strict=True)]
        stationary = (np.square(drift) / (1 - np.square(phi))).tolist()
        return new_filter(self.n_arms, self.phi, self.mean, drift.tolist(), self.noise, stationary, future)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """φ = exp(−1/τ) with τ = 4√(T ln T), σ_z = λ, and σ_w and m for rewards of this scale and place."""
        scale = knowledge.scale
        tuned: dict[str, Any] = {"noise": scale, "mean": knowledge.centre}
        if "phi" not in given:
            tuned["phi"] = math.exp(-1 / suggested_window(*knowledge.need(cls.name, "horizon")))
        if scale != 0.5:
            with suppress(TypeError, ValueError):  # of a φ that is no number, which the class refuses in its own words
                phi = np.asarray((tuned | dict(given))["phi"], np.float64)
                tuned["drift"] = (2 * scale * np.sqrt((1 - np.square(phi)) / 12)).tolist()
        return tuned


WIDE = 8.0  # λ, the standard deviation of what is believed of a mean before the first round
SLOWEST = 1e-6  # λ, the least drift that is told: with none, an arm would have been seen enough one day


def fitted_walk(means: FloatArray) -> tuple[float, float, float]:
    """φ, m and σ_w of the walk θ' = m + φ(θ − m) + N(0, σ_w²) that fits all arms of a (T, K) matrix of means.

    m is their mean, φ the least-squares slope of a round on the round before, in (0, 1], and σ_w the root of the mean
    square of what is left.

    >>> fitted_walk(np.array([[0.0, 4.0], [2.0, 4.0], [0.0, 2.0]]))  # by hand: Σ(θ − 2)(θ' − 2) = 4, Σ(θ − 2)² = 12
    (0.333..., 2.0, 1.29...)
    """
    m = float(means.mean())
    before, after = (means[:-1] - m).ravel(), (means[1:] - m).ravel()
    spread = float(before @ before)
    phi = min(1.0, max(1e-6, float(before @ after) / spread)) if spread > 0 else 1.0
    return phi, m, math.sqrt(float(np.mean(np.square(after - phi * before))))


@dataclass(eq=False)
class KalmanTS(Agent):
    """Kalman-TS: Thompson sampling for means that follow Gaussian random walks.

    Source:
        Daw, O'Doherty, Dayan, Seymour, Dolan, "Cortical substrates for exploratory decisions in humans", Nature 2006;
        Speekenbrink, Konstantinidis, "Uncertainty and exploration in a restless bandit problem", Topics in Cognitive
        Science 2015; Gershman, "Deconstructing the human algorithms for exploration", Cognition 2018; for bandits
        played by machines, Granmo, Berg, "Solving non-stationary bandit problems by random sampling from sibling
        Kalman filters", 2010.
    Rule:
        The mean of an arm follows θ' = m + φ(θ − m) + N(0, σ_w²) from N(m, σ_0²), with φ = 1 a plain random walk, and
        its rewards are θ + N(0, σ_z²); Kalman's filter gives N(m_i, P_i) for the coming round. θ_i ~ N(m_i, P_i); play
        argmax θ_i.
    Tuning:
        σ_z = λ (½ if it is not given). Informed, φ, m and σ_w are those of the process, as Daw and others took them
        for their walk: here by least squares from the true means of all arms. Ours, blind: a random walk, φ = 1,
        from m with σ_0 = 8λ, wide enough that one reward outweighs it, and σ_w = λ/√T, which in an episode wanders as
        far as one reward scatters; m = ½, or the middle of the interval in which rewards lie, and without bounds the
        first reward. σ_w was chosen among λ/(4√T), λ/(2√T), … 8λ/√T on the leaderboard's worlds.
    Knowledge:
        T; λ, ½ if it is not given, and the interval in which rewards lie, [0, 1] if neither is given; and the means
        themselves if they are given.
    Deviations:
        None in law; samples that cannot be the largest are not drawn (see ``agents/parts/races.py``). The sources model
        how people choose, and fit what they assume to them: the blind tuning and σ_0 are ours. Of the sources only
        abstracts, and Daw's description of his walk, could be read. Rewards other than Gaussian ones are taken as if
        they were. It is ``predictive-sampling`` with ``variance="posterior"``, but for the prior and φ = 1.

    >>> agent = KalmanTS(2, drift=0.1, prior=2.0)
    >>> agent.observe(0, 1.0)  # P/(P + σ_z²) = 4/4.25 of the way from ½ to 1
    >>> agent.state.means.round(3)
    array([0.971, 0.5  ])
    >>> agent.state.variances.round(3)  # 4 · 0.25/4.25 + 0.1², and 4 + 0.1²
    array([0.245, 4.01 ])

    Attributes:
        drift: σ_w, the standard deviation of one round's change.
        noise: σ_z, the standard deviation of a reward around its mean.
        prior: σ_0, the standard deviation of what is believed of a mean before the first round.
        phi: φ, how much of a mean's distance from m is left after one round; 1 is a random walk.
        mean: m, what is expected of a mean before the first round, and what it returns to if φ is below 1; None for
            the first reward.
    """

    name: ClassVar[str] = "kalman-ts"
    probability: ClassVar[str] = "quadrature"

    drift: float = field(kw_only=True)
    noise: float = field(default=0.5, kw_only=True)
    prior: float = field(default=4.0, kw_only=True)
    phi: float = field(default=1.0, kw_only=True)
    mean: float | None = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.phi = fraction("phi", self.phi, allow_zero=False, hint="1 is a random walk")
        self.mean = None if self.mean is None else number("mean", self.mean)
        self.drift = positive("drift", self.drift, least=FINEST, hint=DRIFT_HINT)
        self.noise = positive("noise", self.noise, allow_zero=True, hint=NOISE_HINT)
        self.prior = positive("prior", self.prior, least=FINEST, hint=PRIOR_HINT)

    def _new_state(self) -> Any:
        return new_filter(self.n_arms, self.phi, self.mean, self.drift, self.noise, self.prior * self.prior)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """σ_z = λ, σ_0 = 8λ; φ, m and σ_w by least squares from the means, else 1, the rewards' middle and λ/√T."""
        scale = knowledge.scale
        tuned: dict[str, Any] = {"noise": scale, "prior": WIDE * scale, "mean": knowledge.centre}
        if knowledge.means is not None and len(knowledge.means) > 1:
            phi, mean, drift = fitted_walk(knowledge.means)
            tuned |= {"phi": phi, "mean": mean, "drift": max(drift, SLOWEST * scale)}
        elif "drift" not in given:
            (horizon,) = knowledge.need(cls.name, "horizon")
            tuned["drift"] = scale / math.sqrt(horizon)
        return tuned


@dataclass(eq=False)
class KalmanUCB(KalmanTS):
    """Kalman-UCB: upper confidence bounds for means that follow Gaussian random walks.

    Source:
        Those of ``kalman-ts``.
    Rule:
        Play argmax of m_i + c √P_i, with the filter of ``kalman-ts``.
    Tuning:
        As ``kalman-ts``. Ours: c = 2, chosen among 0.5, 1, 1.5, 2 and 3 together with its blind σ_w.
    Knowledge:
        T; λ, ½ if it is not given, and the interval in which rewards lie, [0, 1] if neither is given; and the means
        themselves if they are given.
    Deviations:
        Those of ``kalman-ts``; the sources fit c to people.

    >>> agent = KalmanUCB(2, drift=0.1, prior=2.0)
    >>> agent.observe(0, 1.0)
    >>> agent.act()  # indices 0.971 + 2√0.245 and 0.5 + 2√4.01
    1

    Attributes:
        drift: σ_w, the standard deviation of one round's change.
        noise: σ_z, the standard deviation of a reward around its mean.
        prior: σ_0, the standard deviation of what is believed of a mean before the first round.
        phi: φ, how much of a mean's distance from m is left after one round; 1 is a random walk.
        mean: m, what is expected of a mean before the first round, and what it returns to if φ is below 1; None for
            the first reward.
        width: c, the width of the bonus.
    """

    name: ClassVar[str] = "kalman-ucb"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    width: float = field(default=2.0, kw_only=True)

    def _check(self) -> None:
        super()._check()
        self.width = positive("width", self.width, allow_zero=True)

    def _new_state(self) -> KalmanUCBState:
        return KalmanUCBState(super()._new_state(), self.width)
