"""The paper's γ-SWGTS: Gaussian Thompson sampling on a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .base import Agent
from .checks import positive
from .kernel import BoolArray, rule
from .knowledge import Knowledge
from .window import Window, check_window, new_window, paper_window, slide, unseen

__all__ = ["GammaSWGTS"]


class GaussianState(NamedTuple):
    """The window and the scale γ of the posteriors."""

    window: Window
    gamma: float


def act(state: GaussianState, mask: BoolArray, rng: np.random.Generator) -> int:
    """An unseen arm is forced; else θ_i ~ N(μ̂_i, 1/(γ N_i)), play argmax (Algorithm 2, lines 8 to 13)."""
    window = state.window
    arm = unseen(window, mask)
    if arm >= 0:
        return arm
    highest = -math.inf
    for i in range(window.pulls.size):
        if mask[i]:
            theta = window.sums[i] / window.pulls[i] + rng.standard_normal() / math.sqrt(state.gamma * window.pulls[i])
            if theta > highest:
                arm, highest = i, theta
    return arm


def observe(state: GaussianState, arm: int, reward: float) -> None:
    """Update S and N in the window (Algorithm 2, line 16)."""
    slide(state.window, arm, reward)


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
        return GaussianState(new_window(self.n_arms, self.window), self.gamma)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = 4√(T ln T), γ = min{1/(4λ²), 1}."""
        scale = 0.5 if knowledge.subgaussian is None else knowledge.subgaussian
        tuned: dict[str, Any] = {"gamma": min(1 / (4 * scale**2), 1.0)}
        if "window" not in given:
            tuned["window"] = paper_window(*knowledge.need(cls.name, "horizon"))
        return tuned
