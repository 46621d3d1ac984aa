"""Units of work: a world, an agent and a block of seeds; and the hash that identifies them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ..agents.core.memory_limits import ensure_fits, grouped
from ..file_names import file_name
from ..kept_files import sha256_of
from .pinned_files import files_of
from .study import AgentEntry, Entry, Experiment, Study, WorldEntry

__all__ = ["BLOCK", "Unit", "blocks_of", "units_of"]

RUN_BYTES = 4_400  # of the record of a run: its seeds, its parameters and the points of its curve
BLOCK = 25  # runs in a unit: about a second of work, the most that a killed thread can lose


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A block of runs of one agent on one world; labels are not part of it."""

    world: WorldEntry
    agent: AgentEntry
    seed: int
    first_run: int
    runs: int
    rounds: tuple[int, ...] = ()

    def __str__(self) -> str:
        last = self.first_run + self.runs - 1
        return f"{self.agent.words} on {self.world.words}, runs {self.first_run} to {last}"

    def description(self) -> dict[str, Any]:
        """What the unit computes, as plain JSON-able values; a file is described by the hash of its content."""
        return {
            "env": self.world.name,
            "env_kwargs": self.world.kwargs,
            "means_sha256": _digest(self.world),
            "agent": self.agent.name,
            "agent_kwargs": self.agent.kwargs,
            "model_sha256": _digest(self.agent),
            "seed": self.seed,
            "first_run": self.first_run,
            "runs": self.runs,
            "rounds": self.rounds,
            **({"files_sha256": others} if (others := self._other_files()) else {}),
        }

    def _other_files(self) -> dict[str, str]:
        """The hashes of the files that parameters other than ``path`` name, such as those of a world of the user's."""
        entries = {"env": self.world, "agent": self.agent}
        return {
            f"{what}.{name}": sha256_of(file)
            for what, entry in entries.items()
            for name, file in files_of(entry).items()
            if name != "path"
        }

    def identity(self, code: str) -> str:
        """The hash of the description and of the version of the code."""
        asked = json.dumps({"code": code, **self.description()}, sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()

    def file_name(self, code: str) -> str:
        """A name that people can read, that no reader of folders skips, and that differs whenever the identity does."""
        parts = (self.world.words, self.agent.words, f"{self.first_run}-{self.first_run + self.runs - 1}")
        readable = (file_name(part, instead="unnamed", keep=".-", gap="_") for part in parts)
        return f"{'--'.join(readable)}--{self.identity(code)[:16]}.parquet"


def blocks_of(experiment: Experiment, world: WorldEntry, agent: AgentEntry) -> list[Unit]:
    """The units that together hold all runs of one agent on one world."""
    what = f"{grouped(experiment.runs)} runs of each agent on each world"
    ensure_fits(what, RUN_BYTES * experiment.runs, "choose fewer runs")
    bare_world = WorldEntry(world.name, world.parameters)
    bare_agent = AgentEntry(agent.name, agent.parameters)
    starts = range(0, experiment.runs, BLOCK)
    return [
        Unit(
            world=bare_world,
            agent=bare_agent,
            seed=experiment.seed,
            first_run=first,
            runs=min(BLOCK, experiment.runs - first),
            rounds=experiment.rounds,
        )
        for first in starts
    ]


def units_of(study: Study) -> list[Unit]:
    """Every unit of a study once, even if several of its entries need it."""
    return list(
        dict.fromkeys(
            unit
            for experiment in study.experiments
            for world in experiment.worlds
            for agent in experiment.agents
            for unit in blocks_of(experiment, world, agent)
        )
    )


def _digest(entry: Entry) -> str | None:
    """The hash of the file from which an entry is read: of what was read for the run, if it was; None without one."""
    path = entry.kwargs.get("path")
    return None if path is None else sha256_of(path)
