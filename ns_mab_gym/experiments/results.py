"""The results of a study, under the labels of its description."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..runs import Runs
from .kept_runs import KeptRuns, joined_from
from .statistics import Summary, summarise
from .study import AgentEntry, Experiment, Study, WorldEntry
from .units import Unit, blocks_of

__all__ = ["Results", "collect", "summaries"]


@dataclass(frozen=True, eq=False)
class Results:
    """The runs of a study.

    Whoever needs many of them goes world by world: those of one world are kept, see :class:`KeptRuns`.

    Attributes:
        study: the study that was run.
        curves: the runs by the labels of world and agent.
        agents: the agents' entries by the same labels.
    """

    study: Study
    curves: Mapping[str, Mapping[str, Runs]]
    agents: dict[str, dict[str, AgentEntry]]

    def of(self, experiment: Experiment, world: WorldEntry) -> dict[str, Runs]:
        """The runs of the agents that an experiment compares on one of its worlds, by label."""
        return {agent.label: self.curves[world.label][agent.label] for agent in experiment.ranked}

    def other_readings(self, experiment: Experiment, world: WorldEntry) -> dict[str, dict[str, Runs]]:
        """The runs of other readings of these agents: by the label of the agent, then by their own."""
        found: dict[str, dict[str, Runs]] = {}
        for agent in experiment.agents:
            if agent.stands_for:
                found.setdefault(agent.stands_for, {})[agent.label] = self.curves[world.label][agent.label]
        return found

    def notes(self, world: WorldEntry) -> dict[str, str]:
        """What must be said wherever the result of an agent on this world is shown, by the agent's label."""
        return {label: agent.note for label, agent in self.agents[world.label].items() if agent.note}


def collect(
    study: Study, load: Callable[[Unit], Runs], reject: Callable[[Unit, str], None] = lambda *_: None
) -> Results:
    """The results of a study, under its labels; the runs are read when they are asked for.

    Args:
        study: the study.
        load: loads the runs of a unit.
        reject: sets the result of a unit aside, for a reason: it does not fit the others.
    """
    places: dict[str, dict[str, tuple[Experiment, WorldEntry]]] = {world.label: {} for world in study.worlds}
    agents: dict[str, dict[str, AgentEntry]] = {world.label: {} for world in study.worlds}
    for experiment in study.experiments:
        for world in experiment.worlds:
            for agent in experiment.agents:
                places[world.label][agent.label] = experiment, world
                agents[world.label][agent.label] = agent

    def read(world: str, agent: str) -> Runs:
        return joined_from(blocks_of(*places[world][agent], agents[world][agent]), load, reject)

    return Results(study, KeptRuns(agents, read), agents)


def summaries(results: Results, experiment: Experiment, world: WorldEntry) -> list[Summary]:
    """A summary of each agent's final regret, the least first; then one for each other reading of an agent.

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
