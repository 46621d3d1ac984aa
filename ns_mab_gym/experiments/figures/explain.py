"""The two figures that explain the theory: windows against learnable sets, phases against pseudophases."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...theory import learnable_set, phases, pseudophases
from .style import INK, MUTED, canvas, heading, settle, thousands

__all__ = ["learnable_figure", "pseudophase_figure"]

Floats = npt.NDArray[np.float64]

RED, BLUE = "#d55e00", "#0072b2"
LEARNABLE, UNLEARNABLE = "#7fcdb0", "#f3d58a"


def two_arms(general: bool = False, horizon: int = 1_000) -> Floats:
    """Two arms that change places in rounds 351 and 701; general: they also move inside the phases."""
    rounds = np.arange(1, horizon + 1)
    first_leads = (rounds <= 350) | (rounds > 700)
    means = np.column_stack([np.where(first_leads, 0.75, 0.3), np.where(first_leads, 0.35, 0.65)])
    if general:
        means += 0.1 * np.column_stack([np.sin(rounds / 40), np.cos(rounds / 55)])
    return means


def learnable_figure(windows: Sequence[int] = (240, 150, 60)) -> Figure:
    """Which rounds are learnable with three windows: the longer the window, the fewer."""
    figure, (top, below) = canvas(7.2, 4.2, nrows=2, sharex=True, height_ratios=(3, 2))
    means = two_arms()
    _draw_arms(top, means, "Longer windows leave fewer rounds learnable")
    for row, window in enumerate(windows):
        _bar(below, row, learnable_set(means, window))
        share = learnable_set(means, window).mean()
        name = rf"$\tau_{row + 1}$ = {window}"
        below.text(-15, row, name, ha="right", va="center", color=INK)
        below.text(len(means) + 15, row, f"{share:.0%} learnable", va="center", color=INK)
        below.annotate(
            "", (351, row - 0.46), (351 + window, row - 0.46), arrowprops={"arrowstyle": "<->", "color": INK}
        )
    _finish(below, len(windows), len(means))
    _legend(figure, below, "learnable: the window has seen one phase only")
    return figure


def pseudophase_figure(window: int = 120) -> Figure:
    """Phases and pseudophases of a piecewise-constant and of a general abrupt world."""
    figure, grid = canvas(10.4, 4.2, nrows=2, ncols=2, sharex=True, height_ratios=(3, 1.6))
    for column, general in enumerate((False, True)):
        means = two_arms(general)
        top, below = grid[0][column], grid[1][column]
        _draw_arms(top, means, "General abrupt" if general else "Piecewise constant")
        whole, inner = phases(means, general=general), pseudophases(means, window, general=general)
        for number, (phase, pseudo) in enumerate(zip(whole, inner, strict=True), start=1):
            below.barh(0, len(phase), left=phase.start, height=0.7, color="#dcdcd6", edgecolor="white", linewidth=2)
            _name(below, phase, 0, rf"$\mathcal{{F}}_{number}$")
            below.barh(1, len(phase), left=phase.start, height=0.7, color=UNLEARNABLE, hatch="///", edgecolor="white")
            below.barh(1, len(pseudo), left=pseudo.start, height=0.7, color=LEARNABLE, edgecolor="white", linewidth=2)
            _name(below, pseudo, 1, rf"$\mathcal{{F}}^*_{{{number},\tau}}$")
        _finish(below, 2, len(means))
        if column == 0:
            below.text(-15, 0, "phases", ha="right", va="center", color=INK)
            below.text(-15, 1, f"pseudophases,\nτ = {window}", ha="right", va="center", color=INK)
    _legend(figure, grid[1][1], "pseudophase = learnable")
    return figure


def _draw_arms(axes: Axes, means: Floats, title: str) -> None:
    rounds = np.arange(1, len(means) + 1)
    for arm, (colour, dashes) in enumerate(((RED, "-"), (BLUE, (0, (5, 1.5))))):
        axes.plot(rounds, means[:, arm], color=colour, linestyle=dashes, linewidth=2)
        low = 100 + int(means[100:300, arm].argmin())
        axes.text(low, means[low, arm] - 0.03, f"arm {arm + 1}", color=colour, va="top", ha="center")
    for phase in phases(means, general=True)[1:]:
        axes.axvline(phase.start, color=MUTED, linewidth=0.8, linestyle=":")
    axes.set(ylim=(0.1, 1.0), ylabel="mean reward")
    heading(axes, title)
    axes.set_yticks([0.2, 0.4, 0.6, 0.8, 1.0])


def _bar(axes: Axes, row: int, mask: npt.NDArray[np.bool_]) -> None:
    edges = np.flatnonzero(np.diff(np.concatenate(([~mask[0]], mask, [~mask[-1]]))))
    for first, after in itertools.pairwise(edges.tolist()):
        good = bool(mask[first])
        axes.barh(
            row,
            after - first,
            left=first + 1,
            height=0.6,
            color=LEARNABLE if good else UNLEARNABLE,
            hatch=None if good else "///",
            edgecolor="white",
        )


def _name(axes: Axes, stretch: range, row: int, name: str) -> None:
    axes.text((stretch.start + stretch.stop) / 2, row, name, ha="center", va="center", color=INK)


def _finish(axes: Axes, rows: int, horizon: int) -> None:
    axes.set(xlim=(0, horizon + 1), ylim=(rows - 0.4, -0.6), xlabel="round")
    axes.set_yticks([])
    thousands(axes, y=False)
    axes.spines["left"].set_visible(False)


def _legend(figure: Figure, axes: Axes, learnable: str) -> None:
    handles = [
        axes.barh(-9, 1, color=LEARNABLE, label=learnable),
        axes.barh(-9, 1, color=UNLEARNABLE, hatch="///", edgecolor="white", label="unlearnable"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8.5)
    settle(figure)
