"""Figure of alarms: every alarm of every run, true and false, beside the true breakpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from ..detections import Scorecard
from ..means import Floats, Ints
from .style import BLUE, FAINT, GRID, INK, MUTED, TEXT, VERMILION, Label, canvas, draw_band, shortened, styled

WIDTH = 10.4  # inches of the sheet
ROW = 0.75  # inches of an agent
STRIP, COUNTS = (0.06, 0.64), (0.68, 0.96)  # the parts of a row for the runs and for the histogram
BINS, WIDER = 300, 3  # bins of the rounds in a strip; the number of them in one of the histogram
LINES = 60  # of a strip; more runs share them
THIN = 25  # lines; of more than these, an alarm takes two, or it would hardly be seen
TRUE, FALSE = BLUE, VERMILION
KEY = (
    "Blue: true alarms, about an arm whose mean changed since the arm was last forgotten. Vermilion: false alarms. "
    "In a strip each run is a line; above it, the share of runs with an alarm at that time. "
    "At the right: the mean delay, the share of breakpoints missed, and false alarms in a run."
)
SHARED, OWN = "Dashed lines: the breakpoints.", "Grey: the breakpoints of each run."


@styled()
def alarm_figure(cards: Mapping[str, Scorecard], title: str) -> Figure:
    """A row for each agent: the alarms of all runs, in the colours of true and false, and their histogram.

    Args:
        cards: by the agents' labels, all of one world.
        title: the figure's.
    """
    sheet = canvas(WIDTH, [ROW * len(cards)])
    [[axes]] = sheet.rows
    horizon = max(card.horizon for card in cards.values())
    bases = {label: len(cards) - 1 - place for place, label in enumerate(cards)}
    for label, card in cards.items():
        _draw_row(axes, card, bases[label])
    axes.set(xlim=(0.5, horizon + 0.5), ylim=(0, len(cards)), xlabel="round", title=title)
    axes.set_yticks(
        [base + sum(STRIP) / 2 for base in bases.values()], [shortened(label, 1.8, TEXT) for label in cards]
    )
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(visible=False)
    axes.spines["left"].set_visible(False)
    said = [Label(_in_words(card), bases[label] + sum(STRIP) / 2, MUTED, False) for label, card in cards.items()]
    legends = {SHARED if card.moved is not None else OWN for card in cards.values() if _has_breakpoints(card)}
    return sheet.settle({axes: said}, [" ".join([KEY, *sorted(legends)])])


def _draw_row(axes: Axes, card: Scorecard, base: int) -> None:
    """The strip of an agent's runs, its histogram, and the breakpoints that all runs share."""
    axes.axhline(base, color=GRID, linewidth=0.8)
    true, false = (_grid(card, [run.alarms["round"][run.true == kind] for run in card.runs]) for kind in (True, False))
    picture = np.zeros((*true.shape, 4))
    if card.moved is None:
        picture[_grid(card, [run.rounds for run in card.runs]) > 0] = to_rgba(FAINT)
    else:
        axes.vlines(card.runs[0].rounds - 0.5, base, base + 1, colors=MUTED, linewidth=0.8, linestyle=(0, (4, 2)))
    picture[true > 0], picture[false > 0] = to_rgba(TRUE), to_rgba(FALSE)
    extent = (0.5, card.horizon + 0.5, base + STRIP[0], base + STRIP[1])
    axes.imshow(_visible(_merged(picture)), extent=extent, aspect="auto", interpolation="nearest", zorder=3)
    _draw_counts(axes, card, [true, false], base)


def _grid(card: Scorecard, rounds: Sequence[Ints]) -> Ints:
    """(R, bins) counts of each run's rounds in each bin."""
    bins = min(BINS, card.horizon)
    counts = np.zeros((len(rounds), bins), np.intp)
    for row, each in zip(counts, rounds, strict=True):
        np.add.at(row, (each - 1) * bins // card.horizon, 1)
    return counts


def _merged(picture: Floats) -> Floats:
    """The lines of a strip, several runs on one where there are too many; the last that shows something is seen."""
    runs = len(picture)
    if runs <= LINES:
        return picture
    lines = np.zeros((LINES, *picture.shape[1:]))
    for run, line in enumerate(picture):
        shown = line[:, 3] > 0
        lines[run * LINES // runs, shown] = line[shown]
    return lines


def _visible(picture: Floats) -> Floats:
    """The lines of a strip, each mark also on the line below it where that is free and lines are thin."""
    if len(picture) > THIN:
        free = (picture[1:, :, 3] == 0) & (picture[:-1, :, 3] > 0)
        return np.concatenate((picture[:1], np.where(free[..., None], picture[:-1], picture[1:])))
    return picture


def _draw_counts(axes: Axes, card: Scorecard, grids: Sequence[Ints], base: int) -> None:
    """The share of runs with a true alarm at a time, and on top of it that with a false one."""
    starts = np.arange(0, grids[0].shape[1], WIDER)
    shares = [(np.add.reduceat(grid, starts, axis=1) > 0).mean(axis=0) for grid in grids]
    edges = np.append(starts, grids[0].shape[1]) * card.horizon / grids[0].shape[1] + 0.5
    low, high = base + COUNTS[0], base + COUNTS[1]
    below = np.full(len(starts), low)
    for share, colour in zip(shares, (TRUE, FALSE), strict=True):
        top = np.minimum(below + share * (high - low), high)
        draw_band(axes, np.repeat(edges, 2)[1:-1], np.repeat(below, 2), np.repeat(top, 2), colour, alpha=1)
        below = top
    axes.hlines(low, edges[0], edges[-1], colors=GRID, linewidth=0.5)


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
