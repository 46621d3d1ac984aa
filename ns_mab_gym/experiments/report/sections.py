"""What the page shows of each world: its means, and every experiment on it with charts and final regrets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...figures.sweep_plot import Swept
from ...figures.world_means import phase_starts
from ..arm_headers import arm_names
from ..pictures import families_of
from ..results import Results
from ..scorecards import cards_on, logs_alarms
from ..study import Experiment, WorldEntry
from .charts import Chart, family_chart, means_chart, other_curves, other_members, regret_chart
from .detection_tables import DetectionSection, detection_section
from .page_tables import FinalRow, final_rows
from .pulls import PullsTable, pulls_table
from .sweep_charts import charts_of_sweeps

__all__ = ["ChartSlot", "Comparison", "Sections", "WorldSection"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ChartSlot:
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


@dataclass(frozen=True)
class Comparison:
    """One experiment on one world: its charts, the final regrets with what must be said about them, and the pulls."""

    experiment: Experiment
    charts: list[ChartSlot]
    finals: list[FinalRow]
    footnotes: list[str]
    sweeps: list[ChartSlot]
    pulls: PullsTable


@dataclass(frozen=True)
class WorldSection:
    """One world: its means, where they are known, the experiments on it, and the detections in them, if any."""

    anchor: str
    entry: WorldEntry
    means: ChartSlot | None
    comparisons: list[Comparison]
    detections: list[DetectionSection]

    @property
    def main(self) -> Comparison:
        """The comparison that stands for the world on the first screen: the first that does not vary one thing."""
        return next((each for each in self.comparisons if not each.experiment.groups), self.comparisons[0])

    @property
    def charts(self) -> list[ChartSlot]:
        """Every chart of the section."""
        means = [] if self.means is None else [self.means]
        return means + [slot for each in self.comparisons for slot in (*each.charts, *each.sweeps)]


@dataclass(frozen=True)
class Sections:
    """Makes the sections of a page.

    Attributes:
        results: the runs.
        means: an instance of each world by label, where its means are known.
        drawn_anew: the labels of worlds whose means differ from run to run.
        timelines: SVG files with the alarms of an experiment's agents on a world.
        sweeps: the sweeps of an experiment's agents on a world.
    """

    results: Results
    means: Mapping[str, Floats | None]
    drawn_anew: Collection[str]
    timelines: Mapping[tuple[Experiment, WorldEntry], Path] = field(default_factory=dict)
    sweeps: Mapping[tuple[Experiment, WorldEntry], Sequence[Swept]] = field(default_factory=dict)

    def of(self, number: int, world: WorldEntry) -> WorldSection:
        """The section of a world, which has this number among those of the study."""
        comparisons = [
            self._comparison(f"{number}-{place}", experiment, world)
            for place, experiment in enumerate(self.results.study.experiments)
            if world in experiment.worlds and not experiment.survey
        ]
        detections = [
            self._detections(experiment, world)
            for experiment in self.results.study.experiments
            if world in experiment.worlds and logs_alarms(self.results, experiment, world)
        ]
        return WorldSection(f"world-{number}", world, self._means(number, world), comparisons, detections)

    def _means(self, number: int, world: WorldEntry) -> ChartSlot | None:
        means = self.means[world.label]
        if means is None:
            return None
        chart = means_chart(means, phase_starts(means), arm_names(world, means.shape[1]))
        title = "Means (as in the first run)" if world.label in self.drawn_anew else "Means"
        return ChartSlot(f"means-{number}", title, chart, scales=False)

    def _comparison(self, name: str, experiment: Experiment, world: WorldEntry) -> Comparison:
        shown = {agent.label for agent in experiment.agents}
        families = self._families(name, experiment, world)
        together = self.results.study.in_one_chart(experiment, world)
        regret = [self._regret(name, experiment, world)] if together else []
        return Comparison(
            experiment=experiment,
            charts=[*regret, *families],
            finals=final_rows(self.results, experiment, world),
            footnotes=[f"* {label}: {note}" for label, note in self.results.notes(world).items() if label in shown],
            sweeps=self._sweeps(name, experiment, world),
            pulls=self._pulls(experiment, world),
        )

    def _sweeps(self, name: str, experiment: Experiment, world: WorldEntry) -> list[ChartSlot]:
        charts = charts_of_sweeps(self.sweeps.get((experiment, world), ()))
        return [
            ChartSlot(f"sweep-{name}-{index}", f"Final regret by {parameter} (mean, 95 % interval)", chart, scales=True)
            for index, (parameter, chart) in enumerate(charts.items())
        ]

    def _pulls(self, experiment: Experiment, world: WorldEntry) -> PullsTable:
        curves = self.results.of(experiment, world)
        names = arm_names(world, next(iter(curves.values())).pulls.shape[1])
        return pulls_table(curves, names, None if world.label in self.drawn_anew else self.means[world.label])

    def _detections(self, experiment: Experiment, world: WorldEntry) -> DetectionSection:
        anew = world.label in self.drawn_anew
        cards = cards_on(self.results, experiment, world, self.means[world.label], anew)
        return detection_section(cards, self.results.agents[world.label], self.timelines.get((experiment, world)))

    def _families(self, name: str, experiment: Experiment, world: WorldEntry) -> list[ChartSlot]:
        """One chart for each family of agents, if the experiment varies one thing within families."""
        readings = self.results.other_readings(experiment, world)
        slots = []
        for index, (group, members) in enumerate(families_of(self.results, experiment, world).items()):
            labels = [agent.label for agent in experiment.groups[group]]
            family = dict(zip(labels, members, strict=True))
            chart = family_chart(family) | {"others": other_members(family, readings)}
            slots.append(ChartSlot(f"family-{name}-{index}", f"Sensitivity: {group}", chart, scales=True))
        return slots

    def _regret(self, name: str, experiment: Experiment, world: WorldEntry) -> ChartSlot:
        changes = [] if world.label in self.drawn_anew else phase_starts(self.means[world.label])
        notes = self.results.notes(world)
        chart = regret_chart(self.results.of(experiment, world), changes, notes)
        chart["others"] = other_curves(self.results.other_readings(experiment, world), notes)
        return ChartSlot(f"regret-{name}", "Cumulative regret (mean, one standard deviation)", chart, scales=True)
