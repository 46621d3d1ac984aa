"""The figure of a log's drift: the mean of each arm over time, with its band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ..means import Floats, Mask
from . import style

DIRECT = 12  # arms that are all in colour; of more, those that move
BANDED = 6  # arms in colour that have bands; more would hide each other
PERCENT = FuncFormatter(lambda value, _: f"{100 * value:.10g} %".replace("-", "−"))


@style.styled()
def drift_figure(
    times: Floats,
    curves: Floats,
    low: Floats,
    high: Floats,
    names: Sequence[str],
    moves: Mask,
    *,
    dated: bool = False,
    rates: bool = False,
    gaps: Sequence[tuple[float, float]] = (),
) -> Figure:
    """The means of the arms with pointwise bands; the axis ends where the bands do.

    Args:
        times: (C,) when, in seconds.
        curves: (C, K) the means; NaN where an arm was not there.
        low: (C, K) the lower ends of their bands.
        high: (C, K) the upper ends.
        names: of the K arms.
        moves: (K,) the arms that move beyond noise, drawn thick.
        dated: whether times count from 1970.
        rates: whether means are rates, shown in percent.
        gaps: pairs of times between which there are no decisions, shaded.
    """
    sheet = style.Sheet(7.2, [3.1])
    [[axes]] = sheet.rows
    per = 86_400 if dated else 1  # matplotlib counts dates in days
    x = times / per
    coloured = np.ones(len(names), np.bool_) if len(names) <= DIRECT else moves & (np.cumsum(moves) <= DIRECT)
    banded = bool(0 < coloured.sum() <= BANDED)
    colours = iter([*style.PALETTE, *style.sequence(DIRECT)])
    for arm in np.argsort(coloured, kind="stable"):
        colour = next(colours) if coloured[arm] else style.FAINT
        label = style.shortened(names[arm], style.WIDEST) if coloured[arm] else None
        axes.plot(x, curves[:, arm], color=colour, linewidth=1.8 if moves[arm] and banded else 1.0, label=label)
        seen = np.flatnonzero(np.isfinite(curves[:, arm]))
        if coloured[arm] and banded and len(seen):
            style.draw_band(axes, x[seen], low[seen, arm], high[seen, arm], colour)
    for begin, end in gaps:
        axes.axvspan(begin / per, end / per, color=style.BAND, linewidth=0)
    shown = np.concatenate([curves, low[:, coloured], high[:, coloured]], axis=1) if banded else curves
    bottom, top = float(np.nanmin(shown)), float(np.nanmax(shown))
    if np.nanmin(curves) >= 0 and bottom < 0.5 * top:
        bottom = 0.0
    room = 0.05 * (top - bottom) or max(0.5, abs(top) / 10)
    half = (x[1] - x[0]) / 2 if len(x) > 1 else 0.5
    axes.set(xlim=(x[0] - half, x[-1] + half), ylim=(bottom - room * (bottom != 0.0), top + room))
    if rates:
        axes.yaxis.set_major_formatter(PERCENT)
    if dated:
        locator = AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    title = "Means over time, with 95 % bands" if banded else "Means over time"
    axes.set(title=title, xlabel="" if dated else "time", ylabel="mean reward")
    notes = [f"None of the {len(names)} arms moves beyond noise."] if not moves.any() else []
    if moves.any() and banded:
        notes.append("Thick: arms that move beyond noise.")
    if moves.any() and not coloured.all():
        notes.append(f"In colour: arms that move beyond noise, at most {DIRECT} of them.")
    notes.append("Bands hold at each time by itself." if banded else f"More than {BANDED} arms have no bands.")
    return sheet.settle([" ".join(notes)])
