"""Reads a comparison from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ..agents.core.arguments import known_parameters
from ..plain_texts import escaped, plain_text, shortened
from .parsing import Sweep, agents_of, parse, spread
from .study import TEXTS, AgentEntry, Experiment, Study, WorldEntry
from .values import plain

__all__ = ["read_study", "read_toml", "toml_content"]

R = TypeVar("R")
SETTINGS = ("title", "worlds", "agents", "runs", "seed", "reference")
LARGEST = 10_000_000  # bytes of a description


def read_toml(path: str | Path) -> Experiment:
    """The experiment that a TOML file describes.

    Worlds and agents are strings or tables. In a table, what is neither the name nor a label, note or group is a
    parameter, of which an agent can be given several values::

        title = "Which memory?"
        runs = 20
        worlds = ["NSBandit-Smooth-v0", "means.csv"]    # a file is looked for beside the description
        agents = ["sw-ucb", {agent = "beta-swts", window = {sweep = [100, 316, 1000]}}]

        [[agents]]
        agent = "beta-swts"
        window = 500
        label = "short memory"
    """
    return read_study(path).experiments[0]


def read_study(path: str | Path) -> Study:
    """The experiment that a TOML file describes, see :func:`read_toml`, with its title; the file's name by default."""
    file = Path(path)
    described = toml_content(file)
    try:
        return _study(plain(described), file)
    except (TypeError, ValueError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{str(file)!r}: {error}") from None


def toml_content(file: Path) -> dict[str, Any]:
    """What a TOML file holds."""
    try:
        with file.open("rb") as handle:
            read = handle.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # a ValueError for a name that can be none of a file
        raise ValueError(f"cannot read the description {str(file)!r}: {getattr(error, 'strerror', error)}") from None
    if len(read) > LARGEST:
        raise ValueError(f"{str(file)!r} has more than {LARGEST:,} bytes, too many for a description; is it one?")
    try:
        text = read.decode("utf-8-sig").replace("\r\n", "\n")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{str(file)!r} is not a text file in UTF-8: {error}") from None
    except tomllib.TOMLDecodeError as error:  # its message names line and column, except at the end of the file
        where = str(error).replace("at end of document", f"at line {len(text.splitlines())}, the end of the file")
        raise ValueError(f"{str(file)!r} is not valid TOML: {where}") from None
    except RecursionError:
        raise ValueError(f"{str(file)!r} holds lists or tables within each other, too deep; write it flatter") from None
    except ValueError:  # Python reads no integer of thousands of digits
        raise ValueError(f"{str(file)!r} has a number of too many digits; write it as 1e4") from None


def _study(described: Mapping[str, Any], file: Path) -> Study:
    known_parameters("the description", described, SETTINGS)
    settings = {"title": f"Comparison: {escaped(file.stem)}", **described}
    for key in ("worlds", "agents"):
        if not isinstance(settings.get(key), list) or not settings[key]:
            raise ValueError(f"{key} must be a list of words or tables, got {shortened(settings.get(key))}")
    if not plain_text("title", title := settings.pop("title")):
        raise ValueError('title is empty; write a text, such as title = "Which memory?", or leave it out')
    worlds = [_beside(world, file.parent) for world in _each("worlds", settings.pop("worlds"), _world)]
    agents = [agent for several in _each("agents", settings.pop("agents"), _agents) for agent in several]
    return Study(title, (Experiment(worlds=tuple(worlds), agents=tuple(agents), **settings),))


def _each(key: str, given: Sequence[Any], read: Callable[[Any], R]) -> Iterator[R]:
    """What each of several entries means; an error says which one it is about, counted from 1."""
    for number, entry in enumerate(given, start=1):
        try:
            yield read(entry)
        except (TypeError, ValueError) as error:
            raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{key}[{number}]: {error}") from None


def _world(given: str | Mapping[str, Any]) -> WorldEntry:
    if isinstance(given, str):
        return parse(WorldEntry, given)
    name, parameters = _table("env", given)
    for key, value in parameters.items():
        if isinstance(value, Sweep):
            raise ValueError(f"{key} of world {name!r} is swept; only agents can be: write one table for each world")
    return WorldEntry.of(name, **parameters)


def _agents(given: str | Mapping[str, Any]) -> list[AgentEntry]:
    if isinstance(given, str):
        return agents_of(given)
    name, parameters = _table("agent", given)
    about = {key: parameters.pop(key) for key in TEXTS if key in parameters}
    return spread(name, parameters, **about)


def _table(key: str, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of an entry, and everything else in its table."""
    if not isinstance(given, Mapping) or not isinstance(given.get(key), str):
        raise ValueError(f'an entry is words or a table with {key} = "…", got {shortened(given)}')
    return given[key], {name: _value(name, value) for name, value in given.items() if name != key}


def _value(name: str, value: Any) -> Any:
    """A parameter's value; ``{sweep = […]}`` are several."""
    if not isinstance(value, Mapping) or "sweep" not in value:
        return value
    if len(value) > 1 or not isinstance(value["sweep"], list):
        raise ValueError(f"a sweep is written {name} = {{sweep = [100, 1000]}}, got {shortened(dict(value))}")
    return Sweep(value["sweep"])


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
