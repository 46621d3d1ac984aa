"""Thompson sampling with Beta posteriors: on a sliding window (the paper's Beta-SWTS), and without one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numba.extending import register_jitable

from .base import Agent
from .kernel import BoolArray, FloatArray, rule
from .knowledge import Knowledge
from .window import Window, check_window, new_window, paper_window, slide

__all__ = ["TS", "BetaSWTS"]

LOG_FACTORIAL = np.array([math.lgamma(n + 1.0) for n in range(256)])
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class BetaState(NamedTuple):
    """The window, and per arm the logarithm of the normaliser of its posterior's density."""

    window: Window
    log_norm: FloatArray  # (K,) −ln B(S + 1, N − S + 1); NaN until it is needed


@register_jitable
def log_factorial(n: int) -> float:
    """ln n!, from a table, and by Stirling's series (error below 1e-15) beyond it."""
    if n < 256:
        return LOG_FACTORIAL[n]
    return (n + 0.5) * math.log(n) - n + HALF_LOG_2PI + (1.0 - 1.0 / (30.0 * n * n)) / (12.0 * n)


@register_jitable
def log_density(state: BetaState, i: int, log_x: float, log_1mx: float) -> float:
    """ln of the density of arm i's posterior Beta(S + 1, N − S + 1), where ln x and ln(1 − x) are known."""
    successes = state.window.sums[i]
    failures = state.window.pulls[i] - successes
    if math.isnan(state.log_norm[i]):
        state.log_norm[i] = (
            log_factorial(state.window.pulls[i] + 1) - log_factorial(int(successes)) - log_factorial(int(failures))
        )
    return successes * log_x + failures * log_1mx + state.log_norm[i]


@register_jitable
def most_promising(window: Window, mask: BoolArray) -> int:
    """The available arm with the largest posterior mean."""
    champion, highest = -1, -1.0
    for i in range(window.pulls.size):
        mean = (window.sums[i] + 1.0) / (window.pulls[i] + 2.0)
        if mask[i] and mean > highest:
            champion, highest = i, mean
    return champion


def act(state: BetaState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ Beta(S_i + 1, N_i − S_i + 1), play argmax (Algorithm 1, lines 5 and 6), with few draws.

    Only the largest θ matters. With x the largest so far, arm i changes anything only if θ_i > x. Its density is
    log-concave: beyond x it lies below f(x) exp(−s(y − x)), s = −(ln f)'(x) > 0, a curve of mass p = f(x)/s.
    So with probability 1 − p arm i is done without a draw; else y is drawn under the curve and kept with the
    probability f(y) over the curve. That is θ_i's own law beyond x. One uniform serves for many arms: it is
    compared with the probability that none of them so far needs a draw.
    """
    window = state.window
    arm = most_promising(window, mask)
    x = rng.beta(window.sums[arm] + 1.0, window.pulls[arm] - window.sums[arm] + 1.0)
    if x <= 0.0 or x >= 1.0:  # beyond floating point
        return _act_by_drawing_all(state, mask, rng)
    first = arm
    log_x, log_1mx = math.log(x), math.log(1.0 - x)
    undisturbed, u = 1.0, rng.random()
    for i in range(window.pulls.size):
        if i == first or not mask[i]:
            continue
        successes = window.sums[i]
        failures = window.pulls[i] - successes
        slope = failures / (1.0 - x) - successes / x
        p = math.exp(log_density(state, i, log_x, log_1mx)) / slope if slope > 0.0 else 1.0
        y = 0.0
        if p > 0.5:
            y = rng.beta(successes + 1.0, failures + 1.0)
        else:
            undisturbed *= 1.0 - p
            if u < undisturbed:
                continue
            y = x - math.log(1.0 - rng.random()) / slope
            if y < 1.0:
                log_ratio = successes * math.log(y / x) + failures * math.log((1.0 - y) / (1.0 - x)) + slope * (y - x)
                if rng.random() >= math.exp(log_ratio):
                    y = 0.0
            undisturbed, u = 1.0, rng.random()
        if x < y < 1.0:
            arm, x = i, y
            log_x, log_1mx = math.log(x), math.log(1.0 - x)
    return arm


@register_jitable
def _act_by_drawing_all(state: BetaState, mask: BoolArray, rng: np.random.Generator) -> int:
    """The same by drawing every arm."""
    arm, highest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            theta = rng.beta(state.window.sums[i] + 1.0, state.window.pulls[i] - state.window.sums[i] + 1.0)
            if theta > highest:
                arm, highest = i, theta
    return arm


def observe(state: BetaState, arm: int, reward: float) -> None:
    """Update the counts of the arm played and of the one whose round left the window (lines 9 and 10)."""
    gone = slide(state.window, arm, reward)
    state.log_norm[arm] = math.nan
    if gone >= 0:
        state.log_norm[gone] = math.nan


rule(BetaState, act, observe)


@dataclass(eq=False)
class BetaSWTS(Agent):
    """Beta-SWTS: Thompson sampling with Beta posteriors on the last τ rounds.

    Source:
        Algorithm 1 of Fiandri, Metelli, Trovò, "Sliding-Window Thompson Sampling for Non-Stationary Settings";
        proposed by Trovò, Paladino, Restelli, Gatti, "Sliding-Window Thompson Sampling for Non-Stationary
        Environments", JAIR 2020.
    Rule:
        θ_i ~ Beta(S_i + 1, N_i − S_i + 1) with pulls N_i and successes S_i in the window; play argmax θ_i. No forced
        play: an arm unseen in the window has Beta(1, 1).
    Tuning:
        τ = 4√(T ln T), rounded down (2942 at T = 50 000).
    Knowledge:
        T.
    Deviations:
        None in law. Samples that cannot be the largest are not drawn (see the module's ``act``).

    >>> agent = BetaSWTS(3, window=100)
    >>> agent.reset(seed=1)
    >>> arm = agent.act()
    >>> agent.observe(arm, 1.0)

    Attributes:
        window: τ, the number of rounds remembered.
    """

    name: ClassVar[str] = "beta-swts"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    window: int = field(kw_only=True)

    def _check(self) -> None:
        self.window = check_window(self.window)

    def _new_state(self) -> BetaState:
        return BetaState(new_window(self.n_arms, self.window), np.full(self.n_arms, np.nan))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = 4√(T ln T)."""
        return {} if "window" in given else {"window": paper_window(*knowledge.need(cls.name, "horizon"))}


@dataclass(eq=False)
class TS(Agent):
    """Thompson sampling with Beta posteriors on everything seen: for worlds that stand still.

    Source:
        Thompson, "On the likelihood that one unknown probability exceeds another in view of the evidence of two
        samples", Biometrika 1933.
    Rule:
        Beta-SWTS with an infinite window.
    Tuning:
        None.
    Knowledge:
        None.
    Deviations:
        None in law, as for Beta-SWTS.
    """

    name: ClassVar[str] = "ts"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    def _new_state(self) -> BetaState:
        return BetaState(new_window(self.n_arms, None), np.full(self.n_arms, np.nan))
