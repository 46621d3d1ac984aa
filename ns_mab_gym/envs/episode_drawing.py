"""Draws an episode so far.

A picture shows the past and nothing else: the true means up to the round just played, which the player never sees, the
arms played, and the regret. Of what is to come it shows the number of rounds, which the player knows too, as room that
is left blank, and how large means ever get, so that the axis does not move.
"""

from __future__ import annotations

import numpy as np

from .canvas import FAINT, INK, LARGE, PALETTE, SHADE, Canvas, Colour
from .episode_so_far import EpisodeSoFar, arm_in_words
from .panels import WINDOW, Panel, in_short, recent_panels, spread, ticks, whole_panels, window_of

__all__ = ["drawn"]

LINE = 16  # pixels from one label to the next
DIGIT = 8  # pixels of a character of a number, at most


def drawn(history: EpisodeSoFar) -> tuple[Canvas, list[Panel]]:
    """The picture and its panels."""
    canvas, n, horizon = Canvas(), history.rounds, len(history.means)
    first, last = window_of(n, horizon)
    total, before = history.regret_before(n + 1), history.regret_before(first)
    means, regret = recent_panels(n, horizon, history.range, total - before)
    colours = _colours(history.named(first))
    _headline(canvas, history)
    _axes(canvas, means, _title(first, last, history.means.shape[1] - len(colours)), 5)
    _recent_means(canvas, means, history, colours)
    _labels(canvas, means, history, colours)
    _axes(canvas, regret, "regret in these rounds" if horizon > WINDOW else "regret so far", 2, numbered=True)
    _recent_regret(canvas, regret, history, before)
    if horizon <= WINDOW:
        return canvas, [means, regret]
    all_means, all_regret = whole_panels(horizon, history.range, total)
    _axes(canvas, all_means, "true means of the episode so far; shaded: the rounds above", 2, shaded=means)
    _all_means(canvas, all_means, history, colours)
    _axes(canvas, all_regret, "regret of the episode so far", 2, numbered=True, shaded=means)
    _all_regret(canvas, all_regret, history)
    return canvas, [means, regret, all_means, all_regret]


def _colours(arms: list[int]) -> dict[int, Colour]:
    """A colour for each arm, all different; an arm keeps its own unless another one has taken it."""
    free, found = list(range(len(PALETTE))), {}
    for arm in sorted(arms):
        own = arm % len(PALETTE)
        found[arm] = PALETTE[free.pop(free.index(own) if own in free else 0)]
    return found


def _title(first: int, last: int, others: int) -> str:
    rounds = f"rounds {first:,} to {last:,}" if last > 1 else "round 1"
    return f"true means in {rounds}; dots: the arm played" + (f"; grey: the other {others} arms" if others else "")


def _headline(canvas: Canvas, history: EpisodeSoFar) -> None:
    n, horizon = history.rounds, len(history.means)
    if n == 0:
        canvas.text(16, 18, f"round 0 of {horizon:,}: nothing has been played yet", size=LARGE)
        return
    arm, best, mu = history.last
    regret = f"regret {_precise(mu[best] - mu[arm])}, {_precise(history.regret[n - 1], 1)} so far"
    canvas.text(16, 18, f"round {n:,} of {horizon:,}: {regret}", size=LARGE)
    played = f"{arm_in_words(arm)} was played, mean {_precise(mu[arm])}"
    canvas.text(16, 40, f"{played}; {arm_in_words(best)} was best, mean {_precise(mu[best])}", size=LARGE)


def _precise(value: float, decimals: int = 3) -> str:
    return f"{value:,.{decimals}f}" if abs(value) < 1e9 else f"{value:.3g}"


def _axes(
    canvas: Canvas, panel: Panel, title: str, most: int, *, numbered: bool = False, shaded: Panel | None = None
) -> None:
    """The title, the lines and the numbers of a panel; rounds are numbered below the lower panel of two."""
    left, top, right, bottom = panel.box
    if shaded is not None:
        begin, end = np.rint(panel.x([shaded.first - 0.5, shaded.last + 0.5])).astype(int).tolist()
        canvas.rectangle((min(begin, right - 4), top, min(max(end, begin + 4), right), bottom), SHADE)
    canvas.text(left, top - 15, title)
    for value in ticks(panel.low, panel.high, most):
        y = round(float(panel.y(value)))
        canvas.rectangle((left, y, right, y), FAINT)
        canvas.text(left - 8, y, in_short(value), at="right")
    room = DIGIT * len(f"{panel.last:,}") + 24
    for value in ticks(panel.first, panel.last, (right - left) // room, whole=True):
        x = round(float(panel.x(value)))
        canvas.rectangle((x, bottom, x, bottom + 4), FAINT)
        if numbered:
            canvas.text(x, bottom + 17, f"{value:,.0f}", at="middle")
    if numbered:
        canvas.text(right + 45, bottom + 17, "round")


def _recent_means(canvas: Canvas, panel: Panel, history: EpisodeSoFar, colours: dict[int, Colour]) -> None:
    """The means of each round; a dot behind that of the arm played, so that the arm's colour can still be seen."""
    if history.rounds == 0:
        return
    _crowd(canvas, panel, history, colours)
    rounds = np.arange(panel.first, history.rounds + 1)
    means, arms = history.means[rounds - 1], history.arms[rounds - 1]
    canvas.dots(panel.x(rounds), panel.y(means[np.arange(len(rounds)), arms]), 5 if panel.cell > 12 else 3)
    for arm, colour in colours.items():
        canvas.steps(panel, rounds, means[:, arm], colour)


def _all_means(canvas: Canvas, panel: Panel, history: EpisodeSoFar, colours: dict[int, Colour]) -> None:
    """The means of the rounds so far, one round for each column of pixels."""
    if history.rounds == 0:
        return
    _crowd(canvas, panel, history, colours)
    columns, rounds = panel.columns(history.rounds)
    means = history.means[rounds - 1]
    for arm, colour in colours.items():
        canvas.line(columns.astype(np.float64), panel.y(means[:, arm]), colour)


def _crowd(canvas: Canvas, panel: Panel, history: EpisodeSoFar, colours: dict[int, Colour]) -> None:
    """The arms without a colour."""
    others = np.setdiff1d(np.arange(history.means.shape[1]), list(colours))
    if others.size:
        columns, rounds = panel.columns(history.rounds)
        canvas.crowd(panel, columns, history.means[rounds - 1][:, others])


def _labels(canvas: Canvas, panel: Panel, history: EpisodeSoFar, colours: dict[int, Colour]) -> None:
    """The named arms beside the panel, each joined to the height of its mean in the round just played."""
    if history.rounds == 0:
        return
    arm, best, mu = history.last
    heights = panel.y(mu[list(colours)])
    placed = spread(heights.tolist(), (panel.top, panel.bottom), LINE)
    for (each, colour), height, y in zip(colours.items(), heights, placed, strict=True):
        if each == arm:
            canvas.dots(np.array([panel.right + 5.0]), np.array([height]), 3)
        canvas.line(np.array([panel.right + 3.0, panel.right + 21.0]), np.array([height, y]), colour, width=2)
        canvas.text(panel.right + 26, y, arm_in_words(each) + (", best" if each == best else ""))


def _recent_regret(canvas: Canvas, panel: Panel, history: EpisodeSoFar, before: float) -> None:
    if history.rounds:
        rounds = np.arange(panel.first, history.rounds + 1)
        canvas.steps(panel, rounds, history.regret[rounds - 1] - before, INK)


def _all_regret(canvas: Canvas, panel: Panel, history: EpisodeSoFar) -> None:
    if history.rounds:
        columns, rounds = panel.columns(history.rounds)
        canvas.line(columns.astype(np.float64), panel.y(history.regret[rounds - 1]), INK, width=2)
