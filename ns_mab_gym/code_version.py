"""The version of the code and of the input files that a stored result depends on.

A result is computed again when its code version changes: the hash of the engine, of the modules of its agent, world,
wrappers and reward law, and of the user's modules among and beside them; see :mod:`ns_mab_gym.sources`. So do the
classes that names stand for, and the means of a world that the user's code makes. Input files are read once, at the
beginning of a study, and count by their content. What else a result may depend on is told in ``docs/experiments.md``.
"""

from __future__ import annotations

import hashlib
import sys
import uuid
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from gymnasium.utils import seeding

from .agents.core.registry import AGENTS
from .envs.bandit import NSBanditEnv, drawn_means, streams
from .files import KeptFile
from .sources import (
    OURS,
    EditedCodeError,
    code_digest,
    edited_while_running,
    is_users_file,
    modules_behind,
    unreadable,
)
from .specs import MODELS

if TYPE_CHECKING:
    from .specs import AgentSpec, WorldSpec
    from .studies.study import Unit


UNKNOWN = "unknown-"  # how a version begins under which nothing is found again


class CodeVersions:
    """Gives the version of the code that computes a unit, as it was when it was first asked for.

    If some of that code cannot be read, or was edited after it may have been imported, the version is a new one, so
    that the unit is computed again every time, and that is reported once.

    Args:
        report: a function that shows a line to the user.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self._known: dict[tuple[WorldSpec, AgentSpec], str] = {}
        self._digests: dict[tuple[str, ...], str] = {}  # of the code that can be read
        self._told: set[str] = set()

    def __call__(self, unit: Unit) -> str:
        """The version of the code that computes a unit."""
        pair = unit.world, unit.agent
        if pair in self._known:
            return self._known[pair]
        modules = modules_of(*pair)
        if (digest := self._digests.get(modules) or code_digest(modules)) is None:
            names = ", ".join(unreadable(modules))
            line = f"the source of {names} cannot be read: what depends on it is computed again every time"
        elif edited := edited_while_running(modules):
            line = (
                f"{', '.join(edited)} was edited while Python was running, which may still play what was there before: "
                f"what depends on it is computed again every time; start Python anew to keep results"
            )
        else:
            self._digests[modules] = digest
            parts = (digest, *classes_of(*pair), means_digest(unit.world))
            self._known[pair] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
            return self._known[pair]
        return self._unknown(unit, line)

    def _unknown(self, unit: Unit, line: str) -> str:
        """Give a unit a version that no other has, and report why, once."""
        if line not in self._told:
            self._told.add(line)
            self.report(line)
        version = self._known[unit.world, unit.agent] = f"{UNKNOWN}{uuid.uuid4().hex}"
        return version

    def add(self, unit: Unit, loaded: Iterable[str]) -> None:
        """Take note of the modules of the user's that were loaded after a unit was played.

        Those that were not loaded before are no part of its version, which then is a new one.
        """
        late = sorted(set(loaded) - set(modules_of(unit.world, unit.agent)))
        if late and not self(unit).startswith(UNKNOWN):
            self._unknown(
                unit,
                f"{', '.join(late)} was imported only while {unit.agent.text} played: what depends on it is computed "
                f"again every time; import it at the top of a file to keep results",
            )

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
    kind = _class_of(agent)
    saved = {f"{OURS}rl", f"{OURS}files"} if kind is None else set()
    kinds = set() if kind is None else modules_of_class(kind)
    return tuple(sorted({*saved, *modules_behind(kinds | _parts_of_world(world)[0])}))


def users_modules(world: WorldSpec, agent: AgentSpec) -> tuple[str, ...]:
    """The modules of the user's that compute a result, as far as they are loaded by now."""
    known = modules_of(world, agent)
    if all(name.startswith(OURS) for name in known):
        return ()
    return tuple(name for name in modules_of.__wrapped__(world, agent) if not name.startswith(OURS))


def classes_of(world: WorldSpec, agent: AgentSpec) -> list[str]:
    """The classes that the names of a world, its reward law and an agent stand for, which are loaded."""
    kind = _class_of(agent)
    return [*_parts_of_world(world)[1], "" if kind is None else _path(kind)]


def means_digest(world: WorldSpec) -> str:
    """The hash of the means of a world that code of the user's makes; of a random one, of the instance of seed 0.

    They may come from a file that it reads, or from elsewhere. It is empty for other worlds and environments.
    """
    if all(name.startswith(OURS) for name in _parts_of_world(world)[0]):
        return ""
    bandit = world.env().unwrapped
    if not isinstance(bandit, NSBanditEnv):
        return ""
    rng = streams(seeding.np_random(0)[0])[0] if bandit.world.random else None
    return hashlib.sha256(drawn_means(bandit.world, bandit.law, rng).tobytes()).hexdigest()


@lru_cache(maxsize=2**14)  # since the environment must be made for it
def _parts_of_world(world: WorldSpec) -> tuple[frozenset[str], tuple[str, ...]]:
    """The modules and the classes of a world, its environment, its wrappers and its reward law."""
    env = world.env()
    return frozenset(modules_of_env(env)), tuple(map(_path, classes_of_env(env)))


def _class_of(agent: AgentSpec) -> type | None:
    """The class of an agent; None of a saved model."""
    if agent.name in MODELS:
        return None
    given = agent.source[0]
    kind = AGENTS.find(given) if isinstance(given, str) else given
    return kind if isinstance(kind, type) else type(kind)


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def classes_of_env(env: gym.Env[Any, Any]) -> list[type]:
    """The classes of the wrappers of an environment, of itself, of its world and its reward law."""
    kinds: list[type] = []
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        kinds.append(type(layer))
        layer = layer.env
    kinds.append(type(layer))
    if isinstance(layer, NSBanditEnv):
        kinds += [type(layer.world), type(layer.law)]
    return kinds


def modules_of_env(env: gym.Env[Any, Any]) -> set[str]:
    """The modules of an environment, its wrappers, its world, its reward law and the user's function that makes it."""
    layer = env.unwrapped
    entry: Any = None if layer.spec is None else layer.spec.entry_point
    entry = getattr(entry, "func", entry)  # the function of a functools.partial
    maker = entry.partition(":")[0] if isinstance(entry, str) else getattr(entry, "__module__", "")
    found = {maker}.union(*map(modules_of_class, classes_of_env(env)))
    return {name for name in found if name and name.partition(".")[0] != "gymnasium"}


def modules_of_class(kind: type) -> set[str]:
    """The modules of a class and of its base classes, except those of Python and of the packages we build on."""
    files = {base.__module__: getattr(sys.modules.get(base.__module__), "__file__", None) for base in kind.__mro__}
    counted = {name for name, file in files.items() if name.startswith(OURS) or (file and is_users_file(file))}
    return {kind.__module__, *counted}
