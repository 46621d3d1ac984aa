"""Units of work: a world, an agent and a block of seeds; and the hash that identifies them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from ..agents.core.memory_limits import ensure_fits, grouped
from ..file_names import file_name
from .series import Series
from .study import AgentEntry, Experiment, Study, WorldEntry

__all__ = ["BLOCK", "Unit", "blocks_of", "units_of"]

RUN_BYTES = 4_400  # of the record of a run: its seeds, its parameters and the points of its curve
BLOCK = 25  # runs in a unit: about a second of work, the most that a killed thread can lose


@dataclass(frozen=True, slots=True, init=False)
class Unit:
    """A block of runs of one agent on one world; labels are not part of it.

    Attributes:
        series: the world, the agent, the seed and the rounds, which all blocks of these runs share.
        first_run: the number of the first run.
        runs: how many runs.
    """

    series: Series
    first_run: int
    runs: int

    def __init__(
        self,
        *,
        world: WorldEntry,
        agent: AgentEntry,
        seed: int,
        first_run: int,
        runs: int,
        rounds: tuple[int, ...] = (),
    ) -> None:
        self._set(Series(world, agent, seed, rounds), first_run, runs)

    @classmethod
    def of(cls, series: Series, first_run: int, runs: int) -> Self:
        """A block of a series."""
        unit = cls.__new__(cls)
        unit._set(series, first_run, runs)
        return unit

    def _set(self, series: Series, first_run: int, runs: int) -> None:
        object.__setattr__(self, "series", series)
        object.__setattr__(self, "first_run", first_run)
        object.__setattr__(self, "runs", runs)

    @property
    def world(self) -> WorldEntry:
        """The world."""
        return self.series.world

    @property
    def agent(self) -> AgentEntry:
        """The agent."""
        return self.series.agent

    @property
    def seed(self) -> int:
        """The number from which the seeds of all runs are derived."""
        return self.series.seed

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds after which the regret is kept."""
        return self.series.rounds

    def __str__(self) -> str:
        last = self.first_run + self.runs - 1
        return f"{self.agent.words} on {self.world.words}, runs {self.first_run} to {last}"

    def description(self) -> dict[str, Any]:
        """What the unit computes, as plain JSON-able values; a file is described by the hash of its content."""
        return {**self.series.description(), "first_run": self.first_run, "runs": self.runs}

    def identity(self, code: str) -> str:
        """The hash of the description and of the version of the code."""
        return self.series.asked(code).identity(self.first_run, self.runs)

    def file_name(self, code: str) -> str:
        """A name that people can read, that no reader of folders skips, and that differs whenever the identity does."""
        parts = (self.world.words, self.agent.words, f"{self.first_run}-{self.first_run + self.runs - 1}")
        readable = (file_name(part, instead="unnamed", keep=".-", gap="_") for part in parts)
        return f"{'--'.join(readable)}--{self.identity(code)[:16]}.parquet"


def blocks_of(experiment: Experiment, world: WorldEntry, agent: AgentEntry) -> list[Unit]:
    """The units that together hold all runs of one agent on one world."""
    _ensure_room(experiment)
    series = _series_of(experiment, world, agent)
    return [Unit.of(series, *block) for block in _blocks(experiment.runs)]


def units_of(study: Study) -> list[Unit]:
    """Every unit of a study once, even if several of its entries need it."""
    units: list[Unit] = []
    played: dict[Series, list[int]] = {}  # how many runs of each series the experiments so far have asked for
    for experiment in study.experiments:
        _ensure_room(experiment)
        blocks = list(_blocks(experiment.runs))
        for series in _all_series(experiment):
            before = played.setdefault(series, [])
            new = [block for block in blocks if not _is_among(block, before)] if before else blocks
            units += [Unit.of(series, *block) for block in new]
            before.append(experiment.runs)
    return units


def _all_series(experiment: Experiment) -> Iterator[Series]:
    return (_series_of(experiment, world, agent) for world in experiment.worlds for agent in experiment.agents)


def _series_of(experiment: Experiment, world: WorldEntry, agent: AgentEntry) -> Series:
    return Series(world.bare, agent.bare, experiment.seed, experiment.rounds)


def _blocks(runs: int) -> Iterator[tuple[int, int]]:
    """The first run and the number of runs of each block of so many runs."""
    return ((first, min(BLOCK, runs - first)) for first in range(0, runs, BLOCK))


def _is_among(block: tuple[int, int], played: Iterable[int]) -> bool:
    """Whether a block is one of the blocks of some numbers of runs."""
    first, runs = block
    return any(runs == min(BLOCK, each - first) for each in played)


def _ensure_room(experiment: Experiment) -> None:
    what = f"{grouped(experiment.runs)} runs of each agent on each world"
    ensure_fits(what, RUN_BYTES * experiment.runs, "choose fewer runs")
