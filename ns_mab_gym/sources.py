"""The source files that a result or a compiled loop depends on, and their hash.

Every result depends on the engine, which counts as whole folders, and on the modules of its agent and its world. No
source is parsed: a module depends on those from which it holds functions, classes, objects or modules. A module of the
user's also depends on the loaded modules of its own package and folder, and on all agents and worlds, which it can make
by name. Other installed packages do not count, except for the versions of NumPy and numba. Sources are hashed, and what
Python plays must be what they say: a ``.pyc`` that says something else is refused.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, lru_cache
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).parent
OURS = "ns_mab_gym."
ENGINE = tuple(
    f"{OURS}{name}"
    for name in (
        *("agents.core", "agents.parts", "envs", "play", "wrappers"),
        "worlds.world",
        *("compilation", "means", "quantile", "rewards", "runs", "specs"),
    )
)
MADE_BY_NAME = tuple(f"{OURS}{name}" for name in ("agents", "worlds"))
NOT_USERS = tuple(Path(each).resolve() for each in (sysconfig.get_path("stdlib"), PACKAGE, PACKAGE / "agents"))


class EditedCodeError(ValueError):
    """What was played may not be the code that is there."""


@cache
def versions() -> dict[str, str]:
    """The versions of Python and of the packages that produce a result."""
    packages = ("ns-mab-gym", "numpy", "numba", "gymnasium")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def code_digest(modules: Iterable[str] = ()) -> str | None:
    """The hash of the engine and of these modules, or packages of ours; None if a source cannot be read.

    Raises an :class:`EditedCodeError` if Python plays a ``.pyc`` that was made from another text.
    """
    digest = hashlib.sha256(f"numpy {versions()['numpy']} numba {versions()['numba']}\n".encode())
    try:
        for name, file in sources_of(modules).items():
            if file is None:
                return None
            digest.update(f"{name} {_content_hash(file, _stamp(file))}\n".encode())
    except OSError:
        return None
    return digest.hexdigest()


def unreadable(modules: Iterable[str]) -> list[str]:
    """Those of these modules that have no source file."""
    return [name for name, file in sources_of(modules).items() if file is None or not file.is_file()]


def edited_while_running(modules: Iterable[str] = ()) -> list[str]:
    """Those of the engine and of these modules that are loaded and were edited after this package was imported.

    Python reads a file when it is first imported, so that what is loaded may be older than the file.
    """
    began = sys.modules["ns_mab_gym"].IMPORTED_AT * 1e9
    files = {name: file for name, file in sources_of(modules).items() if name.startswith(OURS) or name in sys.modules}
    return [name for name, file in files.items() if file and file.is_file() and max(_stamp(file)[:2]) > began]


def sources_of(modules: Iterable[str]) -> dict[str, Path | None]:
    """The source files of the engine and of these modules by module; None where there is no file.

    The name of a package of ours stands for all of its modules.
    """
    found: dict[str, Path | None] = {}
    for name in (*ENGINE, *modules):
        path = PACKAGE.joinpath(*name.split(".")[1:])
        if not name.startswith(OURS):
            found[name] = _file_of(name)
        elif path.is_dir():
            inside = {".".join((name, *file.relative_to(path).with_suffix("").parts)): file for file in _files_in(path)}
            found |= {module.removesuffix(".__init__"): file for module, file in inside.items()}
        else:
            found[name] = path.with_suffix(".py")
    return dict(sorted(found.items()))


def modules_behind(names: Iterable[str]) -> tuple[str, ...]:
    """These modules and all that they depend on, except for the engine; see the text at the top of this module."""
    given = {name for name in names if not _is_engine(name)}
    tops = {name.partition(".")[0] for name in given}
    waiting = [*given, *(each for name in given if not name.startswith(OURS) for each in _loaded_beside(name))]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if name in found or not (name in given or _counts(name, module, tops)):
            continue
        found.add(name)
        for value in list(vars(module).values()) if module is not None else ():
            with suppress(Exception):  # whatever an object of the user's does when it is asked
                origin = str(value.__name__ if isinstance(value, ModuleType) else value.__module__)
                waiting += [origin] if origin.startswith(OURS) == name.startswith(OURS) else []
    if any(not name.startswith(OURS) for name in found):
        found.update(MADE_BY_NAME)
    return tuple(sorted(found))


def _is_engine(name: str) -> bool:
    return any(name == part or name.startswith(f"{part}.") for part in ENGINE)


def _counts(name: str, module: ModuleType | None, tops: set[str]) -> bool:
    """True if a module that another one holds something of counts as a source of that one."""
    if name.startswith(OURS):
        return module is not None and not hasattr(module, "__path__") and not _is_engine(name)
    file = getattr(module, "__dict__", {}).get("__file__")
    return isinstance(file, str) and (name.partition(".")[0] in tops or is_users_file(file))


def is_users_file(file: str) -> bool:
    """True for a file of the user's: neither of this package nor of Python nor of an installed package."""
    path = Path(file).resolve()
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return path.is_file() and not installed and not any(path.is_relative_to(folder) for folder in NOT_USERS)


def _loaded_beside(name: str) -> list[str]:
    """The loaded modules of the same top-level package, or below the folder in which that lies."""
    if (file := _file_of(name)) is None:
        return []
    top = name.partition(".")[0]
    folder = f"{file.parents[name.count('.') + (file.name == '__init__.py')]}{os.sep}"
    places = {each: str(getattr(module, "__dict__", {}).get("__file__")) for each, module in list(sys.modules.items())}
    return [each for each, place in places.items() if each.partition(".")[0] == top or place.startswith(folder)]


def _file_of(name: str) -> Path | None:
    origin = getattr(sys.modules.get(name), "__file__", None)
    if name not in sys.modules:
        with suppress(ImportError, ValueError):
            spec = importlib.util.find_spec(name)
            origin = spec.origin if spec is not None and spec.has_location else None
    return Path(origin) if origin else None


@lru_cache(maxsize=64)
def _files_in(folder: Path) -> tuple[Path, ...]:
    return tuple(folder.rglob("*.py"))


def _stamp(path: Path) -> tuple[int, ...]:
    """Changes whenever a file is written to or replaced, also by tools that keep its time of modification."""
    about = os.stat(path)
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino


@lru_cache(maxsize=4_096)
def _content_hash(file: Path, stamp: tuple[int, ...]) -> str:
    text = file.read_bytes()
    cached = Path(importlib.util.cache_from_source(str(file)))
    # Python compares times in whole seconds, and sizes: an edit right after the .pyc was written can keep both.
    if cached.is_file() and cached.stat().st_mtime_ns <= max(stamp[:2]):
        loader = SourceFileLoader(file.stem, str(file))
        if loader.get_code(file.stem) != loader.source_to_code(text, str(file)):
            raise EditedCodeError(
                f"Python plays an older text of {str(file)!r}, kept in {str(cached)!r}, since the file has the same "
                f"size and time as before its last edit; delete {cached.name!r} and start again"
            )
    return hashlib.sha256(text).hexdigest()
