"""Cumulative regret with bands, and its sensitivity to the window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..results import Curves
from .style import BAND, MUTED, canvas, heading, label_lines, line_style, sequence, settle, thousands

__all__ = ["family_styles", "member_name", "regret_figure", "sensitivity_figure"]

ZOOM = 3.0  # where the worst has this many times the regret of the best, a second panel shows the better half

Labels = list[tuple[str, float, Any]]


def regret_figure(curves: Mapping[str, Curves], title: str, changes: Sequence[int] = ()) -> Figure:
    """Mean cumulative regret of every agent with one standard deviation around it.

    Args:
        curves: by label.
        title: the figure's.
        changes: rounds at which the world jumps, marked by shading every other phase.
    """
    finals = sorted(float(curve.final.mean()) for curve in curves.values())
    zoomed = len(finals) > 3 and finals[-1] > ZOOM * finals[0]
    figure, grid = canvas(10.4 if zoomed else 7.2, 4.3, ncols=2 if zoomed else 1, squeeze=False)
    tops = [None, 1.25 * finals[len(finals) // 2 - 1]] if zoomed else [None]
    panels = [_panel(axes, curves, changes, top) for axes, top in zip(grid[0], tops, strict=True)]
    heading(grid[0][0], title)
    if zoomed:
        heading(grid[0][1], "the better half, closer")
    _finish(figure, grid[0], panels, [f"* {c.agent.label}: {c.agent.note}" for c in curves.values() if c.agent.note])
    return figure


def _panel(axes: Axes, curves: Mapping[str, Curves], changes: Sequence[int], top: float | None) -> Labels:
    labels: Labels = []
    for index, (label, curve) in enumerate(curves.items()):
        style = line_style(index)
        end = _draw(axes, curve, linewidth=1.5, **style)
        if top is None or end <= top:
            labels.append((f"{label}{'*' if curve.agent.note else ''}  {end:,.0f}", end, style["color"]))
    _shade(axes, changes, curve.horizon)
    axes.set(xlim=(0, curve.horizon), xlabel="round")
    axes.set_ylim(0, top if top is not None else axes.get_ylim()[1])
    thousands(axes)
    return labels


def _draw(axes: Axes, curve: Curves, **style: Any) -> float:
    """The mean of a curve with its band of one standard deviation; returns where it ends."""
    every = slice((len(curve.rounds) - 1) % 2, None, 2)  # half of the points, the last among them, draw the same line
    rounds, regret = curve.rounds[every], curve.regret[:, every]
    mean, sd = regret.mean(axis=0), regret.std(axis=0, ddof=min(1, len(regret) - 1))
    axes.fill_between(rounds, mean - sd, mean + sd, color=style["color"], alpha=0.16, linewidth=0)
    axes.plot(rounds, mean, **style)
    return float(mean[-1])


def _shade(axes: Axes, changes: Sequence[int], horizon: int) -> None:
    edges = [1, *changes, horizon + 1]
    for first, after in zip(edges[::2], edges[1::2], strict=False):
        if changes:
            axes.axvspan(first, after, color=BAND, zorder=0, linewidth=0)


def _finish(figure: Figure, row: Sequence[Axes], panels: Sequence[Labels], notes: Sequence[str]) -> None:
    """Labels beside each panel, notes below."""
    row[0].set_ylabel("cumulative regret (mean ± sd)")
    if notes:
        figure.supxlabel("\n".join(notes), fontsize=7.5, color=MUTED, x=0.01, ha="left", parse_math=False)
    widest = [max((text for text, _, _ in labels), key=len, default="") for labels in panels]
    settle(figure, list(zip(row, widest, strict=True)))
    for axes, labels in zip(row, panels, strict=True):
        label_lines(axes, labels)


def sensitivity_figure(families: Mapping[str, Sequence[Curves]], title: str) -> Figure:
    """A panel for each family and a line for each member; windows from dark (short) to light (long).

    The member with the tuning of its paper is drawn thick, one without a window black.
    """
    figure, grid = canvas(10.4, 4.3, ncols=len(families), squeeze=False, sharey=True)
    drawn = []
    for axes, (family, members) in zip(grid[0], families.items(), strict=True):
        labels: Labels = []
        for curve, style in zip(members, family_styles(members), strict=True):
            end = _draw(axes, curve, **style)
            labels.append((f"{member_name(curve)}  {end:,.0f}", end, style["color"]))
        axes.set(xlim=(0, members[0].horizon), xlabel="round")
        heading(axes, f"{title}: {family}" if axes is grid[0][0] else family)
        thousands(axes)
        drawn.append(labels)
    grid[0][0].set_ylim(bottom=0)
    _finish(figure, grid[0], drawn, [])
    return figure


def family_styles(members: Sequence[Curves]) -> list[dict[str, Any]]:
    """How to draw the members of a family: in one sequence of colours, the default tuning thick."""
    colours = iter(sequence(sum("window" in member.parameters for member in members)))
    return [
        {"color": next(colours), "linewidth": 1.3 if "window" in member.agent.kwargs else 2.6}
        if "window" in member.parameters
        else {"color": "black", "linestyle": (0, (5, 2)), "linewidth": 1.3}
        for member in members
    ]


def member_name(curve: Curves) -> str:
    """What a member is called inside its family, with its window."""
    window = curve.parameters.get("window")
    name = curve.agent.label.removeprefix(curve.agent.group).strip(" ,()")
    return f"{name} (τ = {window:,})" if window else f"{name} (no window)"
