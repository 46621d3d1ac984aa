"""A comparison as pandas tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from .comparison import Comparison

__all__ = ["curves_frame", "standings_frame"]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("tables of data need pandas: pip install 'ns-mab-gym[experiments]'") from None
    return pandas


def curves_frame(comparison: Comparison) -> pd.DataFrame:
    """A row for each world, agent, run and recorded round."""
    pandas = _pandas()
    swept = _swept(comparison)
    parts = []
    for world, played in comparison.runs.items():
        for agent, runs in played.items():
            count, points = runs.regret.shape
            columns = {
                "world": pandas.Categorical([world], comparison.worlds).repeat(count * points),
                "agent": pandas.Categorical([agent], comparison.agents).repeat(count * points),
                "run": np.repeat(np.arange(count), points),
                "round": np.tile(runs.rounds, count),
                "regret": runs.regret.ravel(),
            }
            parts.append(pandas.DataFrame(columns | swept[agent]))
    return pandas.concat(parts, ignore_index=True)  # type: ignore[no-any-return]


def standings_frame(comparison: Comparison) -> pd.DataFrame:
    """A row for each world and agent: the final regret, its interval, and the difference to the best."""
    pandas = _pandas()
    swept = _swept(comparison)
    rows = [
        {
            "world": world,
            "agent": each.agent,
            "runs": len(comparison.runs[world][each.agent]),
            "place": each.place,
            "regret": each.regret.value,
            "sd": each.sd,
            "se": each.se,
            "low": each.regret.low,
            "high": each.regret.high,
            "more": each.more.value,
            "more_low": each.more.low,
            "more_high": each.more.high,
            **swept[each.agent],
        }
        for world in comparison.worlds
        for each in comparison.standings(world)
    ]
    return pandas.DataFrame(rows)  # type: ignore[no-any-return]


def _swept(comparison: Comparison) -> dict[str, dict[str, float]]:
    """The value of every swept parameter, by agent; NaN where it is not swept."""
    families = [each.family for each in comparison.competitors if each.family is not None]
    names = dict.fromkeys(family.sweep.parameter for family in families)
    return {
        each.label: {
            name: np.nan if each.family is None or each.family.sweep.parameter != name else each.parameters[name]
            for name in names
        }
        for each in comparison.competitors
    }
