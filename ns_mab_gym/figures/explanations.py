"""The two figures that explain the theory: windows against learnable sets, phases against pseudophases."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..means import Floats, Mask
from ..theory import learnable_set, phases, pseudophases
from .line_labels import Label
from .sheet import canvas
from .style import BLUE, DASHED, GRID, INK, LEARNABLE, MUTED, SOLID, UNLEARNABLE, VERMILION, phase_name, styled

__all__ = ["learnable_figure", "pseudophase_figure"]


def two_arms(general: bool = False, horizon: int = 1_000) -> Floats:
    """Two arms that change places in rounds 351 and 701; general: they also move inside the phases."""
    rounds = np.arange(1, horizon + 1)
    first_leads = (rounds <= 350) | (rounds > 700)
    means = np.column_stack([np.where(first_leads, 0.75, 0.3), np.where(first_leads, 0.35, 0.65)])
    if general:
        means += 0.1 * np.column_stack([np.sin(rounds / 40), np.cos(rounds / 55)])
    return means


@styled()
def learnable_figure(windows: Sequence[int] = (240, 150, 60)) -> Figure:
    """Which rounds are learnable with some windows: the longer the window, the fewer."""
    sheet = canvas(7.2, [2.0, 0.45 * len(windows)])
    [top], [below] = sheet.rows
    means = two_arms()
    _draw_arms(top, means, "Longer windows leave fewer rounds learnable")
    top.set_ylabel("mean reward")
    labels = []
    for row, window in enumerate(windows):
        learnable = learnable_set(means, window)
        _draw_bars(below, row, learnable)
        labels.append(Label(f"{learnable.mean():.0%} learnable", row, INK, dash=False))
        ends = (351, row - 0.46), (351 + window, row - 0.46)
        below.annotate("", *ends, arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0})
    _finish(below, [f"τ = {window:,}" for window in windows], len(means))
    note = "Green: learnable, the window has seen one phase only. Hatched: unlearnable."
    return sheet.settle({below: labels}, [note])


@styled()
def pseudophase_figure(window: int = 120) -> Figure:
    """Phases and pseudophases of a piecewise-constant and of a general abrupt world."""
    sheet = canvas(10.4, [2.0, 1.0], [2, 2])
    for column, general in enumerate((False, True)):
        means = two_arms(general)
        top, below = (row[column] for row in sheet.rows)
        _draw_arms(top, means, "General abrupt" if general else "Piecewise constant")
        whole, inner = phases(means, general=general), pseudophases(means, window, general=general)
        for number, (phase, pseudo) in enumerate(zip(whole, inner, strict=True), start=1):
            _draw_bar(below, 0, phase, GRID, phase_name(number))
            _draw_bar(below, 1, phase, UNLEARNABLE, "", hatch="///")
            _draw_bar(below, 1, pseudo, LEARNABLE, f"{phase_name(number)}*")
        _finish(below, ["phases", f"pseudophases,\nτ = {window:,}"] if column == 0 else ["", ""], len(means))
    sheet.rows[0][0].set_ylabel("mean reward")
    return sheet.settle(notes=["Green: a pseudophase, whose rounds are learnable. Hatched: unlearnable."])


def _draw_arms(axes: Axes, means: Floats, title: str) -> None:
    rounds = np.arange(1, len(means) + 1)
    for arm, (colour, dashes) in enumerate(((VERMILION, SOLID), (BLUE, DASHED))):
        axes.plot(rounds, means[:, arm], color=colour, linestyle=dashes, linewidth=2)
        low = 100 + int(means[100:300, arm].argmin())
        axes.text(low, means[low, arm] - 0.03, f"arm {arm + 1}", color=colour, va="top", ha="center")
    for phase in phases(means, general=True)[1:]:
        axes.axvline(phase.start, color=MUTED, linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, len(means) + 1), ylim=(0.1, 1.0), title=title, yticks=[0.2, 0.4, 0.6, 0.8, 1.0])
    axes.tick_params(labelbottom=False)


def _draw_bars(axes: Axes, row: int, learnable: Mask) -> None:
    """A row of bars, one for each stretch of rounds that are learnable or not."""
    edges = np.flatnonzero(np.diff(np.concatenate(([~learnable[0]], learnable, [~learnable[-1]]))))
    for first, after in itertools.pairwise(edges.tolist()):
        colour, hatch = (LEARNABLE, None) if learnable[first] else (UNLEARNABLE, "///")
        _draw_bar(axes, row, range(first + 1, after + 1), colour, "", hatch)


def _draw_bar(axes: Axes, row: int, stretch: range, colour: str, name: str, hatch: str | None = None) -> None:
    """A bar for some rounds, with a name in its middle."""
    axes.barh(row, len(stretch), left=stretch.start, height=0.65, color=colour, hatch=hatch, edgecolor="white")
    middle = (stretch.start + stretch.stop) / 2
    axes.text(middle, row, name, ha="center", va="center", color=INK)


def _finish(axes: Axes, names: Sequence[str], horizon: int) -> None:
    axes.set(xlim=(0, horizon + 1), ylim=(len(names) - 0.4, -0.6), xlabel="round")
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
