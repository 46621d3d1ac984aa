"""What a study gave, under the labels of its description."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from .blocks import Block
from .runner import Outcome
from .spec import AgentEntry, Experiment, Study, WorldEntry
from .units import blocks_of

__all__ = ["Curves", "Results", "collect", "tidy_table"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curves:
    """All runs of one agent on one world; attributes as those of a block."""

    world: WorldEntry
    agent: AgentEntry
    rounds: npt.NDArray[np.int64]  # (C,)
    regret: Floats  # (R, C)
    pulls: npt.NDArray[np.int64]  # (R, K)
    suboptimal_pulls: npt.NDArray[np.int64]  # (R, K)
    seeds: tuple[tuple[int, int], ...]
    parameters: dict[str, Any]
    seconds: float

    @classmethod
    def of(cls, world: WorldEntry, agent: AgentEntry, blocks: list[Block]) -> Curves:
        """The blocks of one agent on one world, joined."""
        return cls(
            world,
            agent,
            blocks[0].rounds,
            np.concatenate([block.regret for block in blocks]),
            np.concatenate([block.pulls for block in blocks]),
            np.concatenate([block.suboptimal_pulls for block in blocks]),
            tuple(chain.from_iterable(block.seeds for block in blocks)),
            blocks[0].parameters,
            sum(block.seconds for block in blocks),
        )

    @property
    def horizon(self) -> int:
        """T."""
        return int(self.rounds[-1])

    @property
    def final(self) -> Floats:
        """(R,) the cumulative regret of each run in round T."""
        return self.regret[:, -1]

    def at(self, round_: float) -> Floats:
        """(R,) the cumulative regret after a round, on the line between the rounds noted before and after it."""
        rounds = np.concatenate(([0], self.rounds))
        after = int(np.clip(np.searchsorted(rounds, round_), 1, len(self.rounds)))
        share = (round_ - rounds[after - 1]) / (rounds[after] - rounds[after - 1])
        before = self.regret[:, after - 2] if after > 1 else np.zeros(len(self.regret))
        return np.asarray(before + share * (self.regret[:, after - 1] - before))

    def between(self, first: float, last: float) -> Floats:
        """(R,) the regret of the rounds after ``first`` up to ``last``."""
        return self.at(last) - self.at(first)


@dataclass(frozen=True, eq=False)
class Results:
    """The curves of a study.

    Attributes:
        study: what was asked.
        curves: by the labels of world and agent.
    """

    study: Study
    curves: dict[str, dict[str, Curves]]

    def of(self, experiment: Experiment, world: WorldEntry) -> dict[str, Curves]:
        """The curves of an experiment's agents on one of its worlds, by label."""
        return {agent.label: self.curves[world.label][agent.label] for agent in experiment.agents}


def collect(study: Study, outcome: Outcome) -> Results:
    """The blocks of a study's units as curves under its labels."""
    curves: dict[str, dict[str, Curves]] = {world.label: {} for world in study.worlds}
    for experiment in study.experiments:
        for world in experiment.worlds:
            for agent in experiment.agents:
                blocks = [outcome.blocks[unit] for unit in blocks_of(experiment, world, agent)]
                curves[world.label][agent.label] = Curves.of(world, agent, blocks)
    return Results(study, curves)


def tidy_table(results: Results) -> bytes:
    """One Parquet table of everything: a row for each world, agent, run and noted round; entries in their words."""
    unique: dict[tuple[str, str], Curves] = {}
    for curve in chain.from_iterable(by_agent.values() for by_agent in results.curves.values()):
        unique.setdefault((curve.world.words, curve.agent.words), curve)
    table = pa.concat_tables(_rows(*words, curve) for words, curve in unique.items())
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _rows(world: str, agent: str, curve: Curves) -> pa.Table:
    runs, checkpoints = curve.regret.shape
    columns: dict[str, Iterable[object]] = {
        "world": pa.repeat(world, runs * checkpoints),
        "agent": pa.repeat(agent, runs * checkpoints),
        "run": np.repeat(np.arange(runs, dtype=np.int32), checkpoints),
        "round": np.tile(curve.rounds, runs),
        "regret": curve.regret.ravel(),
    }
    return pa.table(columns)
