"""Final regrets of many agents on one world, on a logarithmic axis: what they know filled, told nothing hollow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from .sheet import canvas
from .style import BLUE, FAINT, INK, LABEL, NUMBERS, VERMILION, styled

__all__ = ["Dot", "survey_figure"]

ROW = 0.17  # inches for each agent
LEAST = 1.0  # where the logarithmic axis begins at the lowest: one round lost for certain


class Dot(NamedTuple):
    """An agent's final regrets, of every run."""

    label: str
    informed: npt.NDArray[np.float64]
    blind: npt.NDArray[np.float64] | None  # None if it is the same, or if it cannot be
    marked: bool


@styled()
def survey_figure(dots: Sequence[Dot], title: str) -> Figure:
    """A row for each agent, the least mean on top; whiskers are two standard errors.

    Args:
        dots: the agents.
        title: the figure's.
    """
    ordered = sorted(dots, key=lambda dot: -dot.informed.mean())
    sheet = canvas(7.2, [max(2.0, ROW * len(ordered))])
    axes = sheet.rows[0][0]
    for height, dot in enumerate(ordered):
        colour = VERMILION if dot.marked else BLUE
        axes.axhline(height, color=FAINT, linewidth=0.4, zorder=0)
        for finals, face in ((dot.blind, "white"), (dot.informed, colour)):
            if finals is not None:
                mean = max(float(finals.mean()), LEAST)
                error = 2 * float(finals.std(ddof=min(1, len(finals) - 1))) / len(finals) ** 0.5
                reach = [max(mean - error, LEAST), mean + error]
                axes.plot(reach, [height, height], color=colour, linewidth=1.0)
                axes.plot(mean, height, "o", markersize=5, color=colour, markerfacecolor=face)
    axes.set(
        xscale="log", ylim=(-0.8, len(ordered) - 0.2), title=title, xlabel="final regret: mean ± 2 standard errors"
    )
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(NUMBERS)
    axes.grid(axis="x")
    axes.set_yticks(range(len(ordered)), [dot.label for dot in ordered], fontsize=LABEL)
    for dot, text in zip(ordered, axes.get_yticklabels(), strict=True):
        text.set(color=VERMILION if dot.marked else INK)
    note = "Filled: tuned from the true facts about the world. Hollow: told T and K alone. Red: the paper's own."
    return sheet.settle(notes=[note])
