"""Interactive charts of sweeps: final regret against a parameter, a line for each family of agents."""

from __future__ import annotations

from collections.abc import Sequence

from ...figures.style import line_style
from ...figures.sweep_plot import Swept
from ..statistics import estimate
from .charts import Chart, axes_layout, interval_bars, plain

__all__ = ["charts_of_sweeps"]

DASHES = {"tuned": "dot", "recommended": "dash"}
SAID = {"tuned": "tuned by its own formula", "recommended": "recommended by the theory’s heuristic"}


def charts_of_sweeps(swept: Sequence[Swept]) -> dict[str, Chart]:
    """A chart for each parameter that is swept, by its name."""
    parameters = dict.fromkeys(each.parameter for each in swept)
    return {name: _chart(name, [each for each in swept if each.parameter == name]) for name in parameters}


def _chart(parameter: str, swept: Sequence[Swept]) -> Chart:
    """Mean final regrets with 95 % intervals; upright lines at the values that theory would choose."""
    traces: list[Chart] = []
    positive = min(value for each in swept for value in each.values) > 0
    top = max(estimate(finals).high for each in swept for finals in each.finals)
    for index, each in enumerate(swept):
        colour = line_style(index)["color"]
        traces.append(_line(each, colour))
        traces += [_mark(each, mark, value, top, colour) for mark, value in each.marks.items()]
    layout = axes_layout("final regret", [])
    layout["hovermode"] = "closest"
    layout["xaxis"] |= {"title": {"text": plain(parameter), "standoff": 4}, "type": "log" if positive else "linear"}
    return {"data": traces, "layout": layout}


def _line(swept: Swept, colour: str) -> Chart:
    ends = [estimate(finals) for finals in swept.finals]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(swept.label),
        "x": swept.values,
        "y": [round(each.mean, 1) for each in ends],
        "error_y": interval_bars(ends) | {"thickness": 1.3, "color": colour},
        "text": [f"{each.low:,.0f} to {each.high:,.0f}" for each in ends],
        "line": {"color": colour, "width": 1.6},
        "marker": {"size": 8},
        "hovertemplate": "%{x:,}: %{y:,.0f} (%{text})<extra>%{fullData.name}</extra>",
    }


def _mark(swept: Swept, mark: str, value: float, top: float, colour: str) -> Chart:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(f"{swept.label}, {mark}: {value:,.6g}"),
        "x": [value, value],
        "y": [0, round(top, 1)],
        "line": {"color": colour, "width": 1.6, "dash": DASHES.get(mark, "dashdot")},
        "hovertemplate": f"{plain(SAID.get(mark, mark))}: {value:,.6g}<extra></extra>",
    }
