"""Experiments as data: worlds × agents × seeds, as small frozen descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ..agents.core.arguments import choice, positive_int
from ..plain_texts import plain_text
from ..play.resolving import MODELS
from .frozen_values import frozen_value
from .values import is_number

__all__ = ["TEXTS", "AgentEntry", "Experiment", "Study", "WorldEntry"]

TABLE_SUFFIXES = (".csv", ".parquet", ".npz")
TEXTS = ("label", "note", "group")  # what a table says about an entry beside its parameters
LONGEST_WORDS = 10_000  # letters of an entry as text, such as one with the means of many arms


@dataclass(frozen=True)
class Entry:
    """A name with its parameters, and the label that people see.

    Attributes:
        name: what the registry calls it.
        parameters: pairs of a parameter and its value, in alphabetical order.
        label: what tables and figures call it; by default the entry as text.
        note: what must be said wherever its result is shown.
        group: the family to which it belongs: the agents of a family share a chart, as variants of one algorithm do.
    """

    name: str
    parameters: tuple[tuple[str, Any], ...] = ()
    label: str = ""
    note: str = ""
    group: str = ""

    def __post_init__(self) -> None:
        """Check all texts and values; sort and freeze the parameters, so that entries with equal ones are equal."""
        self._check_name()
        object.__setattr__(self, "parameters", self._frozen_parameters())
        for what in TEXTS:
            plain_text(f"{what} of {self.name!r}", getattr(self, what), lines=what == "note")
        if not self.label:
            plain_text(f"{self.name!r} with its parameters", self.words, longest=LONGEST_WORDS)
            object.__setattr__(self, "label", self.words)

    def _check_name(self) -> None:
        if not plain_text("the name of an entry", self.name).strip():
            raise ValueError(f"the name of an entry is missing in {self.words!r}; write a name, then its parameters")

    def _frozen_parameters(self) -> tuple[tuple[str, Any], ...]:
        keys = [plain_text(f"a parameter of {self.name!r}", key) for key, _ in self.parameters]
        for key, times in Counter(keys).items():
            if times > 1:
                raise ValueError(f"{key} of {self.name!r} is given {times} times; give it once")
        ordered = sorted(self.parameters, key=lambda parameter: parameter[0])
        frozen = {key: frozen_value(self.name, key, value) for key, value in ordered}
        if (path := frozen.get("path")) is not None and not (isinstance(path, str) and path):
            raise TypeError(f"path of {self.name!r} must be the name of a file, got {path!r}")
        return tuple(frozen.items())

    @classmethod
    def of(cls, name: str, /, *, label: str = "", note: str = "", group: str = "", **parameters: Any) -> Self:
        """An entry with its parameters as keywords."""
        return cls(name, tuple(parameters.items()), label, note, group)

    @cached_property
    def bare(self) -> Self:
        """The same name with the same parameters, and nothing else: what is played, whatever it is called."""
        return type(self)(self.name, self.parameters)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The parameters as keyword arguments."""
        return dict(self.parameters)

    @property
    def words(self) -> str:
        """The entry as it is written on the command line, without its label."""
        return _in_words(self.name, self.parameters)

    @property
    def name_in_group(self) -> str:
        """The label without the name of its family."""
        return self.label.removeprefix(self.group).strip(" ,()")

    @property
    def file(self) -> Path | None:
        """The file from which it is read, if there is one: a table of means, or a saved model."""
        path = self.kwargs.get("path")
        return None if path is None else Path(path)


@dataclass(frozen=True)
class AgentEntry(Entry):
    """An agent of the registry, or a saved model of Stable-Baselines3 (``sb3:path=model.zip``).

    >>> AgentEntry.of("beta-swts", window=500).words
    'beta-swts:window=500'

    Attributes:
        stands_for: the label of the agent in whose place this one can be looked at, if it is another reading of it:
            it is shown beside that agent, and not ranked with the others.
        swept: the parameter in which it differs from the other agents of its sweep, if it is part of one.
        family: what the agents of its sweep are called together.
    """

    stands_for: str = ""
    swept: str = ""
    family: str = ""

    def __post_init__(self) -> None:
        """Refuse trust as a parameter: others may have written the description."""
        super().__post_init__()
        if self.name in MODELS and "trust" in self.kwargs:
            raise ValueError(
                f"{self.words!r}: trust is not part of a description, which others may have written; leave it out, and "
                f"pass --trust-models to the command if you trust the author of the model"
            )

    @property
    def blind(self) -> bool:
        """Whether the agent is told T and K alone."""
        return bool(self.kwargs.get("blind", False))

    def standing_for(self, label: str) -> AgentEntry:
        """The same entry as another reading of an agent."""
        return replace(self, stands_for=label)

    def in_sweep(self, parameter: str, family: str) -> AgentEntry:
        """The same entry as one of several that differ in a parameter."""
        return replace(self, swept=parameter, family=family)


@dataclass(frozen=True)
class WorldEntry(Entry):
    """A Gymnasium id with the arguments of its environment, or a file of means.

    >>> WorldEntry.of("NSBandit-Smooth-v0", label="fast", sigma=1e-3).words
    'NSBandit-Smooth-v0:sigma=0.001'
    >>> WorldEntry.of("means.csv").kwargs
    {'path': 'means.csv', 'world': 'table'}
    """

    def __post_init__(self) -> None:
        """Turn the name of a file of means into the world that plays it."""
        self._check_name()
        if self.name.lower().endswith(TABLE_SUFFIXES):
            object.__setattr__(self, "parameters", (*self.parameters, ("path", self.name), ("world", "table")))
            object.__setattr__(self, "name", "NSBandit-v0")
        super().__post_init__()

    @property
    def words(self) -> str:
        """The world as it is written on the command line, without its label."""
        if self.name == "NSBandit-v0" and self.file is not None:
            rest = tuple((k, v) for k, v in self.parameters if k not in ("path", "world"))
            return _in_words(str(self.file), rest)
        return super().words


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

    worlds: tuple[WorldEntry, ...]
    agents: tuple[AgentEntry, ...]
    runs: int = 50
    seed: int = 0
    reference: str = ""
    rounds: tuple[int, ...] = ()
    survey: bool = False

    def __post_init__(self) -> None:
        """Check all that can be checked without building a world."""
        object.__setattr__(self, "runs", positive_int("runs", self.runs))
        _bounded("seed", positive_int("seed", self.seed, least=0, most=None), 128)
        plain_text("reference", self.reference)
        _distinct("world", (world.label for world in self.worlds))
        _distinct("agent", labels := [agent.label for agent in self.agents])
        for agent in self.agents:
            if agent.stands_for:
                choice("agent that another reading stands for", agent.stands_for, labels)
        if self.reference:
            choice("reference agent", self.reference, labels)
        else:
            object.__setattr__(self, "reference", labels[0])

    def on(self, world: WorldEntry) -> Experiment:
        """The same experiment on one world only."""
        return replace(self, worlds=(world,))

    @property
    def ranked(self) -> tuple[AgentEntry, ...]:
        """The agents that are compared: all but other readings of them."""
        return tuple(agent for agent in self.agents if not agent.stands_for)

    def without_other_readings(self) -> Experiment:
        """The same experiment with the compared agents only."""
        return replace(self, agents=self.ranked)

    @property
    def groups(self) -> dict[str, list[AgentEntry]]:
        """The compared agents by their families; those that belong to none are left out."""
        families: dict[str, list[AgentEntry]] = {}
        for agent in self.ranked:
            if agent.group:
                families.setdefault(agent.group, []).append(agent)
        return families

    @property
    def sweeps(self) -> dict[tuple[str, str], list[AgentEntry]]:
        """The agents of every sweep over numbers, from the least to the largest, by its parameter and its family."""
        found: dict[tuple[str, str], list[AgentEntry]] = {}
        for agent in self.ranked:
            if agent.swept and is_number(agent.kwargs.get(agent.swept)):
                found.setdefault((agent.swept, agent.family), []).append(agent)
        for (parameter, _), agents in found.items():
            agents.sort(key=lambda agent, parameter=parameter: agent.kwargs[parameter])  # type: ignore[misc]
        return {sweep: agents for sweep, agents in found.items() if len(agents) > 1}


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
    def worlds(self) -> tuple[WorldEntry, ...]:
        """Every world once, in order of appearance."""
        return tuple(dict.fromkeys(world for experiment in self.experiments for world in experiment.worlds))

    def in_one_chart(self, experiment: Experiment, world: WorldEntry) -> bool:
        """Whether all agents of an experiment share a chart: unless each is in its family's, and others share one."""
        here = [each for each in self.experiments if world in each.worlds and not each.survey]
        in_families = all(agent.group for agent in experiment.ranked)
        return not in_families or all(each.groups for each in here)


def _in_words(name: str, parameters: tuple[tuple[str, Any], ...]) -> str:
    settings = ",".join(f"{key}={_word(value)}" for key, value in parameters)
    return f"{name}:{settings}" if settings else name


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(_word, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _bounded(what: str, given: int, bits: int) -> None:
    if given.bit_length() > bits:
        raise ValueError(f"{what} must be below 2**{bits}, got an integer of {given.bit_length()} bits")


def _distinct(what: str, labels: Iterable[str]) -> None:
    """Raise a ValueError if there is no entry, or if two carry the same label."""
    counted = Counter(labels)
    if not counted:
        raise ValueError(f"an experiment needs at least one {what}")
    label, times = counted.most_common(1)[0]
    if times > 1:
        raise ValueError(f"{times} {what}s are labelled {label!r}; give each a label of its own, or drop one")
