"""Reads entries from arguments of a command line and from tables of a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..agents.core.arguments import known_parameters
from .study import AgentEntry, Entry, Experiment, WorldEntry

__all__ = ["experiment", "parse", "read_toml"]

E = TypeVar("E", bound=Entry)

OUTSIDE = re.compile(r",(?![^()]*\))")  # commas that are not within brackets
SETTINGS = ("worlds", "agents", "runs", "seed", "reference")


def parse(kind: type[E], words: str) -> E:
    """An entry from its text on a command line: a name and, after a colon, its parameters.

    >>> parse(AgentEntry, "sw-ucb:window=500,xi=0.6").kwargs
    {'window': 500, 'xi': 0.6}
    >>> parse(WorldEntry, "my_module:Tide:reward=my_module:Coin").name  # a colon can be part of a name and of a value
    'my_module:Tide'
    >>> parse(AgentEntry, "restarting:detector=cusum(threshold=5, warmup=50),rate=0.1").kwargs
    {'detector': 'cusum(threshold=5, warmup=50)', 'rate': 0.1}
    """
    parts = words.split(":")
    named = next((n for n, part in enumerate(parts) if n > 0 and "=" in part), len(parts))
    name, settings = ":".join(parts[:named]), ":".join(parts[named:])
    return kind.of(name, **dict(_setting(words, each) for each in OUTSIDE.split(settings) if each))


def _setting(words: str, setting: str) -> tuple[str, Any]:
    key, equals, value = setting.partition("=")
    if not (key.isidentifier() and equals and value):
        raise ValueError(f"cannot read {setting!r} in {words!r}; write name:parameter=value,parameter=value")
    return key, _value(value)


def _value(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def read_toml(path: str | Path) -> Experiment:
    """The experiment that a TOML file describes.

    Worlds and agents are strings or tables; in a table, what is neither the name nor the label is a parameter::

        runs = 20
        worlds = ["NSBandit-Smooth-v0", "means.csv"]    # a file is looked for beside the description

        [[agents]]
        agent = "beta-swts"
        window = 500
        label = "short memory"
    """
    file = Path(path)
    try:
        content = file.read_text(encoding="utf-8")
        described = tomllib.loads(content)
    except OSError as error:
        raise ValueError(f"cannot read the description {str(file)!r}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{str(file)!r} is not a text file in UTF-8: {error}") from None
    except tomllib.TOMLDecodeError as error:  # its message names line and column, except at the end of the file
        where = str(error).replace("at end of document", f"at line {len(content.splitlines())}, the end of the file")
        raise ValueError(f"{str(file)!r} is not valid TOML: {where}") from None
    try:
        return _experiment(described, file.parent)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{str(file)!r}: {error}") from None


def _experiment(described: Mapping[str, Any], folder: Path) -> Experiment:
    known_parameters("the description", described, SETTINGS)
    settings = dict(described)
    for key in ("worlds", "agents"):
        if not isinstance(settings.get(key), list) or not settings[key]:
            raise ValueError(f"{key} must be a list of words or tables, got {settings.get(key)!r}")
    return Experiment(
        worlds=tuple(_beside(_entry(WorldEntry, "env", each), folder) for each in settings.pop("worlds")),
        agents=tuple(_entry(AgentEntry, "agent", each) for each in settings.pop("agents")),
        **settings,
    )


def _entry(kind: type[E], key: str, given: str | Mapping[str, Any]) -> E:
    if isinstance(given, str):
        return parse(kind, given)
    if not isinstance(given, Mapping) or not isinstance(given.get(key), str):
        raise ValueError(f'an entry is words or a table with {key} = "…", got {given!r}')
    parameters = dict(given)
    return kind.of(parameters.pop(key), **parameters)


def _beside(world: WorldEntry, folder: Path) -> WorldEntry:
    """The world, with the path of its file of means taken relative to the folder of the description."""
    if world.file is None or world.file.is_absolute():
        return world
    return WorldEntry.of(
        world.name,
        label=world.label,
        note=world.note,
        group=world.group,
        **(world.kwargs | {"path": str(folder / world.file)}),
    )


def experiment(envs: Sequence[str], agents: Sequence[str], **settings: Any) -> Experiment:
    """The experiment that the arguments of a command line describe."""
    return Experiment(
        worlds=tuple(parse(WorldEntry, words) for words in envs),
        agents=tuple(parse(AgentEntry, words) for words in agents),
        **settings,
    )
