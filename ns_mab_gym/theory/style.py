"""How the figures of this package look: colours that the colour-blind tell apart, few lines, direct labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter
except ImportError:
    raise ImportError("drawing needs matplotlib: pip install 'ns-mab-gym[experiments]'") from None

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "PALETTE", "Figure", "curves", "log_axes", "mark", "tidy"]

# Okabe and Ito (2008), without the yellow, which is faint on white.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
PALETTE = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", "#E69F00", "#000000")
GREY = "#8A8A8A"

THOUSANDS = FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")


def tidy(axes: Any, title: str, x: str, y: str) -> None:
    """Title at the left, no box, labels with their unit."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)


def log_axes(axes: Any) -> None:
    """Both axes logarithmic, with numbers as people write them."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(THOUSANDS)
        axis.set_minor_formatter("")
    axes.grid(color="#E6E6E6", linewidth=0.6)
    axes.set_axisbelow(True)


def mark(axes: Any, x: float, text: str, color: str = "black", height: float = 0.97) -> None:
    """A dotted line across the axes with a word at its top."""
    axes.axvline(x, color=color, linewidth=1, linestyle=":")
    near_end = axes.transAxes.inverted().transform(axes.transData.transform((x, 1)))[0] > 0.6
    axes.annotate(
        f"{text} " if near_end else f" {text}", (x, height), xycoords=("data", "axes fraction"), color=color,
        ha="right" if near_end else "left", va="top", fontsize=9, fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip


Curve = tuple[str, npt.NDArray[np.float64], dict[str, Any]]
Label = tuple[float, str, str]  # height from 0 to 1, text, colour
ROOM = 0.085  # between two labels, as a share of the height


def curves(axes: Any, x: Sequence[int], lines: Sequence[Curve]) -> None:
    """Lines with their names at the right end, pushed apart where they would touch; limits must be set before."""
    low, high = axes.get_ylim()
    labels: list[Label] = []
    for name, y, style in lines:
        shown = np.where((y > 0) & np.isfinite(y), y, np.nan)
        axes.plot(x, shown, **style)
        if not np.all(np.isnan(shown)):
            labels.append(_label(name, shown[~np.isnan(shown)][-1], low, high, style["color"]))
    for at, name, color in _spread(labels):
        axes.annotate(name, (1.01, at), xycoords="axes fraction", color=color, va="center", fontsize=9)


def _label(name: str, value: float, low: float, high: float, color: str) -> Label:
    """The label of a line that ends at a value, with an arrow if that is off the logarithmic scale."""
    height = (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    arrow = " ↑" if height > 1 else " ↓" if height < 0 else ""
    return min(max(height, 0.0), 1.0), name + arrow, color


def _spread(labels: list[Label]) -> list[Label]:
    """The labels with room between any two: pushed up from below, then down from the top."""
    placed = sorted(labels)
    for place in range(1, len(placed)):
        placed[place] = (max(placed[place][0], placed[place - 1][0] + ROOM), *placed[place][1:])
    ceiling = 0.97
    for place in reversed(range(len(placed))):
        placed[place] = (min(placed[place][0], ceiling), *placed[place][1:])
        ceiling = placed[place][0] - ROOM
    return placed
