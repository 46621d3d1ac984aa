"""The results of a study, under the labels of its description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..runs import Runs, joined
from .statistics import Summary, summarise
from .study import AgentEntry, Experiment, Study, WorldEntry
from .units import Unit, blocks_of

__all__ = ["Results", "collect", "summaries", "tidy_table"]


@dataclass(frozen=True, eq=False)
class Results:
    """The runs of a study.

    Attributes:
        study: the study that was run.
        curves: the runs by the labels of world and agent.
        agents: the agents' entries by the same labels.
    """

    study: Study
    curves: dict[str, dict[str, Runs]]
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


def collect(study: Study, blocks: Mapping[Unit, Runs]) -> Results:
    """The blocks of a study's units, joined, under its labels."""
    curves: dict[str, dict[str, Runs]] = {world.label: {} for world in study.worlds}
    agents: dict[str, dict[str, AgentEntry]] = {world.label: {} for world in study.worlds}
    for experiment in study.experiments:
        for world in experiment.worlds:
            for agent in experiment.agents:
                units = blocks_of(experiment, world, agent)
                curves[world.label][agent.label] = joined([blocks[unit] for unit in units])
                agents[world.label][agent.label] = agent
    return Results(study, curves, agents)


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


def tidy_table(results: Results) -> bytes:
    """One Parquet table of everything: a row for each world, agent, run and recorded round; entries as text."""
    unique: dict[tuple[str, str], Runs] = {}
    for world in results.study.worlds:
        for label, agent in results.agents[world.label].items():
            unique.setdefault((world.words, agent.words), results.curves[world.label][label])
    table = pa.concat_tables(_rows(*words, runs) for words, runs in unique.items())
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _rows(world: str, agent: str, runs: Runs) -> pa.Table:
    count, checkpoints = runs.regret.shape
    columns: dict[str, Iterable[object]] = {
        "world": pa.repeat(world, count * checkpoints),
        "agent": pa.repeat(agent, count * checkpoints),
        "run": np.repeat(np.arange(count, dtype=np.int32), checkpoints),
        "round": np.tile(runs.rounds, count),
        "regret": runs.regret.ravel(),
    }
    return pa.table(columns)
