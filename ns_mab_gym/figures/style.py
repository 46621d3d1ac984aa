"""The look of every figure: colours, dashes and axes; sheets of panels with names beside their lines; and saving."""

from __future__ import annotations

import io
import textwrap
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Annotation, Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import offset_copy

from ..agents.core.arguments import without_controls
from ..files import write_atomically

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
BESIDE = 9  # points from the panel to such a name
PAD = 0.06  # inches between panels with their text
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


class Sheet:
    """A figure with rows of panels, outside of pyplot's global state.

    Attributes:
        figure: the figure itself.
        rows: its panels.
    """

    def __init__(self, width: float, heights: Sequence[float], columns: Sequence[int] = ()) -> None:
        """An empty sheet.

        Args:
            width: of the whole sheet, in inches.
            heights: of the rows, in inches, without the text around the panels.
            columns: the number of panels in each row, which divides the largest of them; one in each if not said.
        """
        columns = columns or [1] * len(heights)
        self._layout, self._height = ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD, wspace=0, hspace=0), sum(heights)
        self.figure = Figure(figsize=(width, self._height + 2.5), layout=self._layout)
        grid = self.figure.add_gridspec(len(heights), max(columns), height_ratios=heights)
        self.rows: list[list[Axes]] = []
        for row, count in enumerate(columns):
            each = max(columns) // count
            places = [grid[row, each * place : each * (place + 1)] for place in range(count)]
            self.rows.append([self.figure.add_subplot(place) for place in places])
        for axis in (axis for axes in self.figure.axes for axis in (axes.xaxis, axes.yaxis)):
            axis.set_major_formatter(NUMBERS)
            axis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10], integer=axis.axis_name == "x"))

    def settle(self, notes: Iterable[str] = (), heading: str = "") -> Figure:
        """Place the panels, and write the labels of lines where these end; the limits of all axes must be set before.

        Args:
            notes: sentences below all panels.
            heading: a line above all panels.
        """
        figure, width = self.figure, self.figure.get_figwidth()
        edge: dict[str, Any] = {"x": PAD / width, "ha": "left"}
        if lines := [line for note in notes for line in textwrap.wrap(note, int(width * 72 / (0.55 * NOTE)))]:
            figure.supxlabel("\n".join(lines), **edge, fontsize=NOTE, color=MUTED, linespacing=1.2)
        if heading:
            heading, size = _fitted(heading, width - 2 * PAD)
            figure.suptitle(heading, **edge, fontsize=size, color=INK)
        titles = {axes: axes.get_title("left") for axes in figure.axes}
        names = {axes: [_write_name(axes, line) for line in axes.lines if _has_name(line)] for axes in figure.axes}
        for axes, title in titles.items():
            axes.set_title(title[:1])  # a long one would move its neighbour
        self._layout.execute(figure)
        share = sum(row[0].get_position().height for row in self.rows)  # of the height that is not taken by text
        figure.set_figheight(round(figure.get_figheight() * (1 - share) + self._height, 3))
        self._layout.execute(figure)
        figure.set_layout_engine("none")
        for axes, title in titles.items():
            axes.set_position(np.round(axes.get_position().bounds, 9))  # the solver's last bits vary
            panel = axes.get_window_extent()
            places = spread([name.xy[1] for name in names[axes]], STEP * figure.dpi / panel.height, 0.0, 1.0)
            for name, place in zip(names[axes], places, strict=True):
                name.xyann = (1.0, place)
            right = max([panel.x1, *(Text.get_window_extent(text).x1 for text in axes.texts)])
            title, size = _fitted(title, (right - panel.x0) / figure.dpi)
            axes.set_title(title, fontsize=size)
        return figure


def _has_name(line: Line2D) -> bool:
    """Whether a line has a label, rather than one that matplotlib made up, and a value in the panel."""
    return not str(line.get_label()).startswith("_child") and bool(np.isfinite(line.get_ydata()).any())


def _write_name(axes: Axes, line: Line2D) -> Annotation:
    """Write the label of a line at the right edge of its panel; one that ends off the scale gets an arrow."""
    last = np.asarray(line.get_xydata())[np.isfinite(line.get_ydata())][-1]
    end = float((axes.transScale + axes.transLimits).transform(last)[1])
    text = shortened(str(line.get_label()), WIDEST) + (" ↑" if end > 1 + 1e-9 else " ↓" if end < -1e-9 else "")
    colour = MUTED if line.get_color() == FAINT else line.get_color()
    place = (1.0, min(max(end, 0.0), 1.0))
    beside = offset_copy(axes.transAxes, axes.get_figure(root=True), BESIDE, 0, "points")
    start = -0.03 / max(text_width(text, LABEL), 0.03)  # of the text's width: 0.03 inches before it
    return axes.annotate(
        text, place, place, "axes fraction", beside, fontsize=LABEL, color=colour, va="center",
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "patchA": None,
                    "relpos": (start, 0.5)},  # without a patch to cut off: much cheaper
    )  # fmt: skip


def write_beside(axes: Axes, height: float, text: str, colour: str = INK) -> None:
    """Write a text to the right of a panel."""
    axes.annotate(
        text, (1.0, height), (BESIDE, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=LABEL,
        color=colour,
    )  # fmt: skip


def _fitted(heading: str, inches: float) -> tuple[str, float]:
    """A heading and its size in points: smaller where it has less room than it needs, and then shorter."""
    size = HEADING * min(1.0, max(0.75, 0.98 * inches / max(text_width(heading, HEADING), 0.1)))
    return shortened(heading, inches, size), size


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


def name_rows(axes: Axes, labels: Sequence[str], widest: float = 2.4) -> None:
    """Names of the rows 0, 1, … of a panel, shortened to some inches."""
    axes.set_yticks(range(len(labels)), [shortened(label, widest) for label in labels], fontsize=LABEL, color=INK)


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


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and as SVG into a folder of results, in whose place there must not be a link by now."""
    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        save_as(figure, path)
    return paths


def save_as(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, whichever the file's name ends in."""
    kind, content = path.suffix.lower(), io.BytesIO()
    if kind not in (".png", ".svg", ".pdf"):
        raise ValueError(
            f"a figure is written as .png, .svg or .pdf, got {str(path)!r}; choose another name for the file"
        )
    with styled():
        if kind == ".png":
            figure.savefig(content, format="png", metadata={"Software": None}, pil_kwargs={"compress_level": 3})
        else:
            figure.savefig(content, format=kind[1:], metadata={"Date" if kind == ".svg" else "CreationDate": None})
    drawn = content.getvalue()
    write_atomically(path, without_controls(drawn.decode()).encode() if kind == ".svg" else drawn)
