"""The survey: many agents, informed and blind, in one table of final regrets over all worlds, and a chart of each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ...figures.style import BLUE, GREY, VERMILION
from ..results import Results
from ..statistics import Estimate, estimate
from ..study import Experiment, WorldEntry
from ..zoo_study import BLIND, REFERENCES
from .charts import Chart, interval_bars, plain
from .overview import places_of
from .page_tables import parameters_in_words, played_with
from .sections import ChartSlot

__all__ = ["Survey", "SurveyColumn", "SurveyRow", "survey_columns", "survey_of"]


@dataclass(frozen=True)
class Cell:
    """How an agent ended on a world, told what it asks for or told nothing."""

    estimate: Estimate
    place: int | None  # None for a reference, which does not compete
    parameters: str

    @property
    def regret(self) -> str:
        """The mean and its standard error."""
        return f"{self.estimate.mean:,.0f} ± {self.estimate.se:,.0f}"


@dataclass(frozen=True)
class SurveyColumn:
    """A survey on one world.

    Attributes:
        place: that of the experiment in its study.
        world: the label of the world.
        cells: how every agent ended, by label; labels of blind forms end in ``BLIND``.
    """

    place: int
    world: str
    cells: dict[str, Cell]


@dataclass(frozen=True)
class SurveyRow:
    """An agent: on every world its result informed, and blind; the same one twice where blind makes no difference.

    Attributes:
        label: the agent's.
        ours: whether it is one of those that the paper itself compares.
        informed: one cell for each world; None where it was not run.
        blind: the same, told T and K alone; None for references.
    """

    label: str
    ours: bool
    informed: list[Cell | None]
    blind: list[Cell | None]

    @property
    def mean_place(self) -> float:
        """The mean over the worlds of its place, informed."""
        return float(np.mean([cell.place for cell in self.informed if cell is not None and cell.place is not None]))

    @property
    def reference(self) -> bool:
        """Whether it is shown for comparison only."""
        return all(cell is None or cell.place is None for cell in self.informed)


@dataclass(frozen=True)
class Survey:
    """The table's worlds and rows, the best mean place first, and a chart for each world."""

    worlds: list[str]
    rows: list[SurveyRow]
    charts: list[ChartSlot]

    @property
    def pairs(self) -> list[tuple[SurveyRow, list[tuple[Cell | None, Cell | None]]]]:
        """Every row with its cells, world by world."""
        return [(row, list(zip(row.informed, row.blind, strict=True))) for row in self.rows]


def survey_of(columns: Sequence[SurveyColumn], papers: Collection[str]) -> Survey | None:
    """The survey of a study; None if it has none.

    Args:
        columns: one for each survey on a world, in the order of the study.
        papers: the labels of the agents that the paper compares, which are marked.
    """
    if not columns:
        return None
    labels = dict.fromkeys(label for column in columns for label in column.cells if not label.endswith(BLIND))
    rows = [
        SurveyRow(
            label,
            label in papers,
            [column.cells.get(label) for column in columns],
            [column.cells.get(label + BLIND) for column in columns],
        )
        for label in labels
    ]
    rows.sort(key=lambda row: (row.reference, 0.0 if row.reference else row.mean_place))
    worlds = [column.world for column in columns]
    charts = [_chart(number, world, rows) for number, world in enumerate(worlds)]
    return Survey(worlds, rows, charts)


def survey_columns(results: Results, world: WorldEntry) -> list[SurveyColumn]:
    """The surveys on a world."""
    return [
        SurveyColumn(place, world.label, _cells(results, experiment, world))
        for place, experiment in enumerate(results.study.experiments)
        if experiment.survey and world in experiment.worlds
    ]


def _cells(results: Results, experiment: Experiment, world: WorldEntry) -> dict[str, Cell]:
    """The cells of one world by label; a label that ends in ``BLIND`` is there for every agent that competes."""
    runs = results.of(experiment, world)
    competing = [label for label in runs if not label.endswith(BLIND) and label not in REFERENCES]
    played_as = {label: label for label in competing}
    played_as |= {label + BLIND: label + BLIND if label + BLIND in runs else label for label in competing}
    ends = {label: estimate(each.final) for label, each in runs.items()}
    informed = places_of({label: ends[label].mean for label in competing})
    blind = places_of({label + BLIND: ends[played_as[label + BLIND]].mean for label in competing})

    def cell(label: str, place: int | None) -> Cell:
        return Cell(ends[label], place, parameters_in_words(played_with(runs[label].parameters)))

    cells = {label: cell(played_as[label], place) for label, place in (informed | blind).items()}
    return cells | {label: cell(label, None) for label in runs if label in REFERENCES}


def _chart(number: int, world: str, rows: list[SurveyRow]) -> ChartSlot:
    """Final regrets on one world, the least on top, on a logarithmic axis."""
    shown = sorted((row for row in rows if row.informed[number]), key=lambda row: -_mean(row.informed[number]))
    names = [plain(f"● {row.label}" if row.ours else row.label) for row in shown]
    traces = [
        _dots("informed", names, [row.informed[number] for row in shown], [row.ours for row in shown], "circle"),
        _dots("blind", names, [row.blind[number] for row in shown], [row.ours for row in shown], "circle-open"),
    ]
    layout: Chart = {
        "margin": {"l": 190, "r": 12, "t": 8, "b": 44},
        "height": 90 + 19 * len(shown),
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "hovermode": "closest",
        "separators": ".,",
        "font": {"size": 12, "color": "#222"},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "xaxis": {
            "type": "log", "title": {"text": "final regret", "standoff": 4}, "tickformat": ",", "gridcolor": "#e4e4e0",
        },
        "yaxis": {"title": {"text": ""}, "automargin": True, "gridcolor": "#f0f0ec", "range": [-0.7, len(shown) - 0.3]},
    }  # fmt: skip
    return ChartSlot(f"survey-{number}", world, {"data": traces, "layout": layout}, scales=False)


def _mean(cell: Cell | None) -> float:
    return 0.0 if cell is None else cell.estimate.mean


def _dots(name: str, names: list[str], cells: list[Cell | None], ours: list[bool], symbol: str) -> Chart:
    drawn = [(label, cell, own) for label, cell, own in zip(names, cells, ours, strict=True) if cell is not None]
    estimates = [cell.estimate for _, cell, _ in drawn]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "y": [label for label, _, _ in drawn],
        "x": [round(each.mean, 1) for each in estimates],
        "error_x": interval_bars(estimates) | {"thickness": 1, "width": 0, "color": GREY},
        "text": [f"{cell.regret}<br>{plain(cell.parameters)}" for _, cell, _ in drawn],
        "hovertemplate": f"%{{y}}, {name}: %{{text}}<extra></extra>",
        "marker": {"symbol": symbol, "size": 9, "color": [VERMILION if own else BLUE for _, _, own in drawn],
                   "line": {"width": 1.6}},
    }  # fmt: skip
