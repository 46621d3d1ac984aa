"""The heat map of a leaderboard: regret of every agent on every world, as multiples of the best."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from ..means import Floats
from .line_labels import text_width
from .style import FAINT, HEADING, INK, LABEL, MUTED, NOTE, styled

__all__ = ["heatmap_figure"]

CELL, ROW = 0.40, 0.19  # inches of a cell, across and down
NUMBER = 6.5  # points of a number in a cell
WORST = 10.0  # ratios from here on have the last colour
EDGE, BLANK = 0.08, 0.06  # inches
LONGEST = 26  # letters of a name


@styled()
def heatmap_figure(
    agents: Sequence[str], worlds: Sequence[str], ratios: Floats, title: str, families: Sequence[str] = ()
) -> Figure:
    """A row for each agent and a column for each world; a cell is white where an agent does not play.

    Args:
        agents: the A agents, the best first.
        worlds: the W worlds.
        ratios: (A, W) regret divided by the best agent's; NaN where an agent does not play.
        title: the figure's.
        families: the family of each world; a line is drawn between different ones.
    """
    rows, columns = [_short(agent) for agent in agents], [_short(world) for world in worlds]
    left = EDGE + max(text_width(row, LABEL) for row in rows) + BLANK
    names = max(text_width(column, LABEL) for column in columns)
    top = EDGE + HEADING * 1.25 / 72 + BLANK + names
    bottom = EDGE + NOTE * 1.25 / 72 + BLANK
    wide, tall = CELL * len(columns), ROW * len(rows)
    width = max(left + wide + EDGE, 2 * EDGE + 1.05 * text_width(_note(), NOTE))
    height = bottom + tall + top
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, bottom / height, wide / width, tall / height))
    _fill(axes, ratios)
    for before, (family, after) in enumerate(itertools.pairwise(families)):
        if family != after:
            axes.axvline(before + 0.5, color=INK, linewidth=0.8)
    axes.set_yticks(range(len(rows)), rows, fontsize=LABEL, color=INK)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), columns, fontsize=LABEL, color=INK, rotation=90)
    axes.tick_params(length=0, pad=3)
    axes.set_xlabel(_note(), fontsize=NOTE, color=MUTED, loc="left")
    axes.xaxis.set_label_coords((EDGE - left) / wide, (NOTE * 0.3 / 72 + EDGE - bottom) / tall)
    room = max(width - 2 * EDGE, 0.5)
    size = HEADING * min(1.0, max(0.6, 0.97 * room / max(text_width(title, HEADING), 0.1)))
    letters = int(len(title) * min(1.0, 0.97 * room / max(text_width(title, size), 0.1)))
    shown = title if letters >= len(title) else f"{title[: letters - 2]}…"
    figure.text(EDGE / width, 1 - EDGE / height, shown, fontsize=size, color=INK, va="top")
    return figure


def _note() -> str:
    return (
        f"regret / regret of the best agent on the world; {WORST:g} and more have the darkest colour; blank: not played"
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 11]}…{name[-10:]}"


def _fill(axes: Any, ratios: Floats) -> None:
    """Colour the cells and write the ratios into them."""
    scale, colours = LogNorm(1.0, WORST, clip=True), mpl.colormaps["cividis"].reversed()
    axes.imshow(np.ma.masked_invalid(ratios), cmap=colours, norm=scale, aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)
    for row, column in np.argwhere(~np.isnan(ratios)):
        ratio = float(ratios[row, column])
        axes.text(
            column, row, _number(ratio), fontsize=NUMBER, ha="center", va="center",
            color="white" if scale(ratio) > 0.55 else INK, weight="bold" if ratio == 1 else "normal",
        )  # fmt: skip


def _number(ratio: float) -> str:
    """A ratio in at most four letters.

    >>> [_number(ratio) for ratio in (1.0, 1.04, 9.96, 34.2, 12_345.0)]
    ['1', '1.0', '10', '34', '>999']
    """
    if ratio == 1:
        return "1"
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}" if ratio < 999.5 else ">999"
