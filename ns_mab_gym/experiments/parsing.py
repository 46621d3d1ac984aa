"""Reads worlds and agents from arguments of a command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from .study import TEXTS, AgentEntry, Entry, Experiment, WorldEntry
from .values import is_number, split_outside, value_of

__all__ = ["Sweep", "agents_of", "experiment", "parse", "spread"]

E = TypeVar("E", bound=Entry)


class Sweep(list[Any]):
    """The values of a parameter that is swept."""


def parse(kind: type[E], words: str) -> E:
    """An entry from its text on a command line: a name and, after a colon, its parameters.

    >>> parse(AgentEntry, "sw-ucb:window=500,xi=0.6").kwargs
    {'window': 500, 'xi': 0.6}
    >>> parse(WorldEntry, "my_module:Tide:reward=my_module:Coin").name  # a colon can be part of a name and of a value
    'my_module:Tide'
    >>> parse(AgentEntry, "restarting:detector=cusum(threshold=5, warmup=50),rate=0.1").kwargs
    {'detector': 'cusum(threshold=5, warmup=50)', 'rate': 0.1}
    >>> parse(WorldEntry, "stationary:mu=0.1,0.5,horizon=1e4").kwargs  # a list, and an integer in short
    {'horizon': 10000, 'mu': (0.1, 0.5)}
    """
    name, parameters = _read(words)
    for key, value in parameters.items():
        if isinstance(value, Sweep):
            raise ValueError(f"{words!r} has several values of {key}: only agents of a comparison can be swept")
    return kind.of(name, **parameters)


def agents_of(words: str) -> list[AgentEntry]:
    """The agents that a text on a command line describes: one, or one for each value of a swept parameter.

    >>> [agent.words for agent in agents_of("beta-swts:window=100|316")]
    ['beta-swts:window=100', 'beta-swts:window=316']
    """
    name, parameters = _read(words)
    about = {key: parameters.pop(key) for key in TEXTS if key in parameters}
    return spread(name, parameters, **about)


def _read(words: str) -> tuple[str, dict[str, Any]]:
    """The name in a text, and the parameters."""
    parts = words.split(":")
    named = next((n for n, part in enumerate(parts) if n > 0 and "=" in part), len(parts))
    parameters: dict[str, Any] = {}
    for setting in _settings(":".join(parts[named:])):
        key, equals, text = setting.partition("=")
        if not (key.isidentifier() and equals and all(split_outside(text, "|") or [""])):
            raise ValueError(f"cannot read {setting!r} in {words!r}; write name:parameter=value,parameter=value")
        if key in parameters:
            raise ValueError(f"{key} is given twice in {words!r}; several values of an agent are written {key}=1|2")
        parameters[key] = text if key in TEXTS else _value(text)
    return ":".join(parts[:named]), parameters


def _settings(text: str) -> list[str]:
    """The settings between the commas of a text; numbers after a comma go on with the list that a setting began."""
    settings: list[str] = []
    for piece in filter(None, split_outside(text, ",")):
        if settings and is_number(value_of(piece)):
            settings[-1] += f",{piece}"
        else:
            settings.append(piece)
    return settings


def _value(text: str) -> Any:
    """The value of a setting: of one between bars, if there are several."""
    lists = (f"[{each}]" if len(split_outside(each, ",")) > 1 else each for each in split_outside(text, "|"))
    values = [value_of(each) for each in lists]
    return Sweep(values) if len(values) > 1 else values[0]


def spread(name: str, parameters: Mapping[str, Any], label: str = "", **about: str) -> list[AgentEntry]:
    """One agent, or one for each value of the parameter that is swept.

    Args:
        name: the agent's.
        parameters: a swept one has a :class:`Sweep` for its value.
        label: its label, to which a swept parameter is added.
        about: its note and group.
    """
    swept = [key for key, value in parameters.items() if isinstance(value, Sweep)]
    if not swept:
        return [AgentEntry.of(name, label=label, **about, **parameters)]
    if len(swept) > 1:
        raise ValueError(f"agent {name!r} sweeps {' and '.join(swept)}; sweep one parameter and fix the others")
    (key,) = swept
    rest = {other: value for other, value in parameters.items() if other != key}
    family = label or AgentEntry.of(name, **rest).words
    entries = [AgentEntry.of(name, **about, **rest, **{key: value}) for value in parameters[key]]
    if len(set(entries)) < max(2, len(entries)):
        raise ValueError(f"a sweep needs two or more different values, got {key} = {list(parameters[key])} of {name!r}")
    if label:
        entries = [replace(entry, label=f"{label}, {key}={entry.kwargs[key]}") for entry in entries]
    return [entry.in_sweep(key, family) for entry in entries]


def experiment(envs: Sequence[str], agents: Sequence[str], **settings: Any) -> Experiment:
    """The experiment that the arguments of a command line describe."""
    return Experiment(
        worlds=tuple(parse(WorldEntry, words) for words in envs),
        agents=tuple(agent for words in agents for agent in agents_of(words)),
        **settings,
    )
