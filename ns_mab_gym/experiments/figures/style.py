"""The look of every figure: colours that the colour-blind can tell apart, dashes for print, labels at the lines."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ..store import write_atomically

__all__ = [
    "INK",
    "MUTED",
    "canvas",
    "heading",
    "label_lines",
    "line_style",
    "save",
    "sequence",
    "settle",
    "spread",
    "thousands",
]

LABEL = 8.5  # points
INK, MUTED, BAND = "#222222", "#666666", "#f0f0ec"
# Okabe and Ito, with grey for the yellow that white paper swallows; dashes tell lines apart without colour.
STYLES = (
    ("#0072b2", "-"), ("#d55e00", "-"), ("#000000", (0, (5, 2))), ("#009e73", "-"),
    ("#56b4e9", (0, (5, 2))), ("#cc79a7", "-"), ("#e69f00", (0, (6, 2, 1, 2))), ("#808080", (0, (6, 2, 1, 2))),
)  # fmt: skip
RC: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "svg.hashsalt": "ns-mab-gym",  # the same figure is the same file
    "figure.dpi": 160,
}


def line_style(index: int) -> dict[str, Any]:
    """Colour and dashes of the n-th line."""
    colour, dashes = STYLES[index % len(STYLES)]
    return {"color": colour, "linestyle": dashes if index < len(STYLES) else (0, (1, 1.5))}


def sequence(count: int) -> list[str]:
    """Colours for an ordered family, dark to light, all of them visible on white."""
    return list(map(to_hex, mpl.colormaps["viridis"](np.linspace(0.0, 0.78, count))))


def canvas(width: float, height: float, **grid: Any) -> tuple[Figure, Any]:
    """A figure of some inches with its axes, outside of pyplot's global state."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(**grid)
    return figure, axes


def settle(figure: Figure, texts: Sequence[tuple[Axes, str]] = ()) -> None:
    """Lay the figure out once, with room to the right of some axes for a text of this width."""
    room = [
        axes.text(1.05, 0.5, text, transform=axes.transAxes, fontsize=LABEL, parse_math=False) for axes, text in texts
    ]
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)  # what a draw would do first, without the draw
    figure.set_layout_engine("none")
    for text in room:
        text.remove()


def heading(axes: Axes, text: str) -> None:
    """A title above the left end of the axes; a dollar in it is a dollar."""
    axes.set_title(text, loc="left", fontsize=10.5, color=INK, parse_math=False)


def thousands(axes: Axes, *, x: bool = True, y: bool = True) -> None:
    """Separate thousands on the axes, and draw a quiet grid."""
    number = FuncFormatter(lambda value, _: f"{value:,.0f}")
    if x:
        axes.xaxis.set_major_formatter(number)
    if y:
        axes.yaxis.set_major_formatter(number)
    axes.grid(axis="y", color="#e4e4e0", linewidth=0.6)
    axes.set_axisbelow(True)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """The heights, moved as little as possible (in squares) so that neighbours are ``gap`` apart.

    >>> spread([0.0, 0.0, 10.0], gap=2.0)
    [-1.0, 1.0, 10.0]
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    blocks: list[tuple[float, int]] = []  # mean and size of blocks that move together
    for place, index in enumerate(order):
        mean, size = heights[index] - place * gap, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, size = (mean * size + other * more) / (size + more), size + more
        blocks.append((mean, size))
    moved = [mean for mean, size in blocks for _ in range(size)]
    result = [0.0] * len(heights)
    for place, index in enumerate(order):
        result[index] = moved[place] + place * gap
    return result


def label_lines(axes: Axes, labels: Sequence[tuple[str, float, Any]]) -> None:
    """Write each (text, height, colour) at the right edge of the axes, side by side where lines meet.

    The limits of the axes must be set before, for the distance between labels is measured in them.
    """
    low, high = axes.get_ylim()
    figure = axes.get_figure()
    assert figure is not None
    inches = axes.get_position().height * figure.get_size_inches()[1]  # type: ignore[union-attr]
    gap = (high - low) * LABEL * 1.25 / 72 / inches
    places = spread([height for _, height, _ in labels], gap)
    shift = max(0.0, low - min(places)) or min(0.0, high - max(places))
    for (text, height, colour), place in zip(labels, places, strict=True):
        edge = axes.get_yaxis_transform()  # x from 0 to 1 across the axes, y in the data
        axes.plot([1, 1.03], [height, place + shift], transform=edge, color=colour, linewidth=0.6, clip_on=False)
        axes.text(
            1.035, place + shift, text, transform=edge, color=colour, fontsize=LABEL, va="center", parse_math=False
        )


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and as SVG."""
    png, svg = io.BytesIO(), io.BytesIO()
    with mpl.rc_context(RC):  # the canvases' own writers draw once; savefig would draw twice each
        FigureCanvasAgg(figure).print_png(png)  # type: ignore[no-untyped-call]
        FigureCanvasSVG(figure).print_svg(svg, metadata={"Date": None})  # type: ignore[no-untyped-call]
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path, buffer in zip(paths, (png, svg), strict=True):
        write_atomically(path, buffer.getvalue())
    return paths
