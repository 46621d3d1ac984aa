"""Finds the files of modules without running any code, so that looking at an optional import does not load it."""

from __future__ import annotations

import importlib.util
import pkgutil
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions
from pathlib import Path

__all__ = ["distributions_of", "file_of", "is_namespace", "is_own_code", "modules_in", "spec_of", "true_name"]

SHARED_FOLDERS = {
    Path(folder).resolve()
    for folder in (*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages())
}


def true_name(name: str) -> str:
    """The name of a module; for ``__main__``, the name under which ``python -m`` found it."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec.name if name == "__main__" and spec is not None else name


def spec_of(name: str) -> ModuleSpec | None:
    """The import spec of a module, which says where it is; None if there is no such module."""
    loaded: ModuleSpec | None = getattr(sys.modules.get(name), "__spec__", None)
    if loaded is not None:
        return loaded
    parent = name.rpartition(".")[0]
    try:
        if not parent:
            return importlib.util.find_spec(name)
        above = spec_of(parent)
        return None if above is None else _spec_in(above.submodule_search_locations or (), name)
    except (ImportError, ValueError):  # the empty name, and modules created by hand
        return None


def _spec_in(folders: Iterable[str], name: str) -> ModuleSpec | None:
    """The import spec of a submodule, given the folders of its package (several if that has no ``__init__.py``)."""
    parts: list[str] = []
    for folder in folders:
        finder = pkgutil.get_importer(folder)
        found = None if finder is None else finder.find_spec(name)
        if found is not None and found.loader is not None:
            return found
        parts += [] if found is None else found.submodule_search_locations or []
    namespace = ModuleSpec(name, None, is_package=True)
    namespace.submodule_search_locations = parts
    return namespace if parts else None


def file_of(name: str) -> Path | None:
    """The file of a module, if there is one."""
    origin = getattr(sys.modules.get(name), "__file__", None)
    if origin is None and (spec := spec_of(name)) is not None and spec.has_location:
        origin = spec.origin
    file = Path(origin) if origin else None
    return file if file is not None and file.is_file() else None


def is_namespace(name: str) -> bool:
    """Whether a module is a folder without an ``__init__.py``, which has no code of its own."""
    spec = spec_of(name)
    return spec is not None and spec.origin is None and spec.submodule_search_locations is not None


def modules_in(package: str) -> Iterator[str]:
    """Every module of a package, including those of its subpackages."""
    spec = spec_of(package)
    for module in pkgutil.iter_modules(None if spec is None else spec.submodule_search_locations):
        yield f"{package}.{module.name}"
        if module.ispkg:
            yield from modules_in(f"{package}.{module.name}")


def is_own_code(top: str) -> bool:
    """Whether a top-level module lies in a folder of the user rather than where packages are installed."""
    if top in sys.stdlib_module_names or (spec := spec_of(top)) is None:
        return False
    places = spec.submodule_search_locations or ([spec.origin] if spec.origin else [])
    return any(not _holds_installed_packages(Path(place).resolve().parent) for place in places)


@lru_cache(maxsize=256)
def _holds_installed_packages(folder: Path) -> bool:
    return folder in SHARED_FOLDERS or any(folder.glob("*.dist-info"))


def distributions_of(top: str) -> set[str]:
    """The installed distributions to which a top-level module belongs."""
    return set(_distributions().get(top, ()))


@lru_cache(maxsize=1)
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()
