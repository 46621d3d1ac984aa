"""Final regret against a swept parameter, with intervals, and the values that are worth a mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from ..resampling import Estimate, estimates
from .line_labels import Label, labels_height
from .sheet import canvas
from .style import INK, LABEL, NUMBERS, draw_band, line_style, styled

__all__ = ["Swept", "draw_sweep", "sweep_figure", "sweep_height"]

FloatArray = npt.NDArray[np.float64]

HEIGHT = 3.3  # inches of a panel
ROW = 13 / 72  # inches from one mark's words to the next
TICKS = 7  # intervals of an axis
WIDE = 3.0  # an axis is logarithmic if its largest value is this many times the least
FINAL = "final regret (mean, 95 % interval)"


class Swept(NamedTuple):
    """An agent with several values of a parameter, on one world.

    Attributes:
        label: what the agents are called together.
        parameter: what varies.
        values: its values.
        finals: (R,) the final regret of every run, for each value; runs of one number share their luck.
        marks: values that are worth a mark, by what to call them, such as "tuned" or "recommended".
    """

    label: str
    parameter: str
    values: list[float]
    finals: list[FloatArray]
    marks: dict[str, float]


@styled()
def sweep_figure(swept: Sequence[Swept], world: str) -> Figure:
    """Mean final regret against what is swept, a panel for each parameter; values of interest as dotted lines.

    Args:
        swept: the sweeps.
        world: the world's label, for the heading.
    """
    parameters = list(dict.fromkeys(each.parameter for each in swept))
    together = [[each for each in swept if each.parameter == parameter] for parameter in parameters]
    sheet = canvas(max(7.2, 5.2 * len(parameters)), [max(map(sweep_height, together))], [len(parameters)])
    labels = {axes: draw_sweep(axes, some) for axes, some in zip(sheet.rows[0], together, strict=True)}
    sheet.rows[0][0].set_title(world)
    return sheet.settle(labels)


def sweep_height(swept: Sequence[Swept]) -> float:
    """The inches that a panel with these sweeps needs."""
    return max(HEIGHT + ROW * _mark_count(swept) / 2, labels_height(len(swept)))


def _mark_count(swept: Sequence[Swept]) -> int:
    return sum(len(each.marks) for each in swept)


def draw_sweep(axes: Axes, swept: Sequence[Swept], first_style: int = 0) -> list[Label]:
    """Draw sweeps of one parameter; returns their names, for the edge of the panel.

    Args:
        axes: the panel.
        swept: the sweeps.
        first_style: the number of the first line's style.
    """
    found = [estimates(np.stack(each.finals, axis=1)) for each in swept]
    _scale(axes, swept, found)
    labels = []
    for place, (each, points) in enumerate(zip(swept, found, strict=True)):
        style = line_style(first_style + place)
        order = np.argsort(each.values)
        x = np.array(each.values, dtype=float)[order]
        means = np.array([points[at].mean for at in order])
        if len(each.finals[0]) > 1:
            lows, highs = (np.array([getattr(points[at], end) for at in order]) for end in ("low", "high"))
            draw_band(axes, x, lows, highs, style["color"], alpha=0.2)
        axes.plot(x, means, **style, linewidth=1.6, marker="o", markersize=3.5)
        labels.append(Label(_named(each.label, x, means), float(means[-1]), style["color"]))
    _draw_marks(axes, swept, first_style)
    axes.set(xlabel=swept[0].parameter, ylabel=FINAL if len(swept[0].finals[0]) > 1 else "final regret (one run)")
    return labels


def _named(label: str, values: FloatArray, means: FloatArray) -> str:
    """The name of a sweep, with its least mean and where it is."""
    least = int(means.argmin())
    figure = f"{means[least]:,.0f}" if means[least] >= 100 else f"{means[least]:.3g}"
    return f"{label}  {figure} at {NUMBERS(values[least])}"


def _scale(axes: Axes, swept: Sequence[Swept], found: Sequence[Sequence[Estimate]]) -> None:
    """Scales and limits, with room at the top for the words of the marks."""
    across = [value for each in swept for value in (*each.values, *each.marks.values())]
    ends = [end for points in found for each in points for end in (each.low, each.high, each.mean)]
    low, high = min(ends), max(ends)
    share = ROW * (_mark_count(swept) + 0.5) / sweep_height(swept)  # of the height, for the words
    if low > 0 and high > WIDE * low:
        reach = np.log(high / low)
        axes.set(yscale="log", ylim=(low * np.exp(-0.06 * reach), high * np.exp((0.04 + share / (1 - share)) * reach)))
        _number_log(axes, "y", high / low)
    else:
        reach = (high - low) or abs(high) or 1.0
        axes.set_ylim(low - 0.08 * reach, high + (0.04 + 1.1 * share / (1 - share)) * reach)
    least, largest = min(across), max(across)
    if least > 0 and largest > WIDE * least:
        axes.set(xscale="log", xlim=(least / 1.1, largest * 1.1))
        _number_log(axes, "x", largest / least)
    else:
        margin = 0.04 * (largest - least) or 0.1 * abs(largest) or 1.0
        axes.set_xlim(least - margin, largest + margin)
        if any(not float(value).is_integer() for value in across):
            axes.xaxis.set_major_locator(MaxNLocator(TICKS, steps=[1, 2, 2.5, 5, 10]))
    axes.grid(axis="x")


def _number_log(axes: Axes, which: str, ratio: float) -> None:
    """Numbers at powers of ten, and between them where those are few."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    subs = (1.0,) if ratio > 3_000 else (1.0, 2.0, 5.0) if ratio > 8 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(NUMBERS)
    axis.set_minor_formatter(NullFormatter())


def _draw_marks(axes: Axes, swept: Sequence[Swept], first_style: int) -> None:
    """A dotted line for each mark, and a word at its top in a row of its own; of several sweeps in their colours."""
    row, several = 0, len(swept) > 1
    for place, each in enumerate(swept):
        colour = line_style(first_style + place)["color"] if several else INK
        for name, value in each.marks.items():
            axes.axvline(value, color=colour, linewidth=1, linestyle=":")
            _write(axes, value, f"{name} {NUMBERS(value)}", colour, row)
            row += 1


def _write(axes: Axes, value: float, text: str, colour: str, row: int) -> None:
    scale = axes.xaxis.get_transform()
    low, high, at = scale.transform(np.array([*axes.get_xlim(), value]))
    side = "left" if (at - low) / (high - low) < 0.5 else "right"  # so that it stays in the panel
    axes.annotate(
        text, (value, 1.0), (4 if side == "left" else -4, -3 - 13 * row),
        xycoords=("data", "axes fraction"), textcoords="offset points", color=colour, ha=side, va="top",
        fontsize=LABEL, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip
