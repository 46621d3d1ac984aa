"""The report: one self-contained page with verdicts, interactive curves, tables, settings and provenance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from ..claims.judging import FURTHER_RULE, RULE, Judged, Untested
from ..figures.worlds import phase_starts
from ..means import Floats
from ..specs import WorldSpec
from ..studies.pictures import Drawn
from ..studies.results import Results, families_of
from ..studies.study import Experiment, arm_names
from ..studies.tables import cards_on, json_text, logs_alarms
from . import claims, sections
from .charts import charts_of_sweeps, family_chart, means_chart, other_curves, other_members, regret_chart
from .sections import ChartSlot


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


@dataclass(frozen=True, kw_only=True)
class Page:
    """The content of a report; :meth:`html` writes it.

    Attributes:
        results: the results of the study.
        means: an instance of each world by label, where its means are known.
        settings: pairs of a setting and its value.
        judged: claims with their verdicts, if there are any.
        notes: remarks on choices that were made.
        drawn: the figures of the study, of which those of alarms, the sweeps and the explanations are shown.
        warning: a text to be read before the verdicts.
        command: the command that made the report.
        made: the date and time of its making.
        untested: sentences that runs cannot decide, with the reason.
        not_taken: readings of what is left open that were not taken, with the reason.
    """

    results: Results
    means: Mapping[str, Floats | None]
    settings: Sequence[tuple[str, Any]]
    judged: Sequence[Judged] = ()
    notes: Sequence[str] = ()
    drawn: Drawn = field(default_factory=Drawn)
    warning: str = ""
    command: str = ""
    made: str = ""
    untested: Sequence[Untested] = ()
    not_taken: Sequence[str] = ()

    def html(self) -> str:
        """The whole page, with the library that draws its charts."""
        return environment().get_template("page.html").render(self.content(), plotly=Markup(get_plotlyjs()))

    def content(self) -> dict[str, Any]:
        """Return the values that the template shows; while they are made, the runs of one world at a time are held."""
        study = self.results.study
        worlds, surveys, parameters, horizons = [], [], [], dict[int, None]()
        for number, world in enumerate(study.worlds):
            worlds.append(self._world(number, world))
            surveys += sections.survey_columns(self.results, world)
            parameters += sections.parameter_rows(self.results, world)
            horizons |= {runs.horizon: None for runs in self.results.curves[world.label].values()}
        columns = [world["column"] for world in worlds]
        agents = sections.agent_rows(columns, {label for label, _ in self._notes()})
        survey = sections.survey_of(surveys, [row["label"] for row in agents])
        choices = claims.choices_of(self.judged)
        labels = dict.fromkeys(agent.label for experiment in study.experiments for agent in experiment.ranked)
        slots = [slot for world in worlds for slot in world["charts"]] + (survey["charts"] if survey else [])
        return {
            "title": study.title,
            "command": self.command,
            "meta": self._meta(horizons),
            "summary": study.summary,
            "warning": self.warning,
            "columns": columns,
            "agents": agents,
            "rule": f"{RULE} {FURTHER_RULE}" if any(each.later for each in self.judged) else RULE,
            "headline": claims.HEADLINE,
            "headline_rule": claims.HEADLINE_RULE,
            "verdicts": claims.verdicts_of(self.judged) if self.judged else None,
            "marks": claims.MARKS,
            "in_words": claims.finding_data,
            "pieces_of": claims.pieces_of,
            "choices": choices,
            "untested": self.untested,
            "not_taken": self.not_taken,
            "footnotes": self.footnotes(),
            "survey": survey,
            "worlds": worlds,
            "notes": self.notes,
            "pictures": [(description, sections.embedded(path)) for path, description in self.drawn.explanations],
            "parameters": parameters,
            "settings": self.settings,
            "charts": {slot.anchor: slot.chart for slot in slots},
            "readings": {
                **claims.reading_data(self.judged, choices, labels),
                "agents": [{"label": row["label"], "line": row["line"]} for row in agents],
                "worlds": [column["standings"] | column["others"] for column in columns],
            },
        }

    def _meta(self, horizons: Collection[int]) -> list[str]:
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

    def _world(self, number: int, world: WorldSpec) -> dict[str, Any]:
        """The section of a world: its means, where they are known, the experiments on it, and the detections in them.

        The first experiment that does not vary one thing within families stands for the world on the first screen.
        """
        results, means, shown = self.results, self.means[world.label], []
        if means is not None:
            chart = means_chart(means, phase_starts(means), arm_names(world, means.shape[1]))
            title = "Means (as in the first run)" if world.random else "Means"
            shown = [ChartSlot(f"means-{number}", title, chart, scales=False)]
        here = [(place, each) for place, each in enumerate(results.study.experiments) if world in each.worlds]
        comparisons = [self._comparison(f"{number}-{place}", each, world) for place, each in here if not each.survey]
        main = next((each for each in comparisons if not each["experiment"].groups), comparisons[0])
        about = {"anchor": f"world-{number}", "chart": main["charts"][0].anchor}
        return {
            "anchor": f"world-{number}",
            "spec": world,
            "means": shown,
            "comparisons": comparisons,
            "charts": [*shown, *(slot for each in comparisons for slot in (*each["charts"], *each["sweeps"]))],
            "detections": [
                sections.detection_section(
                    cards_on(results, each, world, means),
                    results.agents[world.label],
                    self.drawn.timelines.get((each, world)),
                )
                for _, each in here
                if logs_alarms(results, each, world)
            ],
            "column": sections.column_of(results, main["experiment"], world) | about,
        }

    def _comparison(self, name: str, experiment: Experiment, world: WorldSpec) -> dict[str, Any]:
        """One experiment on one world: its charts, the final regrets with remarks on them, and the pulls."""
        results, labels = self.results, {agent.label for agent in experiment.agents}
        curves, readings = results.of(experiment, world), results.other_readings(experiment, world)
        notes, means = results.notes(world), None if world.random else self.means[world.label]
        charts, sweeps = [], charts_of_sweeps(self.drawn.sweeps.get((experiment, world), ()))
        if results.study.in_one_chart(experiment, world):
            chart = regret_chart(curves, phase_starts(means), notes) | {"others": other_curves(readings, notes)}
            title = "Cumulative regret (mean, one standard deviation)"
            charts.append(ChartSlot(f"regret-{name}", title, chart, scales=True))
        for index, (group, members) in enumerate(families_of(results, experiment, world).items()):
            family = dict(zip([agent.label for agent in experiment.groups[group]], members, strict=True))
            chart = family_chart(family) | {"others": other_members(family, readings)}
            charts.append(ChartSlot(f"family-{name}-{index}", f"Sensitivity: {group}", chart, scales=True))
        return {
            "experiment": experiment,
            "charts": charts,
            "finals": sections.final_rows(results, experiment, world),
            "footnotes": [f"* {label}: {note}" for label, note in notes.items() if label in labels],
            "sweeps": [
                ChartSlot(f"sweep-{name}-{index}", f"Final regret by {each} (mean, 95 % interval)", chart, scales=True)
                for index, (each, chart) in enumerate(sweeps.items())
            ],
            "pulls": sections.pulls_table(curves, arm_names(world, next(iter(curves.values())).pulls.shape[1]), means),
        }
