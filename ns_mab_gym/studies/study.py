"""Studies as data: worlds × agents × seeds, from a command line or a TOML file, and their units of work.

A unit is a block of runs of an agent on a world: it has a key in the store, and what it gives is checked.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..agents.core.arguments import choice, escaped, known_parameters, plain_text, positive_int, shown
from ..agents.core.registry import TEXTS, Values, is_number, plain
from ..agents.parts.alarms import ALARM, CAPACITY
from ..envs.bandit import NSBanditEnv
from ..files import KeptFile, sha256_of
from ..runs import POINTS, Runs, seed_pair
from ..specs import MODELS, AgentSpec, S, Spec, WorldSpec, read_agents, swept_agents
from ..worlds.table import read_file

R = TypeVar("R")
SETTINGS = ("title", "worlds", "agents", "runs", "seed", "reference")
# Agents that are no entries of their own: the oracle has no regret, the grid of detectors has its named points, and a
# floor is one under another agent.
LEFT_OUT = ("oracle", "restarting", "floor")
# The two ends of every comparison, which are shown without a place: neither has anything to be told or not told.
REFERENCES = ("oracle-restart", "random")
BLOCK = 25  # runs in a unit: about a second of work, the most that a killed thread can lose
ROUNDING = 1e-9  # by which a regret may fall, relative to the largest: environments of users round in their own ways


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Every agent on every world; run r has the same luck for all agents.

    Attributes:
        worlds: the worlds.
        agents: the agents.
        runs: the number of runs of each agent on each world.
        seed: the number from which the seeds of all runs are derived.
        reference: the label of the agent to which the others are compared; by default the first.
        rounds: the rounds after which the regret is kept; about 500, evenly spaced, if there are none.
        survey: whether it compares so many agents that they are shown in one table of final regrets over all worlds,
            instead of curves in each world's section.
    """

    worlds: tuple[WorldSpec, ...]
    agents: tuple[AgentSpec, ...]
    runs: int = 50
    seed: int = 0
    reference: str = ""
    rounds: tuple[int, ...] = ()
    survey: bool = False

    def __post_init__(self) -> None:
        """Check all that can be checked without building a world."""
        object.__setattr__(self, "runs", positive_int("runs", self.runs))
        if positive_int("seed", self.seed, least=0, most=None).bit_length() > 128:
            raise ValueError(f"seed must be below 2**128, got an integer of {self.seed.bit_length()} bits")
        plain_text("reference", self.reference)
        _distinct("world", self.worlds)
        labels = _distinct("agent", self.agents)
        for agent in self.agents:
            if agent.stands_for:
                choice("agent that another reading stands for", agent.stands_for, labels)
        if self.reference:
            choice("reference agent", self.reference, labels)
        else:
            object.__setattr__(self, "reference", labels[0])

    @property
    def ranked(self) -> tuple[AgentSpec, ...]:
        """The agents that are compared: all but other readings of them."""
        return tuple(agent for agent in self.agents if not agent.stands_for)

    def without_other_readings(self) -> Experiment:
        """Return the same experiment with the compared agents only."""
        return replace(self, agents=self.ranked)

    @property
    def groups(self) -> dict[str, list[AgentSpec]]:
        """The compared agents by their families; those that belong to none are left out."""
        families: dict[str, list[AgentSpec]] = {}
        for agent in self.ranked:
            if agent.group:
                families.setdefault(agent.group, []).append(agent)
        return families

    @property
    def sweeps(self) -> dict[tuple[str, str], list[AgentSpec]]:
        """The agents of every sweep over numbers, from the least to the largest, by its parameter and its family."""
        found: dict[tuple[str, str], list[AgentSpec]] = {}
        for agent in self.ranked:
            if agent.swept and is_number(agent.kwargs.get(agent.swept)):
                found.setdefault((agent.swept, agent.family), []).append(agent)
        for (parameter, _), agents in found.items():
            agents.sort(key=lambda agent, parameter=parameter: agent.kwargs[parameter])  # type: ignore[misc]
        return {sweep: agents for sweep, agents in found.items() if len(agents) > 1}


def _distinct(what: str, specs: Iterable[Spec]) -> list[str]:
    """The labels of specs; raises a ValueError if there is none, or if two carry the same label."""
    counted = Counter(spec.label for spec in specs)
    if not counted:
        raise ValueError(f"an experiment needs at least one {what}")
    label, times = counted.most_common(1)[0]
    if times > 1:
        raise ValueError(f"{times} {what}s are labelled {label!r}; give each a label of its own, or drop one")
    return list(counted)


@dataclass(frozen=True)
class Study:
    """Experiments that share one folder of results and one report.

    Attributes:
        title: the report's heading.
        experiments: the experiments to run; what they have in common is computed once.
    """

    title: str
    experiments: tuple[Experiment, ...]

    def __post_init__(self) -> None:
        """Check the title."""
        plain_text("title", self.title)

    @property
    def worlds(self) -> tuple[WorldSpec, ...]:
        """Every world once, in order of appearance."""
        return tuple(dict.fromkeys(world for experiment in self.experiments for world in experiment.worlds))

    @property
    def summary(self) -> str:
        """The size of the study in a sentence."""
        agents = {agent.label for experiment in self.experiments for agent in experiment.agents}
        runs = ", ".join(map(str, dict.fromkeys(experiment.runs for experiment in self.experiments)))
        worlds = f"{len(self.worlds)} world{'s' * (len(self.worlds) > 1)}"
        count = f"{worlds}, {len(agents)} agent{'s' * (len(agents) > 1)}, {runs} runs each"
        return f"{count}; runs of the same number share their luck."

    def in_one_chart(self, experiment: Experiment, world: WorldSpec) -> bool:
        """Return whether all agents share a chart: not if each is in its family's and other experiments share one."""
        here = [each for each in self.experiments if world in each.worlds and not each.survey]
        in_families = all(agent.group for agent in experiment.ranked)
        return not in_families or all(each.groups for each in here)


def experiment(envs: Sequence[str], agents: Sequence[str], **settings: Any) -> Experiment:
    """Return the experiment that the arguments of a command line describe."""
    return Experiment(
        worlds=tuple(WorldSpec.read(text) for text in envs),
        agents=tuple(agent for text in agents for agent in read_agents(text)),
        **settings,
    )


def read_study(path: str | Path) -> Study:
    """Return the study that a TOML file describes.

    Worlds and agents are texts or tables. In a table, what is neither the name nor a label, note or group is a
    parameter, of which an agent can be given several values::

        title = "Which memory?"                         # the file's name if there is none
        runs = 20
        worlds = ["NSBandit-Smooth-v0", "means.csv"]    # a file is looked for beside the description
        agents = ["sw-ucb", {agent = "beta-swts", window = {sweep = [100, 316, 1000]}}]

        [[agents]]
        agent = "beta-swts"
        window = 500
        label = "short memory"
    """
    file = Path(path)
    described = toml_content(file)
    try:
        return _study(plain(described), file)
    except (TypeError, ValueError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{str(file)!r}: {error}") from None


def toml_content(file: Path) -> dict[str, Any]:
    """Return what a TOML file holds."""
    try:
        text = file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        return tomllib.loads(text)
    except OSError as error:
        raise ValueError(f"cannot read the description {str(file)!r}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{str(file)!r} is not a text file in UTF-8: {error}") from None
    except tomllib.TOMLDecodeError as error:  # its message names line and column, except at the end of the file
        where = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the end of the file")
        raise ValueError(f"{str(file)!r} is not valid TOML: {where}") from None
    except (RecursionError, ValueError) as error:  # lists within lists, or a number of thousands of digits
        why = "a number has too many digits, or lists are too deep"
        raise ValueError(f"cannot read the description {str(file)!r}: {why} ({error})") from None


def _study(described: Mapping[str, Any], file: Path) -> Study:
    known_parameters("the description", described, SETTINGS)
    settings = {"title": f"Comparison: {escaped(file.stem)}", **described}
    for key in ("worlds", "agents"):
        if not isinstance(settings.get(key), list) or not settings[key]:
            raise ValueError(f"{key} must be a list of texts or tables, got {shown(settings.get(key))}")
    if not plain_text("title", title := settings.pop("title")):
        raise ValueError('title is empty; write a text, such as title = "Which memory?", or leave it out')
    worlds = list(_each("worlds", settings.pop("worlds"), _world))
    for place, world in enumerate(worlds):
        if world.file is not None:  # beside the description, unless the path is absolute
            parameters = {**world.kwargs, "path": str(file.parent / world.file)}
            worlds[place] = replace(world, parameters=tuple(parameters.items()))
    agents = [agent for several in _each("agents", settings.pop("agents"), _agents) for agent in several]
    return Study(title, (Experiment(worlds=tuple(worlds), agents=tuple(agents), **settings),))


def _each(key: str, given: Sequence[Any], read: Callable[[Any], R]) -> Iterator[R]:
    """The meaning of each of several entries; an error says which one it is about, counted from 1."""
    for number, entry in enumerate(given, start=1):
        try:
            yield read(entry)
        except (TypeError, ValueError) as error:
            raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{key}[{number}]: {error}") from None


def _world(given: str | Mapping[str, Any]) -> WorldSpec:
    if isinstance(given, str):
        return WorldSpec.read(given)
    name, parameters = _table("env", given)
    for key, value in parameters.items():
        if isinstance(value, Values):
            raise ValueError(f"{key} of world {name!r} is swept; only agents can be: write one table for each world")
    return WorldSpec.of(name, **parameters)


def _agents(given: str | Mapping[str, Any]) -> list[AgentSpec]:
    if isinstance(given, str):
        return read_agents(given)
    name, parameters = _table("agent", given)
    about = {key: parameters.pop(key) for key in TEXTS if key in parameters}
    return swept_agents(name, parameters, **about)


def _table(key: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of an entry, and everything else in its table; ``{sweep = […]}`` are several values."""
    if not isinstance(given, Mapping) or not isinstance(given.get(key), str):
        raise ValueError(f'an entry is a text or a table with {key} = "…", got {shown(given)}')
    parameters = {name: value for name, value in given.items() if name != key}
    for name, value in parameters.items():
        if isinstance(value, Mapping) and "sweep" in value:
            if len(value) > 1 or not isinstance(value["sweep"], list):
                raise ValueError(f"a sweep is written {name} = {{sweep = [100, 1000]}}, got {shown(dict(value))}")
            parameters[name] = Values(value["sweep"])
    return given[key], parameters


def arm_names(world: WorldSpec, n_arms: int) -> list[str]:
    """Return the names of a world's arms: those of its file, or "arm 1", "arm 2" and so on."""
    return names_in_file(world, n_arms) or [f"arm {arm + 1}" for arm in range(n_arms)]


def names_in_file(world: WorldSpec, n_arms: int) -> list[str] | None:
    """Return the names of a world's arms in its file of means; None if there is no such file, or if it has no names."""
    header = None if world.file is None else header_of(world.kwargs["path"])
    if header is None or len(header) != n_arms:
        return None
    return [name.strip() or f"arm {arm}" for arm, name in enumerate(header, start=1)]


def header_of(file: str | Path) -> list[str] | None:
    """Return the names of the columns of a file of means; None if it has no names, or if there is no such file."""
    try:
        names = read_file(file).names
    except FileNotFoundError:
        return None
    return None if names is None else list(names)


def pinned(study: Study, *, trust_models: bool = False) -> Study:
    """The study with every file that it names read, once; equal to the study, and under the same labels.

    A path that leads to no file stays as it is: the check of the study says what is wrong with it.

    Args:
        study: the study.
        trust_models: True if saved models may run code; see ``SECURITY.md``.
    """

    @cache
    def read(path: str, trusted: bool) -> KeptFile:
        return KeptFile(path, trusted=trusted)

    def keep(entry: S) -> S:
        return entry.with_files(lambda path: read(path, trust_models and entry.name in MODELS))

    experiments = (
        replace(each, worlds=tuple(map(keep, each.worlds)), agents=tuple(map(keep, each.agents)))
        for each in study.experiments
    )
    return replace(study, experiments=tuple(experiments))


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
    firsts = range(0, experiment.runs, BLOCK)
    return [Unit(series, first, min(BLOCK, experiment.runs - first)) for first in firsts]


def units_of(study: Study) -> list[Unit]:
    """Every unit of a study once, even if several of its entries need it."""
    units: list[Unit] = []
    asked: dict[Series, set[tuple[int, int]]] = {}
    for experiment in study.experiments:
        for world in experiment.worlds:
            for agent in experiment.agents:
                blocks = blocks_of(experiment, world, agent)
                known = asked.setdefault(blocks[0].series, set())
                units += [unit for unit in blocks if unit[1:] not in known]
                known.update(unit[1:] for unit in blocks)
    return units


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


def check_size(block: Runs, n_arms: int, horizon: int | None) -> None:
    """Raise an :class:`InvalidRunsError` unless runs have the arms and the horizon of their world, see `size_of`."""
    _ensure(horizon in (None, block.horizon), "horizon is not that of its world")
    _ensure(block.pulls.shape[1] == n_arms, "arms are not those of its world")


def size_of(world: WorldSpec) -> tuple[int, int | None]:
    """Return the number of arms of a world, and its horizon; None if that shows only when it is played."""
    env = world.env()
    bandit = env.unwrapped
    horizon = bandit.world.horizon if isinstance(bandit, NSBanditEnv) else None
    return int(env.action_space.n), horizon  # type: ignore[attr-defined]


def _ensure(true: bool | np.bool_, otherwise: str) -> None:
    if not true:
        raise InvalidRunsError(otherwise)
