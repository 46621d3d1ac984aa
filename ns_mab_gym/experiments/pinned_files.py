"""Reads the files of a study once, at its beginning: what was read is what is hashed, played and drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ..kept_files import KeptFile
from ..play.resolving import MODELS
from .study import AgentEntry, Entry, Study, WorldEntry

__all__ = ["files_of", "kept_digests", "opened_by_others", "pinned", "pinned_world"]

E = TypeVar("E", bound=Entry)


def pinned(study: Study, *, trust_models: bool = False) -> Study:
    """The study with every file that it names read, once; equal to the study, and under the same labels.

    A path that leads to no file stays as it is: the check of the study says what is wrong with it.

    Args:
        study: the study.
        trust_models: whether saved models may run code; see ``SECURITY.md``.
    """
    known: dict[tuple[str, bool], KeptFile] = {}

    def keep(entry: E) -> E:
        trusted = trust_models and entry.name in MODELS
        return _with_files(entry, lambda path: _kept(path, trusted, known))

    experiments = (
        replace(each, worlds=tuple(map(keep, each.worlds)), agents=tuple(map(keep, each.agents)))
        for each in study.experiments
    )
    return replace(study, experiments=tuple(experiments))


def pinned_world(world: WorldEntry) -> WorldEntry:
    """The world with its files read; see :func:`pinned`."""
    return _with_files(world, KeptFile)


def _kept(path: str, trusted: bool, known: dict[tuple[str, bool], KeptFile]) -> KeptFile:
    if isinstance(path, KeptFile):
        return path
    if (path, trusted) not in known:
        known[path, trusted] = KeptFile(path, trusted=trusted)
    return known[path, trusted]


def files_of(entry: Entry) -> dict[str, str]:
    """The files that the parameters of an entry name, by the name of the parameter, such as ``reward.path``."""
    return {name: value for name, value in _leaves(entry.parameters) if _is_file(name, value)}


def kept_digests(entry: Entry) -> tuple[str, ...] | None:
    """The hashes of all files that the entry names; None if one was not read yet, or may come to be there."""
    found: list[str] = []
    for name, value in _leaves(entry.parameters):
        if isinstance(value, KeptFile):
            found.append(value.digest)
        elif _looks_like_file(name, value):
            return None
    return tuple(found)


def opened_by_others(entry: Entry) -> list[str]:
    """Those of its files that code of the user's opens by itself, which therefore can change under its hands."""
    tabled = isinstance(entry, WorldEntry) and (entry.name == "table" or entry.kwargs.get("world") == "table")
    ours = tabled or (isinstance(entry, AgentEntry) and entry.name in MODELS)
    return [path for name, path in files_of(entry).items() if not (ours and name == "path")]


def _with_files(entry: E, kept: Callable[[str], str]) -> E:
    """The same entry with each path of a file replaced by what a function makes of it."""
    return replace(entry, parameters=tuple((name, _replaced(name, value, kept)) for name, value in entry.parameters))


def _replaced(name: str, value: Any, kept: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _replaced(key, each, kept) for key, each in value.items()}
    return kept(value) if _is_file(name, value) else value


def _leaves(parameters: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Names and values, also of parameters inside of parameters."""
    for name, value in parameters:
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", each) for inner, each in _leaves(value.items()))
        else:
            yield name, value


def _is_file(name: str, value: Any) -> bool:
    """Whether a value is the path of a file."""
    return isinstance(value, KeptFile) or (_looks_like_file(name, value) and os.path.isfile(value))


def _looks_like_file(name: str, value: Any) -> bool:
    """Whether a value may be the path of a file; a text without an ending is looked for only if it is called a path."""
    return isinstance(value, str) and (name.endswith("path") or bool(os.path.splitext(value)[1]))
