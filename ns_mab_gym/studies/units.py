"""Units of work: a block of runs of an agent on a world, its key in the store, and the check of what it gives."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..agents.parts.alarms import ALARM, CAPACITY
from ..files import sha256_of
from ..runs import POINTS, Runs, seed_pair
from ..specs import AgentSpec, WorldSpec

if TYPE_CHECKING:
    from .study import Experiment, Study

BLOCK = 25  # runs in a unit: about a second of work, the most that a killed thread can lose
ROUNDING = 1e-9  # by which a regret may fall, relative to the largest: environments of users round in their own ways


class Series(NamedTuple):
    """All runs of one agent on one world from one seed; labels are not part of it.

    Attributes:
        world: the world, without a label.
        agent: the agent, without a label.
        seed: the number from which the seeds of all runs are derived.
        rounds: the rounds after which the regret is kept; about 500, evenly spaced, if there are none.
    """

    world: WorldSpec
    agent: AgentSpec
    seed: int
    rounds: tuple[int, ...] = ()

    def description(self) -> dict[str, Any]:
        """Return the description as plain JSON-able values; a file is described by the hash of its content."""
        entries = {"env": self.world, "agent": self.agent}
        files = {
            f"{what}.{name}": sha256_of(file) for what, each in entries.items() for name, file in each.files.items()
        }
        return {
            "env": self.world.name if self.world.given is None else self.world.label,
            "env_kwargs": self.world.kwargs,
            "agent": self.agent.name if self.agent.given is None else self.agent.label,
            "agent_kwargs": self.agent.kwargs,
            "seed": self.seed,
            "rounds": self.rounds,
            "files_sha256": files,
        }

    def identity(self, code: str) -> str:
        """The hash of the description and of the version of the code."""
        text = json.dumps({**self.description(), "code": code}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]


class Unit(NamedTuple):
    """A block of runs of a series.

    Attributes:
        series: the world, the agent, the seed and the rounds, which all blocks of these runs share.
        first_run: the number of the first run.
        runs: the number of runs.
    """

    series: Series
    first_run: int
    runs: int

    @property
    def world(self) -> WorldSpec:
        """The world."""
        return self.series.world

    @property
    def agent(self) -> AgentSpec:
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

    @property
    def seeds(self) -> list[tuple[int, int]]:
        """The pairs of seeds of its runs."""
        return [seed_pair(self.seed, run) for run in range(self.first_run, self.first_run + self.runs)]

    def __str__(self) -> str:
        return f"{self.agent.text} on {self.world.text}, runs {self.first_run} to {self.first_run + self.runs - 1}"

    def identity(self, code: str) -> str:
        """The key of its result: the identity of the series, and the numbers of the runs."""
        return identities([self], lambda unit: code)[0]

    def is_block_of(self, runs: int) -> bool:
        """Return True for one of the blocks that together hold this number of runs."""
        return self.first_run + self.runs == min(self.first_run + BLOCK, runs)


def identities(units: Sequence[Unit], code: Callable[[Unit], str]) -> list[str]:
    """The keys of units; what the units of a series share is hashed once.

    Args:
        units: the units.
        code: gives the version of the code that computes a unit.
    """
    known: dict[int, str] = {}
    for unit in units:
        if id(unit.series) not in known:
            known[id(unit.series)] = unit.series.identity(code(unit))
    return [f"{known[id(unit.series)]}-{unit.first_run}-{unit.runs}" for unit in units]


def blocks_of(experiment: Experiment, world: WorldSpec, agent: AgentSpec) -> list[Unit]:
    """The units that together hold all runs of one agent on one world."""
    series = Series(world.bare, agent.bare, experiment.seed, experiment.rounds)
    return [Unit(series, *block) for block in _blocks(experiment.runs)]


def units_of(study: Study) -> list[Unit]:
    """Every unit of a study once, even if several of its entries need it."""
    units: list[Unit] = []
    asked: dict[Series, set[tuple[int, int]]] = {}
    for experiment in study.experiments:
        blocks = _blocks(experiment.runs)
        for world in experiment.worlds:
            for agent in experiment.agents:
                series = Series(world.bare, agent.bare, experiment.seed, experiment.rounds)
                known = asked.setdefault(series, set())
                units += [Unit(series, *block) for block in blocks if block not in known]
                known.update(blocks)
    return units


def _blocks(runs: int) -> list[tuple[int, int]]:
    """The first run and the number of runs of each block."""
    return [(first, min(BLOCK, runs - first)) for first in range(0, runs, BLOCK)]


def runs_in_words(units: Iterable[Unit]) -> str:
    """The numbers of the runs of some units of one series, such as ``0-49, 75-99``."""
    spans: list[list[int]] = []
    for unit in sorted(units, key=lambda each: each.first_run):
        if spans and spans[-1][1] == unit.first_run - 1:
            spans[-1][1] += unit.runs
        else:
            spans.append([unit.first_run, unit.first_run + unit.runs - 1])
    return ", ".join(f"{first}-{last}" for first, last in spans)


class StoreError(ValueError):
    """The folder of results cannot be used; the message says why and what to do."""


class LostResultError(StoreError):
    """A stored result turned out to be damaged or gone; the same command computes it again."""


class InvalidRunsError(ValueError):
    """Runs are not what a unit can have as its result; the message says in what."""


def check_runs(unit: Unit, block: Runs) -> None:
    """Raise an :class:`InvalidRunsError` unless these can be the runs of a unit, all of it finite and in its range."""
    rounds, regret, pulls, suboptimal = block.rounds, block.regret, block.pulls, block.suboptimal_pulls
    _ensure(rounds.dtype == np.int64 and rounds.ndim == 1 and rounds.size > 0, "rounds are not a list of integers")
    _ensure(rounds[0] >= 1 and (np.diff(rounds) > 0).all(), "rounds do not rise from 1 on")
    asked = sorted({*unit.rounds, block.horizon})
    _ensure(rounds.tolist() == asked if unit.rounds else len(rounds) <= POINTS, "rounds are not those asked for")

    _ensure(regret.dtype == np.float64 and regret.shape == (unit.runs, len(rounds)), "regret has another shape")
    _ensure(np.isfinite(regret).all(), "regret is not finite")
    lowest = -ROUNDING * max(1.0, float(np.abs(regret).max()))
    _ensure((np.diff(regret, prepend=0.0) >= lowest).all(), "regret falls, or is negative")

    integers = pulls.dtype == suboptimal.dtype == np.int64 and pulls.ndim == 2 and pulls.shape[1] > 0
    _ensure(integers and len(pulls) == unit.runs and pulls.shape == suboptimal.shape, "pulls have another shape")
    _ensure(((suboptimal >= 0) & (suboptimal <= pulls) & (pulls <= block.horizon)).all(), "pulls are out of range")
    _ensure((pulls.sum(axis=1) == block.horizon).all(), "pulls do not sum to the number of rounds")

    _ensure(block.seeds == unit.seeds, "seeds are not those of these runs")
    told = [each for parameters in block.parameters for each in parameters.items()]
    plain = all(isinstance(key, str) and (each is None or isinstance(each, str | int | float)) for key, each in told)
    _ensure(len(block.parameters) == unit.runs and plain, "parameters are not plain")
    _ensure(math.isfinite(block.seconds) and block.seconds >= 0, "seconds are not a time")
    if block.alarms is not None:
        kinds = all(log.dtype == ALARM and log.ndim == 1 and len(log) <= CAPACITY for log in block.alarms)
        _ensure(kinds and len(block.alarms) == unit.runs, "alarms are not one log for each run")
        every = np.concatenate(block.alarms)
        within = (every["round"] >= 1) & (every["round"] <= block.horizon)
        within &= (every["arm"] >= -1) & (every["arm"] < pulls.shape[1])
        _ensure(within.all(), "alarms are out of range")


def _ensure(true: bool | np.bool_, otherwise: str) -> None:
    if not true:
        raise InvalidRunsError(otherwise)
