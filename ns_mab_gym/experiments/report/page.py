"""The report: one self-contained page with verdicts, interactive curves, tables, settings and provenance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...figures.sweep_plot import Swept
from ..claims import RULE, Judged, Untested
from ..results import Results
from ..study import Experiment, WorldEntry
from .detection_tables import embedded
from .judgement_data import reading_data
from .overview import Column, column_of, overview_of
from .page_tables import ParameterRow, parameter_rows
from .rendering import render
from .sections import Sections, WorldSection
from .survey import SurveyColumn, survey_columns, survey_of
from .switches import switches_of
from .verdicts import verdicts_of

__all__ = ["Page"]


@dataclass(frozen=True)
class Picture:
    """An SVG file that becomes part of the page."""

    description: str
    base64: str


@dataclass(frozen=True)
class WorldPart:
    """What the page shows of the runs on one world.

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


@dataclass
class Page:
    """What a report shows; :meth:`html` writes it.

    Attributes:
        results: the results of the study.
        means: an instance of each world by label, where its means are known.
        summary: a sentence about the size of the study.
        settings: pairs of a setting and its value.
        judged: claims with their verdicts, if there are any.
        notes: what the reader must know about choices that were made.
        explanations: figures with a description, shown with the notes.
        warning: what must be read before the verdicts.
        drawn_anew: the labels of worlds whose means differ from run to run.
        command: what was typed to make the report.
        made: when it was made.
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
    timelines: Mapping[tuple[Experiment, WorldEntry], Path] = field(default_factory=dict)
    sweeps: Mapping[tuple[Experiment, WorldEntry], Sequence[Swept]] = field(default_factory=dict)

    def html(self) -> str:
        """The whole page."""
        parts = [self._of_world(number, world) for number, world in enumerate(self.results.study.worlds)]
        worlds = [part.section for part in parts]
        overview = overview_of([part.column for part in parts], self._starred())
        switches = switches_of(self.judged)
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
                "pictures": self._pictures(),
                "parameters": [row for part in parts for row in part.parameters],
                "settings": self.settings,
                "charts": {slot.anchor: slot.chart for slot in slots},
                "readings": {**reading_data(self.judged, switches, self._labels()), **overview.data()},
            }
        )

    def _of_world(self, number: int, world: WorldEntry) -> WorldPart:
        """Everything that is made of the runs on one world, which are held meanwhile."""
        section = Sections(self.results, self.means, self.drawn_anew, self.timelines, self.sweeps).of(number, world)
        return WorldPart(
            section,
            column_of(self.results, section),
            survey_columns(self.results, world),
            parameter_rows(self.results, world),
            [runs.horizon for runs in self.results.curves[world.label].values()],
        )

    def _labels(self) -> list[str]:
        """The labels of all agents of all experiments, without other readings of them."""
        ranked = (agent.label for experiment in self.results.study.experiments for agent in experiment.ranked)
        return list(dict.fromkeys(ranked))

    def _meta(self, horizons: Iterable[int]) -> list[str]:
        """What one must know of the runs: when, how many, how long, from which seed."""
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
        """What the stars at agents' names mean."""
        return [f"* {label}: {note}" for label, note in self._notes()]

    def _starred(self) -> set[str]:
        return {label for label, _ in self._notes()}

    def _notes(self) -> list[tuple[str, str]]:
        """The labels of agents with what must be said about them, each pair once."""
        notes = (self.results.notes(world).items() for world in self.results.study.worlds)
        return list(dict.fromkeys(pair for pairs in notes for pair in pairs))

    def _pictures(self) -> list[Picture]:
        return [Picture(description, embedded(path)) for path, description in self.explanations]
