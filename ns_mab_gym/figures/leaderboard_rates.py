"""Regret against how fast worlds change: a panel for each division and each kind of change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from ..means import Floats
from .line_labels import Label
from .sheet import canvas
from .style import FAINT, GREY, NUMBERS, line_style, styled

__all__ = ["RatePanel", "rates_figure"]

NAMED = 8  # agents that have a colour and a name


class RatePanel(NamedTuple):
    """Mean regrets along one kind of change.

    Attributes:
        title: the panel's.
        axis: what changes along the axis.
        values: (X,) its values, in ascending order.
        regrets: (X,) mean regrets by agent, the best agent first; only the first few are named.
        references: the same of agents that are drawn dashed.
    """

    title: str
    axis: str
    values: Sequence[float]
    regrets: dict[str, Floats]
    references: dict[str, Floats]


@styled()
def rates_figure(panels: Sequence[RatePanel]) -> Figure:
    """The panels, two in a row; agents beyond the first eight are drawn in grey without their names."""
    rows = [panels[start : start + 2] for start in range(0, len(panels), 2)]
    sheet = canvas(11.0, [3.2] * len(rows), [len(row) for row in rows])
    labels = {}
    named = dict.fromkeys(agent for panel in panels for agent in list(panel.regrets)[:NAMED])
    styles = {agent: line_style(number) for number, agent in enumerate(named)}
    for axes, panel in zip((axes for row in sheet.rows for axes in row), panels, strict=True):
        lines = [values for group in (panel.regrets, panel.references) for values in group.values()]
        shown = np.concatenate([values[np.isfinite(values) & (values > 0)] for values in lines] or [np.ones(1)])
        low, high = (float(shown.min()), float(shown.max())) if shown.size else (1.0, 10.0)
        names = []
        for number, (agent, values) in enumerate(panel.regrets.items()):
            style = styles[agent] if number < NAMED else {"color": FAINT, "linewidth": 0.6, "zorder": 1}
            axes.plot(panel.values, values, marker="o" if number < NAMED else "", markersize=3, **style)
            if number < NAMED and np.isfinite(values[-1]):
                names.append(Label(agent, float(values[-1]), str(style["color"])))
        for agent, values in panel.references.items():
            axes.plot(panel.values, values, color=GREY, linestyle=":", linewidth=1.6)
            if np.isfinite(values[-1]):
                names.append(Label(agent, float(values[-1]), GREY))
        ends = min(panel.values), max(panel.values)
        axes.set(
            xscale="log", yscale="log", xlim=(ends[0] / 1.15, ends[1] * 1.15), ylim=(low / 1.2, high * 1.2),
            title=panel.title, xlabel=panel.axis, ylabel="mean final regret",
        )  # fmt: skip
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_locator(NullLocator())
        axes.set_xticks(sorted(set(panel.values)))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(NUMBERS)
            axis.set_minor_formatter(NullFormatter())
            axis.set_minor_locator(NullLocator())
        labels[axes] = names
    return sheet.settle(labels)
