"""Figures of the leaderboard: a heat map of regrets, mean ranks with intervals, regret against the rate of change."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from ..means import Floats
from . import style

CELL, ROW = 0.40, 0.19  # inches of a cell of the heat map, across and down; a row of ranks is as high
WORST = 10.0  # ratios from here on have the last colour
BAR = 0.09  # inches between two bars beside ranks
NAMED = 8  # agents that have a colour and a name


@style.styled()
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
    rows, columns = ([style.shortened(name, 1.7) for name in names] for names in (agents, worlds))
    left = max(style.text_width(row, style.LABEL) for row in rows) + 0.3
    sheet = style.Sheet(max(left + CELL * len(columns), 5.0), [ROW * len(rows)])
    [[axes]] = sheet.rows
    scale, colours = LogNorm(1.0, WORST, clip=True), mpl.colormaps["cividis"].reversed()
    axes.imshow(np.ma.masked_invalid(ratios), cmap=colours, norm=scale, aspect="auto", interpolation="nearest")
    for row, column in np.argwhere(~np.isnan(ratios)):
        ratio = float(ratios[row, column])
        axes.text(
            column, row, _number(ratio), fontsize=6.5, ha="center", va="center",
            color="white" if scale(ratio) > 0.55 else style.INK, weight="bold" if ratio == 1 else "normal",
        )  # fmt: skip
    for before, (family, after) in enumerate(itertools.pairwise(families)):
        if family != after:
            axes.axvline(before + 0.5, color=style.INK, linewidth=0.8)
    axes.grid(visible=False)
    axes.spines[:].set(visible=True, color=style.FAINT)
    style.name_rows(axes, rows)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(columns)), columns, fontsize=style.LABEL, color=style.INK, rotation=90)
    axes.tick_params(length=0, pad=3)
    note = (
        f"regret / regret of the best agent on the world; {WORST:g} and more have the darkest colour; blank: not played"
    )
    figure = sheet.settle(notes=[note], heading=title)
    box = axes.get_position()
    axes.set_position((box.x0, box.y0, min(box.width, CELL * len(columns) / figure.get_size_inches()[0]), box.height))
    return figure


def _number(ratio: float) -> str:
    """A ratio in at most four letters.

    >>> [_number(ratio) for ratio in (1.0, 1.04, 9.96, 34.2, 12_345.0)]
    ['1', '1.0', '10', '34', '>999']
    """
    if ratio == 1:
        return "1"
    return f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}" if ratio < 999.5 else ">999"


class RankedAgent(NamedTuple):
    """An agent's mean rank and the interval around it."""

    label: str
    rank: float
    low: float
    high: float


@style.styled()
def ranks_figure(ranked: Sequence[RankedAgent], groups: Sequence[tuple[int, int]], title: str) -> Figure:
    """Mean ranks with intervals, the best on top; a bar on the right joins agents that are not told apart.

    Args:
        ranked: the agents, the best first.
        groups: the first and the last of the agents that a bar joins, counted from 0.
        title: the figure's.
    """
    sheet = style.Sheet(7.2, [max(1.2, ROW * len(ranked))])
    [[axes]] = sheet.rows
    labels, ranks, lows, highs = zip(*ranked, strict=True)
    least, most = min(lows), max(highs)
    spread = max(most - least, 1.0)
    step = BAR * spread / 4.5
    axes.hlines(range(len(ranked)), lows, highs, color=style.BLUE, linewidth=1.2)
    axes.plot(ranks, range(len(ranked)), "o", markersize=5, color=style.BLUE)
    for number, (first, last) in enumerate(groups):
        across = most + (number + 2) * step
        axes.plot([across, across], [first - 0.25, last + 0.25], color=style.INK, linewidth=2.2, solid_capstyle="butt")
    axes.set(
        ylim=(len(ranked) - 0.4, -0.6), xlim=(least - 0.02 * spread, most + (len(groups) + 3) * step), title=title,
        xlabel="mean rank over families of worlds, with its 95 % interval",
    )  # fmt: skip
    axes.set_xticks([tick for tick in axes.get_xticks() if least <= tick <= len(ranked)])  # there are no ranks beyond
    axes.grid(axis="x")
    style.name_rows(axes, labels)
    return sheet.settle(
        [
            "Agents beside the same bar are not told apart: the interval of the difference of their mean ranks, which "
            "holds for all pairs of agents together, contains 0."
        ]
    )


class RatePanel(NamedTuple):
    """Mean regrets along one kind of change.

    Attributes:
        title: the panel's.
        axis: the name of the axis.
        values: (X,) its values, in ascending order.
        regrets: (X,) mean regrets by agent, the best agent first; only the first few are named.
        references: the same of agents that are drawn dashed.
    """

    title: str
    axis: str
    values: Sequence[float]
    regrets: dict[str, Floats]
    references: dict[str, Floats]


@style.styled()
def rates_figure(panels: Sequence[RatePanel]) -> Figure:
    """The panels, two in a row; agents beyond the first eight are drawn in grey without their names."""
    rows = [panels[start : start + 2] for start in range(0, len(panels), 2)]
    sheet = style.Sheet(11.0, [3.2] * len(rows), [len(row) for row in rows])
    named = dict.fromkeys(agent for panel in panels for agent in list(panel.regrets)[:NAMED])
    looks = {agent: style.line_style(number) for number, agent in enumerate(named)}
    for axes, panel in zip(sheet.figure.axes, panels, strict=True):
        for number, (agent, values) in enumerate(panel.regrets.items()):
            if number < NAMED:
                axes.plot(panel.values, values, label=agent, marker="o", markersize=3, **looks[agent])
            else:
                axes.plot(panel.values, values, color=style.FAINT, linewidth=0.6, zorder=1)
        for agent, values in panel.references.items():
            axes.plot(panel.values, values, label=agent, color=style.GREY, linestyle=":", linewidth=1.6)
        lines = np.array([*panel.regrets.values(), *panel.references.values()])
        shown = lines[np.isfinite(lines) & (lines > 0)]
        low, high = (shown.min(), shown.max()) if shown.size else (1.0, 10.0)
        axes.set(
            xscale="log", yscale="log", xlim=(min(panel.values) / 1.15, max(panel.values) * 1.15),
            ylim=(low / 1.2, high * 1.2), title=panel.title, xlabel=panel.axis, ylabel="mean final regret",
        )  # fmt: skip
        style.number_log(axes.yaxis, (1, 2, 5))
        ticks = sorted(set(panel.values))
        axes.set_xticks(ticks, [style.NUMBERS(tick) for tick in ticks])
        axes.minorticks_off()
    return sheet.settle()
