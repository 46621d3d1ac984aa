"""Mean ranks with their intervals, and bars beside agents that cannot be told apart: a critical-difference picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from .line_labels import text_width
from .sheet import canvas
from .style import BLUE, FAINT, INK, LABEL, MUTED, styled

__all__ = ["Ranked", "ranks_figure"]

ROW, BAR = 0.19, 0.09  # inches: of an agent, and between two bars


class Ranked(NamedTuple):
    """An agent's mean rank and the interval around it."""

    label: str
    rank: float
    low: float
    high: float


@styled()
def ranks_figure(ranked: Sequence[Ranked], groups: Sequence[tuple[int, int]], title: str) -> Figure:
    """A row for each agent, the best on top; a bar on the right joins agents whose ranks cannot be told apart.

    Args:
        ranked: the agents, the best first.
        groups: the first and the last of the agents that a bar joins, counted from 0.
        title: the figure's.
    """
    sheet = canvas(7.2, [max(1.2, ROW * len(ranked))])
    axes = sheet.rows[0][0]
    least, most = min(each.low for each in ranked), max(each.high for each in ranked)
    spread = max(most - least, 1.0)
    step = BAR * spread / 4.5
    for height, each in enumerate(ranked):
        axes.axhline(height, color=FAINT, linewidth=0.4, zorder=0)
        axes.plot([each.low, each.high], [height, height], color=BLUE, linewidth=1.2)
        axes.plot(each.rank, height, "o", markersize=5, color=BLUE)
    for number, (first, last) in enumerate(groups):
        across = most + (number + 2) * step
        axes.plot([across, across], [first - 0.25, last + 0.25], color=INK, linewidth=2.2, solid_capstyle="butt")
    axes.set(
        ylim=(len(ranked) - 0.4, -0.6), xlim=(least - 0.02 * spread, most + (len(groups) + 3) * step), title=title,
        xlabel="mean rank over families of worlds, with its 95 % interval",
    )  # fmt: skip
    axes.set_xticks([tick for tick in axes.get_xticks() if least <= tick <= len(ranked)])  # there are no ranks beyond
    axes.grid(axis="x")
    axes.set_yticks(range(len(ranked)), [_short(each.label) for each in ranked], fontsize=LABEL, color=MUTED)
    for text in axes.get_yticklabels():
        text.set_color(INK)
    note = "Agents beside the same bar cannot be told apart: the interval of the difference of their ranks holds 0."
    return sheet.settle(notes=[note])


def _short(label: str) -> str:
    """A label that leaves room for the ranks."""
    while text_width(label, LABEL) > 2.4:
        label = f"{label[:-2]}…"
    return label
