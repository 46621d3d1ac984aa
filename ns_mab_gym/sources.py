"""Finds the code that a result depends on: a module, and what it imports from its own distribution and this one.

A stored result is computed again when the code that computed it changes. Comments, docstrings and formatting do not
count; nor do installed third-party packages, whose versions are noted with each result.

Imports are read from the source, including those inside functions. ``from package import name`` leads to where the
name comes from: to the submodule of that name, or to the module from which ``package/__init__.py`` imports it, and
otherwise to ``package/__init__.py`` itself. So the tables of names in ``agents/__init__.py`` and
``worlds/__init__.py``, which affect no result, are not part of what an agent depends on. A module whose name is built
at run time is not seen.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from .module_files import distributions_of, file_of, is_namespace, is_own_code, modules_in, spec_of, true_name

__all__ = [
    "Stamp",
    "are_as_stamped",
    "counts",
    "digest_of",
    "edited_while_running",
    "modules_behind",
    "stamps_behind",
    "unreadable",
]

HOUSE = __name__.partition(".")[0]
Stamp = tuple[int, int, int, int]
# User code that imports one of these can make anything by its name, so it depends on the whole package given here.
MAKERS = {f"{HOUSE}.agents.core.zoo": f"{HOUSE}.agents", f"{HOUSE}.worlds.catalogue": f"{HOUSE}.worlds"}


def digest_of(modules: Iterable[str]) -> str | None:
    """A hash of the code of these modules and of all that they depend on; None if some of it cannot be read."""
    digest = hashlib.sha256()
    for name in modules_behind(modules):
        if (meaning := _meaning_of(name)) is None:
            return None
        digest.update(f"{name}\n{meaning}\n".encode())
    return digest.hexdigest()


def unreadable(modules: Iterable[str]) -> list[str]:
    """Those of these modules, and of all that they depend on, whose source cannot be read."""
    return [name for name in modules_behind(modules) if _meaning_of(name) is None]


def edited_while_running(modules: Iterable[str]) -> list[str]:
    """Those of these modules, and of all that they depend on, that are loaded and were edited since this package was.

    What is loaded may be older than what the file says: Python reads a file when it is first imported, and not again.
    """
    began = sys.modules[HOUSE].IMPORTED_AT * 1e9
    loaded = [name for name in modules_behind(modules) if name in sys.modules]
    return [name for name in loaded if (file := file_of(name)) is not None and max(_stamp(file)[:2]) > began]


def stamps_behind(modules: Iterable[str]) -> dict[Path, Stamp]:
    """The stamps of all files behind these modules.

    As long as they stay the same, so does :func:`digest_of` the modules, which takes ten times as long to find out.
    """
    files = (file_of(name) for name in modules_behind(modules))
    return {file: _stamp(file) for file in files if file is not None}


def are_as_stamped(stamps: Mapping[Path, Stamp]) -> bool:
    """Whether nothing was written to these files since they were stamped."""
    try:
        return all(_stamp(path) == stamp for path, stamp in stamps.items())
    except OSError:  # one of them is gone
        return False


def modules_behind(modules: Iterable[str]) -> list[str]:
    """These modules and all that they import from their own distribution and from this one, in alphabetical order."""
    found: set[str] = set()
    waiting = [true_name(name) for name in modules]
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += _imports(name)
    return sorted(found)


def counts(imported: str, by: str) -> bool:
    """Whether a module counts as code that ``by`` depends on, if ``by`` imports it.

    It does if both belong to the same top-level package or installed distribution, if it belongs to this package, or if
    it is not installed but lies in a folder of the user.
    """
    top, own = imported.partition(".")[0], by.partition(".")[0]
    if HOUSE in (top, own):
        return top == HOUSE
    return top == own or is_own_code(top) or bool(distributions_of(top) & distributions_of(own))


def _imports(name: str) -> tuple[str, ...]:
    """The modules that a module imports and on which its results depend."""
    file = file_of(name)
    return _imports_in(name, file, _stamp(file)) if file is not None else ()


@lru_cache(maxsize=1024)
def _imports_in(name: str, file: Path, stamp: Stamp) -> tuple[str, ...]:
    if (tree := _parsed(file, stamp)) is None:
        return ()
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    imported = [(source, what) for source, what in _imported(tree, package) if counts(source, name)]
    found = dict.fromkeys(target for source, what in imported for target in _targets(source, what))
    if name.partition(".")[0] != HOUSE:
        found |= dict.fromkeys(target for maker in MAKERS.keys() & found for target in _targets(MAKERS[maker], None))
    return tuple(target for target in found if counts(target, name))


def _imported(tree: ast.Module, package: str) -> Iterator[tuple[str, str | None]]:
    """The imports of a source, as pairs of a module and a name in it, or of a module and None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None
                if not alias.asname:  # ``import a.b`` binds the name a, and so gives access to all of a/__init__.py
                    yield alias.name.partition(".")[0], None
        elif isinstance(node, ast.ImportFrom):
            yield from ((_absolute(node, package), alias.name) for alias in node.names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parents = package.split(".")
    kept = parents[: len(parents) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _targets(source: str, name: str | None) -> Iterator[str]:
    """The modules to which ``from source import name`` leads, or ``import source`` if the name is None."""
    if name is not None and spec_of(f"{source}.{name}") is not None:
        source, name = f"{source}.{name}", None
    if name is None:
        yield from (source, *_loaded_on_demand(source))
    elif origins := _origins(source, name):
        for origin in origins:
            yield from _targets(*origin)
    else:
        yield source


def _origins(package: str, name: str) -> list[tuple[str, str]]:
    """The modules from which a package's ``__init__.py`` imports a name, and the name there; none if it defines it."""
    nodes = list(ast.walk(tree)) if (tree := _init_of(package)) is not None else []
    if any(_defines(node, name) for node in nodes):
        return []
    imports = [(node, alias) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    found = [(_absolute(node, package), alias.name) for node, alias in imports if name == (alias.asname or alias.name)]
    return [origin for origin in found if origin != (package, name)]


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name


def _loaded_on_demand(package: str) -> Iterable[str]:
    """All modules of a package whose ``__init__.py`` loads them on first use, by a ``__getattr__``; else none."""
    tree = _init_of(package)
    lazy = tree is not None and any(_defines(node, "__getattr__") for node in tree.body)
    return modules_in(package) if lazy else ()


def _init_of(package: str) -> ast.Module | None:
    """The parsed ``__init__.py`` of a package; None for a plain module."""
    file = file_of(package)
    return _parsed(file, _stamp(file)) if file is not None and file.name == "__init__.py" else None


@lru_cache(maxsize=1024)
def _parsed(file: Path, stamp: Stamp) -> ast.Module | None:
    """The syntax tree of a file, cached as long as the file is not written to; None if it cannot be read."""
    return _parse(file)


def _stamp(path: Path) -> Stamp:
    """What changes whenever a file is written to or replaced, also by tools that keep its time of modification."""
    about = os.stat(path)
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino


def _parse(file: Path) -> ast.Module | None:
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):  # a compiled file has null bytes, which are not valid syntax
        return None


def _meaning_of(name: str) -> str | None:
    """A hash of what the code of a module does; None if it cannot be read."""
    if (file := file_of(name)) is None:
        return "" if is_namespace(name) else None
    return _meaning_in(file, _stamp(file))


@lru_cache(maxsize=1024)
def _meaning_in(file: Path, stamp: Stamp) -> str | None:
    if file.name.endswith(tuple(EXTENSION_SUFFIXES)):
        return hashlib.sha256(file.read_bytes()).hexdigest()
    if (tree := _parse(file)) is None:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [statement for statement in node.body if not _is_text(statement)]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is only a string, such as a docstring, which does nothing when run."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)
