"""The worlds of a comparison, from whatever a user names them by."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from ..agents.core.arguments import nearest, shown
from ..agents.core.knowledge import Knowledge
from ..envs import ENV_IDS
from ..envs.bandit import NSBanditEnv, drawn_means
from ..kept_files import kept
from ..means import Floats
from ..play.episode import seed_pair
from ..play.match import known_of
from ..play.resolving import as_env, names_a_world
from ..worlds import catalogue
from ..worlds.table import Table
from ..worlds.world import World
from .labelling import Named, labels_of, named_by, reading

__all__ = ["Venue", "venues_of"]

FILES = (".csv", ".parquet", ".npz")
ALLOWED = (
    "an id such as 'NSBandit-Abrupt-v0', a world or its name, 'piecewise:n_arms=3', 'package.module:Class', a (T, K) "
    "array of means, the file of one, an environment, (one of these, arguments), a list of these, or {label: one of "
    "these}"
)


@dataclass(frozen=True, eq=False)
class Venue:
    """A world on which agents are compared.

    Attributes:
        label: what tables and figures call it.
        env: its environment.
        words: how it is written on the command line, if it can be.
    """

    label: str
    env: gym.Env[Any, Any]
    words: tuple[str, dict[str, Any]] | None = None

    @property
    def bandit(self) -> NSBanditEnv | None:
        """The environment itself, if it is one of the suite's."""
        inner = self.env.unwrapped
        return inner if isinstance(inner, NSBanditEnv) else None

    @property
    def drawn_anew(self) -> bool:
        """Whether its means differ from run to run."""
        return self.bandit is not None and self.bandit.world.random

    @property
    def horizon(self) -> int | None:
        """T, if it is known before the first round."""
        return None if self.bandit is None else self.bandit.world.horizon

    def means(self, seed: int, run: int = 0) -> Floats | None:
        """The means of a run; None if the environment does not tell them."""
        if self.bandit is None:
            return None
        if not self.drawn_anew:
            return self._fixed
        env_seed, _ = seed_pair(seed, run)
        self.env.reset(seed=env_seed)
        return self.bandit.means.copy()

    @cached_property
    def _fixed(self) -> Floats:
        assert self.bandit is not None
        return drawn_means(self.bandit.world, self.bandit.law)

    def knowledge(self, seed: int, run: int = 0) -> Knowledge:
        """What an agent that is made by name is told in a run."""
        means = self.means(seed, run)
        if means is None or self.bandit is None:
            return Knowledge(n_arms=int(self.env.action_space.n))  # type: ignore[attr-defined]
        return known_of(means, self.bandit.world, self.bandit.law)


def venues_of(given: Any) -> list[Venue]:
    """The worlds that a user names, each with a label of its own; see :func:`ns_mab_gym.compare`."""
    drafts = [_draft(label, each) for label, each in named_by(given, _is_one, "a world", ALLOWED)]
    if not drafts:
        raise ValueError("there is no world to compare on; name at least one, such as 'NSBandit-Abrupt-v0'")
    labels = labels_of([named for named, _, _ in drafts], "world")
    return [Venue(label, _made(label, *what), words) for label, (_, what, words) in zip(labels, drafts, strict=True)]


def _made(label: str, env: Any, arguments: Mapping[str, Any]) -> gym.Env[Any, Any]:
    try:
        made = as_env(env, arguments)
    except Exception as error:  # whatever an environment's constructor raises, the reader needs the world's name
        said = str(error) if isinstance(error, TypeError | ValueError | OSError) else f"{type(error).__name__}: {error}"
        raise ValueError(f"world {label!r}: {said}") from error
    if not isinstance(made.action_space, gym.spaces.Discrete):
        raise TypeError(f"world {label!r}: a bandit agent needs a Discrete action space, got {made.action_space}")
    return made


def _is_one(given: Any) -> bool:
    named = isinstance(given, str | PathLike | World | gym.Env | type)
    return named or _is_pair(given) or _is_matrix(given)


def _is_pair(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)


def _is_matrix(given: Any) -> bool:
    """Whether it is an array, a table of another library, or a list of rows of numbers."""
    if hasattr(given, "__array__"):
        return True
    rows = isinstance(given, Sequence) and len(given) > 0 and all(isinstance(row, list | tuple) for row in given)
    return rows and all(isinstance(cell, int | float | np.number) for row in given for cell in row) and any(given)


Drafted = tuple[Named, tuple[Any, dict[str, Any]], tuple[str, dict[str, Any]] | None]


def _draft(label: str, given: Any) -> Drafted:
    """What names a world, what makes its environment, and its words if it has any."""
    thing, arguments = (given[0], dict(given[1])) if _is_pair(given) else (given, {})
    if isinstance(thing, str) and "=" in thing and not Path(thing).is_file():
        thing, read = _read(thing)
        arguments = read | arguments
    if isinstance(thing, str | PathLike) and str(thing).lower().endswith(FILES):
        return _file(label, Path(thing), arguments)
    if isinstance(thing, str):
        return _by_name(label, thing, arguments)
    if isinstance(thing, World):
        named = Named(_short(thing.name), _parameters(thing) | arguments, given=label)
        return named, (thing, arguments), None
    if isinstance(thing, type) and issubclass(thing, World):
        return Named(_short_class(thing), arguments, given=label), (thing, arguments), None
    if isinstance(thing, gym.Env):
        spec = thing.spec
        return Named(type(thing.unwrapped).__name__ if spec is None else spec.id, given=label), (thing, {}), None
    if _is_matrix(thing):
        rows = np.asarray(thing) if hasattr(thing, "__array__") else thing
        return Named("array", arguments, given=label), (_table(label or "array", rows=rows), arguments), None
    raise TypeError(f"cannot compare {shown(thing)}; a world is {ALLOWED}")


def _table(label: str, **source: Any) -> Table:
    try:
        return Table(**source)
    except (TypeError, ValueError, OSError) as error:
        raise ValueError(f"world {label!r}: {error}") from error


def _file(label: str, path: Path, arguments: dict[str, Any]) -> Drafted:
    named = Named(path.name, arguments, given=label, long=str(path))
    file = kept(path)  # the report takes the names of arms from it
    return named, (_table(label or path.name, path=file), arguments), (file, arguments)


def _by_name(label: str, name: str, arguments: dict[str, Any]) -> Drafted:
    if not names_a_world(name) and ":" not in name and name not in gym.registry:
        raise ValueError(f"unknown world {name!r}; {nearest(name, [*catalogue.names(), *ENV_IDS])}")
    named = Named(_short(name), arguments, given=label, long=name)
    return named, (name, arguments), (name, arguments)


def _read(words: str) -> tuple[str, dict[str, Any]]:
    """A name and its parameters from a text, as on the command line."""
    with reading(words):
        from ..experiments.parsing import parse
        from ..experiments.study import WorldEntry

    entry = parse(WorldEntry, words)
    if entry.file is not None and entry.kwargs.get("world") == "table":
        return str(entry.file), {key: value for key, value in entry.parameters if key not in ("path", "world")}
    return entry.name, entry.kwargs


def _short(name: str) -> str:
    return name.rpartition(":")[2] if ":" in name else name


def _short_class(kind: type[World]) -> str:
    return next(str(each.default) for each in dataclasses.fields(kind) if each.name == "name") or kind.__name__


def _parameters(world: World) -> dict[str, Any]:
    given = [each.name for each in dataclasses.fields(world) if each.init and each.name not in world.derived]
    return {name: getattr(world, name) for name in given}
