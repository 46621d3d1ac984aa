"""The paper's γ-SWGTS: Gaussian Thompson sampling on a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import positive
from .core.kernel import BoolArray, FloatArray, forgotten, inlined, rule
from .core.knowledge import Knowledge, suggested_window
from .core.probabilities import largest_gaussian_law
from .core.protocol import Agent
from .parts.memories import Window, check_window, forget_rounds, new_window, slide
from .parts.races import behind, highest, largest_gaussian, unseen


class GaussianState(NamedTuple):
    """The window, and the mean and the root of the precision of each arm's posterior N(μ̂, 1/(γN))."""

    window: Window
    means: FloatArray  # (K,) S/N; infinite where N = 0, so that the arm comes first
    roots: FloatArray  # (K,) √(γN)
    gamma: float


def act(state: GaussianState, mask: BoolArray, rng: np.random.Generator) -> int:
    """An unseen arm is forced; else θ_i ~ N(μ̂_i, 1/(γ N_i)), play argmax θ_i (Algorithm 2, lines 3, 4, 10 to 15)."""
    arm = highest(state.means, mask)  # an unseen arm, if there is one
    if state.window.pulls[arm] == 0:
        return unseen(state.window.pulls, state.window.clock, mask)
    return largest_gaussian(state.means, state.roots, arm, mask, rng)


def observe(state: GaussianState, arm: int, reward: float) -> None:
    """Update the posteriors of the arm played and of the one whose round left the window (lines 6, 8, 18 and 19)."""
    gone = slide(state.window, arm, reward)
    _update(state, arm)
    if gone >= 0 and gone != arm:
        _update(state, gone)


@inlined
def _update(state: GaussianState, i: int) -> None:
    n = state.window.pulls[i]
    state.means[i] = state.window.sums[i] / n if n > 0 else math.inf
    state.roots[i] = math.sqrt(state.gamma * n)


def forget(state: GaussianState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it is forced again."""
    forget_rounds(state.window, arm)
    for i in forgotten(arm, state.means.size):
        _update(state, i)


def expect(state: GaussianState, arm: int, pulls: int) -> None:
    """Let an arm whose first reward is under way wait for it, unless all do."""
    if state.window.pulls[arm] == 0:
        state.window.pulls[arm] = pulls
        state.means[arm] = behind(arm, pulls, state.means.size)
        state.roots[arm] = 1.0


def probabilities(state: GaussianState, mask: BoolArray) -> FloatArray:
    """P(θ_i is the largest)."""
    return largest_gaussian_law(state.means, 1.0 / state.roots, mask)


rule(GaussianState, act, observe, forget, expect, probabilities=probabilities)


@dataclass(eq=False)
class GammaSWGTS(Agent):
    """γ-SWGTS: Thompson sampling with Gaussian posteriors on the last τ rounds, for any subgaussian rewards.

    Source:
        Algorithm 2 of Fiandri, Metelli, Trovò, "Sliding-Window Thompson Sampling for Non-Stationary Settings".
    Rule:
        Arms 1 to K once; then any arm with N_i = 0 in the window is forced, of several the one unseen longest; else
        θ_i ~ N(S_i/N_i, 1/(γ N_i)) and play argmax θ_i.
    Tuning:
        τ = 4√(T ln T), rounded down; γ = min{1/(4λ²), 1}, the largest value that the theorems allow.
    Knowledge:
        T, and λ, ½ if it is not given, as for rewards in [0, 1]: γ = 1.
    Deviations:
        None in law. Samples that cannot be the largest are not drawn (see ``agents/parts/races.py``). The source does
        not say which of several unseen arms is forced, as there are with τ ≤ K − 2: always the first would never play
        the last arms. γ ≤ 1, which the theorems ask for, explores rewards of a scale far below ½ for very long.

    >>> agent = GammaSWGTS(3, window=100)
    >>> agent.reset(seed=1)
    >>> for reward in (4.0, -1.5, 0.2):  # every arm once, in turn
    ...     agent.observe(agent.act(), reward)
    >>> agent.state.means
    array([ 4. , -1.5,  0.2])

    Attributes:
        window: τ, the number of rounds remembered.
        gamma: γ; the smaller, the more it explores.
    """

    name: ClassVar[str] = "gamma-swgts"
    probability: ClassVar[str] = "quadrature"
    late: ClassVar[str] = "waits"

    window: int = field(kw_only=True)
    gamma: float = field(default=1.0, kw_only=True)

    def _check(self) -> None:
        self.window = check_window(self.window)
        self.gamma = positive(
            "gamma", self.gamma, hint="the paper takes min(1/(4*lambda^2), 1), 1 for Bernoulli rewards"
        )

    def _new_state(self) -> GaussianState:
        k = self.n_arms
        return GaussianState(new_window(k, self.window), np.full(k, np.inf), np.zeros(k), self.gamma)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = 4√(T ln T), γ = min{1/(4λ²), 1}."""
        scale = knowledge.scale
        tuned: dict[str, Any] = {"gamma": 1.0 if scale <= 0.5 else 1 / (4 * scale**2)}
        if "window" not in given:
            tuned["window"] = suggested_window(*knowledge.need(cls.name, "horizon"))
        return tuned
