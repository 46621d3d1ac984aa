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
from ..specs import WorldSpec
from ..studies.results import Results
from ..studies.study import Experiment
from ..studies.tables import json_text
from .claims import reading_data, switches_of, verdicts_of
from .detections import embedded
from .overview import Column, SurveyColumn, column_of, overview_of, survey_columns, survey_of
from .sections import ParameterRow, Sections, WorldSection, parameter_rows


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
