"""Exp3: exponential weights for rewards that an adversary may choose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .core.arguments import fraction, positive
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .rexp3 import Exp3State, new_exp3_state

__all__ = ["Exp3"]


@dataclass(eq=False)
class Exp3(Agent):
    """Exp3: exponential weights, to be as good as the best single arm, however rewards come about.

    Source:
        Auer, Cesa-Bianchi, Freund, Schapire, "The Nonstochastic Multiarmed Bandit Problem", SIAM Journal on Computing
        2002.
    Rule:
        p_i = (1 − γ) w_i/Σw + γ/K; draw an arm a; w_a ← w_a exp(γ (x/p_a)/K). Rexp3 without restarts.
    Tuning:
        γ = min{1, √(K ln K / ((e − 1) T))}, the source's with T for its bound on the reward of the best arm.
    Knowledge:
        T.
    Deviations:
        None; weights are kept as logarithms, so that none overflows.

    >>> agent = Exp3(2, gamma=0.1)
    >>> agent.reset(seed=1)
    >>> for _ in range(300):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.state.probabilities.round(2)  # γ/2 is left for arm 1
    array([0.05, 0.95])

    Attributes:
        gamma: γ, the share of uniform exploration.
    """

    name: ClassVar[str] = "exp3"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False

    gamma: float = field(kw_only=True)

    def _check(self) -> None:
        positive("gamma", self.gamma)
        self.gamma = fraction("gamma", self.gamma)

    def _new_state(self) -> Exp3State:
        return new_exp3_state(self.n_arms, self.gamma)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """γ = min{1, √(K ln K / ((e − 1) T))}."""
        if "gamma" in given:
            return {}
        horizon, n_arms = knowledge.need(cls.name, "horizon", "n_arms")
        return {"gamma": min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * horizon)))}
