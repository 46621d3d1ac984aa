"""Figures of worlds: means with shaded phases below a ribbon of the best arm, and alarms beside the breakpoints."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure

from ..detections import Scorecard
from ..means import Floats, Ints, Mask, as_means, best_arm_switches, best_arms, breakpoints
from . import style

FEW = 12  # breakpoints that shading can show
JUMP = 0.05  # of a mean, in one round
SHADED = 30  # stretches; more of them are told by the ribbon alone
POINTS = 2_000  # of a line: two for each pixel, so that peaks stay as high as they are
LOW = 0.5  # means that all lie below it, such as click rates, have an axis that ends at the largest
DIRECT = 12  # arms that are labelled at their lines
RIBBON, ALARMS = 0.18, 0.75  # inches: of the best arm, and of an agent's alarms
STRIP, COUNTS = (0.06, 0.64), (0.68, 0.96)  # the parts of a row for the runs and for the histogram
BINS, WIDER = 300, 3  # bins of the rounds in a strip; the number of them in one of the histogram
LINES = 60  # of a strip; more runs share them
THIN = 25  # lines; of more than these, an alarm takes two, or it would hardly be seen
TRUE, FALSE = style.BLUE, style.VERMILION
ALARM_KEY = (
    "Blue: true alarms, about an arm whose mean changed since the arm was last forgotten. Vermilion: false alarms. "
    "In a strip each run is a line; above it, the share of runs with an alarm at that time. "
    "At the right: the mean delay, the share of breakpoints missed, and false alarms in a run."
)
SHARED, OWN = "Dashed lines: the breakpoints.", "Grey: the breakpoints of each run."

# The paper's worlds with their titles in a picture.
PAPER = {
    "NSBandit-Abrupt-v0": "Abrupt: constant between breakpoints",
    "NSBandit-GeneralAbrupt-v0": "General abrupt: sinusoids between breakpoints",
    "NSBandit-Smooth-v0": "Smooth, σ = 0.0001",
    "NSBandit-SmoothFast-v0": "Smooth, σ = 0.001",
}


@style.styled()
def means_figure(means: Floats, title: str, names: Sequence[str] | None = None) -> Figure:
    """The means of a world below a ribbon of the best arm. See :func:`draw_world` for the names."""
    sheet = style.Sheet(7.2, [RIBBON, 2.9])
    [ribbon], [axes] = sheet.rows
    draw_world(ribbon, axes, means, names)
    ribbon.set_title(title)
    axes.set(xlabel="round", ylabel="mean reward")
    return sheet.settle()


@style.styled(dpi=100)  # these pictures go into pages, where small files count
def gallery_figure(
    worlds: Mapping[str, npt.ArrayLike], names: Mapping[str, Sequence[str] | None] | None = None
) -> Figure:
    """A panel for each world, two in a row.

    Args:
        worlds: (T, K) matrices of means by title.
        names: the arms' names by the same titles, where they have names.
    """
    columns, rows = min(2, len(worlds)), math.ceil(len(worlds) / 2)
    sheet = style.Sheet(3.2 + 3.6 * columns, [RIBBON, 2.1] * rows, [columns] * 2 * rows)
    ribbons = [axes for row in sheet.rows[::2] for axes in row]
    panels = [axes for row in sheet.rows[1::2] for axes in row]
    for ribbon, axes, (title, means) in zip(ribbons, panels, worlds.items(), strict=False):
        draw_world(ribbon, axes, as_means(means, title), (names or {}).get(title))
        ribbon.set_title(title)
    for axes in (*ribbons[len(worlds) :], *panels[len(worlds) :]):
        axes.set_axis_off()
    for axes in panels[: len(worlds)][-columns:]:  # the lowest of each column
        axes.set_xlabel("round")
    for axes in panels[::columns]:
        axes.set_ylabel("mean reward")
    return sheet.settle()


def draw_world(ribbon: Axes, axes: Axes, means: Floats, names: Sequence[str] | None = None) -> None:
    """Draw the means into a panel and the best arm into a flat one above it; of many arms, those in colour are named.

    Args:
        ribbon: the flat panel.
        axes: the panel of the means.
        means: the (T, K) matrix.
        names: the arms' names; None for "arm 1", "arm 2", …, of which the ribbon shows the numbers alone.
    """
    colours = arm_colours(means)
    shown = kept_rounds(means)
    for arm, colour in enumerate(colours):
        faint = colour == style.FAINT
        named = len(colours) <= DIRECT or (style.FAINT in colours and not faint)
        name = names[arm] if names else f"arm {arm + 1}"
        axes.plot(shown + 1, means[shown, arm], color=colour, linewidth=1.0 if faint else 1.5,
                  zorder=1.9 if faint else 2.0, label=name if named else None)  # fmt: skip
    low, high = float(means.min()), float(means.max())
    if low >= 0 and high <= 1:
        low, high = 0.0, high if 0 < high < LOW else 1.0
    elif low == high:
        low, high = low - max(0.5, abs(low) / 10), high + max(0.5, abs(low) / 10)
    axes.set(xlim=(0.5, len(means) + 0.5), ylim=(low - 0.02 * (high - low), high + 0.1 * (high - low)))
    _shade(axes, means)
    _draw_ribbon(ribbon, means, colours, names)


def arm_colours(means: Floats) -> list[str]:
    """One colour for each arm.

    Where a few arms share the lead, each of them has a colour of its own and the others are grey; where many do, or
    all of them, the colours run from dark to light.
    """
    arms, leaders = means.shape[1], np.unique(best_arms(means)).tolist()
    if len(leaders) > len(style.PALETTE) or (len(leaders) == arms and arms > 3):
        return style.sequence(arms)
    colours = dict(zip(leaders, style.PALETTE, strict=False))
    return [colours.get(arm, style.FAINT) for arm in range(arms)]


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
        style.shade_phases(axes, changes, len(means))
    for number, (first, after) in enumerate(itertools.pairwise([1, *starts, len(means) + 1]), start=1):
        name = style.phase_name(number)
        if starts and _inches(axes, after - first) > 1.2 * style.text_width(name, style.TEXT):
            place = ((first + after - 1) / 2, 0.985)
            axes.text(*place, name, transform=axes.get_xaxis_transform(), ha="center", va="top", color=style.MUTED)


def _draw_ribbon(axes: Axes, means: Floats, colours: list[str], names: Sequence[str] | None) -> None:
    best = best_arms(means)
    pixels = best[:: max(1, len(best) // 2_000)]
    extent = (0.5, len(means) + 0.5, 0, 1)  # a round is as wide as the step from one to the next
    axes.imshow(np.array([to_rgb(colour) for colour in colours])[pixels][None], extent=extent, aspect="auto",
                interpolation="nearest")  # fmt: skip
    for first, after in itertools.pairwise([0, *(best_arm_switches(means) - 1).tolist(), len(means)]):
        name = names[best[first]] if names else str(best[first] + 1)
        if _inches(axes, after - first) > 1.2 * style.text_width(name, style.LABEL) + 0.03:
            dark = np.dot(to_rgb(colours[best[first]]), (0.3, 0.6, 0.1)) < 0.55
            look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": style.LABEL - 0.5}
            axes.text((first + 1 + after) / 2, 0.5, name, color="white" if dark else style.INK, **look)
    axes.set_xticks([])
    axes.set_yticks([0.5], ["best arm"])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def _inches(axes: Axes, rounds: int) -> float:
    """The length of some rounds in a panel, roughly, for it has not been placed yet."""
    low, high = axes.get_xlim()
    return float(rounds / (high - low) * axes.get_position().width * axes.figure.get_size_inches()[0])  # type: ignore[union-attr]


@style.styled()
def alarm_figure(cards: Mapping[str, Scorecard], title: str) -> Figure:
    """A row for each agent: the alarms of all runs, in the colours of true and false, and their histogram.

    Args:
        cards: by the agents' labels, all of one world.
        title: the figure's.
    """
    sheet = style.Sheet(10.4, [ALARMS * len(cards)])
    [[axes]] = sheet.rows
    horizon = max(card.horizon for card in cards.values())
    bases = range(len(cards))[::-1]
    for card, base in zip(cards.values(), bases, strict=True):
        _draw_row(axes, card, base)
        style.write_beside(axes, base + sum(STRIP) / 2, _in_words(card), style.MUTED)
    axes.set(xlim=(0.5, horizon + 0.5), ylim=(0, len(cards)), xlabel="round", title=title)
    middles = [base + sum(STRIP) / 2 for base in bases]
    axes.set_yticks(middles, [style.shortened(label, 1.8, style.TEXT) for label in cards])
    axes.tick_params(axis="y", length=0, labelcolor=style.INK)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    legends = {SHARED if card.moved is not None else OWN for card in cards.values() if _has_breakpoints(card)}
    return sheet.settle([" ".join([ALARM_KEY, *sorted(legends)])])


def _draw_row(axes: Axes, card: Scorecard, base: int) -> None:
    """The strip of an agent's runs with their breakpoints, and the share of runs with a true and with a false alarm."""
    axes.axhline(base, color=style.GRID, linewidth=0.8)
    true, false = (_grid(card, [run.alarms["round"][run.true == kind] for run in card.runs]) for kind in (True, False))
    marks = [(true, TRUE), (false, FALSE)]
    if card.moved is None:
        marks = [(_grid(card, [run.rounds for run in card.runs]), style.FAINT), *marks]
    else:
        axes.vlines(card.runs[0].rounds - 0.5, base, base + 1, colors=style.MUTED, linewidth=0.8, linestyle=(0, (4, 2)))
    (runs, bins), lines = true.shape, min(LINES, len(true))
    picture = np.zeros((lines, bins, 4))
    for grid, colour in marks:
        picture[np.logical_or.reduceat(grid, np.arange(lines) * runs // lines)] = to_rgba(colour)
    if lines > THIN:
        free = (picture[1:, :, 3] == 0) & (picture[:-1, :, 3] > 0)
        picture[1:][free] = picture[:-1][free]
    extent = (0.5, card.horizon + 0.5, base + STRIP[0], base + STRIP[1])
    axes.imshow(picture, extent=extent, aspect="auto", interpolation="nearest", zorder=3)
    starts = np.arange(0, bins, WIDER)
    edges = np.append(starts, bins) * card.horizon / bins + 0.5
    low, high = base + COUNTS[0], base + COUNTS[1]
    below = np.full(len(starts), low)
    for grid, colour in marks[-2:]:
        share = np.logical_or.reduceat(grid, starts, axis=1).mean(axis=0)
        top = np.minimum(below + share * (high - low), high)
        axes.stairs(top, edges, baseline=below, fill=True, color=colour)
        below = top
    axes.hlines(low, edges[0], edges[-1], colors=style.GRID, linewidth=0.5)


def _grid(card: Scorecard, rounds: Sequence[Ints]) -> Mask:
    """(R, bins) the bins with at least one of each run's rounds."""
    grid = np.zeros((len(rounds), min(BINS, card.horizon)), np.bool_)
    for row, each in zip(grid, rounds, strict=True):
        row[(each - 1) * len(row) // card.horizon] = True
    return grid


def _has_breakpoints(card: Scorecard) -> bool:
    return any(len(run.rounds) for run in card.runs)


def _in_words(card: Scorecard) -> str:
    """The text at the end of a row.

    >>> from ns_mab_gym.statistics import Interval
    >>> from types import SimpleNamespace
    >>> half = Interval(0.5, 0.25, 0.75)
    >>> run = SimpleNamespace(rounds=[51])
    >>> _in_words(SimpleNamespace(runs=[run], delay=Interval(1234.4, 0, 0), missed=half, false_alarms=half))
    'delay 1,234, missed 50 %, false 0.5'
    """
    false = f"false {card.false_alarms.value:.3g}"
    if not _has_breakpoints(card):
        return false
    delay = "" if np.isnan(card.delay.value) else f"delay {card.delay.value:,.0f}, "
    return f"{delay}missed {card.missed.value:.0%}, {false}".replace("%", " %")
