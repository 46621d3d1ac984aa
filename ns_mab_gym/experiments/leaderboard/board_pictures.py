"""The pictures of a leaderboard: heat maps, ranks with intervals, and regret against the rate of change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ...figures.leaderboard_heatmap import heatmap_figure
from ...figures.leaderboard_ranks import Ranked, ranks_figure
from ...figures.leaderboard_rates import RatePanel, rates_figure
from ...figures.style import save
from .board_worlds import CHANGES, SPEEDS
from .standings import Standings

__all__ = ["HEATMAP", "RANKS", "RATES", "draw_board"]

HEATMAP, RANKS, RATES = "heatmap", "ranks", "rates"
AXES = {CHANGES: "number of changes", SPEEDS: "standard deviation of a step"}
KINDS = {CHANGES: "random phases", SPEEDS: "random walks"}
REFERENCES = ("oracle-restart", "random")


def draw_board(standings: Sequence[Standings], folder: Path) -> dict[tuple[str, str], Path]:
    """Draw everything as PNG and SVG; returns the SVG files by division ("" for both) and name of the picture."""
    folder.mkdir(parents=True, exist_ok=True)
    figures: dict[tuple[str, str], Figure] = {}
    for each in standings:
        if each.rows:
            figures[each.division.name, HEATMAP] = _heatmap(each)
            figures[each.division.name, RANKS] = _ranks(each)
    if panels := [panel for axis in AXES for each in standings if (panel := _panel(each, axis))]:
        figures["", RATES] = rates_figure(panels)
    return {
        (division, name): save(figure, folder, f"{division}-{name}".strip("-"))[1]
        for (division, name), figure in figures.items()
    }


def _heatmap(standings: Standings) -> Figure:
    """Agents with a place first, in their order, then the others."""
    division = standings.division
    agents = [*standings.labels, *(label for label in division.labels if label not in standings.labels)]
    ratios = division.to_best[[division.labels.index(agent) for agent in agents]]
    title = f"Regret relative to the best of the {division.name} agents"
    worlds, families = [world.label for world in division.worlds], [world.family for world in division.worlds]
    return heatmap_figure(agents, worlds, ratios, title, families)


def _ranks(standings: Standings) -> Figure:
    rows = [Ranked(row.label, row.rank, row.low, row.high) for row in standings.rows]
    return ranks_figure(rows, standings.groups, f"Mean ranks of the {standings.division.name} agents")


def _panel(standings: Standings, axis: str) -> RatePanel | None:
    """Regret along one kind of change; None if there are no two worlds along it."""
    division = standings.division
    along = sorted((w for w in division.worlds if w.axis and w.axis[0] == axis), key=lambda w: w.axis or ("", 0.0))
    if len(along) < 2 or not standings.rows:
        return None
    columns = [list(division.worlds).index(world) for world in along]
    means = division.means(standings.labels, along)
    return RatePanel(
        f"{division.name}: {KINDS[axis]}",
        AXES[axis],
        [world.axis[1] for world in along if world.axis],
        dict(zip(standings.labels, means, strict=True)),
        {
            name: np.where([world.label in division.phased or name == "random" for world in along], regret, np.nan)
            for name in REFERENCES
            if not np.isnan(regret := division.of_reference(name)[columns]).all()
        },
    )
