"""A world's means with its phases shaded."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from ...theory import best_arm_switches, best_arms, breakpoints
from .style import BAND, INK, MUTED, canvas, heading, label_lines, sequence, settle, thousands

__all__ = ["kept_rounds", "means_figure", "phase_starts"]

Floats = npt.NDArray[np.float64]

FEW = 12  # breakpoints that shading can show
JUMP = 0.05  # of a mean, in one round
SHADED = 30  # stretches; more of them are told by the ribbon alone
POINTS = 2_000
DIRECT = 12  # arms that are labelled at their lines


def means_figure(means: Floats, title: str) -> Figure:
    """The means of a world; above them a ribbon that says which arm is best."""
    figure, (ribbon, axes) = canvas(7.2, 3.9, nrows=2, height_ratios=(1, 16), sharex=True)
    horizon, arms = means.shape
    colours = sequence(arms)
    shown = kept_rounds(means)
    for arm in range(arms):
        axes.plot(shown + 1, means[shown, arm], color=colours[arm], linewidth=1.4)
    _shade(axes, means)
    _draw_ribbon(ribbon, means, colours)
    heading(ribbon, title)
    axes.set(xlim=(1, max(horizon, 2)), xlabel="round", ylabel="mean reward")
    axes.set_ylim(min(0.0, means.min() - 0.02), max(1.0, means.max() + 0.02) + 0.08)
    thousands(axes, y=False)
    settle(figure, [(axes, "arm 10")] if arms <= DIRECT else ())
    if arms <= DIRECT:
        label_lines(axes, [(f"arm {arm + 1}", means[-1, arm], colours[arm]) for arm in range(arms)])
    return figure


def kept_rounds(means: Floats, points: int = POINTS) -> npt.NDArray[np.intp]:
    """The rounds to draw: evenly spaced ones, and both sides of every jump."""
    even = np.linspace(0, len(means) - 1, min(points, len(means))).astype(np.intp)
    jumps = np.flatnonzero(np.abs(np.diff(means, axis=0)).max(axis=1) > JUMP / 2)
    return np.unique(np.concatenate((even, jumps, jumps + 1))) if len(jumps) < points else even


def phase_starts(means: Floats | None) -> list[int]:
    """The rounds, but for the first, in which a phase begins; empty where there are too many to be shown.

    Where the means move all the time, phases are the stretches between jumps of the best arm.
    """
    if means is None:
        return []
    if len(changes := breakpoints(means)) <= FEW:
        return [int(change) for change in changes]
    changes = best_arm_switches(means)
    jumps = np.abs(means[changes - 1] - means[changes - 2]).max(axis=1) > JUMP
    return [int(change) for change in changes] if jumps.all() and len(changes) <= FEW else []


def _shade(axes: Axes, means: Floats) -> None:
    """Every other phase in grey, with its number above; where means drift, every other stretch of one best arm."""
    starts = phase_starts(means)
    edges = [1, *(starts or best_arm_switches(means).tolist()), len(means) + 1]
    if len(edges) - 1 > SHADED:
        return
    for number, (first, after) in enumerate(itertools.pairwise(edges), start=1):
        if number % 2 and len(edges) > 2:
            axes.axvspan(first, after, color=BAND, zorder=0, linewidth=0)
        if starts:
            phase = rf"$\mathcal{{F}}_{{{number}}}$"
            place = ((first + after) / 2, 0.985)
            axes.text(*place, phase, transform=axes.get_xaxis_transform(), ha="center", va="top", color=MUTED)


def _draw_ribbon(axes: Axes, means: Floats, colours: list[str]) -> None:
    best = best_arms(means)
    edges = [0, *(best_arm_switches(means) - 1).tolist(), len(means)]
    axes.imshow(
        np.array([to_rgb(colours[arm]) for arm in best[:: max(1, len(best) // 4_000)]])[None],
        extent=(1, max(len(means), 2), 0, 1),
        aspect="auto",
        interpolation="nearest",
    )
    for first, after in itertools.pairwise(edges):
        if after - first > 0.02 * len(means):
            dark = np.dot(to_rgb(colours[best[first]]), (0.3, 0.6, 0.1)) < 0.55
            colour = "white" if dark else INK
            axes.text(
                (first + after) / 2, 0.45, str(best[first] + 1), color=colour, ha="center", va="center", fontsize=8
            )
    axes.set_yticks([0.5], ["best arm"])
    axes.tick_params(length=0, labelbottom=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
