"""Interactive charts as plain plotly JSON: values appear on hover, and the legend switches agents on and off."""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..figures.regret import Member, Swept, by_parameter, family_styles, thinned
from ..figures.style import FAINT, line_style
from ..figures.worlds import arm_colours, kept_rounds
from ..runs import Runs
from ..statistics import Estimate, estimate

MANY = 20  # arms; of more, only those that lead at some time are in the legend
Chart = dict[str, Any]


def regret_chart(curves: Mapping[str, Runs], changes: Sequence[int], notes: Mapping[str, str]) -> Chart:
    """A chart of the mean cumulative regret with one standard deviation; a click on a name hides both."""
    traces = []
    for index, (label, curve) in enumerate(curves.items()):
        style = line_style(index)
        name = starred(label, notes)
        traces += [_band(curve, name, style["color"]), _line(curve, name, _dash(style), style["color"])]
    layout = axes_layout("cumulative regret", _phases(changes, curve.horizon))
    return {"data": traces, "layout": layout, "agents": list(curves)}


def other_curves(readings: Mapping[str, Mapping[str, Runs]], notes: Mapping[str, str]) -> Chart:
    """The curves of other readings of a chart's agents, by their own labels, at the same rounds as the chart's."""
    return {
        label: {
            "name": plain(name := starred(label, notes)),
            "traces": [_band(curve, name, "")["y"], _line(curve, name, {}, "")["y"]],
        }
        for curves in readings.values()
        for label, curve in curves.items()
    }


def regret_line(index: int) -> Chart:
    """The line of the n-th agent of a regret chart."""
    style = line_style(index)
    return {"color": style["color"], "dash": _dash(style).get("dash", "solid")}


def family_chart(members: Mapping[str, Member]) -> Chart:
    """A chart of the mean cumulative regret of the members of a family, by their labels."""
    traces = []
    family = list(members.values())
    for member, style in zip(family, family_styles(family), strict=True):
        line = {"width": 1.2 * style["linewidth"], **_dash(style)}
        traces.append(_line(member.runs, str(member), line, style["color"]))
    return {"data": traces, "layout": axes_layout("cumulative regret", []), "agents": list(members)}


def other_members(members: Mapping[str, Member], readings: Mapping[str, Mapping[str, Runs]]) -> Chart:
    """The curves of other readings of a family's members, by their own labels, which begin with the members'."""
    return {
        label: {
            "name": plain(f"{members[agent]} ({label.removeprefix(agent).strip(' ()')})"),
            "traces": [_line(curve, label, {}, "")["y"]],
        }
        for agent, curves in readings.items()
        if agent in members
        for label, curve in curves.items()
    }


def means_chart(means: npt.NDArray[np.float64], changes: Sequence[int], names: Sequence[str] | None = None) -> Chart:
    """A chart of the means of every arm, under the arms' names."""
    shown = names or [f"arm {arm + 1}" for arm in range(means.shape[1])]
    colours, many = arm_colours(means), means.shape[1] > MANY
    named = {colour for colour in colours if not many or colour != FAINT}  # others are told under the mouse
    rounds = kept_rounds(means, points=600)
    traces = [
        scatter(
            shown[arm],
            x=(rounds + 1).tolist(),
            y=[round(float(value), 4) for value in means[rounds, arm]],
            line={"color": colour, "width": 1.6},
            hovertemplate="%{y:.3f}",
            showlegend=colour in named,
        )
        for arm, colour in enumerate(colours)
    ]
    layout = axes_layout("mean reward", _phases(changes, len(means)))
    return {"data": traces, "layout": layout | ({"hovermode": "closest"} if many else {})}


def scatter(name: str, mode: str = "lines", **look: Any) -> Chart:
    """A trace under a name, which is plain text."""
    return {"type": "scatter", "mode": mode, "name": plain(name), **look}


def _line(curve: Runs, name: str, line: Chart, colour: Any) -> Chart:
    rounds, regret = thinned(curve)
    return scatter(
        name,
        legendgroup=plain(name),
        x=rounds.tolist(),
        y=_rounded(regret.mean(axis=0)),
        line={"color": colour, "width": 2, **line},
        hovertemplate="%{y:,.0f}",
    )


def _band(curve: Runs, name: str, colour: str) -> Chart:
    rounds, regret = thinned(curve)
    mean, sd = regret.mean(axis=0), regret.std(axis=0, ddof=min(1, len(regret) - 1))
    return scatter(
        name,
        legendgroup=plain(name),
        x=[*rounds.tolist(), *rounds[::-1].tolist()],
        y=_rounded(np.concatenate((mean + sd, np.maximum(mean - sd, 0)[::-1]))),
        fill="toself",
        fillcolor=colour,
        opacity=0.15,
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def interval_bars(estimates: Sequence[Estimate]) -> Chart:
    """Error bars from the lower to the upper ends of intervals."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [round(each.high - each.mean, 1) for each in estimates],
        "arrayminus": [round(each.mean - each.low, 1) for each in estimates],
    }


def plain(name: str) -> str:
    """A name as plain text for plotly, which reads some HTML in names, but does not know ``&quot;``."""
    return html.escape(name, quote=False)


def starred(label: str, notes: Collection[str]) -> str:
    """A label, with a star if there is a footnote about it."""
    return f"{label}*" if label in notes else label


def _rounded(values: npt.NDArray[np.float64]) -> list[float]:
    return [round(float(value), 1) for value in values]


def _dash(style: Mapping[str, Any]) -> Chart:
    """Matplotlib's dashes as plotly's."""
    dashes = style.get("linestyle", "-")
    return {} if dashes == "-" else {"dash": ",".join(f"{2 * length:g}px" for length in dashes[1])}


def _phases(changes: Sequence[int], horizon: int) -> list[Chart]:
    edges = [1, *changes, horizon + 1] if changes else []
    return [
        {"type": "rect", "xref": "x", "yref": "paper", "x0": first, "x1": after, "y0": 0, "y1": 1, "layer": "below",
         "fillcolor": "#f0f0ec", "line": {"width": 0}}
        for first, after in zip(edges[::2], edges[1::2], strict=False)
    ]  # fmt: skip


def axes_layout(title: str, shapes: list[Chart]) -> Chart:
    """The layout of a chart whose horizontal axis is the round, unless its title is replaced."""
    return {
        "margin": {"l": 70, "r": 12, "t": 12, "b": 48},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "hovermode": "x unified",
        "hoverlabel": {"namelength": -1},
        "separators": ".,",
        "shapes": shapes,
        "legend": {"orientation": "h", "y": -0.17, "yanchor": "top", "x": 0},
        "xaxis": {"title": {"text": "round", "standoff": 4}, "tickformat": ",", "hoverformat": ",", "zeroline": False},
        "yaxis": {
            "title": {"text": title, "standoff": 6},
            "tickformat": ",",
            "gridcolor": "#e4e4e0",
            "rangemode": "tozero",
        },
        "font": {"size": 13, "color": "#222"},
    }


DASHES = {"tuned": "dot", "recommended": "dash"}
SAID = {"tuned": "tuned by its own formula", "recommended": "recommended by the theory’s heuristic"}


def charts_of_sweeps(swept: Sequence[Swept]) -> dict[str, Chart]:
    """A chart for each parameter that is swept, by its name."""
    return {some[0].parameter: _sweep_chart(some) for some in by_parameter(swept)}


def _sweep_chart(swept: Sequence[Swept]) -> Chart:
    """Mean final regrets with 95 % intervals; upright lines at the values that theory would choose."""
    traces: list[Chart] = []
    positive = min(value for each in swept for value in each.values) > 0
    top = max(estimate(finals).high for each in swept for finals in each.finals)
    for index, each in enumerate(swept):
        line, ends = {"color": line_style(index)["color"], "width": 1.6}, [estimate(finals) for finals in each.finals]
        means = scatter(
            each.label,
            "lines+markers",
            x=each.values,
            y=[round(end.mean, 1) for end in ends],
            error_y=interval_bars(ends) | {"thickness": 1.3, "color": line["color"]},
            text=[f"{end.low:,.0f} to {end.high:,.0f}" for end in ends],
            line=line,
            marker={"size": 8},
            hovertemplate="%{x:,}: %{y:,.0f} (%{text})<extra>%{fullData.name}</extra>",
        )
        marks = [
            scatter(
                f"{each.label}, {mark}: {value:,.6g}",
                x=[value, value],
                y=[0, round(top, 1)],
                line=line | {"dash": DASHES.get(mark, "dashdot")},
                hovertemplate=f"{plain(SAID.get(mark, mark))}: {value:,.6g}<extra></extra>",
            )
            for mark, value in each.marks.items()
        ]
        traces += [means, *marks]
    layout = axes_layout("final regret", [])
    layout["hovermode"] = "closest"
    title = {"text": plain(swept[0].parameter), "standoff": 4}
    layout["xaxis"] |= {"title": title, "type": "log" if positive else "linear"}
    return {"data": traces, "layout": layout}
