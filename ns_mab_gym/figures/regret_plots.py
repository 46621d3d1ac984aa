"""Cumulative regret with bands, and its sensitivity to the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..runs import Runs
from .line_labels import Label, labels_height
from .sheet import canvas
from .style import BLACK, DASHED, draw_band, line_style, sequence, shade_phases, styled

__all__ = [
    "REGRET",
    "Drawn",
    "Family",
    "Member",
    "axis_limit",
    "draw_curve",
    "family_styles",
    "panel_tops",
    "regret_figure",
    "sensitivity_figure",
]

ZOOM = 3.0  # where the worst has this many times the regret of the best, a second panel shows the better half
POINTS = 250  # of a curve: more would be closer than two pixels
HEIGHT = 3.3  # inches of a panel, unless more names stand beside it
REGRET = "cumulative regret (mean ± sd)"


class Member(NamedTuple):
    """One of several agents that differ in their window: its name among them, its runs, and how it was tuned."""

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


class Drawn(NamedTuple):
    """A curve in a panel: its label and the top of its band."""

    label: Label
    top: float


@styled()
def regret_figure(
    curves: Mapping[str, Runs], title: str, changes: Sequence[int] = (), notes: Mapping[str, str] | None = None
) -> Figure:
    """Mean cumulative regret of every agent with one standard deviation around it.

    Args:
        curves: by label.
        title: the figure's.
        changes: rounds at which the world jumps, marked by shading every other phase.
        notes: what must be said of some of them, by label; they get a star.
    """
    notes = notes or {}
    tops = panel_tops([float(runs.final.mean()) for runs in curves.values()])
    sheet = canvas(10.4 if len(tops) > 1 else 7.2, [max(HEIGHT, labels_height(len(curves)))], [len(tops)])
    labels = {
        axes: _draw_panel(axes, curves, changes, top, notes) for axes, top in zip(sheet.rows[0], tops, strict=True)
    }
    first, *closer = sheet.rows[0]
    first.set(title=title, ylabel=REGRET)
    for axes in closer:
        axes.set_title("the better half, closer")
    return sheet.settle(labels, [f"* {label}: {note}" for label, note in notes.items() if label in curves])


def panel_tops(finals: Sequence[float]) -> list[float | None]:
    """Up to which regret each panel shows the curves: all of it, and what the better half reaches if it lies low."""
    ordered = sorted(finals)
    low = ordered[max(len(ordered) // 2 - 1, 0)]
    zoomed = len(ordered) > 3 and low > 0 and ordered[-1] > ZOOM * ordered[0]
    return [None, 1.25 * low] if zoomed else [None]


def _draw_panel(
    axes: Axes, curves: Mapping[str, Runs], changes: Sequence[int], top: float | None, notes: Mapping[str, str]
) -> list[Label]:
    drawn = [
        draw_curve(axes, f"{label}*" if label in notes else label, runs, linewidth=1.5, **line_style(index))
        for index, (label, runs) in enumerate(curves.items())
    ]
    horizon = max(runs.horizon for runs in curves.values())
    shade_phases(axes, changes, horizon)
    axes.set(xlim=(0, horizon), xlabel="round", ylim=(0, axis_limit(drawn) if top is None else top))
    return [curve.label for curve in drawn if top is None or curve.label.value <= top]


def axis_limit(drawn: Sequence[Drawn]) -> float:
    """The upper end of an axis of regret; 1 where there is no regret."""
    return 1.05 * max(curve.top for curve in drawn) or 1.0


def draw_curve(axes: Axes, name: str, runs: Runs, **style: Any) -> Drawn:
    """The mean of some runs, from no regret after no round, with a band of one standard deviation."""
    count = len(runs.rounds)
    chosen = np.unique(np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.intp))
    regret = runs.regret[:, chosen]
    rounds = np.concatenate(([0], runs.rounds[chosen]))
    mean = np.concatenate(([0.0], regret.mean(axis=0)))
    sd = np.concatenate(([0.0], regret.std(axis=0, ddof=min(1, len(regret) - 1))))
    draw_band(axes, rounds, mean - sd, mean + sd, style["color"])
    axes.plot(rounds, mean, **style)
    return Drawn(Label(f"{name}  {mean[-1]:,.0f}", float(mean[-1]), style["color"]), float((mean + sd).max()))


@styled()
def sensitivity_figure(families: Mapping[str, Family], title: str) -> Figure:
    """A panel for each family and a line for each member; windows from dark (short) to light (long).

    The member with the tuning of its paper is drawn thick, one without a window black.
    """
    largest = max(map(len, families.values()))
    sheet = canvas(max(10.4, 3.6 * len(families)), [max(HEIGHT, labels_height(largest))], [len(families)])
    drawn = {
        axes: [
            draw_curve(axes, str(member), member.runs, **style)
            for member, style in zip(members, family_styles(members), strict=True)
        ]
        for axes, members in zip(sheet.rows[0], families.values(), strict=True)
    }
    limit = max(map(axis_limit, drawn.values()))
    for axes, (family, members) in zip(drawn, families.items(), strict=True):
        axes.set(xlim=(0, members[0].runs.horizon), ylim=(0, limit), xlabel="round", title=family)
        axes.tick_params(labelleft=axes is sheet.rows[0][0])
    sheet.rows[0][0].set(title=f"{title}: {next(iter(families))}", ylabel=REGRET)
    return sheet.settle({axes: [curve.label for curve in curves] for axes, curves in drawn.items()})


def family_styles(members: Family) -> list[dict[str, Any]]:
    """How to draw the members of a family: in one sequence of colours, the default tuning thick."""
    colours = iter(sequence(sum(member.window is not None for member in members)))
    return [
        {"color": BLACK, "linestyle": DASHED, "linewidth": 1.3}
        if member.window is None
        else {"color": next(colours), "linewidth": 2.6 if member.tuned else 1.3}
        for member in members
    ]
