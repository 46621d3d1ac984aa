"""The report: one self-contained page with verdicts, interactive curves, tables, settings and provenance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
from .overview import overview_of
from .page_tables import parameter_rows
from .rendering import render
from .sections import Sections
from .survey import survey_of
from .switches import switches_of
from .verdicts import verdicts_of

__all__ = ["Page"]


@dataclass(frozen=True)
class Picture:
    """An SVG file that becomes part of the page."""

    description: str
    base64: str


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
        worlds = Sections(self.results, self.means, self.drawn_anew, self.timelines, self.sweeps).of_worlds()
        overview = overview_of(self.results, worlds)
        switches = switches_of(self.judged)
        survey = survey_of(self.results, overview.labels)
        slots = [slot for world in worlds for slot in world.charts] + (survey.charts if survey else [])
        return render(
            {
                "title": self.results.study.title,
                "command": self.command,
                "meta": self._meta(),
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
                "parameters": parameter_rows(self.results),
                "settings": self.settings,
                "charts": {slot.anchor: slot.chart for slot in slots},
                "readings": {**reading_data(self.judged, switches, self._labels()), **overview.data()},
            }
        )

    def _labels(self) -> list[str]:
        """The labels of all agents of all experiments, without other readings of them."""
        ranked = (agent.label for experiment in self.results.study.experiments for agent in experiment.ranked)
        return list(dict.fromkeys(ranked))

    def _meta(self) -> list[str]:
        """What one must know of the runs: when, how many, how long, from which seed."""
        experiments = self.results.study.experiments
        horizons = dict.fromkeys(runs.horizon for curves in self.results.curves.values() for runs in curves.values())
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
        starred = (self.results.notes(world).items() for world in self.results.study.worlds)
        return [f"* {label}: {note}" for label, note in dict.fromkeys(pair for pairs in starred for pair in pairs)]

    def _pictures(self) -> list[Picture]:
        return [Picture(description, embedded(path)) for path, description in self.explanations]
