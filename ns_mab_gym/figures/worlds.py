"""Figures of worlds: means with shaded phases below a ribbon of the best arm, for one world or for several."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from ..means import Floats, Ints, as_means, best_arm_switches, best_arms, breakpoints
from .style import (
    FAINT,
    INK,
    LABEL,
    MUTED,
    PALETTE,
    TEXT,
    Label,
    canvas,
    phase_name,
    sequence,
    shade_phases,
    styled,
    text_width,
)

FEW = 12  # breakpoints that shading can show
JUMP = 0.05  # of a mean, in one round
SHADED = 30  # stretches; more of them are told by the ribbon alone
POINTS = 2_000  # of a line: two for each pixel, so that peaks stay as high as they are
DIRECT = 12  # arms that are labelled at their lines
RIBBON = 0.18  # inches

# The paper's worlds with their titles in a picture.
PAPER = {
    "NSBandit-Abrupt-v0": "Abrupt: constant between breakpoints",
    "NSBandit-GeneralAbrupt-v0": "General abrupt: sinusoids between breakpoints",
    "NSBandit-Smooth-v0": "Smooth, σ = 0.0001",
    "NSBandit-SmoothFast-v0": "Smooth, σ = 0.001",
}


@styled()
def means_figure(means: Floats, title: str, names: Sequence[str] | None = None) -> Figure:
    """The means of a world below a ribbon of the best arm. See :func:`draw_world` for the names."""
    sheet = canvas(7.2, [RIBBON, 2.9])
    [ribbon], [axes] = sheet.rows
    labels = draw_world(ribbon, axes, means, names)
    ribbon.set_title(title)
    axes.set(xlabel="round", ylabel="mean reward")
    return sheet.settle({axes: labels})


@styled(dpi=100)  # these pictures go into pages, where small files count
def gallery_figure(worlds: Mapping[str, npt.ArrayLike]) -> Figure:
    """A panel for each world, two in a row.

    Args:
        worlds: (T, K) matrices of means by title.
    """
    columns, rows = min(2, len(worlds)), math.ceil(len(worlds) / 2)
    sheet = canvas(3.2 + 3.6 * columns, [RIBBON, 2.1] * rows, [columns] * 2 * rows)
    ribbons = [axes for row in sheet.rows[::2] for axes in row]
    panels = [axes for row in sheet.rows[1::2] for axes in row]
    labels: dict[Axes, list[Label]] = {}
    for ribbon, axes, (title, means) in zip(ribbons, panels, worlds.items(), strict=False):
        labels[axes] = draw_world(ribbon, axes, as_means(means, title))
        ribbon.set_title(title)
    for axes in (*ribbons[len(worlds) :], *panels[len(worlds) :]):
        axes.set_axis_off()
    for axes in panels[: len(worlds)][-columns:]:  # the lowest of each column
        axes.set_xlabel("round")
    for axes in panels[::columns]:
        axes.set_ylabel("mean reward")
    return sheet.settle(labels)


def draw_world(ribbon: Axes, axes: Axes, means: Floats, names: Sequence[str] | None = None) -> list[Label]:
    """Draw the means into one panel and the best arm into a flat one above it.

    Args:
        ribbon: the flat panel.
        axes: the panel of the means.
        means: the (T, K) matrix.
        names: the arms' names; None for "arm 1", "arm 2", …, of which the ribbon shows the numbers alone.

    Returns:
        The names of the lines, to be written beside the panel; only of the arms in colour where arms are many.
    """
    colours = arm_colours(means)
    shown = kept_rounds(means)
    for arm in sorted(range(len(colours)), key=lambda arm: colours[arm] != FAINT):  # the colourful on top
        axes.plot(shown + 1, means[shown, arm], color=colours[arm], linewidth=1.0 if colours[arm] == FAINT else 1.5)
    low, high = float(means.min()), float(means.max())
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif low == high:
        low, high = low - max(0.5, abs(low) / 10), high + max(0.5, abs(low) / 10)
    axes.set(xlim=(0.5, len(means) + 0.5), ylim=(low - 0.02 * (high - low), high + 0.1 * (high - low)))
    _shade(axes, means)
    _draw_ribbon(ribbon, means, colours, names)
    named = [arm for arm in range(len(colours)) if len(colours) <= DIRECT or colours[arm] != FAINT]
    texts = names or [f"arm {arm + 1}" for arm in range(len(colours))]
    inks = [MUTED if colour == FAINT else colour for colour in colours]
    return [Label(texts[arm], float(means[-1, arm]), inks[arm]) for arm in named] if len(named) <= DIRECT else []


def arm_colours(means: Floats) -> list[str]:
    """One colour for each arm.

    Where a few arms share the lead, each of them has a colour of its own and the others are grey; where many do, or
    all of them, the colours run from dark to light.
    """
    arms, leaders = means.shape[1], np.unique(best_arms(means)).tolist()
    if len(leaders) > len(PALETTE) or (len(leaders) == arms and arms > 3):
        return sequence(arms)
    colours = dict(zip(leaders, PALETTE, strict=False))
    return [colours.get(arm, FAINT) for arm in range(arms)]


def kept_rounds(means: Floats, points: int = POINTS) -> Ints:
    """The rounds to draw, counted from 0: evenly spaced ones, and both sides of every jump."""
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
    changes = starts or best_arm_switches(means).tolist()
    if len(changes) < SHADED:
        shade_phases(axes, changes, len(means))
    for number, (first, after) in enumerate(itertools.pairwise([1, *starts, len(means) + 1]), start=1):
        name = phase_name(number)
        if starts and _inches(axes, after - first) > 1.2 * text_width(name, TEXT):
            place = ((first + after - 1) / 2, 0.985)
            axes.text(*place, name, transform=axes.get_xaxis_transform(), ha="center", va="top", color=MUTED)


def _draw_ribbon(axes: Axes, means: Floats, colours: list[str], names: Sequence[str] | None) -> None:
    best = best_arms(means)
    pixels = best[:: max(1, len(best) // 2_000)]
    extent = (0.5, len(means) + 0.5, 0, 1)  # a round is as wide as the step from one to the next
    axes.imshow(np.array([to_rgb(colour) for colour in colours])[pixels][None], extent=extent, aspect="auto",
                interpolation="nearest")  # fmt: skip
    for first, after in itertools.pairwise([0, *(best_arm_switches(means) - 1).tolist(), len(means)]):
        name = names[best[first]] if names else str(best[first] + 1)
        if _inches(axes, after - first) > 1.2 * text_width(name, LABEL) + 0.03:
            dark = np.dot(to_rgb(colours[best[first]]), (0.3, 0.6, 0.1)) < 0.55
            style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": LABEL - 0.5}
            axes.text((first + 1 + after) / 2, 0.5, name, color="white" if dark else INK, **style)
    axes.set_xticks([])
    axes.set_yticks([0.5], ["best arm"])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def _inches(axes: Axes, rounds: int) -> float:
    """The length of some rounds in a panel, roughly, for it has not been placed yet."""
    low, high = axes.get_xlim()
    return float(rounds / (high - low) * axes.get_position().width * axes.figure.get_size_inches()[0])  # type: ignore[union-attr]
