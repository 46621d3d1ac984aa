"""Panels with two logarithmic axes: curves over the window, with their names, and marked windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from ..means import Floats
from .line_labels import Label
from .style import INK, LABEL, NUMBERS

__all__ = ["Curve", "draw_curves", "log_axes", "mark"]


class Curve(NamedTuple):
    """A line over windows: its name, one value for each window, and how to draw it."""

    name: str
    values: Floats
    style: dict[str, Any]


def log_axes(axes: Axes, windows: Sequence[int], low: float, high: float) -> None:
    """Make both axes logarithmic, from the shortest to the longest window and between two positive values."""
    axes.set(xscale="log", yscale="log", xlim=(0.9 * min(windows), 1.1 * max(windows)), ylim=(low, high))
    for axis in (axes.xaxis, axes.yaxis):  # a new scale brings formatters of its own
        axis.set_major_formatter(NUMBERS)
        axis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x")


def draw_curves(axes: Axes, windows: Sequence[int], curves: Sequence[Curve]) -> list[Label]:
    """Draw what is positive and finite of some curves; returns the names of those of which something is."""
    labels = []
    for name, values, style in curves:
        shown = np.where((values > 0) & np.isfinite(values), values, np.nan)
        axes.plot(windows, shown, **style)
        if not np.isnan(shown).all():
            labels.append(Label(name, float(shown[~np.isnan(shown)][-1]), style["color"]))
    return labels


def mark(axes: Axes, window: float, text: str, colour: str = INK, row: int = 0) -> None:
    """A dotted line across the axes with a word at its top, in the first row or a lower one."""
    axes.axvline(window, color=colour, linewidth=1, linestyle=":")
    low, high = axes.get_xlim()
    place = np.log(window / low) / np.log(high / low)
    side = "left" if place < 0.35 else "right" if place > 0.65 else "center"  # so that it stays in the panel
    axes.annotate(
        text, (window, 1.0), ({"left": 4, "center": 0, "right": -4}[side], -4 - 13 * row),
        xycoords=("data", "axes fraction"), textcoords="offset points", color=colour, ha=side, va="top",
        fontsize=LABEL, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip
