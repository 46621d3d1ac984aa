"""The paper's Beta-SWTS, Thompson sampling with Beta posteriors on a sliding window; and TS, on everything seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.kernel import BoolArray, FloatArray, forgotten, inlined, rule
from .core.knowledge import Knowledge, suggested_window
from .core.probabilities import largest_beta_law
from .core.protocol import Agent
from .parts.memories import Window, check_window, forget_rounds, new_window, slide
from .parts.races import largest_beta


class BetaState(NamedTuple):
    """The window, and the mean and the log normaliser of each arm's posterior Beta(S + 1, N − S + 1)."""

    window: Window
    means: FloatArray  # (K,) (S + 1)/(N + 2)
    log_norms: FloatArray  # (K,) −ln B(S + 1, N − S + 1); NaN until it is needed


def new_beta_state(n_arms: int, window: int | None) -> BetaState:
    """Uniform posteriors, on a window of the given length, or on all rounds if it is None."""
    return BetaState(new_window(n_arms, window), np.full(n_arms, 0.5), np.full(n_arms, np.nan))


def act(state: BetaState, mask: BoolArray, rng: np.random.Generator) -> int:
    """θ_i ~ Beta(S_i + 1, N_i − S_i + 1); play argmax θ_i (Algorithm 1, lines 5 and 6)."""
    pulls, successes = state.window.pulls, state.window.sums
    return largest_beta(pulls, successes, state.means, state.log_norms, mask, rng)


def observe(state: BetaState, arm: int, reward: float) -> None:
    """Update the posteriors of the arm played and of the one whose round left the window (lines 9 and 10)."""
    gone = slide(state.window, arm, reward)
    _update(state.means, state.log_norms, state.window, arm)
    if gone >= 0 and gone != arm:
        _update(state.means, state.log_norms, state.window, gone)


@inlined
def _update(means: FloatArray, log_norms: FloatArray, window: Window, i: int) -> None:
    means[i] = (window.sums[i] + 1.0) / (window.pulls[i] + 2.0)
    log_norms[i] = math.nan


def forget(state: BetaState, arm: int) -> None:
    """Reset the posterior of one arm, or with ``ALL`` of every arm, to the uniform one."""
    forget_rounds(state.window, arm)
    for i in forgotten(arm, state.means.size):
        _update(state.means, state.log_norms, state.window, i)


def probabilities(state: BetaState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest)."""
    successes = state.window.sums
    return largest_beta_law(successes + 1.0, state.window.pulls - successes + 1.0, mask)


rule(BetaState, act, observe, forget, probabilities=probabilities)


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
        None in law. Samples that cannot be the largest are not drawn (see ``agents/parts/races.py``).

    >>> agent = BetaSWTS(3, window=100)
    >>> agent.reset(seed=1)
    >>> arm = agent.act()
    >>> agent.observe(arm, 1.0)
    >>> agent.state.means[arm].round(3)  # the mean of its posterior, Beta(2, 1)
    np.float64(0.667)

    Attributes:
        window: τ, the number of rounds remembered.
    """

    name: ClassVar[str] = "beta-swts"
    probability: ClassVar[str] = "quadrature"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    window: int = field(kw_only=True)

    def _check(self) -> None:
        self.window = check_window(self.window)

    def _new_state(self) -> BetaState:
        return new_beta_state(self.n_arms, self.window)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = 4√(T ln T)."""
        return {} if "window" in given else {"window": suggested_window(*knowledge.need(cls.name, "horizon"))}


@dataclass(eq=False)
class TS(Agent):
    """Thompson sampling with Beta posteriors on everything seen, for stationary worlds.

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

    >>> agent = TS(2)
    >>> agent.reset(seed=1)
    >>> for _ in range(200):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.act()
    1
    """

    name: ClassVar[str] = "ts"
    probability: ClassVar[str] = "quadrature"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    def _new_state(self) -> BetaState:
        return new_beta_state(self.n_arms, None)
