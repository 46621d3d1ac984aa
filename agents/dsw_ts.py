"""Thompson sampling with two samples of each arm: from a discounted memory, and from its last pulls."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import choice, positive_int
from .core.kernel import BoolArray, FloatArray, forgotten, helper, inlined, rule
from .core.probabilities import DRAWS
from .core.protocol import Agent
from .parts import memories
from .parts.races import beyond, chance_bound, expire, shelf_life

COMBINATIONS = {"mean": 0, "min": 1, "max": 2}
MEAN, MIN, MAX = COMBINATIONS.values()
UNKNOWN = -1.0  # stands for a sample that was not drawn


class DSWTSState(NamedTuple):
    """The discounted memory, the last pulls, and bounds on the log normalisers of both posteriors of each arm."""

    memory: memories.Discounted
    recent: memories.Recent
    bounds: FloatArray  # (2 K,) of the discounted posteriors, then of the windows; see ``agents/parts/races.py``
    gamma: float
    f: int  # one of COMBINATIONS
    life: int  # the rounds after which all bounds are computed anew


def act(state: DSWTSState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ Beta(S_i + 1, F_i + 1) discounted, ϑ_i ~ Beta(s_i + 1, f_i + 1) in the window; play argmax f(θ_i, ϑ_i).

    With x the largest f so far, an arm changes anything only if θ_i > v or ϑ_i > w, for suitable v and w: it is passed
    over without a draw with a probability of at most that it has neither (see ``agents/parts/races.py``).
    """
    k, f, bounds = mask.size, state.f, state.bounds
    n, s = state.memory.pulls, state.memory.sums
    m, r = state.recent.pulls, state.recent.sums
    first, highest = -1, -1.0  # the arm with the largest sum of its two posterior means
    for i in range(k):
        mean = (s[i] + 1.0) / (n[i] + 2.0) + (r[i] + 1.0) / (m[i] + 2.0)
        if mean > highest and mask[i]:
            first, highest = i, mean
    arm, x = first, _combined(f, _sample(n, s, first, rng), _sample(m, r, first, rng))
    if x <= 0.0 or x >= 1.0:
        return _plain(n, s, m, r, f, mask, rng)  # the logarithms below would be infinite
    v, w = _thresholds(f, x)
    over_v, over_1mv, log_v, log_1mv = _terms(v)
    over_w, over_1mw, log_w, log_1mw = _terms(w)
    undisturbed, u = 1.0, rng.random()
    for i in range(k):
        if i == first or not mask[i]:
            continue
        p, one, two = 0.0, UNKNOWN, UNKNOWN
        if v < 1.0:
            p = chance_bound(s[i], n[i] - s[i], bounds, i, over_v, over_1mv, log_v, log_1mv)
            if p > 0.5:
                one, p = _sample(n, s, i, rng), 0.0
        q = chance_bound(r[i], m[i] - r[i], bounds, k + i, over_w, over_1mw, log_w, log_1mw)
        if q > 0.5:
            two, q = _sample(m, r, i, rng), 0.0
        if one <= v and two <= w:
            undisturbed *= (1.0 - p) * (1.0 - q)
            if u < undisturbed:
                continue
            undisturbed, u = 1.0, rng.random()
            if rng.random() * (p + q - p * q) >= p:  # not the first, hence the second
                two = beyond(r[i], m[i] - r[i], q, w, rng)
            else:
                one = beyond(s[i], n[i] - s[i], p, v, rng)
                if rng.random() < q:
                    two = beyond(r[i], m[i] - r[i], q, w, rng)
            if one <= v and two <= w:
                continue
            one = _sample_up_to(v, n, s, i, rng) if one == UNKNOWN else one
            two = _sample_up_to(w, m, r, i, rng) if two == UNKNOWN else two
        one = _sample(n, s, i, rng) if one == UNKNOWN else one
        two = _sample(m, r, i, rng) if two == UNKNOWN else two
        y = _combined(f, one, two)
        if x < y < 1.0:
            arm, x = i, y
            v, w = _thresholds(f, x)
            over_v, over_1mv, log_v, log_1mv = _terms(v)
            over_w, over_1mw, log_w, log_1mw = _terms(w)
    return arm


@inlined
def _thresholds(f: int, x: float) -> tuple[float, float]:
    """A v and a w such that θ ≤ v and ϑ ≤ w have an f of at most x; with v = 1, what θ is does not matter."""
    if f == MIN:
        return 1.0, x
    if f == MEAN and x > 0.75:
        return 1.0, 2.0 * x - 1.0  # above all for arms whose discounted memory has faded, so that θ may be anything
    return x, x


@inlined
def _terms(x: float) -> tuple[float, float, float, float]:
    """1/x, 1/(1 − x), ln x and ln(1 − x) of where a tail begins, for :func:`chance_bound`."""
    if x == 1.0:
        return 1.0, 1.0, 0.0, 0.0  # which nobody asks for
    return 1.0 / x, 1.0 / (1.0 - x), math.log(x), math.log(1.0 - x)


@inlined
def _combined(f: int, one: float, two: float) -> float:
    if f == MEAN:
        return 0.5 * (one + two)
    return min(one, two) if f == MIN else max(one, two)


@inlined
def _sample(pulls: FloatArray, sums: FloatArray, i: int, rng: np.random.Generator) -> float:
    sample: float = rng.beta(sums[i] + 1.0, pulls[i] - sums[i] + 1.0)
    return sample


@helper
def _sample_up_to(x: float, pulls: FloatArray, sums: FloatArray, i: int, rng: np.random.Generator) -> float:
    """A sample, given that it does not exceed x."""
    sample = _sample(pulls, sums, i, rng)
    while sample > x:
        sample = _sample(pulls, sums, i, rng)
    return sample


@helper
def _plain(
    n: FloatArray, s: FloatArray, m: FloatArray, r: FloatArray, f: int, mask: BoolArray, rng: np.random.Generator
) -> int:
    """The available arm with the largest f, by drawing every arm."""
    arm, largest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            y = _combined(f, _sample(n, s, i, rng), _sample(m, r, i, rng))
            if y > largest:
                arm, largest = i, y
    return arm


def observe(state: DSWTSState, arm: int, reward: float) -> None:
    """Discount all arms, and add the round to both memories of the arm played."""
    k = state.recent.pulls.size
    memories.discount(state.memory, state.gamma, arm, reward)
    memories.keep(state.recent, arm, reward)
    expire(state.bounds[:k], arm, state.memory.clock[memories.ROUNDS], state.life)
    state.bounds[k + arm] = math.nan


def forget(state: DSWTSState, arm: int) -> None:
    """Reset both posteriors of one arm, or with ``ALL`` of every arm, to the uniform one."""
    k = state.recent.pulls.size
    memories.forget_discounted(state.memory, arm)
    memories.forget_recent(state.recent, arm)
    for i in forgotten(arm, k):
        state.bounds[i] = math.nan
        state.bounds[k + i] = math.nan


def probabilities(state: DSWTSState, mask: BoolArray) -> FloatArray:
    """Shares of the arms in 10,000 draws of both samples of every arm, always with the same luck."""
    n, s, m, r = state.memory.pulls, state.memory.sums, state.recent.pulls, state.recent.sums
    rng, size = np.random.default_rng(0), (DRAWS, mask.size)
    one, two = rng.beta(s + 1.0, n - s + 1.0, size), rng.beta(r + 1.0, m - r + 1.0, size)
    f = {MEAN: np.add, MIN: np.minimum, MAX: np.maximum}[state.f]
    best = np.where(mask, f(one, two), -1.0).argmax(axis=1)
    return np.bincount(best, minlength=mask.size) / DRAWS


rule(DSWTSState, act, observe, forget, probabilities=probabilities)


@dataclass(eq=False)
class DSWTS(Agent):
    """f-dsw TS: Thompson sampling that combines a discounted memory with a window of each arm's last pulls.

    Source:
        Cavenaghi, Sottocornola, Stella, Zanker, "Non Stationary Multi-Armed Bandit: Empirical Evaluation of a New
        Concept Drift-Aware Algorithm", Entropy 2021.
    Rule:
        For each arm one sample θ_i from the Beta posterior of its discounted successes and failures, and one, ϑ_i, from
        that of its last n pulls (of the arm, not rounds); play argmax f(θ_i, ϑ_i), f = mean, min or max.
    Tuning:
        γ = 0.999, n = 500, f = mean, fixed: the source has no formula, and searches a grid for each of its worlds.
    Knowledge:
        None.
    Deviations:
        None in law. Samples that cannot matter are not drawn (see ``agents/parts/races.py``). Both priors are
        Beta(1, 1); in the authors' code the discounted one begins as Beta(2, 2) and fades to Beta(1, 1).

    >>> agent = DSWTS(2, gamma=0.5, window=2)
    >>> for arm, reward in [(0, 1.0), (0, 0.0), (1, 1.0), (0, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.memory.sums  # the success of arm 1 is three rounds old
    array([0.125, 0.5  ])
    >>> agent.state.recent.sums  # and has left its window of two pulls
    array([0., 1.])

    Attributes:
        gamma: γ, by which the weight of what was seen shrinks in every round; 1 forgets nothing.
        window: n, the number of each arm's own pulls that are remembered in its window; None for all of them.
        f: how the two samples of an arm become one: "mean", "min" or "max".
    """

    name: ClassVar[str] = "dsw-ts"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    gamma: float = field(default=0.999, kw_only=True)
    window: int | None = field(default=500, kw_only=True)
    f: str = field(default="mean", kw_only=True)

    def _check(self) -> None:
        self.gamma = memories.check_discount(self.gamma)
        if self.window is not None:
            hint = "it counts the pulls of each arm; None remembers all of them"
            self.window = positive_int("window", self.window, hint=hint)
        self.f = choice("f", self.f, COMBINATIONS)

    def _new_state(self) -> DSWTSState:
        k = self.n_arms
        memory, recent = memories.new_discounted(k), memories.new_recent(k, self.window)
        return DSWTSState(
            memory, recent, np.full(2 * k, np.nan), self.gamma, COMBINATIONS[self.f], shelf_life(self.gamma)
        )
