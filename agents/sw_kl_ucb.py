"""SW-KL-UCB: Kullback-Leibler upper confidence bounds on a sliding window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .core.arguments import positive_int
from .core.knowledge import Knowledge
from .core.tuning import drift_window
from .kl_ucb import KLUCB, KLState, new_kl_state

__all__ = ["SWKLUCB"]

ABRUPT_SIGMA = 1e-3  # used for σ where the means jump or σ is unknown


@dataclass(eq=False)
class SWKLUCB(KLUCB):
    """SW-KL-UCB: KL-UCB on the last τ rounds.

    Source:
        Combes, Proutière, "Unimodal Bandits: Regret Lower Bounds and Optimal Algorithms", ICML 2014 (smoothly changing
        environments).
    Rule:
        KL-UCB with means and counts in the window and min(t, τ) for t; an arm unseen in the window comes first, of
        several the one unseen longest.
    Tuning:
        τ = σ^(−4/5), rounded up (1585 for σ = 1e-4, 252 for σ = 1e-3), at most T; c = 3.
    Knowledge:
        σ (and T).
    Deviations:
        Where σ is unknown, or so large that 2σK ≥ 1 (the means jump, and no window of K rounds can satisfy the
        smoothness assumption Δ' > 2στ), σ = 0.001 is used. The paper gives no σ for its two abrupt worlds.

    >>> SWKLUCB.tune(Knowledge(n_arms=10, horizon=50_000, lipschitz=1e-4), given={})
    {'window': 1585}

    Attributes:
        window: τ, the number of rounds remembered.
        c: the weight of ln ln t.
    """

    name: ClassVar[str] = "sw-kl-ucb"

    window: int = field(kw_only=True)

    def _check(self) -> None:
        super()._check()
        hint = f"the paper takes sigma^(-4/5), {drift_window(ABRUPT_SIGMA)} for sigma = {ABRUPT_SIGMA:g}"
        self.window = positive_int("window", self.window, hint=hint)

    def _new_state(self) -> KLState:
        return new_kl_state(self.n_arms, self.window, self.c)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = σ^(−4/5)."""
        if "window" in given:
            return {}
        sigma, n_arms = knowledge.lipschitz, knowledge.n_arms or 1
        if sigma is None or 2 * sigma * n_arms >= 1:
            sigma = ABRUPT_SIGMA
        if sigma == 0:
            return {"window": knowledge.need(cls.name, "horizon")[0]}
        window = drift_window(sigma)
        return {"window": min(window, knowledge.horizon or window)}
