"""Figures of regret: curves, their sensitivity to the window, sweeps of a parameter, comparisons, surveys."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..means import Floats, Ints
from ..runs import Runs
from ..statistics import estimates
from . import style

FinalDot = tuple[Floats, str, str]  # final regrets of all runs, the colour, and that of the inside

HEIGHT = 3.3  # inches of a panel, unless more names stand beside it
ROW = 0.17  # inches of an agent in a panel of final regrets
MARK = 13 / 72  # inches from the text of one mark to the next
POINTS = 250  # of a curve: more would be closer than two pixels
ZOOM = 3.0  # where the worst has this many times the regret of the best, a second panel shows the better half
WIDE = 3.0  # an axis is logarithmic if its largest value is this many times the least
NARROW = 8.0  # inches; panels of a narrower figure do not stand side by side
MANY, BEST = 10, 8  # of more agents than MANY, only the curves of the BEST have names
REGRET = "cumulative regret (mean ± sd)"


class Member(NamedTuple):
    """One of several agents that differ in their window: its name among them, its runs, and its tuning."""

    name: str
    runs: Runs
    tuned: bool  # by the formula of its paper

    @property
    def window(self) -> int | None:
        """τ, if it has one."""
        return self.runs.parameters[0].get("window")

    def __str__(self) -> str:
        return f"{self.name} (no window)" if self.window is None else f"{self.name} (τ = {self.window:,})"


Family = Sequence[Member]


class Swept(NamedTuple):
    """An agent with several values of a parameter, on one world.

    Attributes:
        label: the name of the agents together.
        parameter: the name of the parameter.
        values: its values.
        finals: (R,) the final regret of every run, for each value; runs of one number share their luck.
        marks: values that are worth a mark, by their names, such as "tuned" or "recommended".
    """

    label: str
    parameter: str
    values: list[float]
    finals: list[Floats]
    marks: dict[str, float]


class SurveyedAgent(NamedTuple):
    """The final regrets of an agent in every run."""

    label: str
    informed: Floats
    blind: Floats | None  # None if it is the same, or if it cannot be
    marked: bool


class WorldCurves(NamedTuple):
    """The part of a comparison on one world.

    Attributes:
        world: its label.
        curves: the runs of the agents by label.
        changes: rounds at which the world jumps, marked by shading every other phase.
        swept: sweeps, each in the panel of its parameter.
        kin: the name of the family, for labels that stand for one; its lines have one colour on every world.
    """

    world: str
    curves: Mapping[str, Runs]
    changes: Sequence[int] = ()
    swept: Sequence[Swept] = ()
    kin: Mapping[str, str] | None = None

    def style_of(self, label: str) -> str:
        """The name that decides how a line is drawn: that of the family, or the label itself."""
        return (self.kin or {}).get(label, label)


@style.styled()
def regret_figure(
    curves: Mapping[str, Runs], title: str, changes: Sequence[int] = (), notes: Mapping[str, str] | None = None
) -> Figure:
    """Mean cumulative regret of every agent with one standard deviation around it.

    Args:
        curves: by label.
        title: the figure's.
        changes: rounds at which the world jumps, marked by shading every other phase.
        notes: remarks on some of the agents, by label; these get a star.
    """
    notes = notes or {}
    tops = _panel_tops(curves)
    sheet = style.Sheet(10.4 if len(tops) > 1 else 7.2, [max(HEIGHT, style.STEP * len(curves))], [len(tops)])
    starred = {f"{label}*" if label in notes else label: runs for label, runs in curves.items()}
    for axes, top in zip(sheet.rows[0], tops, strict=True):
        _draw_curves(axes, starred, range(len(curves)), changes, title, top)
    for axes in sheet.rows[0][1:]:
        axes.set_ylabel("")
    return sheet.settle([f"* {label}: {note}" for label, note in notes.items() if label in curves])


def _panel_tops(curves: Mapping[str, Runs]) -> list[float]:
    """The largest regret of each panel: infinity for all of it; that of the better half, where it lies low."""
    ordered = sorted(float(runs.final.mean()) for runs in curves.values())
    low = ordered[max(len(ordered) // 2 - 1, 0)]
    zoomed = len(ordered) > 3 and low > 0 and ordered[-1] > ZOOM * ordered[0]
    return [np.inf, 1.25 * low] if zoomed else [np.inf]


def _draw_curves(
    axes: Axes,
    curves: Mapping[str, Runs],
    places: Iterable[int],
    changes: Sequence[int],
    title: str,
    top: float = np.inf,
    reach: float = 1.0,
    log: bool = False,
) -> None:
    """Draw curves up to a regret, or up to their bands times ``reach``; those that end in the panel have names."""
    highest = max(
        _draw_curve(axes, label, runs, top, linewidth=1.5, **style.line_style(place))
        for (label, runs), place in zip(curves.items(), places, strict=False)
    )
    horizon = max(runs.horizon for runs in curves.values())
    style.shade_phases(axes, changes, horizon)
    axes.set(xlim=(0, horizon), ylim=(0, min(top, reach * highest)), xlabel="round", ylabel=REGRET)
    axes.set_title("the better half, closer" if top < np.inf else title)
    if log:  # from the least regret after a hundredth of the rounds on, before which it is a matter of luck
        starts = [runs.regret.mean(axis=0)[runs.rounds >= horizon / 100].min() for runs in curves.values()]
        lowest = max(min(starts), reach * highest / 1e4)
        axes.set(yscale="log", ylim=(lowest, reach * highest))
        style.number_log(axes.yaxis, (1, 2, 5) if highest < 100 * lowest else (1,))


def _draw_curve(axes: Axes, name: str, runs: Runs, top: float = np.inf, **look: Any) -> float:
    """Draw the mean of some runs with a band of one standard deviation; returns the end of an axis that shows all."""
    rounds, regret = thinned(runs)
    rounds = np.concatenate(([0], rounds))
    mean = np.concatenate(([0.0], regret.mean(axis=0)))
    sd = np.concatenate(([0.0], regret.std(axis=0, ddof=min(1, len(regret) - 1))))
    style.draw_band(axes, rounds, mean - sd, mean + sd, look["color"])
    axes.plot(rounds, mean, label=f"{name}  {mean[-1]:,.0f}" if mean[-1] <= top else None, **look)
    return 1.05 * float((mean + sd).max()) or 1.0


def thinned(runs: Runs) -> tuple[Ints, Floats]:
    """About 250 rounds, the last among them, and the (R, C) regret there."""
    count = len(runs.rounds)
    chosen = np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.intp))
    return runs.rounds[chosen], runs.regret[:, chosen]


@style.styled()
def sensitivity_figure(families: Mapping[str, Family], title: str) -> Figure:
    """A panel for each family and a line for each member; windows from dark (short) to light (long).

    The member with the tuning of its paper is drawn thick, one without a window black.
    """
    tall = max(HEIGHT, style.STEP * max(map(len, families.values())))
    sheet = style.Sheet(max(10.4, 3.6 * len(families)), [tall], [len(families)])
    [panels] = sheet.rows
    highest = max(
        _draw_curve(axes, str(member), member.runs, **look)
        for axes, members in zip(panels, families.values(), strict=True)
        for member, look in zip(members, family_styles(members), strict=True)
    )
    for axes, (family, members) in zip(panels, families.items(), strict=True):
        axes.set(xlim=(0, members[0].runs.horizon), ylim=(0, highest), xlabel="round", title=family)
        axes.tick_params(labelleft=axes is panels[0])
    panels[0].set(title=f"{title}: {next(iter(families))}", ylabel=REGRET)
    return sheet.settle()


def family_styles(members: Family) -> list[dict[str, Any]]:
    """The styles of the lines of a family: one sequence of colours, the default tuning thick."""
    colours = iter(style.sequence(sum(member.window is not None for member in members)))
    return [
        {"color": style.BLACK, "linestyle": style.DASHED, "linewidth": 1.3}
        if member.window is None
        else {"color": next(colours), "linewidth": 2.6 if member.tuned else 1.3}
        for member in members
    ]


@style.styled()
def sweep_figure(swept: Sequence[Swept], world: str) -> Figure:
    """Mean final regret against a swept parameter, a panel for each one; marked values as dotted lines.

    Args:
        swept: the sweeps.
        world: the world's label, for the heading.
    """
    together = by_parameter(swept)
    sheet = style.Sheet(max(7.2, 5.2 * len(together)), [max(map(_sweep_height, together))], [len(together)])
    for axes, some in zip(sheet.rows[0], together, strict=True):
        _draw_sweep(axes, some, "")
    sheet.rows[0][0].set_title(world)
    return sheet.settle()


def by_parameter(swept: Sequence[Swept]) -> list[list[Swept]]:
    """Return the sweeps of each parameter together."""
    parameters = dict.fromkeys(each.parameter for each in swept)
    return [[each for each in swept if each.parameter == parameter] for parameter in parameters]


def _sweep_height(swept: Sequence[Swept]) -> float:
    """The height of a panel with these sweeps, in inches."""
    return max(HEIGHT + MARK * sum(len(each.marks) for each in swept) / 2, style.STEP * len(swept))


def _draw_sweep(axes: Axes, swept: Sequence[Swept], title: str) -> None:
    """Draw sweeps of one parameter; the name of each says its least mean and the value that gives it."""
    curves = [
        np.array(sorted((value, point.mean, point.low, point.high) for value, point in zip(*pair, strict=True))).T
        for pair in ((each.values, estimates(np.stack(each.finals, axis=1))) for each in swept)
    ]
    marked = [value for each in swept for value in each.marks.values()]
    share = MARK * (len(marked) + 0.5) / _sweep_height(swept)  # of the height, for the texts of marks
    _scale(axes, "x", [*marked, *(value for curve in curves for value in curve[0])], above=0.06)
    _scale(axes, "y", [value for curve in curves for value in curve[1:].flat], above=0.04 + 1.1 * share / (1 - share))
    row = itertools.count()
    for place, (each, (x, means, lows, highs)) in enumerate(zip(swept, curves, strict=True)):
        look, best = style.line_style(place), int(means.argmin())
        least = f"{means[best]:,.0f}" if means[best] >= 100 else f"{means[best]:.3g}"
        name = f"{each.label}  {least} at {style.NUMBERS(x[best])}"
        style.draw_band(axes, x, lows, highs, look["color"], alpha=0.2)
        axes.plot(x, means, label=name, **look, linewidth=1.6, marker="o", markersize=3.5)
        for mark, value in each.marks.items():
            colour = look["color"] if len(swept) > 1 else style.INK
            style.mark(axes, value, f"{mark} {style.NUMBERS(value)}", colour, next(row))
    shown = "mean, 95 % interval" if len(swept[0].finals[0]) > 1 else "one run"
    axes.set(xlabel=swept[0].parameter, ylabel=f"final regret ({shown})", title=title)
    axes.grid(axis="x")


def _scale(axes: Axes, axis: Literal["x", "y"], values: Sequence[float], above: float) -> None:
    """The scale and the ends of an axis that shows some values, with a share of their range left free above them."""
    low, high = min(values), max(values)
    if low > 0 and high > WIDE * low:
        ratio = high / low
        axes.set(**{f"{axis}scale": "log", f"{axis}lim": (low * ratio**-0.06, high * ratio**above)})
        multiples = (1,) if ratio > 3_000 else (1, 2, 5) if ratio > 8 else (1, 1.5, 2, 3, 4, 5, 7)
        style.number_log(getattr(axes, f"{axis}axis"), multiples)
    else:
        reach = (high - low) or 2 * abs(high) or 1.0
        axes.set(**{f"{axis}lim": (low - 0.06 * reach, high + above * reach)})
        axes.locator_params(axis=axis, integer=all(float(value).is_integer() for value in values))


class PlannedPanel(NamedTuple):
    """A panel that is not drawn yet: its height in inches, and a function that draws it."""

    height: float
    draw: Callable[[Axes], None]


@style.styled()
def compare_figure(worlds: Sequence[WorldCurves], width: float | None = None, log: bool = False) -> Figure:
    """Curves of every agent, in the same colour on every world, and sweeps beside them.

    Args:
        worlds: what to draw.
        width: of the figure in inches; below 8, panels stand below each other.
        log: whether curves have a logarithmic axis of regret.
    """
    order = dict.fromkeys(each.style_of(label) for each in worlds for label in each.curves)
    panels = [_panels(each, list(order), log) for each in worlds]
    if all(len(some) == 1 for some in panels):  # worlds share rows unless one of them needs several panels
        panels = [[panel for some in panels for panel in some]]
    most = 1 if width is not None and width < NARROW else 2
    rows = [some[at : at + most] for some in panels for at in range(0, len(some), most)]
    columns = max(map(len, rows))
    heights = [max(panel.height for panel in row) for row in rows]
    sheet = style.Sheet(width or (7.2 if columns == 1 else 11.6), heights, [columns] * len(rows))
    for row, places in zip(rows, sheet.rows, strict=True):
        for panel, axes in zip(row, places, strict=False):
            panel.draw(axes)
        for axes in places[len(row) :]:
            axes.axis("off")
    return sheet.settle()


def _panels(each: WorldCurves, order: Sequence[str], log: bool) -> list[PlannedPanel]:
    """The panels of a world: curves, closer ones or final regrets if needed, and sweeps."""
    panels, tall = [], max(HEIGHT, style.STEP * len(each.curves))
    if len(each.curves) > MANY:
        ranked = sorted(each.curves, key=lambda label: float(each.curves[label].final.mean()))
        panels += [PlannedPanel(HEIGHT, partial(_draw_best, each, ranked, log))]
        panels += [PlannedPanel(max(HEIGHT, ROW * len(ranked)), partial(_draw_all, each, ranked))]
    elif each.curves:
        places = [order.index(each.style_of(label)) for label in each.curves]
        draw = partial(_draw_curves, curves=each.curves, places=places, changes=each.changes, title=each.world)
        tops = [np.inf] if log else _panel_tops(each.curves)
        panels += [PlannedPanel(tall, partial(draw, top=top, log=log)) for top in tops]
    for some in by_parameter(each.swept):
        draw = partial(_draw_sweep, swept=some, title=f"{each.world}: {some[0].parameter}")
        panels += [PlannedPanel(_sweep_height(some), draw)]
    return panels


def _draw_best(each: WorldCurves, ranked: Sequence[str], log: bool, axes: Axes) -> None:
    """The curves of the best with their names, over those of all others in grey, as far as they fit in."""
    for label in ranked[BEST:]:
        runs = each.curves[label]
        axes.plot(runs.rounds, runs.regret.mean(axis=0), color=style.FAINT, linewidth=0.7, zorder=1)
    best = {label: each.curves[label] for label in ranked[:BEST]}
    title = f"{each.world}: the best {BEST} of {len(ranked)}"
    _draw_curves(axes, best, range(BEST), each.changes, title, reach=1.6, log=log)


def _draw_all(each: WorldCurves, ranked: Sequence[str], axes: Axes) -> None:
    """The final regrets of all agents, the least on top, the best in the colours of their curves."""
    colours = [style.line_style(place)["color"] if place < BEST else style.INK for place in range(len(ranked))]
    rows = [(label, [(each.curves[label].final, ink, ink)]) for label, ink in zip(ranked, colours, strict=True)]
    _draw_finals(axes, rows[::-1], least=0.5)
    axes.set_title("final regrets")


@style.styled()
def survey_figure(agents: Sequence[SurveyedAgent], title: str) -> Figure:
    """Final regrets of many agents on one world, the least on top: filled if informed, hollow if blind.

    Args:
        agents: the agents.
        title: the figure's.
    """
    ordered = sorted(agents, key=lambda each: -each.informed.mean())
    sheet = style.Sheet(7.2, [max(2.0, ROW * len(ordered))])
    [[axes]] = sheet.rows
    rows = []
    for each in ordered:
        colour = style.VERMILION if each.marked else style.BLUE
        hollow = [] if each.blind is None else [(each.blind, colour, "white")]
        rows.append((each.label, [*hollow, (each.informed, colour, colour)]))
    _draw_finals(axes, rows, least=1.0)  # one round lost for certain
    axes.set_title(title)
    for each, text in zip(ordered, axes.get_yticklabels(), strict=True):
        text.set(color=style.VERMILION if each.marked else style.INK)
    return sheet.settle(
        [
            "Filled: tuned from the true facts about the world. Hollow: told T, K and the law of rewards alone. "
            "Red: the paper's own."
        ]
    )


def _draw_finals(axes: Axes, rows: Sequence[tuple[str, Sequence[FinalDot]]], least: float) -> None:
    """A row for each agent, from the bottom up, with dots at mean final regrets and whiskers of two standard errors.

    Args:
        axes: the panel, whose horizontal axis becomes logarithmic.
        rows: the label of each row and its dots.
        least: the smallest regret that the axis shows; smaller ones are drawn there.
    """
    reaches = []
    for height, (_, dots) in enumerate(rows):
        for finals, colour, face in dots:
            mean = max(float(finals.mean()), least)
            error = 2 * float(finals.std(ddof=min(1, len(finals) - 1))) / len(finals) ** 0.5
            reaches += [max(mean - error, least), mean + error]
            axes.plot(reaches[-2:], [height, height], color=colour, linewidth=1.0)
            axes.plot(mean, height, "o", markersize=4.7, color=colour, markerfacecolor=face)
    low, high = min(reaches), max(reaches)
    axes.set(xscale="log", xlim=(low / 1.1, high * 1.1), ylim=(-0.8, len(rows) - 0.2))
    axes.set_xlabel("final regret: mean ± 2 standard errors")
    style.number_log(axes.xaxis, (1, 2, 5) if high < 1_000 * low else (1,))
    axes.grid(axis="x")
    style.name_rows(axes, [label for label, _ in rows])
