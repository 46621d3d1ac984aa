"""A sheet of panels: rows of axes, and the room for the text around them, measured once."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .line_labels import Label, label_lines, labels_width, text_width
from .style import HEADING, INK, MUTED, NOTE, NUMBERS, TEXT

__all__ = ["Sheet", "canvas"]

EDGE, GAP, TICK = 0.06, 0.06, 0.1  # inches: around the sheet, between rows, from an axis to its numbers
LINE = 1.25 / 72  # height of a line of text in inches, for each point of its size
NAME = TEXT * LINE + 0.02  # inches that the name of an axis takes
TICKS = 7  # intervals of an axis; ticks take most of the time of a drawing
SMALLEST = 0.7  # a heading is shrunk to this share of its size before it is cut


class Room(NamedTuple):
    """Inches that the text around a panel takes."""

    left: float
    right: float
    top: float
    bottom: float


@dataclass(eq=False)
class Sheet:
    """A figure with its panels; rows with the same number of panels share their columns.

    Attributes:
        figure: the figure itself.
        rows: its panels.
        heights: the heights of the rows in inches, without the text around the panels.
    """

    figure: Figure
    rows: list[list[Axes]]
    heights: Sequence[float]

    def settle(
        self, labels: Mapping[Axes, Sequence[Label]] | None = None, notes: Iterable[str] = (), heading: str = ""
    ) -> Figure:
        """Place the panels, write names beside the lines and notes below; the limits of all axes must be set before.

        Matplotlib's constrained layout would do, but measures every text several times: half the time of a figure.

        Args:
            labels: what to write beside the lines of each panel.
            notes: what to write below all panels.
            heading: what to write above all of them.
        """
        labels = labels or {}
        rooms = {axes: _room(axes, labels.get(axes, ())) for row in self.rows for axes in row}
        width = float(self.figure.get_size_inches()[0])
        written = [line for note in notes for line in textwrap.wrap(note, int(width / (0.55 * NOTE / 72)))]
        bottoms, height = self._bottoms(rooms, EDGE + (len(written) * NOTE * LINE + GAP if written else 0.0))
        height += HEADING * LINE + GAP if heading else 0.0
        self.figure.set_size_inches(width, height)
        for row, bottom, tall in zip(self.rows, bottoms, self.heights, strict=True):
            for axes, (left, wide) in zip(row, self._columns(rooms, len(row), width), strict=True):
                axes.set_position((left / width, bottom / height, wide / width, tall / height))
                _place_texts(axes, rooms[axes], wide, tall)
                label_lines(axes, labels.get(axes, ()), wide, tall)
        self.figure.text(EDGE / width, EDGE / height, "\n".join(written), fontsize=NOTE, color=MUTED, va="bottom")
        if heading:
            self.figure.text(EDGE / width, 1 - EDGE / height, heading, fontsize=HEADING, color=INK, va="top")
        return self.figure

    def _bottoms(self, rooms: Mapping[Axes, Room], footer: float) -> tuple[list[float], float]:
        """The lower edge of every row in inches above that of the sheet, and the height of the sheet."""
        at, bottoms = footer, []
        for row, tall in zip(reversed(self.rows), reversed(self.heights), strict=True):
            bottoms.append(at + max(rooms[axes].bottom for axes in row))
            at = bottoms[-1] + tall + max(rooms[axes].top for axes in row) + GAP
        return bottoms[::-1], at - GAP + EDGE

    def _columns(self, rooms: Mapping[Axes, Room], count: int, width: float) -> list[tuple[float, float]]:
        """The left edge and the width, in inches, of every panel of the rows with this many."""
        columns = list(zip(*(row for row in self.rows if len(row) == count), strict=True))
        lefts = [max(rooms[axes].left for axes in column) for column in columns]
        rights = [max(rooms[axes].right for axes in column) for column in columns]
        wide = max((width - 2 * EDGE - sum(lefts) - sum(rights)) / count, 0.5)
        starts = EDGE + np.cumsum(lefts) + np.cumsum([0.0, *rights[:-1]]) + wide * np.arange(count)
        return [(start, wide) for start in starts.tolist()]


def canvas(width: float, heights: Sequence[float], columns: Sequence[int] = ()) -> Sheet:
    """A sheet outside of pyplot's global state.

    Args:
        width: of the whole sheet, in inches.
        heights: of the rows, in inches.
        columns: how many panels stand in each row; one in each if not said.
    """
    total = sum(heights)
    figure = Figure(figsize=(width, total))
    rows = []
    for height, count in zip(heights, columns or [1] * len(heights), strict=True):
        rows.append([figure.add_axes((0.1, 0.1, 0.7 / count, height / total)) for _ in range(count)])
        for axis in (axis for axes in rows[-1] for axis in (axes.xaxis, axes.yaxis)):
            axis.set_major_formatter(NUMBERS)
            axis.set_major_locator(MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10], integer=axis.axis_name == "x"))
    return Sheet(figure, rows, heights)


def _room(axes: Axes, labels: Sequence[Label]) -> Room:
    if not axes.axison:
        return Room(0.0, 0.0, 0.0, 0.0)
    beside, below = _ticks_width(axes.yaxis, "left"), _ticks_width(axes.xaxis, "bottom")
    underneath = (TEXT * LINE if below else 0.0) + (NAME if axes.get_xlabel() else 0.0)
    return Room(
        left=TICK + beside + (NAME + 0.04 if axes.get_ylabel() else 0.0),
        right=max(labels_width(labels), below / 2) + 0.04,
        top=HEADING * LINE + 0.04 if axes.get_title("left") else 0.0,
        bottom=TICK + underneath if underneath else 0.0,
    )


def _ticks_width(axis: Axis, side: str) -> float:
    """The width of the widest number of an axis, in inches; 0 where its numbers are hidden."""
    if not axis.get_tick_params()[f"label{side}"]:
        return 0.0
    low, high = sorted(axis.get_view_interval())
    shown = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
    return max((text_width(text, TEXT) for text in axis.get_major_formatter().format_ticks(shown)), default=0.0)


def _place_texts(axes: Axes, room: Room, wide: float, tall: float) -> None:
    """Put the names of the axes beyond their numbers and shrink a heading that is too long.

    Given these places, matplotlib need not measure all numbers to find them in every drawing.
    """
    axes.yaxis.set_label_coords((NAME - room.left) / wide, 0.5)
    axes.xaxis.set_label_coords(0.5, (NAME - room.bottom) / tall)
    for number in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        number.set_in_layout(False)
    heading = axes.get_title("left")
    share = 0.98 * (wide + room.right) / max(text_width(heading, HEADING), 0.1)
    if share < SMALLEST:
        heading = f"{heading[: int(len(heading) * share / SMALLEST) - 1]}…"
    axes.set_title(heading, fontsize=HEADING * min(max(share, SMALLEST), 1.0))
