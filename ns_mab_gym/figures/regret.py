"""Figures of regret: curves, their sensitivity to the window, sweeps of a parameter, comparisons, surveys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..runs import Runs
from ..statistics import Estimate, estimates
from .style import (
    BLACK,
    BLUE,
    DASHED,
    FAINT,
    INK,
    NUMBERS,
    VERMILION,
    Label,
    canvas,
    draw_band,
    draw_finals,
    labels_height,
    line_style,
    mark,
    number_log,
    sequence,
    shade_phases,
    styled,
)

FloatArray = npt.NDArray[np.float64]

HEIGHT = 3.3  # inches of a panel, unless more names stand beside it
ROW = 0.17  # inches of an agent in a panel of final regrets
MARK = 13 / 72  # inches from the text of one mark to the next
POINTS = 250  # of a curve: more would be closer than two pixels
ZOOM = 3.0  # where the worst has this many times the regret of the best, a second panel shows the better half
WIDE = 3.0  # an axis is logarithmic if its largest value is this many times the least
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
    finals: list[FloatArray]
    marks: dict[str, float]


class SurveyedAgent(NamedTuple):
    """The final regrets of an agent in every run."""

    label: str
    informed: FloatArray
    blind: FloatArray | None  # None if it is the same, or if it cannot be
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


@styled()
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
    sheet = canvas(10.4 if len(tops) > 1 else 7.2, [max(HEIGHT, labels_height(len(curves)))], [len(tops)])
    starred = {f"{label}*" if label in notes else label: runs for label, runs in curves.items()}
    labels = {
        axes: _draw_curves(axes, starred, range(len(curves)), changes, top)
        for axes, top in zip(sheet.rows[0], tops, strict=True)
    }
    for axes in sheet.rows[0][1:]:
        axes.set(title="the better half, closer", ylabel="")
    sheet.rows[0][0].set_title(title)
    return sheet.settle(labels, [f"* {label}: {note}" for label, note in notes.items() if label in curves])


def _panel_tops(curves: Mapping[str, Runs]) -> list[float | None]:
    """The largest regret of each panel: None for all of it; that of the better half, where it lies low."""
    ordered = sorted(float(runs.final.mean()) for runs in curves.values())
    low = ordered[max(len(ordered) // 2 - 1, 0)]
    zoomed = len(ordered) > 3 and low > 0 and ordered[-1] > ZOOM * ordered[0]
    return [None, 1.25 * low] if zoomed else [None]


def _draw_curves(
    axes: Axes,
    curves: Mapping[str, Runs],
    styles: Sequence[int],
    changes: Sequence[int],
    top: float | None,
    reach: float = 1.0,
) -> list[Label]:
    """Draw curves up to a regret, or their bands times ``reach``; returns the labels of those that end in the panel."""
    drawn = [
        _draw_curve(axes, label, runs, linewidth=1.5, **line_style(style))
        for (label, runs), style in zip(curves.items(), styles, strict=True)
    ]
    horizon = max(runs.horizon for runs in curves.values())
    shade_phases(axes, changes, horizon)
    axes.set(
        xlim=(0, horizon), xlabel="round", ylabel=REGRET, ylim=(0, reach * _axis_limit(drawn) if top is None else top)
    )
    return [label for label, _ in drawn if top is None or label.value <= top]


def _draw_curve(axes: Axes, name: str, runs: Runs, **style: Any) -> tuple[Label, float]:
    """Draw the mean of some runs with a band of one standard deviation; returns its label and the top of the band."""
    count = len(runs.rounds)
    chosen = np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.intp))
    regret = runs.regret[:, chosen]
    rounds = np.concatenate(([0], runs.rounds[chosen]))
    mean = np.concatenate(([0.0], regret.mean(axis=0)))
    sd = np.concatenate(([0.0], regret.std(axis=0, ddof=min(1, len(regret) - 1))))
    draw_band(axes, rounds, mean - sd, mean + sd, style["color"])
    axes.plot(rounds, mean, **style)
    return Label(f"{name}  {mean[-1]:,.0f}", float(mean[-1]), style["color"]), float((mean + sd).max())


def _axis_limit(drawn: Sequence[tuple[Label, float]]) -> float:
    """The upper end of an axis of regret; 1 where there is no regret."""
    return 1.05 * max(top for _, top in drawn) or 1.0


@styled()
def sensitivity_figure(families: Mapping[str, Family], title: str) -> Figure:
    """A panel for each family and a line for each member; windows from dark (short) to light (long).

    The member with the tuning of its paper is drawn thick, one without a window black.
    """
    largest = max(map(len, families.values()))
    sheet = canvas(max(10.4, 3.6 * len(families)), [max(HEIGHT, labels_height(largest))], [len(families)])
    [panels] = sheet.rows
    drawn = {
        axes: [
            _draw_curve(axes, str(member), member.runs, **style)
            for member, style in zip(members, family_styles(members), strict=True)
        ]
        for axes, members in zip(panels, families.values(), strict=True)
    }
    limit = max(map(_axis_limit, drawn.values()))
    for axes, (family, members) in zip(drawn, families.items(), strict=True):
        axes.set(xlim=(0, members[0].runs.horizon), ylim=(0, limit), xlabel="round", title=family)
        axes.tick_params(labelleft=axes is panels[0])
    panels[0].set(title=f"{title}: {next(iter(families))}", ylabel=REGRET)
    return sheet.settle({axes: [label for label, _ in curves] for axes, curves in drawn.items()})


def family_styles(members: Family) -> list[dict[str, Any]]:
    """The styles of the lines of a family: one sequence of colours, the default tuning thick."""
    colours = iter(sequence(sum(member.window is not None for member in members)))
    return [
        {"color": BLACK, "linestyle": DASHED, "linewidth": 1.3}
        if member.window is None
        else {"color": next(colours), "linewidth": 2.6 if member.tuned else 1.3}
        for member in members
    ]


@styled()
def sweep_figure(swept: Sequence[Swept], world: str) -> Figure:
    """Mean final regret against a swept parameter, a panel for each one; marked values as dotted lines.

    Args:
        swept: the sweeps.
        world: the world's label, for the heading.
    """
    together = _by_parameter(swept)
    sheet = canvas(max(7.2, 5.2 * len(together)), [max(map(_sweep_height, together))], [len(together)])
    labels = {axes: _draw_sweep(axes, some) for axes, some in zip(sheet.rows[0], together, strict=True)}
    sheet.rows[0][0].set_title(world)
    return sheet.settle(labels)


def _by_parameter(swept: Sequence[Swept]) -> list[list[Swept]]:
    parameters = dict.fromkeys(each.parameter for each in swept)
    return [[each for each in swept if each.parameter == parameter] for parameter in parameters]


def _sweep_height(swept: Sequence[Swept]) -> float:
    """The height of a panel with these sweeps, in inches."""
    return max(HEIGHT + MARK * sum(len(each.marks) for each in swept) / 2, labels_height(len(swept)))


def _draw_sweep(axes: Axes, swept: Sequence[Swept]) -> list[Label]:
    """Draw sweeps of one parameter; returns their names, each with its least mean and the value that gives it."""
    found = [estimates(np.stack(each.finals, axis=1)) for each in swept]
    _scale(axes, swept, found)
    labels, row, runs = [], 0, len(swept[0].finals[0])
    for place, (each, points) in enumerate(zip(swept, found, strict=True)):
        style = line_style(place)
        order = np.argsort(each.values)
        x = np.array(each.values, dtype=float)[order]
        means, lows, highs = (np.array([getattr(points[at], end) for at in order]) for end in ("mean", "low", "high"))
        if runs > 1:
            draw_band(axes, x, lows, highs, style["color"], alpha=0.2)
        axes.plot(x, means, **style, linewidth=1.6, marker="o", markersize=3.5)
        least = int(means.argmin())
        best = f"{means[least]:,.0f}" if means[least] >= 100 else f"{means[least]:.3g}"
        labels.append(Label(f"{each.label}  {best} at {NUMBERS(x[least])}", float(means[-1]), style["color"]))
        for name, value in each.marks.items():
            mark(axes, value, f"{name} {NUMBERS(value)}", style["color"] if len(swept) > 1 else INK, row)
            row += 1
    axes.set(
        xlabel=swept[0].parameter, ylabel="final regret (mean, 95 % interval)" if runs > 1 else "final regret (one run)"
    )
    return labels


def _scale(axes: Axes, swept: Sequence[Swept], found: Sequence[Sequence[Estimate]]) -> None:
    """Scales and limits, with room at the top for the texts of the marks."""
    across = [value for each in swept for value in (*each.values, *each.marks.values())]
    ends = [end for points in found for each in points for end in (each.low, each.high, each.mean)]
    low, high = min(ends), max(ends)
    share = MARK * (sum(len(each.marks) for each in swept) + 0.5) / _sweep_height(swept)  # of the height, for texts
    if low > 0 and high > WIDE * low:
        reach = np.log(high / low)
        axes.set(yscale="log", ylim=(low * np.exp(-0.06 * reach), high * np.exp((0.04 + share / (1 - share)) * reach)))
        number_log(axes.yaxis, _multiples(high / low))
    else:
        reach = (high - low) or abs(high) or 1.0
        axes.set_ylim(low - 0.08 * reach, high + (0.04 + 1.1 * share / (1 - share)) * reach)
    least, largest = min(across), max(across)
    if least > 0 and largest > WIDE * least:
        axes.set(xscale="log", xlim=(least / 1.1, largest * 1.1))
        number_log(axes.xaxis, _multiples(largest / least))
    else:
        margin = 0.04 * (largest - least) or 0.1 * abs(largest) or 1.0
        axes.set_xlim(least - margin, largest + margin)
        if any(not float(value).is_integer() for value in across):
            axes.xaxis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
    axes.grid(axis="x")


def _multiples(ratio: float) -> tuple[float, ...]:
    """The multiples of powers of ten that a logarithmic axis shows: more of them where the powers are few."""
    return (1,) if ratio > 3_000 else (1, 2, 5) if ratio > 8 else (1, 1.5, 2, 3, 4, 5, 7)


class PlannedPanel(NamedTuple):
    """A panel that is not drawn yet: its height in inches, and a function that draws it and returns its names."""

    height: float
    draw: Callable[[Axes], list[Label]]


@styled()
def compare_figure(worlds: Sequence[WorldCurves]) -> Figure:
    """Curves of every agent, in the same colour on every world, and sweeps beside them."""
    order = list(dict.fromkeys(each.style_of(label) for each in worlds for label in each.curves))
    panels = [_panels(each, {label: place for place, label in enumerate(order)}) for each in worlds]
    if all(len(some) == 1 for some in panels):  # worlds share rows unless one of them needs several panels
        panels = [[panel for some in panels for panel in some]]
    rows = [some[at : at + 2] for some in panels for at in range(0, len(some), 2)]
    columns = max(map(len, rows))
    sheet = canvas(
        7.2 if columns == 1 else 11.6, [max(panel.height for panel in row) for row in rows], [columns] * len(rows)
    )
    labels = {}
    for row, places in zip(rows, sheet.rows, strict=True):
        for panel, axes in zip(row, places, strict=False):
            labels[axes] = panel.draw(axes)
        for axes in places[len(row) :]:
            axes.axis("off")
    return sheet.settle(labels)


def _panels(each: WorldCurves, styles: Mapping[str, int]) -> list[PlannedPanel]:
    """The panels of a world: curves, closer ones or final regrets if needed, and sweeps."""
    panels = [
        PlannedPanel(_sweep_height(some), partial(_draw_swept, each.world, some)) for some in _by_parameter(each.swept)
    ]
    if not each.curves:
        return panels
    if len(each.curves) > MANY:
        ranked = sorted(each.curves, key=lambda label: float(each.curves[label].final.mean()))
        tall = max(HEIGHT, ROW * len(ranked))
        return [
            PlannedPanel(HEIGHT, partial(_draw_best, each, ranked)),
            PlannedPanel(tall, partial(_draw_all, each, ranked)),
            *panels,
        ]
    height = max(HEIGHT, labels_height(len(each.curves)))
    places = [styles[each.style_of(label)] for label in each.curves]
    return [
        *(PlannedPanel(height, partial(_draw_some, each, places, top)) for top in _panel_tops(each.curves)),
        *panels,
    ]


def _draw_swept(world: str, swept: Sequence[Swept], axes: Axes) -> list[Label]:
    axes.set_title(f"{world}: {swept[0].parameter}")
    return _draw_sweep(axes, swept)


def _draw_some(each: WorldCurves, styles: Sequence[int], top: float | None, axes: Axes) -> list[Label]:
    axes.set_title(each.world if top is None else "the better half, closer")
    return _draw_curves(axes, each.curves, styles, each.changes, top)


def _draw_best(each: WorldCurves, ranked: Sequence[str], axes: Axes) -> list[Label]:
    """The curves of the best with their names, over those of all others in grey, as far as they fit in."""
    for label in ranked[BEST:]:
        runs = each.curves[label]
        axes.plot(runs.rounds, runs.regret.mean(axis=0), color=FAINT, linewidth=0.7, zorder=1)
    axes.set_title(f"{each.world}: the best {BEST} of {len(ranked)}")
    best = {label: each.curves[label] for label in ranked[:BEST]}
    return _draw_curves(axes, best, range(BEST), each.changes, None, reach=1.6)


def _draw_all(each: WorldCurves, ranked: Sequence[str], axes: Axes) -> list[Label]:
    """The final regrets of all agents, the least on top, the best in the colours of their curves."""
    colours = {label: line_style(place)["color"] if place < BEST else INK for place, label in enumerate(ranked)}
    draw_finals(
        axes, [(label, [(each.curves[label].final, colours[label], colours[label])]) for label in ranked[::-1]], 0.5
    )
    axes.set_title("final regrets")
    return []


@styled()
def survey_figure(agents: Sequence[SurveyedAgent], title: str) -> Figure:
    """Final regrets of many agents on one world, the least on top: filled if informed, hollow if blind.

    Args:
        agents: the agents.
        title: the figure's.
    """
    ordered = sorted(agents, key=lambda each: -each.informed.mean())
    sheet = canvas(7.2, [max(2.0, ROW * len(ordered))])
    [[axes]] = sheet.rows
    rows = []
    for each in ordered:
        colour = VERMILION if each.marked else BLUE
        hollow = [] if each.blind is None else [(each.blind, colour, "white")]
        rows.append((each.label, [*hollow, (each.informed, colour, colour)]))
    draw_finals(axes, rows, least=1.0)  # one round lost for certain
    axes.set_title(title)
    for each, text in zip(ordered, axes.get_yticklabels(), strict=True):
        text.set(color=VERMILION if each.marked else INK)
    note = "Filled: tuned from the true facts about the world. Hollow: told T and K alone. Red: the paper's own."
    return sheet.settle(notes=[note])
