"""Thompson sampling with Beta posteriors: on a sliding window (the paper's Beta-SWTS), and without one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numba.extending import register_jitable

from .base import Agent
from .kernel import BoolArray, FloatArray, IntArray, rule
from .knowledge import Knowledge
from .window import Window, check_window, highest, new_window, paper_window, slide

__all__ = ["TS", "BetaSWTS"]

LOG_FACTORIAL = np.array([math.lgamma(n + 1.0) for n in range(256)])
EXP = np.array([math.exp(-m) for m in range(64)])
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class BetaState(NamedTuple):
    """The window, and of each arm's posterior Beta(S + 1, N − S + 1) the mean and the normaliser of the density."""

    window: Window
    means: FloatArray  # (K,) (S + 1)/(N + 2)
    log_norms: FloatArray  # (K,) −ln B(S + 1, N − S + 1); NaN until it is needed


@register_jitable(forceinline=True)
def log_factorial(n: int) -> float:
    """Ln n!, from a table, and by Stirling's series (error below 1e-15) beyond it."""
    if n < 256:
        return LOG_FACTORIAL[n]  # type: ignore[no-any-return]
    return (n + 0.5) * math.log(n) - n + HALF_LOG_2PI + (1.0 - 1.0 / (30.0 * n * n)) / (12.0 * n)


@register_jitable(forceinline=True)
def log_norm(successes: int, failures: int) -> float:
    """−ln B(S + 1, F + 1)."""
    return log_factorial(successes + failures + 1) - log_factorial(successes) - log_factorial(failures)


def act(state: BetaState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ Beta(S_i + 1, N_i − S_i + 1), play argmax (Algorithm 1, lines 5 and 6), with few draws.

    Only the largest θ matters. With x the largest so far, arm i changes anything only if θ_i > x. Its density f is
    log-concave: beyond x it lies below f(x) exp(−slope (y − x)), slope = −(ln f)'(x) > 0, a curve of mass f(x)/slope.
    With probability 1 − p, for any p of at least that mass, arm i is done without a draw; else y is drawn under the
    curve and kept with probability f(y)/curve(y) · mass/p, which is θ_i's own law beyond x. One uniform serves for many
    arms: it is compared with the probability that none of them so far needed a draw.
    """
    pulls, sums, log_norms = state.window.pulls, state.window.sums, state.log_norms
    arm = highest(state.means, mask)
    x = rng.beta(sums[arm] + 1.0, pulls[arm] - sums[arm] + 1.0)
    if x <= 0.0 or x >= 1.0:
        return _draw_all(pulls, sums, mask, rng)  # the logarithms below are out of reach
    first = arm
    over_x, over_1mx, log_x, log_1mx = 1.0 / x, 1.0 / (1.0 - x), math.log(x), math.log(1.0 - x)
    undisturbed, u = 1.0, rng.random()
    for i in range(mask.size):
        if i == first or not mask[i]:
            continue
        successes = sums[i]
        failures = pulls[i] - successes
        slope = failures * over_1mx - successes * over_x
        log_f = 0.0
        if failures == 0.0:
            p = 1.0 - math.exp((successes + 1.0) * log_x)  # the tail itself: the distribution function is x^(S + 1)
        elif slope <= 0.0:
            p = 1.0
        else:
            if math.isnan(log_norms[i]):
                log_norms[i] = log_norm(int(successes), int(failures))
            log_f = successes * log_x + failures * log_1mx + log_norms[i]
            f = EXP[min(int(-log_f), 63)] if log_f < -1.0 else math.exp(log_f)  # e^(−⌊−ln f⌋) ≥ f saves an exponential
            p = f / slope
        if p > 0.5:
            y = rng.beta(successes + 1.0, failures + 1.0)
        else:
            undisturbed *= 1.0 - p
            if u < undisturbed:
                continue
            undisturbed, u = 1.0, rng.random()
            if failures == 0.0:
                y = math.exp(math.log(1.0 - p * rng.random()) / (successes + 1.0))
            else:
                y = x - math.log(1.0 - rng.random()) / slope
                if y >= 1.0 or rng.random() * p * slope >= math.exp(
                    log_f
                    + successes * math.log(y * over_x)
                    + failures * math.log((1.0 - y) * over_1mx)
                    + slope * (y - x)
                ):
                    continue
        if x < y < 1.0:
            arm, x = i, y
            over_x, over_1mx, log_x, log_1mx = 1.0 / x, 1.0 / (1.0 - x), math.log(x), math.log(1.0 - x)
    return arm


@register_jitable(forceinline=True)
def _draw_all(pulls: IntArray, sums: FloatArray, mask: BoolArray, rng: np.random.Generator) -> int:
    """The same by drawing every arm."""
    arm, largest = -1, -1.0
    for i in range(mask.size):
        if mask[i]:
            theta = rng.beta(sums[i] + 1.0, pulls[i] - sums[i] + 1.0)
            if theta > largest:
                arm, largest = i, theta
    return arm


def observe(state: BetaState, arm: int, reward: float) -> None:
    """Update the posteriors of the arm played and of the one whose round left the window (lines 9 and 10)."""
    gone = slide(state.window, arm, reward)
    _update(state.means, state.log_norms, state.window, arm)
    if gone >= 0 and gone != arm:
        _update(state.means, state.log_norms, state.window, gone)


@register_jitable(forceinline=True)
def _update(means: FloatArray, log_norms: FloatArray, window: Window, i: int) -> None:
    means[i] = (window.sums[i] + 1.0) / (window.pulls[i] + 2.0)
    log_norms[i] = math.nan


rule(BetaState, act, observe)


def _new_beta_state(n_arms: int, window: int | None) -> BetaState:
    return BetaState(new_window(n_arms, window), np.full(n_arms, 0.5), np.full(n_arms, np.nan))


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
        return _new_beta_state(self.n_arms, self.window)

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
        return _new_beta_state(self.n_arms, None)
