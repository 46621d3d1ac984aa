"""The version of the code and of the input files that a stored result depends on.

A result is computed again when its code version changes: the hash of the engine, of the modules of its agent, world,
wrappers and reward law, and of the user's modules among and beside them; see :mod:`ns_mab_gym.sources`. Input files are
read once, at the beginning of a study, and count by their content.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from .agents.core.registry import AGENTS
from .envs.bandit import NSBanditEnv
from .files import KeptFile
from .sources import OURS, code_digest, edited_while_running, is_users_file, modules_behind, unreadable
from .specs import MODELS

if TYPE_CHECKING:
    from .specs import AgentSpec, WorldSpec
    from .studies.study import Unit


class EditedCodeError(ValueError):
    """Code was edited while it computed something, so that nobody knows which version did."""


class CodeVersions:
    """Gives the version of the code that computes a unit, as it was when it was first asked for.

    If some of that code cannot be read, or was edited after it may have been imported, the version is a new one, so
    that the unit is computed again every time, and that is reported once.

    Args:
        report: a function that shows a line to the user.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self._known: dict[tuple[str, ...], str] = {}
        self._digests: dict[tuple[str, ...], str] = {}  # of the code that can be read
        self._told: set[str] = set()

    def __call__(self, unit: Unit) -> str:
        """The version of the code that computes a unit."""
        modules = modules_of(unit.world, unit.agent)
        if modules in self._known:
            return self._known[modules]
        if (digest := code_digest(modules)) is None:
            names = ", ".join(unreadable(modules))
            line = f"the source of {names} cannot be read: what depends on it is computed again every time"
        elif edited := edited_while_running(modules):
            line = (
                f"{', '.join(edited)} was edited while Python was running, which may still play what was there before: "
                f"what depends on it is computed again every time; start Python anew to keep results"
            )
        else:
            self._known[modules] = self._digests[modules] = digest
            return digest
        if line not in self._told:
            self._told.add(line)
            self.report(line)
        self._known[modules] = f"unknown-{uuid.uuid4().hex}"
        return self._known[modules]

    def confirm(self, *units: Unit) -> None:
        """Raise an error if code or files behind some units were changed since their versions were first asked for."""
        for modules, unit in {modules_of(each.world, each.agent): each for each in units}.items():
            if modules in self._digests and code_digest(modules) != self._digests[modules]:
                raise EditedCodeError(
                    f"code that {unit.agent.text} on {unit.world.text} depends on was edited while the run was "
                    f"going on; what is stored is intact, start again to play the code as it is now"
                )
        for entry in dict.fromkeys(entry for unit in units for entry in (unit.world, unit.agent)):
            for name, file in entry.files.items():
                ours = entry.name in ("table", *MODELS) or entry.kwargs.get("world") == "table"
                if isinstance(file, KeptFile) and not (name == "path" and ours):
                    file.ensure_unchanged()  # code of the user's opens it by itself, ours reads what was kept


@lru_cache(maxsize=4096)
def modules_of(world: WorldSpec, agent: AgentSpec) -> tuple[str, ...]:
    """The modules that compute a result, beside the engine; a package of ours stands for all of its modules."""
    saved = {f"{OURS}rl", f"{OURS}files"} if agent.name in MODELS else set()
    given = agent.source[0]
    kind = AGENTS.find(given) if isinstance(given, str) and not saved else given
    kinds = set() if saved else modules_of_class(kind if isinstance(kind, type) else type(kind))
    return tuple(sorted({*saved, *modules_behind(kinds | _modules_of_world(world))}))


@lru_cache(maxsize=2**14)  # since the environment must be made for it
def _modules_of_world(world: WorldSpec) -> frozenset[str]:
    return frozenset(modules_of_env(world.env()))


def modules_of_env(env: gym.Env[Any, Any]) -> set[str]:
    """The modules of an environment, its wrappers, its world, its reward law and the user's function that makes it."""
    kinds: list[type] = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        kinds.append(type(layer))
        layer = layer.env
    kinds.append(type(layer))
    if isinstance(layer, NSBanditEnv):
        kinds += [type(layer.world), type(layer.law)]
    entry: Any = None if layer.spec is None else layer.spec.entry_point
    entry = getattr(entry, "func", entry)  # the function of a functools.partial
    maker = entry.partition(":")[0] if isinstance(entry, str) else getattr(entry, "__module__", "")
    found = {maker}.union(*map(modules_of_class, kinds))
    return {name for name in found if name and name.partition(".")[0] != "gymnasium"}


def modules_of_class(kind: type) -> set[str]:
    """The modules of a class and of its base classes, except those of Python and of the packages we build on."""
    files = {base.__module__: getattr(sys.modules.get(base.__module__), "__file__", None) for base in kind.__mro__}
    counted = {name for name, file in files.items() if name.startswith(OURS) or (file and is_users_file(file))}
    return {kind.__module__, *counted}
