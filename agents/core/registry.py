"""Names for classes: the built-in ones, those that users register, and those that installed packages offer."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .arguments import nearest, shown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Registry", "load_path", "looks_like_path"]

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9.]+)*")
PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def looks_like_path(name: object) -> bool:
    """Whether a name has the form ``package.module:Class``.

    >>> looks_like_path("mine.agents:Greedy"), looks_like_path("ns_mab_gym:NSBandit-v0")
    (True, False)
    """
    return isinstance(name, str) and PATH.fullmatch(name) is not None


def load_path(path: str) -> Any:
    """The object that ``package.module:Class`` names; raises a ValueError that says why if it cannot be imported."""
    module_name, _, attributes = path.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a module can raise anything while it is loaded
        missing = isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}.")
        why = "; is its folder on PYTHONPATH?" if missing else f" ({type(error).__name__})"
        raise ValueError(f"cannot import {module_name!r} of {path!r}: {error}{why}") from error
    for attribute in attributes.split("."):
        if not hasattr(found, attribute):
            names = [name for name in dir(found) if not name.startswith("_")]
            raise ValueError(f"{module_name!r} has no {attribute!r}; {nearest(attribute, names)}")
        found = getattr(found, attribute)
    return found


def _same(one: type[Any] | str, other: type[Any] | str) -> bool:
    """Whether two targets are one, or one class defined twice, as when the cell of a notebook is run again."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


class Registry(Mapping[str, type[Any]]):
    """A table from names to classes, which are loaded on first use.

    Args:
        what: what messages call one of the classes.
        home: the module whose ``register`` adds to the table.
        group: the entry-point group in which installed packages offer theirs.
        needs: the methods that a class must have.
        reserved: names that mean something else and cannot be given to a class.
    """

    def __init__(
        self, what: str, home: str, group: str, needs: tuple[str, ...], reserved: tuple[str, ...] = ()
    ) -> None:
        self.what, self.home, self.group, self.needs = what, home, group, needs
        self.reserved = reserved
        self._targets: dict[str, type[Any] | str] = {}
        self._offered: dict[str, EntryPoint] | None = None

    def add(self, name: str, target: type[Any] | str) -> None:
        """Add a name for a class, or for the ``package.module:Class`` where it is found."""
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"a name is lower-case words joined by hyphens, such as 'my-own', got {shown(name)}")
        if name in self.reserved:
            raise ValueError(f"{name!r} has a meaning of its own already; choose another name")
        if isinstance(target, str):
            if not looks_like_path(target):
                raise ValueError(f"{name!r} must be a class or 'package.module:Class', got {target!r}")
        else:
            self.checked(target)
        if not _same(self._targets.get(name, target), target):
            raise ValueError(f"{name!r} is taken by {self._targets[name]}; choose another name")
        self._targets[name] = target

    def remove(self, name: str) -> None:
        """Remove a name that was added."""
        del self._targets[name]

    def names(self) -> list[str]:
        """All names: the built-in ones, those that users registered, and those that installed packages offer."""
        return list(dict.fromkeys([*self._targets, *self._entry_points()]))

    def __contains__(self, name: object) -> bool:
        return name in self._targets or name in self._entry_points()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __getitem__(self, name: str) -> type[Any]:
        if name not in self:
            raise KeyError(name)
        return self.find(name)

    def find(self, name: object) -> type[Any]:
        """The class of this name, or at this ``package.module:Class``."""
        if isinstance(name, str) and name in self._targets:
            target = self._targets[name]
        elif looks_like_path(name):
            target = str(name)
        elif isinstance(name, str) and name in (offered := self._entry_points()):
            target = offered[name].value
        else:
            path = f"; one of your own is written 'package.module:Class' or added with {self.home}.register"
            raise ValueError(f"unknown {self.what} {shown(name)}; {nearest(name, self.names())}{path}")
        return self.checked(load_path(target) if isinstance(target, str) else target)

    def checked(self, kind: Any) -> type[Any]:
        """The given class, if it has all the methods that it needs."""
        if not isinstance(kind, type):
            # The whole of os.environ does not belong in a message.
            raise TypeError(f"{shown(kind):.60} is not a class; name the class of the {self.what} itself")
        if missing := [method for method in self.needs if not callable(getattr(kind, method, None))]:
            raise TypeError(f"{kind.__module__}:{kind.__qualname__} is no {self.what}: it has no {missing[0]}()")
        return kind

    def _entry_points(self) -> dict[str, EntryPoint]:
        if self._offered is None:
            from importlib.metadata import entry_points  # slow to load, and seldom needed

            self._offered = {point.name: point for point in entry_points(group=self.group)}
        return self._offered
