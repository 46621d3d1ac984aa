"""The look of every figure: colours, dashes and axes; sheets of panels with names beside their lines; and saving."""

from __future__ import annotations

import io
import textwrap
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Polygon
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import offset_copy

from ..files import refuse_links, without_controls, write_atomically

INK, MUTED, FAINT = "#222222", "#666666", "#c4c4c0"  # text, axes, lines in the background
BAND, GRID = "#f0f0ec", "#e4e4e0"
# Okabe and Ito (2008), with grey for the yellow that white paper swallows.
BLUE, VERMILION, GREEN, SKY, PINK, AMBER = "#0072b2", "#d55e00", "#009e73", "#56b4e9", "#cc79a7", "#e69f00"
BLACK, GREY = "#000000", "#808080"
PALETTE = (BLUE, VERMILION, GREEN, PINK, SKY, AMBER, BLACK)  # of arms, the clearest first
LEARNABLE, UNLEARNABLE = "#7fcdb0", "#f3d58a"

SOLID, DASHED, DASH_DOTTED, DOTTED = "-", (0, (5, 2)), (0, (6, 2, 1, 2)), (0, (1, 1.5))
STYLES = (
    (BLUE, SOLID), (VERMILION, SOLID), (BLACK, DASHED), (GREEN, SOLID),
    (SKY, DASHED), (PINK, SOLID), (AMBER, DASH_DOTTED), (GREY, DASH_DOTTED),
)  # fmt: skip

FONT = "DejaVu Sans"  # comes with matplotlib: the same figure everywhere
TEXT, HEADING, LABEL, NOTE = 9.0, 10.5, 8.5, 7.5  # points
STEP = LABEL * 1.25 / 72  # inches from one name beside a panel to the next
WIDEST = 2.6  # inches of such a name
PAD = 0.06  # inches between panels with their text
FinalDot = tuple[npt.NDArray[np.float64], str, str]  # final regrets of all runs, the colour, and that of the inside
NUMBERS = FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−"))
ALONE = threading.RLock()
RC: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": TEXT,
    "text.parse_math": False,  # a dollar in a label is a dollar
    "text.hinting": "none",  # at this resolution no eye sees it, and it takes a third of the time of text
    "axes.titlesize": HEADING,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.titley": 1.0,
    "axes.titlepad": 5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "hatch.color": "white",
    "path.simplify_threshold": 0.3,  # of a pixel
    "svg.hashsalt": "ns-mab-gym",  # the same figure is the same file
}


@contextmanager
def styled(dpi: int = 160) -> Iterator[None]:
    """The settings of every figure, for a block or, as a decorator, for a function; one thread at a time.

    Matplotlib knows settings for the whole process only, and two threads would restore each other's.
    """
    with ALONE, mpl.rc_context({**RC, "figure.dpi": dpi}):
        yield


def line_style(index: int) -> dict[str, Any]:
    """Colour and dashes of the n-th line."""
    colour, dashes = STYLES[index % len(STYLES)]
    return {"color": colour, "linestyle": dashes if index < len(STYLES) else DOTTED}


def sequence(count: int) -> list[str]:
    """Colours for an ordered family, dark to light, all of them visible on white."""
    return list(map(to_hex, mpl.colormaps["viridis"](np.linspace(0.0, 0.78, count))))


def phase_name(number: int) -> str:
    """The n-th phase as the paper writes it.

    >>> phase_name(12)
    'ℱ₁₂'
    """
    return "ℱ" + str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def shade_phases(axes: Axes, starts: Sequence[int], horizon: int) -> None:
    """Shade every other phase; ``starts`` are the rounds in which phases begin, but for the first."""
    edges = [1, *starts, horizon + 1] if starts else []
    for first, after in zip(edges[::2], edges[1::2], strict=False):
        axes.axvspan(first - 0.5, after - 0.5, color=BAND, zorder=0, linewidth=0)


def draw_band(
    axes: Axes, x: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike, colour: str, alpha: float = 0.16
) -> None:
    """A band between two lines, in axes with limits of their own: much cheaper to draw than ``fill_between``."""
    there, back = np.column_stack((x, high)), np.column_stack((x, low))[::-1]
    axes.add_artist(Polygon(np.concatenate((there, back)), color=colour, alpha=alpha, linewidth=0))


class Label(NamedTuple):
    """A name beside a panel: its text, the value where the line ends, its colour, whether a dash leads to it."""

    text: str
    value: float
    colour: str
    dash: bool = True


@dataclass(eq=False)
class Sheet:
    """A figure with rows of panels.

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
        """Place the panels, and write names beside the lines; the limits of all axes must be set before.

        Args:
            labels: the names beside the lines of each panel.
            notes: sentences below all panels.
            heading: a line above all panels.
        """
        width = float(self.figure.get_size_inches()[0])
        lines = [line for note in notes for line in textwrap.wrap(note, int(width * 72 / (0.55 * NOTE)))]
        written = {axes: [_write(axes, label) for label in some] for axes, some in (labels or {}).items()}
        panels = [axes for row in self.rows for axes in row]
        titles = [axes.get_title("left") for axes in panels]
        for axes, title in zip(panels, titles, strict=True):
            axes.set_title(title[:1])  # a long one would move its neighbour
        edges = (PAD + (HEADING * 1.5 / 72 if heading else 0.0), PAD + len(lines) * 1.3 * NOTE / 72)
        self._place(dict.fromkeys(panels, (0.7, 0.5, 0.2, 0.3)), *edges)  # roughly, so that text can be measured
        self._place({axes: _text_around(axes, self.figure.dpi) for axes in panels}, *edges)
        height = float(self.figure.get_size_inches()[1])
        at: dict[str, Any] = {"x": PAD / width, "ha": "left"}
        if lines:
            self.figure.supxlabel(
                "\n".join(lines), **at, y=PAD / height, va="bottom", fontsize=NOTE, color=MUTED, linespacing=1.2
            )
        if heading:
            size = _heading_size(heading, width)
            heading = shortened(heading, width - 2 * PAD, size)
            self.figure.suptitle(heading, **at, y=1 - PAD / height, va="top", fontsize=size, color=INK)
        for axes, title in zip(panels, titles, strict=True):
            wide, tall = axes.get_position().size * self.figure.get_size_inches()
            names = written.get(axes, [])
            places = spread([name.xy[1] for name in names], STEP / tall, 0.0, 1.0)
            for name, place in zip(names, places, strict=True):
                name.xyann = (1.0, place)
            room = wide + max((0.12 + text_width(name.get_text(), LABEL) for name in names), default=0.0)
            size = _heading_size(title, room)
            axes.set_title(shortened(title, room, size), fontsize=size)
        return self.figure

    def _place(self, around: Mapping[Axes, Sequence[float]], above: float, below: float) -> None:
        """Place the panels in columns of one width, with inches left of, below, right of and above each of them.

        Matplotlib's constrained layout does the same, but measures every text four times.
        """
        columns, width = max(map(len, self.rows)), float(self.figure.get_size_inches()[0])
        left, right = [0.0] * columns, [0.0] * columns
        spans: dict[Axes, tuple[int, int]] = {}
        for row in self.rows:
            for place, axes in enumerate(row):
                first, last = spans[axes] = (columns // len(row) * place, columns // len(row) * (place + 1) - 1)
                left[first], right[last] = max(left[first], around[axes][0]), max(right[last], around[axes][2])
        wide = max((width - sum(left) - sum(right)) / columns, 0.3)
        height = above + below + sum(self.heights)
        height = round(height + sum(max(around[axes][side] for axes in row) for row in self.rows for side in (1, 3)), 3)
        self.figure.set_size_inches(width, height)
        bottom = height - above
        for row, tall in zip(self.rows, self.heights, strict=True):
            bottom -= tall + max(around[axes][3] for axes in row)
            for axes in row:
                first, last = spans[axes]
                start = sum(left[: first + 1]) + sum(right[:first]) + first * wide
                end = sum(left[: last + 1]) + sum(right[:last]) + (last + 1) * wide
                bounds = (start / width, bottom / height, (end - start) / width, tall / height)
                axes.set_position(tuple(round(each, 5) for each in bounds))  # type: ignore[arg-type]
            bottom -= max(around[axes][1] for axes in row)


def _text_around(axes: Axes, dpi: float) -> tuple[float, float, float, float]:
    """The inches that the text around a panel takes left of, below, right of and above it, and some space."""
    panel = axes.get_window_extent()
    whole = axes.get_tightbbox(for_layout_only=True) or panel
    beyond = (panel.x0 - whole.x0, panel.y0 - whole.y0, whole.x1 - panel.x1, whole.y1 - panel.y1)
    left, below, right, above = (max(each, 0.0) / dpi + PAD for each in beyond)
    return left, below, right, above


def _heading_size(text: str, room: float) -> float:
    """The size of a heading in points, smaller where it has less room than it needs."""
    return HEADING * min(1.0, max(0.75, 0.98 * room / max(text_width(text, HEADING), 0.1)))


def canvas(width: float, heights: Sequence[float], columns: Sequence[int] = ()) -> Sheet:
    """A sheet outside of pyplot's global state.

    Args:
        width: of the whole sheet, in inches.
        heights: of the rows, in inches.
        columns: the number of panels in each row, which divides the largest of them; one in each if not said.
    """
    columns = columns or [1] * len(heights)
    figure = Figure(figsize=(width, sum(heights) + 2.5))
    grid = figure.add_gridspec(len(heights), max(columns), height_ratios=heights)
    rows = []
    for row, count in enumerate(columns):
        each = max(columns) // count
        rows.append([figure.add_subplot(grid[row, each * place : each * (place + 1)]) for place in range(count)])
        for axis in (axis for axes in rows[-1] for axis in (axes.xaxis, axes.yaxis)):
            axis.set_major_formatter(NUMBERS)
            axis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10], integer=axis.axis_name == "x"))
    return Sheet(figure, rows, heights)


def _write(axes: Axes, label: Label) -> Annotation:
    """Write a name at the right edge of a panel; one whose value is off the scale gets an arrow."""
    scale = axes.yaxis.get_transform()
    low, high, value = scale.transform(np.array([*axes.get_ylim(), label.value]))
    end = float((value - low) / (high - low))
    arrow = " ↑" if end > 1 + 1e-9 else " ↓" if end < -1e-9 else ""
    place = (1.0, min(max(end, 0.0), 1.0))
    beside = offset_copy(axes.transAxes, axes.get_figure(root=True), 9, 0, "points")
    text = shortened(label.text, WIDEST) + arrow
    start = -0.03 / max(text_width(text, LABEL), 0.03)  # of the text's width: 0.03 inches before it
    return axes.annotate(
        text, place, place, "axes fraction", beside, fontsize=LABEL, color=label.colour, va="center",
        arrowprops={"arrowstyle": "-", "color": label.colour, "linewidth": 0.6 if label.dash else 0.0, "shrinkA": 0,
                    "shrinkB": 0, "patchA": None, "relpos": (start, 0.5)},  # without a patch to cut off: much cheaper
    )  # fmt: skip


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
    result = dict(zip(order, (each + place * gap for place, each in enumerate(moved)), strict=True))
    return [result[index] for index in range(len(heights))]


def labels_height(count: int) -> float:
    """The inches that a number of names takes above each other."""
    return count * STEP


def text_width(text: str, size: float) -> float:
    """The width of a line of text in inches."""
    font = FontProperties(family=FONT, size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0]) / 72


def shortened(text: str, inches: float, size: float = LABEL) -> str:
    """A text without its middle, if it is wider than some inches; its last third, such as a number, stays."""
    if (wide := text_width(text, size)) <= inches:
        return text
    kept, shown = int(1.1 * len(text) * inches / wide), text
    while kept > 2 and text_width(shown, size) > inches:
        kept -= 1
        shown = f"{text[: kept - kept // 3]}…{text[len(text) - kept // 3 :]}"
    return shown


def number_log(axis: XAxis | YAxis, subs: Sequence[float] = (1,)) -> None:
    """Plain numbers at powers of ten of a logarithmic axis, and at some multiples of them."""
    axis.set_major_locator(LogLocator(subs=subs, numticks=12 if axis.axis_name == "y" else 6))
    axis.set_major_formatter(NUMBERS)
    axis.set_minor_formatter(NullFormatter())


def mark(axes: Axes, value: float, text: str, colour: str = INK, row: int = 0) -> None:
    """A dotted upright line, with a text at its top in the first row or a lower one, on the side with more room."""
    axes.axvline(value, color=colour, linewidth=1, linestyle=":")
    low, high, at = axes.xaxis.get_transform().transform(np.array([*axes.get_xlim(), value]))
    left = (at - low) / (high - low) < 0.5
    axes.annotate(
        text, (value, 1.0), (4 if left else -4, -3 - 13 * row), xycoords=("data", "axes fraction"),
        textcoords="offset points", color=colour, ha="left" if left else "right", va="top", fontsize=LABEL,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip


def draw_finals(axes: Axes, rows: Sequence[tuple[str, Sequence[FinalDot]]], least: float) -> None:
    """A row for each agent, from the bottom up, with dots at mean final regrets and whiskers of two standard errors.

    Args:
        axes: the panel, whose horizontal axis becomes logarithmic.
        rows: the label of each row and its dots.
        least: the smallest regret that the axis shows; smaller ones are drawn there.
    """
    reaches = []
    for height, (_, dots) in enumerate(rows):
        axes.axhline(height, color=FAINT, linewidth=0.4, zorder=0)
        for finals, colour, face in dots:
            mean = max(float(finals.mean()), least)
            error = 2 * float(finals.std(ddof=min(1, len(finals) - 1))) / len(finals) ** 0.5
            reaches += [max(mean - error, least), mean + error]
            axes.plot(reaches[-2:], [height, height], color=colour, linewidth=1.0)
            axes.plot(mean, height, "o", markersize=4.7, color=colour, markerfacecolor=face)
    low, high = min(reaches), max(reaches)
    axes.set(xscale="log", xlim=(low / 1.1, high * 1.1), ylim=(-0.8, len(rows) - 0.2))
    axes.set_xlabel("final regret: mean ± 2 standard errors")
    number_log(axes.xaxis, (1, 2, 5) if high < 1_000 * low else (1,))
    axes.grid(axis="x")
    axes.set_yticks(range(len(rows)), [shortened(label, 2.4) for label, _ in rows], fontsize=LABEL)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and as SVG into a folder of results, in whose place there must not be a link by now."""
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        content = _drawn(figure, path)
        refuse_links(folder)
        write_atomically(path, content)
    return paths


def save_as(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, whichever the file's name ends in."""
    write_atomically(path, _drawn(figure, path))


def _drawn(figure: Figure, path: Path) -> bytes:
    kind, dpi, content = path.suffix.lower(), figure.dpi, io.BytesIO()
    if kind not in (".png", ".svg"):
        raise ValueError(f"a figure is written as .png or .svg, got {str(path)!r}; choose another name for the file")
    with styled():
        if kind == ".png":
            options: dict[str, Any] = {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 3}}
            FigureCanvasAgg(figure).print_png(content, **options)  # type: ignore[no-untyped-call]
            return content.getvalue()
        FigureCanvasSVG(figure).print_svg(content, metadata={"Date": None})  # type: ignore[no-untyped-call]
    figure.dpi = dpi  # which the canvas has changed
    return without_controls(content.getvalue().decode()).encode()
