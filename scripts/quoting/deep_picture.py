"""The picture of where learning wins, from the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from ns_mab_gym.figures.learned_regrets import MODEL, REFERENCE, RIVAL, TUNED, FinalRegret, learned_regrets_figure
from ns_mab_gym.student_t import t_quantile
from quoting.learning_outcomes import REFERENCES, TWIN, is_tuned

__all__ = ["picture"]


def picture(measured: Mapping[str, Any]) -> Figure:
    """The final regrets of all agents, world by world."""
    worlds = {world: _regrets(found) for world, found in measured["worlds"].items()}
    heading = (
        f"Regret of learnt and of designed agents on random worlds, K = {measured['arms']}, "
        f"T = {measured['horizon']:,}, mean of {measured['runs']} held-out runs"
    )
    return learned_regrets_figure(worlds, heading)


def _regrets(found: Mapping[str, Any]) -> list[FinalRegret]:
    models = [
        FinalRegret(row["agent"], MODEL, row["regret"], row["low"], row["high"], row["by_seed"])
        for row in found["models"]
    ]
    return models + [_rival(row) for row in found["rivals"]]


def _rival(row: Mapping[str, Any]) -> FinalRegret:
    reach = t_quantile(0.025, row["runs"] - 1) * row["se"]
    label = row["agent"].removesuffix(TWIN)
    kind = REFERENCE if label in REFERENCES else TUNED if is_tuned(row) else RIVAL
    return FinalRegret(label, kind, row["regret"], row["regret"] - reach, row["regret"] + reach)
