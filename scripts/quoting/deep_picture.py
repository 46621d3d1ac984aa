"""The picture of where learning wins, from the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from ns_mab_gym.figures.learned_regrets import FinalRegret, learned_regrets_figure
from ns_mab_gym.student_t import t_quantile

__all__ = ["picture"]


def picture(figures: Mapping[str, Any]) -> Figure:
    """The final regrets of all agents, world by world."""
    shown = {}
    for world, found in figures["worlds"].items():
        models = [
            FinalRegret(row["agent"], row["regret"], row["low"], row["high"], row["by_seed"]) for row in found["models"]
        ]
        shown[world] = models + [_rival(row) for row in found["rivals"]]
    return learned_regrets_figure(shown)


def _rival(row: Mapping[str, Any]) -> FinalRegret:
    reach = t_quantile(0.025, row["runs"] - 1) * row["se"]
    return FinalRegret(row["agent"], row["regret"], row["regret"] - reach, row["regret"] + reach)
