"""Sections of the report: the means of each world, its experiments with charts, final regrets and pulls, detections."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..agents.core.text import is_number
from ..detections import Scorecard
from ..figures.regret import Swept
from ..figures.worlds import phase_starts
from ..means import best_arms
from ..runs import Runs
from ..specs import AgentSpec, WorldSpec
from ..statistics import Estimate, Summary
from ..studies.results import Results, families_of, summaries
from ..studies.study import Experiment, arm_names
from ..studies.tables import UNSCORED, cards_on, logs_alarms
from .charts import Chart, charts_of_sweeps, family_chart, means_chart, other_curves, other_members, regret_chart

NOTHING = "–"  # shown where the reference would be compared with itself
SYMBOLS = {"window": "τ", "gamma": "γ", "delta": "δ", "phi": "φ", "batch": "Δ", "sigma": "σ", "epsilon": "ε",
           "xi": "ξ"}  # fmt: skip
DIFFERS = "differs from run to run"


class Span(NamedTuple):
    """A parameter that differs between runs, as it does where each instance of a random world is tuned for."""

    low: float
    high: float


@dataclass(frozen=True)
class FinalRow:
    """Final regret of one agent, and how it compares with the reference on the same luck."""

    agent: str
    regret: str
    interval: str
    sd: str
    difference: str
    difference_interval: str
    improvement: str
    rank: str
    parameters: str
    other: bool  # whether it is another reading of an agent


@dataclass(frozen=True)
class ParameterRow:
    """The parameters with which one agent played on one world."""

    world: str
    agent: str
    words: str
    parameters: str


def final_rows(results: Results, experiment: Experiment, world: WorldSpec) -> list[FinalRow]:
    """A row for each agent, the least regret first, then for each other reading; a star at labels with a footnote."""
    return [_final_row(row, results, world) for row in summaries(results, experiment, world)]


def _final_row(row: Summary, results: Results, world: WorldSpec) -> FinalRow:
    final, difference, improvement = row.final, row.difference, row.improvement
    agent = results.agents[world.label][row.label]
    return FinalRow(
        agent=f"{row.label}*" if agent.note else row.label,
        regret=f"{final.mean:,.0f} ± {final.se:,.1f}",
        interval=_interval(final),
        sd=f"{final.sd:,.0f}",
        difference=NOTHING if difference is None else f"{difference.mean:+,.0f}",
        difference_interval=NOTHING if difference is None else _interval(difference, sign="+"),
        improvement=NOTHING if improvement is None else f"{improvement.mean:.0%}",
        rank=f"{row.rank:.2f}",
        parameters=parameters_in_words(played_with(results.curves[world.label][row.label].parameters)),
        other=bool(agent.stands_for),
    )


def _interval(estimate: Estimate, sign: str = "") -> str:
    return f"{estimate.low:{sign},.0f} to {estimate.high:{sign},.0f}"


def parameter_rows(results: Results, world: WorldSpec) -> list[ParameterRow]:
    """The parameters of every agent on a world, in all runs."""
    curves = results.curves[world.label]
    return [
        ParameterRow(
            world.label, label, agent.text, parameters_in_words(played_with(curves[label].parameters), exactly=True)
        )
        for label, agent in results.agents[world.label].items()
    ]


def played_with(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The parameters of several runs as one: where runs differ, a span from the least value to the largest.

    >>> parameters_in_words(played_with([{"window": 210, "xi": 0.6}, {"window": 493, "xi": 0.6}]))
    'τ = 210 to 493, ξ = 0.6'
    """
    return {key: _together([each[key] for each in parameters if key in each]) for key in parameters[0]}


def _together(values: Sequence[Any]) -> Any:
    first = values[0]
    if all(type(value) is type(first) and value == first for value in values):
        return first
    return Span(min(values), max(values)) if all(map(is_number, values)) else DIFFERS


def parameters_in_words(parameters: Mapping[str, Any], exactly: bool = False) -> str:
    """Parameters by the letters that papers give them, without K and what is switched off; or exactly, by their names.

    >>> parameters_in_words({"n_arms": 10, "binarize": False, "window": 2942, "gamma": 0.25})
    'τ = 2,942, γ = 0.25'
    """
    if exactly:
        return ", ".join(f"{key} = {_value(value, 'g', '')}" for key, value in parameters.items())
    said = {key: value for key, value in parameters.items() if key != "n_arms" and value is not False}
    return ", ".join(f"{SYMBOLS.get(key, key)} = {_value(value, '.3g', ',')}" for key, value in said.items())


def _value(value: Any, fraction: str, integer: str) -> str:
    if isinstance(value, Span):
        return f"{_value(value.low, fraction, integer)} to {_value(value.high, fraction, integer)}"
    if isinstance(value, float):
        return f"{value:{fraction}}"
    return str(value) if isinstance(value, bool) or not isinstance(value, int) else f"{value:{integer}}"


Floats = npt.NDArray[np.float64]

MANY = 12  # arms; of more, the most played ones have columns
MOST = 10


@dataclass(frozen=True)
class Share:
    """A share of the rounds."""

    value: float

    def __str__(self) -> str:
        if 0 < self.value < 0.005:
            return "<1 %"
        return f"{self.value:.0%}".replace("%", " %")


@dataclass(frozen=True)
class PullsTable:
    """The shares of all agents' rounds.

    Attributes:
        arms: the names of the columns; the last are all other arms, where arms are many.
        rows: the agents' labels with a share for each column.
        best: the share of rounds in which each arm is the best, where all runs have the same means.
    """

    arms: list[str]
    rows: list[tuple[str, list[Share]]]
    best: list[Share] | None


def pulls_table(curves: Mapping[str, Runs], names: Sequence[str], means: Floats | None) -> PullsTable:
    """The shares of pulls of some agents on a world.

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
        kept = [Share(float(every[arm])) for arm in shown]
        return [*kept, Share(max(0.0, 1 - sum(each.value for each in kept)))] if rest else kept

    return PullsTable(
        [*(names[arm] for arm in shown), *([f"{rest} others"] if rest else [])],
        [(label, cells(every)) for label, every in shares.items()],
        None if best is None else cells(best),
    )


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
class ExperimentSection:
    """One experiment on one world: its charts, the final regrets with remarks on them, and the pulls."""

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
    entry: WorldSpec
    means: ChartSlot | None
    comparisons: list[ExperimentSection]
    detections: list[DetectionSection]

    @property
    def main(self) -> ExperimentSection:
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
    timelines: Mapping[tuple[Experiment, WorldSpec], Path] = field(default_factory=dict)
    sweeps: Mapping[tuple[Experiment, WorldSpec], Sequence[Swept]] = field(default_factory=dict)

    def of(self, number: int, world: WorldSpec) -> WorldSection:
        """The section of a world, which has this number among those of the study."""
        here = [(place, each) for place, each in enumerate(self.results.study.experiments) if world in each.worlds]
        comparisons = [self._experiment(f"{number}-{place}", each, world) for place, each in here if not each.survey]
        detections = [self._detections(each, world) for _, each in here if logs_alarms(self.results, each, world)]
        slot, means = None, self.means[world.label]
        if means is not None:
            chart = means_chart(means, phase_starts(means), arm_names(world, means.shape[1]))
            title = "Means (as in the first run)" if world.label in self.drawn_anew else "Means"
            slot = ChartSlot(f"means-{number}", title, chart, scales=False)
        return WorldSection(f"world-{number}", world, slot, comparisons, detections)

    def _experiment(self, name: str, experiment: Experiment, world: WorldSpec) -> ExperimentSection:
        shown = {agent.label for agent in experiment.agents}
        together = self.results.study.in_one_chart(experiment, world)
        sweeps = charts_of_sweeps(self.sweeps.get((experiment, world), ()))
        curves = self.results.of(experiment, world)
        arms = arm_names(world, next(iter(curves.values())).pulls.shape[1])
        return ExperimentSection(
            experiment=experiment,
            charts=[
                *([self._regret(name, experiment, world)] if together else []),
                *self._families(name, experiment, world),
            ],
            finals=final_rows(self.results, experiment, world),
            footnotes=[f"* {label}: {note}" for label, note in self.results.notes(world).items() if label in shown],
            sweeps=[
                ChartSlot(
                    f"sweep-{name}-{index}", f"Final regret by {parameter} (mean, 95 % interval)", chart, scales=True
                )
                for index, (parameter, chart) in enumerate(sweeps.items())
            ],
            pulls=pulls_table(curves, arms, None if world.label in self.drawn_anew else self.means[world.label]),
        )

    def _detections(self, experiment: Experiment, world: WorldSpec) -> DetectionSection:
        anew = world.label in self.drawn_anew
        cards = cards_on(self.results, experiment, world, self.means[world.label], anew)
        return detection_section(cards, self.results.agents[world.label], self.timelines.get((experiment, world)))

    def _families(self, name: str, experiment: Experiment, world: WorldSpec) -> list[ChartSlot]:
        """One chart for each family of agents, if the experiment varies one thing within families."""
        readings = self.results.other_readings(experiment, world)
        slots = []
        for index, (group, members) in enumerate(families_of(self.results, experiment, world).items()):
            labels = [agent.label for agent in experiment.groups[group]]
            family = dict(zip(labels, members, strict=True))
            chart = family_chart(family) | {"others": other_members(family, readings)}
            slots.append(ChartSlot(f"family-{name}-{index}", f"Sensitivity: {group}", chart, scales=True))
        return slots

    def _regret(self, name: str, experiment: Experiment, world: WorldSpec) -> ChartSlot:
        changes = [] if world.label in self.drawn_anew else phase_starts(self.means[world.label])
        notes = self.results.notes(world)
        chart = regret_chart(self.results.of(experiment, world), changes, notes)
        chart["others"] = other_curves(self.results.other_readings(experiment, world), notes)
        return ChartSlot(f"regret-{name}", "Cumulative regret (mean, one standard deviation)", chart, scales=True)


FEW = 12  # breakpoints that a table has columns for


@dataclass(frozen=True)
class DetectionRow:
    """The scorecard of one agent, as text."""

    agent: str
    delay: str
    missed: str
    false_alarms: str
    rate: str
    with_false: str
    true_alarms: str
    other: bool  # whether it is another reading of an agent


@dataclass(frozen=True)
class BreakpointRow:
    """The detections of one agent at each breakpoint, as text."""

    agent: str
    cells: list[str]
    other: bool


@dataclass(frozen=True)
class DetectionSection:
    """The detections of an experiment's agents on a world.

    Attributes:
        rows: a scorecard for each agent that has a detector.
        heads: the breakpoints that all runs share, if they are few.
        breakpoints: the detections of each agent at them.
        notes: remarks on the rows.
        timeline: the picture of all alarms, an SVG file in base 64; empty if there is none.
    """

    rows: list[DetectionRow]
    heads: list[str]
    breakpoints: list[BreakpointRow]
    notes: list[str]
    timeline: str


def detection_section(
    cards: Mapping[str, Scorecard], agents: Mapping[str, AgentSpec], timeline: Path | None
) -> DetectionSection:
    """The detections of agents by label; without cards it says why there are none."""
    if not cards:
        return DetectionSection([], [], [], [UNSCORED], "")
    shared = next(iter(cards.values())).breakpoints
    rows, heads, breakpoints = [], [], []
    for label, card in cards.items():
        name, other = f"{label}*" if agents[label].note else label, bool(agents[label].stands_for)
        rows.append(
            DetectionRow(
                agent=name,
                delay=card.delay.as_number(),
                missed=card.missed.as_share(),
                false_alarms=card.false_alarms.as_number(),
                rate=card.false_alarm_rate.as_number(),
                with_false=card.runs_with_false_alarm.as_share(),
                true_alarms=card.true_alarms.as_number(),
                other=other,
            )
        )
        if 0 < len(shared) <= FEW:
            cells = [
                f"{each.detected} of {len(card.runs)}"
                + ("" if np.isnan(each.delay.value) else f", delay {each.delay.as_number()}")
                for each in card.breakpoints
            ]
            breakpoints.append(BreakpointRow(name, cells, other))
    if breakpoints:
        arms = [", ".join(str(arm + 1) for arm in each.arms) for each in shared]
        several = ["s" if len(each.arms) > 1 else "" for each in shared]
        heads = [f"round {each.round:,}, arm{s} {names}" for each, s, names in zip(shared, several, arms, strict=True)]
    return DetectionSection(
        rows=rows,
        heads=heads,
        breakpoints=breakpoints,
        notes=[
            f"{label}: the log of alarms was full in {card.full_logs} runs, and later alarms are not counted."
            for label, card in cards.items()
            if card.full_logs
        ],
        timeline="" if timeline is None else embedded(timeline),
    )


def embedded(path: Path) -> str:
    """A file in base 64, to become part of the page."""
    return base64.b64encode(path.read_bytes()).decode()
