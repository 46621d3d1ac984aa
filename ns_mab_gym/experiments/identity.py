"""Finds the code that a unit's results depend on: engine, agent, world, reward law, and what they import."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import gymnasium as gym

from ..agents.core.zoo import AGENTS
from ..envs.bandit import NSBanditEnv
from ..play.resolving import MODELS, as_env
from ..sources import counts, digest_of, unreadable
from .study import AgentEntry, WorldEntry
from .units import Unit

__all__ = ["ENGINE", "code_versions", "modules_of"]

ENGINE = "ns_mab_gym.play.engine"


def code_versions(report: Callable[[str], None]) -> Callable[[Unit], str]:
    """A function from a unit to the version of the code that computes it.

    If some of that code cannot be read, its versions cannot be told apart: the function then returns a new version
    every time, so that the unit is computed again, and reports that once.

    Args:
        report: a function that shows a line to the user.
    """
    known: dict[tuple[str, ...], str] = {}
    told: set[str] = set()

    def code_of(unit: Unit) -> str:
        modules = modules_of(unit.world, unit.agent)
        if modules not in known:
            digest = digest_of(modules)
            names = ", ".join(unreadable(modules)) if digest is None else ""
            if names not in told | {""}:
                told.add(names)
                report(f"the source of {names} cannot be read: what depends on it is computed again every time")
            known[modules] = digest or f"unreadable-{uuid.uuid4().hex}"
        return known[modules]

    return code_of


@lru_cache(maxsize=4096)
def modules_of(world: WorldEntry, agent: AgentEntry) -> tuple[str, ...]:
    """The modules that compute a result; what they import is found from there."""
    return tuple(sorted({ENGINE, *_modules_of_agent(agent.name), *_modules_of_world(world)}))


def _modules_of_agent(name: str) -> set[str]:
    if name in MODELS:
        return {MODELS[name][0].partition(":")[0]}
    return _modules_of_class(AGENTS.find(name))


@lru_cache(maxsize=256)
def _modules_of_world(world: WorldEntry) -> frozenset[str]:
    env: gym.Env[Any, Any] = as_env(world.name, world.kwargs)
    kinds: list[type] = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        kinds.append(type(layer))
        layer = layer.env
    kinds.append(type(layer))
    if isinstance(layer, NSBanditEnv):
        kinds += [type(layer.world), type(layer.law)]
    own = (kind for kind in kinds if not kind.__module__.startswith("gymnasium."))
    return frozenset().union(_module_of_maker(layer), *map(_modules_of_class, own))


def _module_of_maker(env: gym.Env[Any, Any]) -> set[str]:
    """The module of the user's function that makes the environment of an id, if there is one."""
    entry: Any = None if env.spec is None else env.spec.entry_point
    entry = getattr(entry, "func", entry)  # the function of a functools.partial
    module = entry.partition(":")[0] if isinstance(entry, str) else getattr(entry, "__module__", "")
    return {module} - {""} if module.partition(".")[0] not in {"gymnasium", "ns_mab_gym"} else set()


def _modules_of_class(kind: type) -> set[str]:
    """The modules of a class and of its base classes, except those of third-party packages."""
    return {base.__module__ for base in kind.__mro__ if counts(base.__module__, kind.__module__)}
