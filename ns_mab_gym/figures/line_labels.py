"""Names at the right end of lines, moved apart where lines meet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from .style import FONT, LABEL

__all__ = ["Label", "label_lines", "labels_height", "labels_width", "spread", "text_width"]

DASH, BLANK = 0.09, 0.04  # inches: the dash from a line to its name, the blank between dash and name
STEP = LABEL * 1.25 / 72  # inches from one name to the next
LONGEST = 40  # letters of a name


class Label(NamedTuple):
    """A name beside a panel: what it says, the value where the line ends, its colour, whether a dash leads to it."""

    text: str
    value: float
    colour: str
    dash: bool = True


def label_lines(axes: Axes, labels: Sequence[Label], wide: float, tall: float) -> None:
    """Write names at the right edge of a panel of some inches; one whose value is off the scale gets an arrow."""
    heights = _heights(axes, [label.value for label in labels])
    ends = np.clip(heights, 0.0, 1.0).tolist()
    places = spread(ends, STEP / tall, 0.0, 1.0)
    turn = 1 + DASH / wide
    dashes = [((1.0, end), (turn, place)) for end, place in zip(ends, places, strict=True)]
    shown = [index for index, label in enumerate(labels) if label.dash]
    axes.add_collection(
        LineCollection(
            [dashes[index] for index in shown],
            colors=[labels[index].colour for index in shown],
            linewidths=0.6,
            transform=axes.transAxes,
            clip_on=False,
        ),
        autolim=False,
    )
    for label, height, place in zip(labels, heights, places, strict=True):
        arrow = " ↑" if height > 1 + 1e-9 else " ↓" if height < -1e-9 else ""
        style: dict[str, Any] = {"fontsize": LABEL, "color": label.colour, "va": "center"}
        axes.text(turn + BLANK / wide, place, _short(label.text) + arrow, transform=axes.transAxes, **style)


def labels_width(labels: Sequence[Label]) -> float:
    """The inches that names take beside a panel, an arrow included."""
    return max((text_width(f"{_short(label.text)} ↑", LABEL) + DASH + BLANK for label in labels), default=0.0)


def labels_height(count: int) -> float:
    """The inches that so many names take above each other."""
    return count * STEP


def _short(text: str) -> str:
    """A text without its middle if it is too long to stand beside a panel; a number at its end stays."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 15]}…{text[-14:]}"


def _heights(axes: Axes, values: Sequence[float]) -> list[float]:
    """Values as heights in a panel, from 0 at its lower edge to 1 at its upper, whatever its scale."""
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(np.array(axes.get_ylim()))
    heights: list[float] = ((scale.transform(np.array(values, dtype=float)) - low) / (high - low)).tolist()
    return heights


def spread(heights: Sequence[float], gap: float, low: float = -np.inf, high: float = np.inf) -> list[float]:
    """The heights, moved as little as possible (in squares) so that neighbours are ``gap`` apart.

    All stay between ``low`` and ``high`` if there is room for them; else they go on above.

    >>> spread([0.0, 0.0, 10.0], gap=2.0)
    [-1.0, 1.0, 10.0]
    >>> spread([0.0, 0.0, 10.0], gap=2.0, low=0.0, high=10.0)
    [0.0, 2.0, 10.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    blocks: list[tuple[float, int]] = []  # mean and size of blocks that move together
    for place, index in enumerate(order):
        mean, size = heights[index] - place * gap, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, size = (mean * size + other * more) / (size + more), size + more
        blocks.append((mean, size))
    highest = max(high - (len(heights) - 1) * gap, low)
    moved = [min(max(mean, low), highest) for mean, size in blocks for _ in range(size)]
    result = [0.0] * len(heights)
    for place, index in enumerate(order):
        result[index] = moved[place] + place * gap
    return result


def text_width(text: str, size: float) -> float:
    """The width of a text in inches, as the sum of its letters' widths."""
    return max(sum(map(_advance, line)) for line in text.split("\n")) * size / 72


@cache
def _advance(letter: str) -> float:
    """By how much a letter, a blank too, widens a text of size 1."""
    font = FontProperties(family=FONT, size=1)
    measure = text_to_path.get_text_width_height_descent
    return measure(f"x{letter}x", font, False)[0] - measure("xx", font, False)[0]
