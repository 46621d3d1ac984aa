"""The look of every figure: colours that the colour-blind can tell apart, dashes for print, quiet axes; and saving."""

from __future__ import annotations

import io
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import FuncFormatter

from ..files import refuse_links, write_atomically
from ..plain_texts import without_controls

__all__ = ["NUMBERS", "draw_band", "line_style", "phase_name", "save", "save_as", "sequence", "shade_phases", "styled"]

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
NUMBERS = FuncFormatter(lambda value, _: f"{value:,.10g}".replace("-", "−"))
ALONE = threading.RLock()
RC: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": TEXT,
    "text.parse_math": False,  # a dollar in somebody's label is a dollar
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
    """How the paper writes the n-th phase.

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
    writers = {".png": _as_png, ".svg": _as_svg}
    if path.suffix.lower() not in writers:
        raise ValueError(f"a figure is written as .png or .svg, got {str(path)!r}; choose another name for the file")
    with styled():
        return writers[path.suffix.lower()](figure)


def _as_svg(figure: Figure) -> bytes:
    text, dpi = io.StringIO(), figure.dpi
    FigureCanvasSVG(figure).print_svg(text, metadata={"Date": None})  # type: ignore[no-untyped-call]
    figure.dpi = dpi  # which the canvas has changed
    return without_controls(text.getvalue()).encode()


def _as_png(figure: Figure) -> bytes:
    """The figure as PNG, with plain rows and little compression: a third of the time that Pillow takes, and smaller."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[:, :, :3])  # type: ignore[no-untyped-call]
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # the zero before a row says that nothing is done to it
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    metre = round(figure.dpi / 0.0254)
    header = _chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))  # 8 bits of red, green, blue
    resolution = _chunk(b"pHYs", struct.pack(">2IB", metre, metre, 1))
    return (
        b"\x89PNG\r\n\x1a\n"
        + header
        + resolution
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 3))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    """A part of a PNG file: its length, kind, content and checksum."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
