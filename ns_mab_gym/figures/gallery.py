"""The means of several worlds side by side, with the best arm above them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..means import as_means
from .line_labels import Label
from .sheet import canvas
from .style import styled
from .world_means import RIBBON, draw_world

__all__ = ["PAPER", "gallery_figure"]

# The paper's worlds and what they are called in a picture.
PAPER = {
    "NSBandit-Abrupt-v0": "Abrupt: constant between breakpoints",
    "NSBandit-GeneralAbrupt-v0": "General abrupt: sinusoids between breakpoints",
    "NSBandit-Smooth-v0": "Smooth, σ = 0.0001",
    "NSBandit-SmoothFast-v0": "Smooth, σ = 0.001",
}


@styled(dpi=100)  # these pictures go into pages, where small files count
def gallery_figure(worlds: Mapping[str, npt.ArrayLike]) -> Figure:
    """A panel for each world, two in a row.

    Args:
        worlds: (T, K) matrices of means by title.
    """
    columns, rows = min(2, len(worlds)), math.ceil(len(worlds) / 2)
    sheet = canvas(3.2 + 3.6 * columns, [RIBBON, 2.1] * rows, [columns] * 2 * rows)
    ribbons = [axes for row in sheet.rows[::2] for axes in row]
    panels = [axes for row in sheet.rows[1::2] for axes in row]
    labels: dict[Axes, list[Label]] = {}
    for ribbon, axes, (title, means) in zip(ribbons, panels, worlds.items(), strict=False):
        labels[axes] = draw_world(ribbon, axes, as_means(means, title))
        ribbon.set_title(title)
    for axes in (*ribbons[len(worlds) :], *panels[len(worlds) :]):
        axes.set_axis_off()
    for axes in panels[: len(worlds)][-columns:]:  # the lowest of each column
        axes.set_xlabel("round")
    for axes in panels[::columns]:
        axes.set_ylabel("mean reward")
    return sheet.settle(labels)
