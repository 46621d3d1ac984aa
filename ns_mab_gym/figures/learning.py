"""Figures of trained models: their regret while they learn, and their final regrets beside those of other agents."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import style

MOST_LEVELS = 7  # of rivals that are drawn: the best, and the worst for scale
Curve = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
ROW, LEAST = 0.2, 0.6  # inches: of an agent, and of a panel
MODEL, RIVAL, TUNED, REFERENCE = "model", "rival", "tuned rival", "reference"
ORDER = (MODEL, RIVAL, REFERENCE)
COLOURS = {MODEL: style.BLUE, RIVAL: style.INK, TUNED: style.VERMILION, REFERENCE: style.GREY}
SHIFTS = {RIVAL: -0.16, TUNED: 0.16}  # rows: both stand in the row of one agent
BELOW = 0.3  # rows from a trained model to its seeds
FARTHEST = 1.25  # the end of an axis, as a multiple of the largest mean on it
WIDEST = 1.7  # inches of an agent's name
KEY = (
    "Blue: trained models, with a ring for each training seed. Black: rivals by their own formulas; orange: tuned on "
    "other instances of the world. Dotted: the best of the rivals. Grey: references, which know the changes or learn "
    "nothing; a number is a regret beyond the panel. Bars: 95 % intervals."
)


@style.styled()
def learning_figure(name: str, curves: Sequence[Curve], rivals: Mapping[str, float]) -> Figure:
    """Regret of training episodes over steps, with the rivals' regret on held-out instances as levels.

    Args:
        name: the learner's.
        curves: of each training seed, the steps after which episodes ended, and the mean regret of those episodes.
        rivals: the mean regret of others on instances that the learner has not seen.
    """
    ranked = sorted(rivals, key=rivals.__getitem__)
    kept = ranked if len(ranked) <= MOST_LEVELS else [*ranked[: MOST_LEVELS - 1], ranked[-1]]
    sheet = style.Sheet(7.2, [max(3.1, style.STEP * (len(kept) + 1))])
    [[axes]] = sheet.rows
    look, end = style.line_style(0), max(steps[-1] for steps, _ in curves)
    width = 1.6 if len(curves) == 1 else 1.0
    for steps, regret in curves:  # the dot at the end is all there is to see of a single point
        axes.plot(steps, regret, linewidth=width, marker="o", markersize=3, markevery=[-1], clip_on=False, **look)
    last = float(np.mean([regret[-1] for _, regret in curves]))
    learner = name if len(curves) == 1 else f"{name}, {len(curves)} seeds"
    axes.plot(end, last, marker="o", markersize=5, clip_on=False, label=f"{learner}  {last:,.0f}", **look)
    for index, rival in enumerate(kept, start=1):
        level = rivals[rival]
        axes.axhline(level, label=f"{rival}  {level:,.0f}", linewidth=1.0, **style.line_style(index))
    highest = max(*(float(regret.max()) for _, regret in curves), last, *(rivals[rival] for rival in kept))
    axes.set(xlim=(0, end), ylim=(0, 1.05 * highest or 1.0))
    axes.set(xlabel="environment steps", ylabel="mean regret of an episode")
    axes.set_title("while it learns, and the others on held-out instances")
    return sheet.settle()


class FinalRegret(NamedTuple):
    """The mean final regret of an agent with an interval around it, which is NaN where there is none.

    Attributes:
        label: the agent's; a rival has the same tuned and by its own formula.
        kind: ``MODEL``, ``RIVAL``, ``TUNED`` or ``REFERENCE``.
        mean: its mean final regret.
        low: the lower end of the interval.
        high: the upper end.
        by_seed: of a trained model, the mean of each training seed.
    """

    label: str
    kind: str
    mean: float
    low: float
    high: float
    by_seed: Sequence[float] = ()


@style.styled()
def learned_regrets_figure(worlds: Mapping[str, Sequence[FinalRegret]], heading: str) -> Figure:
    """A panel for each world, side by side, and a row for each agent: trained models, rivals, then references.

    Args:
        worlds: the final regrets of agents, by the name of the world.
        heading: a line above all panels.
    """
    found: dict[str, list[FinalRegret]] = {}
    for each in (each for agents in worlds.values() for each in agents):
        found.setdefault(each.label, []).append(each)
    kinds = {label: RIVAL if each[0].kind == TUNED else each[0].kind for label, each in found.items()}
    places = {label: (ORDER.index(kinds[label]), np.mean([one.mean for one in each])) for label, each in found.items()}
    rows = sorted(found, key=lambda label: places[label])  # of each kind, the least regret over all worlds first
    sheet = style.Sheet(8.4, [max(LEAST, ROW * len(rows))], [len(worlds)])
    for axes, (world, agents) in zip(sheet.rows[0], worlds.items(), strict=True):
        _draw(axes, agents, rows)
        axes.set(title=world, xlabel="final regret")
        style.name_rows(axes, rows, WIDEST)
        for label, text in zip(rows, axes.get_yticklabels(), strict=True):
            text.set_color(COLOURS[kinds[label]])
        axes.tick_params(axis="y", length=0, labelleft=axes is sheet.rows[0][0])
        for height, (above, below) in enumerate(itertools.pairwise(rows)):
            if kinds[above] != kinds[below]:
                axes.axhline(height + 0.5, color=style.MUTED, linewidth=0.6)
    return sheet.settle([KEY], heading)


def _draw(axes: Axes, agents: Sequence[FinalRegret], rows: Sequence[str]) -> None:
    """The regrets on one world: models and tuned rivals lie within the axis; others, and ends of intervals, may not."""
    shown = [each for each in agents if each.kind in (MODEL, TUNED)] or agents
    highest = FARTHEST * max(value for each in shown for value in (each.mean, *each.by_seed)) or 1.0
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, highest))  # there is no regret below 0
    axes.grid(axis="x")
    if rivals := [each.mean for each in agents if each.kind in SHIFTS]:
        axes.axvline(min(rivals), color=style.MUTED, linewidth=0.9, linestyle=":", zorder=1)
    for each in agents:
        height, colour = rows.index(each.label) + SHIFTS.get(each.kind, 0.0), COLOURS[each.kind]
        if each.mean > highest:
            axes.annotate(
                f"{each.mean:,.0f} →", (1, height), (-2, 0), ("axes fraction", "data"), "offset points", ha="right",
                va="center", fontsize=style.NOTE, color=colour,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )  # fmt: skip
            continue
        axes.plot([each.low, each.high], [height, height], color=colour, linewidth=1.2)
        seeds = [height + BELOW] * len(each.by_seed)
        axes.plot(each.by_seed, seeds, "o", markersize=2.6, markeredgewidth=0.7, color=colour, fillstyle="none")
        axes.plot(each.mean, height, "o", markersize=4, color=colour)
