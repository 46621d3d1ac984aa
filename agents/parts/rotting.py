"""What the agents for means that decay have in common: their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.arguments import choice, positive, positive_int
from ..core.knowledge import Knowledge
from ..core.protocol import Agent

__all__ = ["RottingAgent"]

GRIDS = ("exact", "geometric")


def _ratio(ratio: object) -> float:
    """The ratio of the grid's windows as a float, if it is at least 1.01."""
    hint = "the sources take 2; for every window, choose grid='exact'"
    value = positive("ratio", ratio, hint=hint)
    if value < 1.01:
        raise ValueError(f"ratio must be at least 1.01, got {ratio!r}; {hint}")
    return value


def _parameters(agent: str, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
    """σ = λ, ½ where it is unknown; and T for the memory of the exact form."""
    tuned: dict[str, Any] = {"sigma": 0.5 if knowledge.subgaussian is None else knowledge.subgaussian}
    if given.get("grid", "exact") == "exact" and "horizon" not in given:
        (tuned["horizon"],) = knowledge.need(agent, "horizon")
    return tuned


@dataclass(eq=False)
class RottingAgent(Agent):
    """An agent that looks at windows of every length, or at those of a geometric grid.

    Attributes:
        alpha: α; the larger, the more it explores.
        sigma: σ, the subgaussian scale of the rewards.
        grid: ``"exact"`` for all windows, ``"geometric"`` for a grid of them.
        ratio: m, the ratio of neighbouring windows of the geometric grid.
        horizon: T, how many rewards of each arm the exact form remembers; not needed on the grid.
    """

    alpha: float = field(default=1.0, kw_only=True)
    sigma: float = field(default=0.5, kw_only=True)
    grid: str = field(default="exact", kw_only=True)
    ratio: float = field(default=2.0, kw_only=True)
    horizon: int | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        self.alpha = positive("alpha", self.alpha)
        self.sigma = positive("sigma", self.sigma, hint="1/2 for rewards in [0, 1]")
        self.grid = choice("grid", self.grid, GRIDS)
        self.ratio = _ratio(self.ratio)
        if self.grid == "exact" or self.horizon is not None:
            self.horizon = positive_int("horizon", self.horizon, hint="grid='geometric' needs none")

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """σ from λ; T for the memory of the exact form."""
        return _parameters(cls.name, knowledge, given)
