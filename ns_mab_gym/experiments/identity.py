"""Finds the code that a unit's results depend on: engine, agent, world, reward law, and what they import."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import gymnasium as gym

from ..agents.core.zoo import AGENTS
from ..envs.bandit import NSBanditEnv
from ..kept_files import KeptFile
from ..play.resolving import MODELS, as_env
from ..sources import Stamp, are_as_stamped, counts, digest_of, edited_while_running, stamps_behind, unreadable
from .pinned_files import opened_by_others
from .series import Series
from .study import AgentEntry, WorldEntry
from .units import Unit

__all__ = [
    "ENGINE",
    "UNKNOWN",
    "CodeVersions",
    "EditedCodeError",
    "code_versions",
    "modules_of",
    "modules_of_class",
    "modules_of_env",
]

ENGINE = "ns_mab_gym.play.engine"
UNKNOWN = "unknown-"  # how versions begin of code that cannot be told apart


class EditedCodeError(ValueError):
    """Code was edited while it computed something, so that nobody knows which version did."""


class CodeVersions:
    """Gives the version of the code that computes a unit, as it was when it was first asked for.

    If some of that code cannot be read, or was edited after it may have been imported, its versions cannot be told
    apart: the version is then a new one, so that the unit is computed again every time, and that is reported once.

    Args:
        report: a function that shows a line to the user.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self._known: dict[tuple[str, ...], str | None] = {}
        self._stamps: dict[tuple[str, ...], dict[Path, Stamp]] = {}
        self._unknown: dict[tuple[str, ...], str] = {}
        self._told: set[str] = set()
        self._version = lru_cache(maxsize=4096)(self._version_of)

    def __call__(self, unit: Unit) -> str:
        """The version of the code that computes a unit."""
        return self._version(unit.series)

    def _version_of(self, series: Series) -> str:
        modules = modules_of(series.world, series.agent)
        if modules not in self._known:
            self._known[modules] = self._digest(modules)
        return self._known[modules] or self._unknown.setdefault(modules, f"{UNKNOWN}{uuid.uuid4().hex}")

    def confirm(self, *units: Unit) -> None:
        """Raise an error if code or files behind some units were changed since their versions were first asked for."""
        several = dict.fromkeys(unit.series for unit in units)
        for modules, series in {modules_of(each.world, each.agent): each for each in several}.items():
            if not self._is_confirmed(modules):
                raise EditedCodeError(
                    f"code that {series.agent.words} on {series.world.words} depends on was edited while the run was "
                    f"going on; what is stored is intact, start again to play the code as it is now"
                )
        for entry in dict.fromkeys(entry for series in several for entry in (series.world, series.agent)):
            for file in opened_by_others(entry):
                if isinstance(file, KeptFile):
                    file.ensure_unchanged()

    def _is_confirmed(self, modules: tuple[str, ...]) -> bool:
        """Whether these modules still are what they were; looks into them only if something was written there."""
        if (known := self._known.get(modules)) is None or are_as_stamped(self._stamps[modules]):
            return True
        stamps = stamps_behind(modules)  # first, so that what is written from now on will be noticed
        if digest_of(modules) != known:
            return False
        self._stamps[modules] = stamps
        return True

    def _digest(self, modules: tuple[str, ...]) -> str | None:
        """The hash of these modules; None, which is reported, if it is not certain to be that of the loaded code."""
        self._stamps[modules] = stamps_behind(modules)
        if (digest := digest_of(modules)) is None:
            names = ", ".join(unreadable(modules))
            self._tell(f"the source of {names} cannot be read: what depends on it is computed again every time")
        elif edited := edited_while_running(modules):
            self._tell(
                f"{', '.join(edited)} was edited while Python was running, which may still play what was there before: "
                f"what depends on it is computed again every time; start Python anew to keep results"
            )
            return None
        return digest

    def _tell(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self.report(line)


def code_versions(report: Callable[[str], None]) -> CodeVersions:
    """A function from a unit to the version of the code that computes it; see :class:`CodeVersions`.

    Args:
        report: a function that shows a line to the user.
    """
    return CodeVersions(report)


@lru_cache(maxsize=4096)
def modules_of(world: WorldEntry, agent: AgentEntry) -> tuple[str, ...]:
    """The modules that compute a result; what they import is found from there."""
    return tuple(sorted({ENGINE, *_modules_of_agent(agent.name), *_modules_of_world(world)}))


@lru_cache(maxsize=4096)
def _modules_of_agent(name: str) -> frozenset[str]:
    if name in MODELS:
        return frozenset({MODELS[name][0].partition(":")[0]})
    return frozenset(modules_of_class(AGENTS.find(name)))


@lru_cache(maxsize=2**14)  # since the environment must be made for it
def _modules_of_world(world: WorldEntry) -> frozenset[str]:
    return modules_of_env(as_env(world.name, world.kwargs))


def modules_of_env(env: gym.Env[Any, Any]) -> frozenset[str]:
    """The modules of an environment, of its wrappers, its world and its reward law, except third-party ones."""
    kinds: list[type] = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        kinds.append(type(layer))
        layer = layer.env
    kinds.append(type(layer))
    if isinstance(layer, NSBanditEnv):
        kinds += [type(layer.world), type(layer.law)]
    own = (kind for kind in kinds if not kind.__module__.startswith("gymnasium."))
    return frozenset().union(_module_of_maker(layer), *map(modules_of_class, own))


def _module_of_maker(env: gym.Env[Any, Any]) -> set[str]:
    """The module of the user's function that makes the environment of an id, if there is one."""
    entry: Any = None if env.spec is None else env.spec.entry_point
    entry = getattr(entry, "func", entry)  # the function of a functools.partial
    module = entry.partition(":")[0] if isinstance(entry, str) else getattr(entry, "__module__", "")
    return {module} - {""} if module.partition(".")[0] not in {"gymnasium", "ns_mab_gym"} else set()


def modules_of_class(kind: type) -> set[str]:
    """The modules of a class and of its base classes, except those of third-party packages."""
    return {base.__module__ for base in kind.__mro__ if counts(base.__module__, kind.__module__)}
