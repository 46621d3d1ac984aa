"""The results of a study, under the labels of its description; runs are read from the store when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ..figures.regret import Member
from ..runs import Runs, joined
from ..specs import AgentSpec, WorldSpec
from ..statistics import Summary, summarise
from .study import Experiment, Study, Unit, blocks_of

V = TypeVar("V")
KEPT = 64 << 20  # bytes of runs that are kept, beside those of the world in hand
RECORD = 1_000  # bytes of what a run has beside its arrays: seeds, parameters, alarms


class MissingRunsError(KeyError):
    """There are no runs of an agent on a world."""


class Labelled(Mapping[str, V]):
    """Runs, or something else, by label; read when they are asked for.

    Args:
        labels: all labels.
        read: reads what a label stands for.
    """

    def __init__(self, labels: Collection[str], read: Callable[[str], V]) -> None:
        self._labels, self._read = dict.fromkeys(labels), read

    def __getitem__(self, label: str) -> V:
        if label not in self._labels:
            raise MissingRunsError(label)
        return self._read(label)

    def __contains__(self, label: object) -> bool:
        return label in self._labels  # without reading

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)


class KeptRuns(Mapping[str, Mapping[str, Runs]]):
    """Runs by the labels of world and agent, each read when it is asked for.

    All runs of the world that was asked for last are kept, and of the worlds before it as much as there is room for.
    So a pass world by world reads every run once, and holds those of one world.

    Args:
        labels: the labels of the agents, by the label of the world.
        read: reads the runs of an agent on a world, by their labels.
        room: how many bytes of runs are kept beside those of the world in hand.
    """

    def __init__(
        self, labels: Mapping[str, Collection[str]], read: Callable[[str, str], Runs], room: int = KEPT
    ) -> None:
        self._labels, self._read, self._room = labels, read, room
        self._kept: dict[str, dict[str, Runs]] = {}  # by the label of the world; the one in hand is the last
        self._bytes: dict[str, int] = {}  # of what is kept of each world

    def __getitem__(self, world: str) -> Mapping[str, Runs]:
        if world not in self._labels:
            raise MissingRunsError(world)
        return Labelled(self._labels[world], partial(self._runs, world))

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def _runs(self, world: str, agent: str) -> Runs:
        here = self._kept[world] = self._kept.pop(world, {})
        if agent not in here:
            here[agent] = runs = self._read(world, agent)
            arrays = [runs.regret, runs.pulls, runs.suboptimal_pulls, *(runs.alarms or ())]
            size = sum(array.nbytes for array in arrays) + RECORD * len(runs)
            self._bytes[world] = self._bytes.get(world, 0) + size
            for oldest in list(self._kept)[:-1]:
                if sum(self._bytes.values()) - self._bytes[world] > self._room:
                    del self._bytes[oldest], self._kept[oldest]
        return here[agent]


@dataclass(frozen=True, eq=False)
class Results:
    """The runs of a study.

    A reader of many of them goes world by world: those of one world are kept, see :class:`KeptRuns`.

    Attributes:
        study: the study that was run.
        curves: the runs by the labels of world and agent.
        agents: the agents' entries by the same labels.
    """

    study: Study
    curves: Mapping[str, Mapping[str, Runs]]
    agents: dict[str, dict[str, AgentSpec]]

    def of(self, experiment: Experiment, world: WorldSpec) -> dict[str, Runs]:
        """The runs of the agents that an experiment compares on one of its worlds, by label."""
        return {agent.label: self.curves[world.label][agent.label] for agent in experiment.ranked}

    def other_readings(self, experiment: Experiment, world: WorldSpec) -> dict[str, dict[str, Runs]]:
        """The runs of other readings of these agents: by the label of the agent, then by their own."""
        found: dict[str, dict[str, Runs]] = {}
        for agent in experiment.agents:
            if agent.stands_for:
                found.setdefault(agent.stands_for, {})[agent.label] = self.curves[world.label][agent.label]
        return found

    def notes(self, world: WorldSpec) -> dict[str, str]:
        """Return the notes that belong beside every result on this world, by the agent's label."""
        agents = self.agents.get(world.label, {})  # none on a world of which nothing is left
        return {label: agent.note for label, agent in agents.items() if agent.note}


def collect(study: Study, load: Callable[[Unit], Runs]) -> Results:
    """Return the results of a study, under its labels; the runs are read when they are asked for.

    Args:
        study: the study.
        load: loads the runs of a unit.
    """
    places: dict[str, dict[str, tuple[Experiment, WorldSpec]]] = {world.label: {} for world in study.worlds}
    agents: dict[str, dict[str, AgentSpec]] = {world.label: {} for world in study.worlds}
    for experiment in study.experiments:
        for world in experiment.worlds:
            for agent in experiment.agents:
                places[world.label][agent.label] = experiment, world
                agents[world.label][agent.label] = agent

    def read(world: str, agent: str) -> Runs:
        return joined([load(unit) for unit in blocks_of(*places[world][agent], agents[world][agent])])

    return Results(study, KeptRuns(agents, read), agents)


def summaries(results: Results, experiment: Experiment, world: WorldSpec) -> list[Summary]:
    """Return a summary of each agent's final regret, the least first; then one for each other reading of an agent.

    Another reading is ranked as if it stood in the place of its agent.
    """
    finals = {label: runs.final for label, runs in results.of(experiment, world).items()}
    rows = summarise(finals, experiment.reference)
    for agent, readings in results.other_readings(experiment, world).items():
        for label, runs in readings.items():
            replaced = {each: final for each, final in finals.items() if each != agent} | {label: runs.final}
            reference = label if agent == experiment.reference else experiment.reference
            rows += [row for row in summarise(replaced, reference) if row.label == label]
    return rows


@dataclass
class StudyTotals:
    """Totals of the runs of a study; a unit of work that several entries share counts once.

    Attributes:
        seconds: the engine's own time.
        steps: the number of agent steps.
        horizons: every horizon T once.
        alarms: whether any agent logs its alarms.
    """

    seconds: float = 0.0
    steps: int = 0
    horizons: list[int] = field(default_factory=list)
    alarms: bool = False

    def add(self, results: Results, world: WorldSpec) -> None:
        """Add the runs on a world."""
        counted: set[Unit] = set()
        for experiment in results.study.experiments:
            for agent in experiment.agents if world in experiment.worlds else ():
                runs = results.curves[world.label][agent.label]
                units = set(blocks_of(experiment, world, agent)) - counted
                counted |= units
                played = sum(unit.runs for unit in units)
                self.seconds += runs.seconds * played / len(runs)
                self.steps += runs.horizon * played
                self.alarms |= runs.alarms is not None
                if runs.horizon not in self.horizons:
                    self.horizons.append(runs.horizon)


def families_of(results: Results, experiment: Experiment, world: WorldSpec) -> dict[str, list[Member]]:
    """The agents of an experiment by family, with their runs on a world; empty where there are no families."""
    curves = results.of(experiment, world)
    return {
        group: [Member(agent.name_in_group, curves[agent.label], "window" not in agent.kwargs) for agent in agents]
        for group, agents in experiment.groups.items()
    }
