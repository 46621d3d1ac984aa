"""The content of the report's sections: final regrets, parameters, pulls and detections, and tables over all worlds."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..agents.core.registry import is_number
from ..detections import Scorecard
from ..figures.style import BLUE, GREY, VERMILION
from ..means import Floats, best_arms
from ..runs import Runs
from ..specs import AgentSpec, WorldSpec
from ..statistics import FEWEST, Estimate, differences, estimate, may_be_as_good, mean_se
from ..studies.results import Results, summaries
from ..studies.study import REFERENCES, Experiment
from ..studies.tables import UNSCORED
from .charts import Chart, interval_bars, plain, regret_line, scatter, starred

NOTHING = "–"  # shown where the reference would be compared with itself
SYMBOLS = {"window": "τ", "gamma": "γ", "delta": "δ", "phi": "φ", "batch": "Δ", "sigma": "σ", "epsilon": "ε",
           "xi": "ξ", "subgaussian": "λ"}  # fmt: skip
DIFFERS = "differs from run to run"
MANY = 12  # arms; of more, the most played ones have columns
MOST = 10
FEW = 12  # breakpoints that a table has columns for

Row = tuple[list[str], bool]  # the cells of a table's row, and whether it is about another reading of an agent


class ChartSlot(NamedTuple):
    """A chart and its place on the page.

    Attributes:
        anchor: the id of the element that holds it.
        title: its heading.
        chart: what plotly draws.
        scales: whether the reader can switch to a logarithmic axis.
    """

    anchor: str
    title: str
    chart: Chart
    scales: bool


def embedded(path: Path) -> str:
    """A file in base 64, to become part of the page."""
    return base64.b64encode(path.read_bytes()).decode()


def parameters_in_words(parameters: Sequence[Mapping[str, Any]], exactly: bool = False) -> str:
    """The parameters of several runs; where these differ, from the least value to the largest.

    Parameters have the letters that papers give them, without K and what is switched off; or, exactly, their names.

    >>> parameters_in_words([{"n_arms": 10, "binarize": False, "window": 2942, "gamma": 0.25}])
    'τ = 2,942, γ = 0.25'
    >>> parameters_in_words([{"window": 210, "xi": 0.6}, {"window": 493, "xi": 0.6}], exactly=True)
    'window = 210 to 493, xi = 0.6'
    """

    def shown(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:g}" if exactly else f"{value:.3g}"
        return f"{value:,}" if type(value) is int and not exactly else str(value)

    said = []
    for key in parameters[0]:
        first, *others = values = [each[key] for each in parameters if key in each]
        if all(type(value) is type(first) and value == first for value in others):
            if exactly or (key != "n_arms" and first is not False):
                said.append((key, shown(first)))
        else:
            numbers = all(map(is_number, values))
            said.append((key, f"{shown(min(values))} to {shown(max(values))}" if numbers else DIFFERS))
    return ", ".join(f"{key if exactly else SYMBOLS.get(key, key)} = {words}" for key, words in said)


def parameter_rows(results: Results, world: WorldSpec) -> list[tuple[str, str, str, str]]:
    """The parameters of every agent on a world, in all runs: the labels, the agent in words, and the parameters."""
    curves = results.curves[world.label]
    return [
        (world.label, label, agent.text, parameters_in_words(curves[label].parameters, exactly=True))
        for label, agent in results.agents[world.label].items()
    ]


def final_rows(results: Results, experiment: Experiment, world: WorldSpec) -> list[Row]:
    """A row for each agent, the least regret first, then for each other reading; a star at labels with a footnote."""

    def interval(found: Estimate, sign: str = "") -> str:
        return NOTHING if np.isnan(found.low) else f"{found.low:{sign},.0f} to {found.high:{sign},.0f}"

    rows = []
    for row in summaries(results, experiment, world):
        final, difference, improvement = row.final, row.difference, row.improvement
        cells = [
            starred(row.label, results.notes(world)),
            f"{final.mean:,.0f} ± {final.se:,.1f}",
            interval(final),
            f"{final.sd:,.0f}",
            NOTHING if difference is None else f"{difference.mean:+,.0f}",
            NOTHING if difference is None else interval(difference, sign="+"),
            NOTHING if improvement is None else f"{improvement.mean:.0%}",
            f"{row.rank:.2f}",
            parameters_in_words(results.curves[world.label][row.label].parameters),
        ]
        rows.append((cells, bool(results.agents[world.label][row.label].stands_for)))
    return rows


class Share(float):
    """A share of the rounds."""

    def __str__(self) -> str:
        return "<1 %" if 0 < self < 0.005 else f"{float(self):.0%}".replace("%", " %")


def pulls_table(curves: Mapping[str, Runs], names: Sequence[str], means: Floats | None) -> dict[str, Any]:
    """The shares of pulls of some agents on a world.

    ``rows`` has the shares of each agent, for each column of ``arms``, of which the last are all other arms where arms
    are many; ``best`` has the share of rounds in which each arm is the best, where all runs have the same means.

    Args:
        curves: the runs by label.
        names: of the arms.
        means: those of all runs; None if they are not known or differ from run to run.
    """
    shares = {label: runs.pulls.sum(axis=0) / runs.pulls.sum() for label, runs in curves.items()}
    best = None if means is None else np.bincount(best_arms(means), minlength=len(names)) / len(means)
    most = np.max([*shares.values(), *([] if best is None else [best])], axis=0)
    shown = sorted(np.argsort(-most, kind="stable")[:MOST].tolist()) if len(names) > MANY else list(range(len(names)))
    rest = len(names) - len(shown)

    def cells(every: Floats) -> list[Share]:
        kept = [Share(every[arm]) for arm in shown]
        return [*kept, Share(max(0.0, 1 - sum(kept)))] if rest else kept

    return {
        "arms": [*(names[arm] for arm in shown), *([f"{rest} others"] if rest else [])],
        "rows": [(label, cells(every)) for label, every in shares.items()],
        "best": None if best is None else cells(best),
    }


def detection_section(
    cards: Mapping[str, Scorecard], agents: Mapping[str, AgentSpec], timeline: Path | None
) -> dict[str, Any]:
    """The detections of agents by label; without cards it says why there are none.

    ``rows`` has a scorecard for each agent that has a detector, ``breakpoints`` its detections at each breakpoint of
    ``heads``, if all runs share a few; ``timeline`` is the picture of all alarms in base 64, empty if there is none.
    """
    shared = next(iter(cards.values())).breakpoints if cards else ()
    rows: list[Row] = []
    breakpoints: list[Row] = []
    notes = [] if cards else [UNSCORED]
    for label, card in cards.items():
        name, other = starred(label, [label] if agents[label].note else []), bool(agents[label].stands_for)
        cells = [
            name,
            card.delay.as_number(),
            card.missed.as_share(),
            card.false_alarms.as_number(),
            card.false_alarm_rate.as_number(),
            card.runs_with_false_alarm.as_share(),
            card.true_alarms.as_number(),
        ]
        rows.append((cells, other))
        found = [
            f"{each.detected} of {len(card.runs)}"
            + ("" if np.isnan(each.delay.value) else f", delay {each.delay.as_number()}")
            for each in card.breakpoints
        ]
        breakpoints.append(([name, *found], other))
        if card.full_logs:
            missing = f"the log of alarms was full in {card.full_logs} runs, and later alarms are not counted"
            notes.append(f"{label}: {missing}.")
    return {
        "rows": rows,
        "heads": [
            f"round {each.round:,}, arm{'s' * (len(each.arms) > 1)} {', '.join(str(arm + 1) for arm in each.arms)}"
            for each in shared
        ],
        "breakpoints": breakpoints if 0 < len(shared) <= FEW else [],
        "notes": notes,
        "timeline": "" if timeline is None else embedded(timeline),
    }


class FinalStanding(NamedTuple):
    """The final regret of an agent on a world: its mean, the same with its standard error, and the parameters."""

    mean: float
    regret: str
    parameters: str


def column_of(results: Results, experiment: Experiment, world: WorldSpec) -> dict[str, Any]:
    """A world on the first screen: the final regrets, the places, and the winner with its lead over the second."""

    def standings(several: Mapping[str, Runs]) -> dict[str, FinalStanding]:
        return {
            label: FinalStanding(float(runs.final.mean()), mean_se(runs.final), parameters_in_words(runs.parameters))
            for label, runs in several.items()
        }

    curves = results.of(experiment, world)
    readings = results.other_readings(experiment, world).values()
    found = standings(curves)
    lead, order = None, sorted(found, key=lambda label: found[label].mean)
    if len(order) > 1:
        more = differences({label: runs.final for label, runs in curves.items()}, order[0])
        alike = [label for label in order[1:] if more[label].low <= 0]
        lead = order[0], _lead_in_words(order[1], more[order[1]], alike)
    return {
        "label": world.label,
        "standings": found,
        "others": standings({label: runs for several in readings for label, runs in several.items()}),
        "places": places_of({label: each.mean for label, each in found.items()}),
        "lead": lead,
    }


def _lead_in_words(second: str, margin: Estimate, alike: Sequence[str]) -> str:
    """The lead over the second; ``alike`` are not told apart from the best."""
    if margin.mean == 0:
        return f"level with {second}"
    mean, low, high = (
        (f"{value:,.0f}" if abs(value) >= 10 else f"{value:.2g}").replace("-", "−")
        for value in (margin.mean, margin.low, margin.high)
    )
    if np.isnan(margin.low):
        return f"{mean} less than {second}; how sure that is cannot be said: play at least {FEWEST} runs"
    return f"{mean} less than {second} (95 % interval {low} to {high})" + (
        f"; {may_be_as_good(alike)}" if alike else ""
    )


def places_of(means: Mapping[str, float]) -> dict[str, int]:
    """The place of each label: 1 has the least mean; equal means share the better place.

    >>> places_of({"a": 2.0, "b": 1.0, "c": 2.0, "d": 3.0})
    {'a': 2, 'b': 1, 'c': 2, 'd': 4}
    """
    return {label: 1 + sum(other < mean for other in means.values()) for label, mean in means.items()}


def agent_rows(columns: Sequence[Mapping[str, Any]], notes: Collection[str]) -> list[dict[str, Any]]:
    """The agents of the first screen: the name with a star for a footnote, the line, and the mean rank over worlds.

    Args:
        columns: one for each world.
        notes: the labels of agents that have a footnote.
    """
    rows = []
    for number, label in enumerate(dict.fromkeys(label for column in columns for label in column["places"])):
        places = [column["places"][label] for column in columns if label in column["places"]]
        name, mean_rank = starred(label, notes), float(np.mean(places))
        rows.append({"label": label, "name": name, "line": regret_line(number), "mean_rank": mean_rank})
    return rows


class Cell(NamedTuple):
    """The final regret of an agent on a world, informed or blind."""

    final: Estimate
    place: int | None  # None for a reference, which does not compete
    parameters: str

    @property
    def regret(self) -> str:
        """The mean and its standard error."""
        return f"{self.final.mean:,.0f} ± {self.final.se:,.0f}"


class SurveyColumn(NamedTuple):
    """A survey on one world.

    Attributes:
        place: that of the experiment in its study.
        world: the label of the world.
        cells: the final regret of every agent, by its label when informed and whether it is blind.
    """

    place: int
    world: str
    cells: dict[tuple[str, bool], Cell]


def survey_columns(results: Results, world: WorldSpec) -> list[SurveyColumn]:
    """The surveys on a world; an agent with one form has it twice, and a reference has no place."""
    columns = []
    for number, experiment in enumerate(results.study.experiments):
        if not experiment.survey or world not in experiment.worlds:
            continue
        runs = results.of(experiment, world)
        played = {(agent.informed_label, agent.blind): runs[agent.label] for agent in experiment.ranked}
        forms = {
            form: Cell(estimate(each.final), None, parameters_in_words(each.parameters))
            for form, each in played.items()
        }
        cells = {form: cell for form, cell in forms.items() if form[0] in REFERENCES}
        labels = dict.fromkeys(label for label, _ in forms if label not in REFERENCES)
        for blind in (False, True):
            here = {label: forms.get((label, blind)) or forms[label, not blind] for label in labels}
            places = places_of({label: cell.final.mean for label, cell in here.items()})
            cells |= {(label, blind): cell._replace(place=places[label]) for label, cell in here.items()}
        columns.append(SurveyColumn(number, world.label, cells))
    return columns


def survey_of(columns: Sequence[SurveyColumn], papers: Collection[str]) -> dict[str, Any] | None:
    """The survey of a study, the best mean rank first, and a chart for each world; None if it has none.

    Args:
        columns: one for each survey on a world.
        papers: the labels of the agents that the paper compares, which are marked.
    """
    if not columns:
        return None
    columns = sorted(columns, key=lambda column: column.place)
    rows: list[dict[str, Any]] = []
    for label in dict.fromkeys(label for column in columns for label, _ in column.cells):
        cells = [[column.cells.get((label, blind)) for blind in (False, True)] for column in columns]
        places = [informed.place for informed, _ in cells if informed is not None and informed.place is not None]
        mean_rank = float(np.mean(places)) if places else None  # None for a reference
        rows.append({"label": label, "ours": label in papers, "cells": cells, "mean_rank": mean_rank})
    rows.sort(key=lambda row: (row["mean_rank"] is None, row["mean_rank"] or 0.0))
    charts = [_survey_chart(number, column.world, rows) for number, column in enumerate(columns)]
    return {"worlds": [column.world for column in columns], "rows": rows, "charts": charts}


def _survey_chart(number: int, world: str, rows: Sequence[Mapping[str, Any]]) -> ChartSlot:
    """Final regrets on one world, the least on top, on a logarithmic axis."""
    shown = [row for row in rows if row["cells"][number][0] is not None]
    shown.sort(key=lambda row: -row["cells"][number][0].final.mean)
    traces = []
    for form, (name, symbol) in enumerate((("informed", "circle"), ("blind", "circle-open"))):
        drawn = [(row, cell) for row in shown if (cell := row["cells"][number][form]) is not None]
        finals = [cell.final for _, cell in drawn]
        colours = [VERMILION if row["ours"] else BLUE for row, _ in drawn]
        trace = scatter(
            name,
            "markers",
            y=[plain(f"● {row['label']}" if row["ours"] else row["label"]) for row, _ in drawn],
            x=[round(each.mean, 1) for each in finals],
            error_x=interval_bars(finals) | {"thickness": 1, "width": 0, "color": GREY},
            text=[f"{cell.regret}<br>{plain(cell.parameters)}" for _, cell in drawn],
            hovertemplate=f"%{{y}}, {name}: %{{text}}<extra></extra>",
            marker={"symbol": symbol, "size": 9, "color": colours, "line": {"width": 1.6}},
        )
        traces.append(trace)
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
