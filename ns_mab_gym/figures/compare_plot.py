"""A comparison in one figure: regret of every agent on every world, and sweeps beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from ..runs import Runs
from .line_labels import Label, labels_height
from .regret_plots import REGRET, axis_limit, draw_curve, panel_tops
from .sheet import canvas
from .style import FAINT, INK, LABEL, NUMBERS, line_style, shade_phases, styled
from .sweep_plot import Swept, draw_sweep, sweep_height

__all__ = ["Shown", "compare_figure"]

MANY = 10  # above so many agents, curves have names for the best alone, and all final regrets are shown beside them
BEST = 8  # that have names then
HEIGHT = 3.3  # inches of a panel
ROW = 0.17  # inches for each agent in a panel of final regrets
LEAST = 0.5  # where a logarithmic axis of regret begins at the lowest


class Shown(NamedTuple):
    """What a figure shows of one world.

    Attributes:
        world: its label.
        curves: the runs of the agents by label.
        changes: rounds at which the world jumps, marked by shading every other phase.
        swept: sweeps, each in the panel of its parameter.
        kin: for labels that stand for a family, what it is called; its lines have one colour on every world.
    """

    world: str
    curves: Mapping[str, Runs]
    changes: Sequence[int] = ()
    swept: Sequence[Swept] = ()
    kin: Mapping[str, str] | None = None

    def style_of(self, label: str) -> str:
        """What decides how a line is drawn: the family, or the label itself."""
        return (self.kin or {}).get(label, label)


class Panel(NamedTuple):
    """A panel that is still to be drawn: its height in inches, and what draws it and returns its names."""

    height: float
    draw: Callable[[Axes], list[Label]]


@styled()
def compare_figure(shown: Sequence[Shown]) -> Figure:
    """Curves of every agent, in the same colour on every world, and what was swept."""
    order = list(dict.fromkeys(each.style_of(label) for each in shown for label in each.curves))
    styles = {label: place for place, label in enumerate(order)}
    panels = [_panels(each, styles) for each in shown]
    rows = _in_rows(panels)
    columns = max(map(len, rows))
    width = 7.2 if columns == 1 else 11.6
    sheet = canvas(width, [max(panel.height for panel in row) for row in rows], [columns] * len(rows))
    labels = {}
    for row, axes_of_row in zip(rows, sheet.rows, strict=True):
        for panel, axes in zip(row, axes_of_row, strict=False):
            labels[axes] = panel.draw(axes)
        for axes in axes_of_row[len(row) :]:
            axes.axis("off")
    return sheet.settle(labels)


def _in_rows(panels: Sequence[Sequence[Panel]]) -> list[list[Panel]]:
    """Panels two by two: those of one world in rows of its own, unless each world has but one."""
    if all(len(some) == 1 for some in panels):
        together = [panel for some in panels for panel in some]
        return [list(together[at : at + 2]) for at in range(0, len(together), 2)]
    return [list(some[at : at + 2]) for some in panels for at in range(0, len(some), 2)]


def _panels(shown: Shown, styles: Mapping[str, int]) -> list[Panel]:
    """The panels of a world, of which the first has its label as the heading."""
    return [*_curve_panels(shown, styles), *_sweep_panels(shown)]


def _curve_panels(shown: Shown, styles: Mapping[str, int]) -> list[Panel]:
    if not shown.curves:
        return []
    finals = [float(runs.final.mean()) for runs in shown.curves.values()]
    if len(shown.curves) > MANY:
        return [
            Panel(HEIGHT, lambda axes: _draw_crowd(axes, shown)),
            Panel(max(HEIGHT, ROW * len(finals)), lambda axes: _draw_finals(axes, shown)),
        ]
    height = max(HEIGHT, labels_height(len(finals)))
    return [
        Panel(height, lambda axes, top=top: _draw_curves(axes, shown, styles, top))  # type: ignore[misc]
        for top in panel_tops(finals)
    ]


def _draw_curves(axes: Axes, shown: Shown, styles: Mapping[str, int], top: float | None) -> list[Label]:
    drawn = [
        draw_curve(axes, label, runs, linewidth=1.5, **line_style(styles[shown.style_of(label)]))
        for label, runs in shown.curves.items()
    ]
    _finish(axes, shown, axis_limit(drawn) if top is None else top)
    axes.set_title(shown.world if top is None else "the better half, closer")
    return [curve.label for curve in drawn if top is None or curve.label.value <= top]


def _draw_crowd(axes: Axes, shown: Shown) -> list[Label]:
    """The curves of the best with their names, over those of all others in grey, as far as they fit in."""
    ranked = sorted(shown.curves, key=lambda label: float(shown.curves[label].final.mean()))
    for label in ranked[BEST:]:
        runs = shown.curves[label]
        axes.plot(runs.rounds, runs.regret.mean(axis=0), color=FAINT, linewidth=0.7, zorder=1)
    drawn = [
        draw_curve(axes, label, shown.curves[label], linewidth=1.5, **line_style(place))
        for place, label in enumerate(ranked[:BEST])
    ]
    _finish(axes, shown, 1.6 * axis_limit(drawn))
    axes.set_title(f"{shown.world}: the best {len(drawn)} of {len(ranked)}")
    return [curve.label for curve in drawn]


def _finish(axes: Axes, shown: Shown, top: float) -> None:
    horizon = max(runs.horizon for runs in shown.curves.values())
    shade_phases(axes, shown.changes, horizon)
    axes.set(xlim=(0, horizon), xlabel="round", ylabel=REGRET, ylim=(0, top))


def _draw_finals(axes: Axes, shown: Shown) -> list[Label]:
    """A row for each agent, the least final regret on top; whiskers are two standard errors."""
    ranked = sorted(shown.curves, key=lambda label: -float(shown.curves[label].final.mean()))
    reaches = []
    for height, label in enumerate(ranked):
        final, place = shown.curves[label].final, len(ranked) - 1 - height
        colour = line_style(place)["color"] if place < BEST else INK
        mean = max(float(final.mean()), LEAST)
        error = 2 * float(final.std(ddof=min(1, len(final) - 1))) / len(final) ** 0.5
        reaches += [max(mean - error, LEAST), mean + error]
        axes.axhline(height, color=FAINT, linewidth=0.4, zorder=0)
        axes.plot(reaches[-2:], [height, height], color=colour, linewidth=1.0)
        axes.plot(mean, height, "o", markersize=4.5, color=colour)
    low, high = min(reaches), max(reaches)
    axes.set(xscale="log", xlim=(low / 1.1, high * 1.1), ylim=(-0.8, len(ranked) - 0.2), title="final regrets")
    axes.set_xlabel("final regret: mean ± 2 standard errors")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1_000 * low else (1,)))
    axes.xaxis.set_major_formatter(NUMBERS)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x")
    axes.set_yticks(range(len(ranked)), [_short(label) for label in ranked], fontsize=LABEL)
    return []


def _short(label: str, longest: int = 32) -> str:
    return label if len(label) <= longest else f"{label[: longest - 13]}…{label[-12:]}"


def _sweep_panels(shown: Shown) -> list[Panel]:
    parameters = dict.fromkeys(each.parameter for each in shown.swept)
    together = [[each for each in shown.swept if each.parameter == parameter] for parameter in parameters]
    return [
        Panel(sweep_height(some), lambda axes, some=some: _draw_swept(axes, shown.world, some))  # type: ignore[misc]
        for some in together
    ]


def _draw_swept(axes: Axes, world: str, swept: Sequence[Swept]) -> list[Label]:
    axes.set_title(f"{world}: {swept[0].parameter}")
    return draw_sweep(axes, swept)
