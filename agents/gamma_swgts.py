"""The paper's γ-SWGTS: Gaussian Thompson sampling on a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import register_jitable

from .base import Agent
from .checks import positive
from .kernel import BoolArray, FloatArray, rule
from .knowledge import Knowledge
from .window import Window, check_window, highest, new_window, paper_window, slide

__all__ = ["GammaSWGTS"]


STEPS = 16  # per standard deviation, of the table below
BELOW = np.array([1.0 - 0.5 * math.erfc(m / STEPS / math.sqrt(2.0)) for m in range(8 * STEPS + 1)])  # P(Z ≤ m/STEPS)


class GaussianState(NamedTuple):
    """The window, and of each arm's posterior N(μ̂, 1/(γN)) the mean and the root of the precision."""

    window: Window
    means: FloatArray  # (K,) S/N; infinite where N = 0, so that the arm comes first
    roots: FloatArray  # (K,) √(γN)
    gamma: float


def act(state: GaussianState, mask: BoolArray, rng: np.random.Generator) -> int:
    """An unseen arm is forced; else θ_i ~ N(μ̂_i, 1/(γ N_i)), play argmax (Algorithm 2, lines 8 to 13), with few draws.

    Only the largest θ matters. With x the largest so far, arm i changes anything only if its standard normal Z exceeds
    z = (x − μ̂_i)√(γN_i). With a = z rounded down on a grid, Z ≤ a has a known probability, and then arm i is done
    without a draw; else Z is drawn given Z > a. One uniform serves for many arms: it is compared with the
    probability that none of them so far needed a draw.
    """
    means, roots = state.means, state.roots
    arm = highest(means, mask)
    if state.window.pulls[arm] == 0:
        return arm
    first = arm
    x = means[arm] + rng.standard_normal() / roots[arm]
    undisturbed, u = 1.0, rng.random()
    for i in range(mask.size):
        if i == first or not mask[i]:
            continue
        z = (x - means[i]) * roots[i]
        if z < 1.0:
            normal = rng.standard_normal()
        else:
            step = int(min(z, 8.0) * STEPS)  # bounded first: compiled, a huge float makes no int
            undisturbed *= BELOW[step]
            if u < undisturbed:
                continue
            undisturbed, u = 1.0, rng.random()
            normal = normal_beyond(step / STEPS, rng)
        if normal > z:
            arm, x = i, means[i] + normal / roots[i]
    return arm


@register_jitable(forceinline=True)
def normal_beyond(a: float, rng: np.random.Generator) -> float:
    """A standard normal given that it exceeds a ≥ 1: Marsaglia's tail method."""
    while True:
        normal = math.sqrt(a * a - 2.0 * math.log(1.0 - rng.random()))
        if rng.random() * normal < a:
            return normal


def observe(state: GaussianState, arm: int, reward: float) -> None:
    """Update the posteriors of the arm played and of the one whose round left the window (Algorithm 2, line 16)."""
    gone = slide(state.window, arm, reward)
    _update(state, arm)
    if gone >= 0 and gone != arm:
        _update(state, gone)


@register_jitable(forceinline=True)
def _update(state: GaussianState, i: int) -> None:
    n = state.window.pulls[i]
    state.means[i] = state.window.sums[i] / n if n > 0 else math.inf
    state.roots[i] = math.sqrt(state.gamma * n)


rule(GaussianState, act, observe)


@dataclass(eq=False)
class GammaSWGTS(Agent):
    """γ-SWGTS: Thompson sampling with Gaussian posteriors on the last τ rounds, for any subgaussian rewards.

    Source:
        Algorithm 2 of Fiandri, Metelli, Trovò, "Sliding-Window Thompson Sampling for Non-Stationary Settings".
    Rule:
        Arms 1 to K once; then any arm with N_i = 0 in the window is forced, lowest index first; else
        θ_i ~ N(S_i/N_i, 1/(γ N_i)) and play argmax θ_i.
    Tuning:
        τ = 4√(T ln T), rounded down; γ = min{1/(4λ²), 1}, the largest value that the theorems allow.
    Knowledge:
        T, and λ (rewards in [0, 1], so λ = ½ and γ = 1, if it is not given).
    Deviations:
        None.

    Attributes:
        window: τ, the number of rounds remembered.
        gamma: γ; the smaller, the more it explores.
    """

    name: ClassVar[str] = "gamma-swgts"

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
        scale = 0.5 if knowledge.subgaussian is None else knowledge.subgaussian
        tuned: dict[str, Any] = {"gamma": min(1 / (4 * scale**2), 1.0)}
        if "window" not in given:
            tuned["window"] = paper_window(*knowledge.need(cls.name, "horizon"))
        return tuned
