"""The report: one self-contained page with verdicts, interactive curves, tables, settings and provenance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..claims.judging import RULE, Judged, Untested
from ..figures.regret import Swept
from ..figures.style import BLUE, GREY, VERMILION
from ..runs import Runs
from ..specs import WorldSpec
from ..statistics import Estimate, estimate, mean_se
from ..studies.results import Results
from ..studies.study import REFERENCES, Experiment
from ..studies.tables import json_text
from .charts import Chart, interval_bars, plain, regret_line
from .claims import reading_data, switches_of, verdicts_of
from .sections import (
    ChartSlot,
    ParameterRow,
    Sections,
    WorldSection,
    embedded,
    parameter_rows,
    parameters_in_words,
    played_with,
)


@cache
def environment(*packages: str) -> Environment:
    """The Jinja environment of the templates of some packages, and of the report's."""
    loader = ChoiceLoader([PackageLoader(package) for package in (*packages, __package__ or "")])

    def file(name: str) -> Markup:
        """The text of a style or script as it is, not read as a template: its braces mean something else."""
        return Markup(loader.get_source(env, name)[0])

    env = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    env.globals["file"] = file
    # The filter `tojson` writes <, > and & as numbers, so that no text can end the script element that holds it.
    env.policies["json.dumps_function"] = json_text
    env.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return env


def render(content: dict[str, Any]) -> str:
    """The page with this content, and with the library that draws its charts."""
    return environment().get_template("page.html").render(content, plotly=Markup(get_plotlyjs()))


@dataclass(frozen=True)
class Picture:
    """An SVG file that becomes part of the page."""

    description: str
    base64: str


@dataclass(frozen=True)
class WorldPart:
    """The parts of the page that are made of the runs on one world.

    Attributes:
        section: its section.
        column: its column on the first screen.
        surveys: the surveys on it.
        parameters: those of all agents.
        horizons: those of all agents' runs.
    """

    section: WorldSection
    column: Column
    surveys: list[SurveyColumn]
    parameters: list[ParameterRow]
    horizons: list[int]


@dataclass(frozen=True, kw_only=True)
class Page:
    """The content of a report; :meth:`html` writes it.

    Attributes:
        results: the results of the study.
        means: an instance of each world by label, where its means are known.
        summary: a sentence about the size of the study.
        settings: pairs of a setting and its value.
        judged: claims with their verdicts, if there are any.
        notes: remarks on choices that were made.
        explanations: figures with a description, shown with the notes.
        warning: a text to be read before the verdicts.
        drawn_anew: the labels of worlds whose means differ from run to run.
        command: the command that made the report.
        made: the date and time of its making.
        untested: sentences that runs cannot decide, with the reason.
        not_taken: readings of what is left open that were not taken, with the reason.
        timelines: SVG files with the alarms of an experiment's agents on a world.
        sweeps: the sweeps of an experiment's agents on a world.
    """

    results: Results
    means: Mapping[str, npt.NDArray[np.float64] | None]
    summary: str
    settings: Sequence[tuple[str, Any]]
    judged: Sequence[Judged] = ()
    notes: Sequence[str] = ()
    explanations: Sequence[tuple[Path, str]] = ()
    warning: str = ""
    drawn_anew: Collection[str] = ()
    command: str = ""
    made: str = ""
    untested: Sequence[Untested] = ()
    not_taken: Sequence[str] = ()
    timelines: Mapping[tuple[Experiment, WorldSpec], Path] = field(default_factory=dict)
    sweeps: Mapping[tuple[Experiment, WorldSpec], Sequence[Swept]] = field(default_factory=dict)

    def html(self) -> str:
        """The whole page."""
        parts = [self._of_world(number, world) for number, world in enumerate(self.results.study.worlds)]
        worlds = [part.section for part in parts]
        overview = overview_of([part.column for part in parts], {label for label, _ in self._notes()})
        switches = switches_of(self.judged)
        experiments = self.results.study.experiments
        labels = dict.fromkeys(agent.label for experiment in experiments for agent in experiment.ranked)
        surveys = sorted((each for part in parts for each in part.surveys), key=lambda each: each.place)
        survey = survey_of(surveys, overview.labels)
        slots = [slot for world in worlds for slot in world.charts] + (survey.charts if survey else [])
        return render(
            {
                "title": self.results.study.title,
                "command": self.command,
                "meta": self._meta(dict.fromkeys(horizon for part in parts for horizon in part.horizons)),
                "summary": self.summary,
                "warning": self.warning,
                "overview": overview,
                "rule": RULE,
                "verdicts": verdicts_of(self.judged, switches) if self.judged else None,
                "switches": switches,
                "untested": self.untested,
                "not_taken": self.not_taken,
                "footnotes": self.footnotes(),
                "survey": survey,
                "worlds": worlds,
                "notes": self.notes,
                "pictures": [Picture(description, embedded(path)) for path, description in self.explanations],
                "parameters": [row for part in parts for row in part.parameters],
                "settings": self.settings,
                "charts": {slot.anchor: slot.chart for slot in slots},
                "readings": {**reading_data(self.judged, switches, labels), **overview.data()},
            }
        )

    def _of_world(self, number: int, world: WorldSpec) -> WorldPart:
        """Everything that is made of the runs on one world, which are held meanwhile."""
        section = Sections(self.results, self.means, self.drawn_anew, self.timelines, self.sweeps).of(number, world)
        return WorldPart(
            section,
            column_of(self.results, section),
            survey_columns(self.results, world),
            parameter_rows(self.results, world),
            [runs.horizon for runs in self.results.curves[world.label].values()],
        )

    def _meta(self, horizons: Iterable[int]) -> list[str]:
        """The facts of the runs: their date, number, length and seed."""
        experiments = self.results.study.experiments
        runs, seeds = (dict.fromkeys(getattr(each, part) for each in experiments) for part in ("runs", "seed"))
        later = max((each.later.runs for each in self.judged if each.later is not None), default=0)
        facts = [
            self.made,
            f"{', '.join(map(str, runs))} runs" + (f", further runs to {later:,}" if later else ""),
            f"{', '.join(f'{horizon:,}' for horizon in horizons)} rounds",
            f"seed {', '.join(map(str, seeds))}",
        ]
        return [fact for fact in facts if fact]

    def footnotes(self) -> list[str]:
        """The meanings of the stars at agents' names."""
        return [f"* {label}: {note}" for label, note in self._notes()]

    def _notes(self) -> list[tuple[str, str]]:
        """The labels of agents with remarks on them, each pair once."""
        notes = (self.results.notes(world).items() for world in self.results.study.worlds)
        return list(dict.fromkeys(pair for pairs in notes for pair in pairs))


@dataclass(frozen=True)
class FinalStanding:
    """The final regret of an agent on a world.

    Attributes:
        mean: its mean final regret.
        regret: the same with its standard error, as text.
        parameters: those with which it played.
    """

    mean: float
    regret: str
    parameters: str

    def data(self) -> list[Any]:
        """The data with which the script puts the standings of other readings into the table."""
        return [self.mean, self.regret, self.parameters]


@dataclass(frozen=True)
class Lead:
    """The agent with the least mean final regret on a world, and by how much it leads the next one.

    Attributes:
        winner: its label.
        second: the label of the next one.
        margin: how much more regret the second has, with a 95 % interval of the difference run by run.
    """

    winner: str
    second: str
    margin: Estimate

    def __str__(self) -> str:
        if self.margin.mean == 0:
            return f"level with {self.second}"
        found = f"{_number(self.margin.mean)} less than {self.second}"
        interval = f"95 % interval {_number(self.margin.low)} to {_number(self.margin.high)}"
        if self.margin.low > 0:
            return f"{found} ({interval})"
        return f"{found}, which may be luck ({interval})"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace("-", "−") if abs(value) >= 10 else f"{value:.2g}".replace("-", "−")


@dataclass(frozen=True)
class Column:
    """A world on the first screen.

    Attributes:
        anchor: the id of its section.
        label: its label.
        chart: the id of the chart whose lines the small one shows.
        standings: the final regret of each compared agent, by label.
        others: the same for other readings of these agents.
        lead: the winner and its margin; None where fewer than two agents are compared.
    """

    anchor: str
    label: str
    chart: str
    standings: dict[str, FinalStanding]
    others: dict[str, FinalStanding]
    lead: Lead | None = None

    @property
    def places(self) -> dict[str, int]:
        """The place of each compared agent."""
        return places_of({label: each.mean for label, each in self.standings.items()})

    def data(self) -> dict[str, list[Any]]:
        """The standings of all agents and of their other readings, by label."""
        return {label: each.data() for label, each in (self.standings | self.others).items()}


@dataclass(frozen=True)
class AgentRow:
    """An agent: its label, its name with a star if it has a footnote, and how its line is drawn."""

    label: str
    name: str
    line: Chart

    @property
    def dashes(self) -> str:
        """The dashes as SVG writes them."""
        return "" if self.line["dash"] == "solid" else str(self.line["dash"]).replace("px", "")


@dataclass(frozen=True)
class Overview:
    """The first screen's worlds and agents."""

    columns: Sequence[Column]
    rows: list[AgentRow]

    @property
    def labels(self) -> list[str]:
        """The labels of all agents that are compared."""
        return [row.label for row in self.rows]

    @property
    def longest(self) -> int:
        """The number of letters of the longest name."""
        return max(len(row.name) for row in self.rows)

    @property
    def mean_places(self) -> dict[str, float]:
        """The mean over the worlds of each agent's place, by label."""
        places = [column.places for column in self.columns]
        return {label: float(np.mean([there[label] for there in places if label in there])) for label in self.labels}

    def data(self) -> dict[str, Any]:
        """The data of the script: the styles of lines, and every standing."""
        return {
            "agents": [{"label": row.label, "line": row.line} for row in self.rows],
            "worlds": [column.data() for column in self.columns],
        }


def overview_of(columns: Sequence[Column], starred: Collection[str]) -> Overview:
    """The first screen of a report.

    Args:
        columns: one for each world.
        starred: the labels of agents that have a footnote.
    """
    labels = list(dict.fromkeys(label for column in columns for label in column.standings))
    rows = [
        AgentRow(label, f"{label}*" if label in starred else label, regret_line(n)) for n, label in enumerate(labels)
    ]
    return Overview(columns, rows)


def column_of(results: Results, section: WorldSection) -> Column:
    """A world on the first screen."""
    main, world = section.main, section.entry
    readings = results.other_readings(main.experiment, world).values()
    standings = {label: _standing(runs) for label, runs in results.of(main.experiment, world).items()}
    others = {label: _standing(runs) for several in readings for label, runs in several.items()}
    lead, finals = None, {label: runs.final for label, runs in results.of(main.experiment, world).items()}
    if len(finals) > 1:
        winner, second = sorted(finals, key=lambda label: float(finals[label].mean()))[:2]
        lead = Lead(winner, second, estimate(finals[second] - finals[winner]))
    return Column(section.anchor, world.label, main.charts[0].anchor, standings, others, lead)


def _standing(runs: Runs) -> FinalStanding:
    return FinalStanding(
        float(runs.final.mean()), mean_se(runs.final), parameters_in_words(played_with(runs.parameters))
    )


def places_of(means: Mapping[str, float]) -> dict[str, int]:
    """The place of each label: 1 has the least mean; equal means share the better place.

    >>> places_of({"a": 2.0, "b": 1.0, "c": 2.0, "d": 3.0})
    {'a': 2, 'b': 1, 'c': 2, 'd': 4}
    """
    return {label: 1 + sum(other < mean for other in means.values()) for label, mean in means.items()}


@dataclass(frozen=True)
class Cell:
    """The final regret of an agent on a world, informed or blind."""

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
        cells: the final regret of every agent, by its label when informed and whether it is blind.
    """

    place: int
    world: str
    cells: dict[tuple[str, bool], Cell]


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
        """True for an agent that is shown for comparison only."""
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
    rows = [
        SurveyRow(
            label,
            label in papers,
            [column.cells.get((label, False)) for column in columns],
            [column.cells.get((label, True)) for column in columns],
        )
        for label in dict.fromkeys(label for column in columns for label, _ in column.cells)
    ]
    rows.sort(key=lambda row: (row.reference, 0.0 if row.reference else row.mean_place))
    worlds = [column.world for column in columns]
    charts = [_survey_chart(number, world, rows) for number, world in enumerate(worlds)]
    return Survey(worlds, rows, charts)


def survey_columns(results: Results, world: WorldSpec) -> list[SurveyColumn]:
    """The surveys on a world."""
    return [
        SurveyColumn(place, world.label, _cells(results, experiment, world))
        for place, experiment in enumerate(results.study.experiments)
        if experiment.survey and world in experiment.worlds
    ]


def _cells(results: Results, experiment: Experiment, world: WorldSpec) -> dict[tuple[str, bool], Cell]:
    """The cells of one world; an agent with one form has it twice, and a reference has no place."""
    runs = results.of(experiment, world)
    played = {(agent.informed_label, agent.blind): runs[agent.label] for agent in experiment.ranked}
    ends = {form: estimate(each.final) for form, each in played.items()}

    def cell(form: tuple[str, bool], place: int | None) -> Cell:
        return Cell(ends[form], place, parameters_in_words(played_with(played[form].parameters)))

    cells: dict[tuple[str, bool], Cell] = {}
    for blind in (False, True):
        labels = dict.fromkeys(label for label, _ in played if label not in REFERENCES)
        forms = {label: (label, blind if (label, blind) in played else not blind) for label in labels}
        places = places_of({label: ends[form].mean for label, form in forms.items()})
        cells |= {(label, blind): cell(form, places[label]) for label, form in forms.items()}
    return cells | {form: cell(form, None) for form in played if form[0] in REFERENCES}


def _survey_chart(number: int, world: str, rows: list[SurveyRow]) -> ChartSlot:
    """Final regrets on one world, the least on top, on a logarithmic axis."""
    played = [(cell.estimate.mean, row) for row in rows if (cell := row.informed[number]) is not None]
    shown = [row for _, row in sorted(played, key=lambda each: -each[0])]
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
