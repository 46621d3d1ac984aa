"""Final regrets of trained models beside those of the zoo, world by world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .sheet import canvas
from .style import BLUE, FAINT, INK, LABEL, MUTED, styled

__all__ = ["FinalRegret", "learned_regrets_figure"]

ROW, LEAST = 0.19, 1.2  # inches: of an agent, and of a panel


class FinalRegret(NamedTuple):
    """The mean final regret of an agent with an interval around it, which is NaN where there is none.

    Attributes:
        label: the agent's.
        mean: its mean final regret.
        low: the lower end of the interval.
        high: the upper end.
        by_seed: of a trained model, the mean of each training seed; empty for the others.
    """

    label: str
    mean: float
    low: float
    high: float
    by_seed: Sequence[float] = ()


@styled()
def learned_regrets_figure(worlds: Mapping[str, Sequence[FinalRegret]]) -> Figure:
    """A panel for each world and a row for each agent, the least regret on top; trained models are blue.

    Args:
        worlds: the final regrets of agents, by the name of the world.
    """
    sheet = canvas(7.2, [max(LEAST, ROW * len(agents)) for agents in worlds.values()])
    for [axes], (world, agents) in zip(sheet.rows, worlds.items(), strict=True):
        _draw(axes, world, sorted(agents, key=lambda each: each.mean))
    sheet.rows[-1][0].set_xlabel("final regret, with its 95 % interval")
    return sheet.settle(notes=["Blue: trained models, over training seeds, each of which is a small ring."])


def _draw(axes: Axes, world: str, agents: Sequence[FinalRegret]) -> None:
    for height, each in enumerate(agents):
        colour = BLUE if each.by_seed else MUTED
        axes.axhline(height, color=FAINT, linewidth=0.4, zorder=0)
        axes.plot([each.low, each.high], [height, height], color=colour, linewidth=1.2)
        axes.plot(each.by_seed, [height] * len(each.by_seed), "o", markersize=3, color=colour, fillstyle="none")
        axes.plot(each.mean, height, "o", markersize=4.5, color=colour)
    ends = [value for each in agents for value in (each.mean, each.low, each.high, *each.by_seed)]
    highest = float(np.nanmax(ends))
    axes.set(ylim=(len(agents) - 0.4, -0.6), xlim=(0, 1.05 * highest or 1.0))  # there is no regret below 0
    axes.set_title(world)
    axes.grid(axis="x")
    axes.set_yticks(range(len(agents)), [each.label for each in agents], fontsize=LABEL)
    for text, each in zip(axes.get_yticklabels(), agents, strict=True):
        text.set_color(BLUE if each.by_seed else INK)
