"""Thompson sampling with Beta posteriors on everything seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .beta_swts import BetaState, new_beta_state
from .core.protocol import Agent

__all__ = ["TS"]


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
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    def _new_state(self) -> BetaState:
        return new_beta_state(self.n_arms, None)
