"""Where the files of results are, in units/ or set aside, and how they are moved so that none is ever lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import chain, count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..files import is_plain_file, refuse_links, write_atomically
from ..runs import Runs
from .footers import BrokenFileError, Keys
from .shelves import Holding, Shelf
from .unit_files import RecentFiles
from .units import Unit

__all__ = ["Filing"]

REJECTED = ".rejected"  # ends the names of files that are not looked at again


class Filing:
    """The files with the results of units, in two folders: those of the table, and those that were set aside.

    Threads may use it at the same time. Errors of the file system are those of the system.

    Args:
        folder: what the two are in.
        name: gives the name of the file of some units with their keys.
        report: a function that shows a line to the user.
    """

    def __init__(
        self, folder: Path, name: Callable[[Sequence[Unit], Keys], str], report: Callable[[str], None]
    ) -> None:
        self.name, self.report = name, report
        self._turn = threading.RLock()  # one thread at a time looks up, reads and moves files
        self._recent = RecentFiles()
        self._table, self._aside = Shelf(folder / "units"), Shelf(folder / "aside")
        for broken, reason in self._table.broken.items():
            self._reject(self._table.folder / broken, reason)

    def find(self, key: int) -> Path | None:
        """The file that holds a unit; one that was set aside if there is no other."""
        with self._turn:
            return self._table.find(key) or self._aside.find(key)

    def holds(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Which of these units some file holds."""
        with self._turn:
            return self._table.holds(keys) | self._aside.holds(keys)

    def runs(self, unit: Unit, key: int, code: str) -> Runs | None:
        """The result of a unit; None if there is none, or only one that is broken, which is rejected."""
        with self._turn:
            if (path := self.find(key)) is None:
                return None
            try:
                return self._recent.open(path, unit).runs(unit, key, code)
            except BrokenFileError as error:
                self._reject(path, str(error))
                return None

    def write(self, units: Sequence[Unit], keys: Keys, content: bytes) -> None:
        """Add a file with these units to the table."""
        path = self._table.folder / self.name(units, keys)
        refuse_links(path.parent)  # which somebody may have put there since this began
        write_atomically(path, content)
        with self._turn:
            self._recent.forget(path)
            self._table.put(path.name, keys)

    def reject(self, key: int, reason: str) -> None:
        """Set the file that holds a unit aside for good, with all units in it, and report why."""
        with self._turn:
            if (path := self.find(key)) is not None:
                self._reject(path, reason)

    def arrange(self, units: Sequence[Unit], keys: Keys) -> int:
        """Leave exactly these units in the table, as far as there are results; returns how many files were set aside.

        Whatever holds anything else is set aside, and what is wanted of it brought back: at every moment some file
        holds each result, and none twice in the table. After an interruption, this goes on where it stopped.
        """
        wanted = _Wanted(units, keys)
        with self._turn:
            others = self._table.holding_others(keys)
            for name in others:
                self._set_aside(self._table.folder / name)
            for holding in self._aside.holding(keys[~self._table.holds(keys)]):
                self._bring_back(holding, wanted)
        return len(others)

    def _bring_back(self, holding: Holding, wanted: _Wanted) -> None:
        """Move a file back into the table, or a copy of that part of it which is wanted."""
        path = self._aside.folder / holding.name
        if holding.whole:
            refuse_links(self._table.folder, self._aside.folder)
            path.replace(self._table.folder / holding.name)
            self._forget(path)
            self._table.put(holding.name, holding.keys)
        else:
            try:
                self.write(wanted.units(holding.keys), holding.keys, self._recent.open(path).part(holding.keys))
            except BrokenFileError as error:
                self._reject(path, str(error))

    def _reject(self, path: Path, reason: str) -> None:
        if os.path.lexists(path):
            self.report(f"{path.name}: {reason}; set aside, to be computed again")
            self._set_aside(path, REJECTED)
        else:
            self.report(f"{path.name}: is gone; to be computed again")
            self._forget(path)

    def _set_aside(self, path: Path, ending: str = "") -> None:
        self._aside.folder.mkdir(exist_ok=True)
        refuse_links(self._table.folder, self._aside.folder)
        names = chain([path.name + ending], (f"{number}-{path.name}{ending}" for number in count(2)))
        place = next(each for name in names if _can_take(each := self._aside.folder / name, path))
        path.replace(place)
        self._forget(path)
        self._aside.take_in(place.name)

    def _forget(self, path: Path) -> None:
        """Note that a file is not where it was."""
        self._recent.forget(path)
        (self._table if path.parent == self._table.folder else self._aside).drop(path.name)


class _Wanted:
    """Units that can be found by their keys."""

    def __init__(self, units: Sequence[Unit], keys: Keys) -> None:
        self._units, self._order = units, np.argsort(keys)
        self._keys = keys[self._order]

    def units(self, keys: Keys) -> list[Unit]:
        return [self._units[place] for place in self._order[self._keys.searchsorted(keys)]]


def _can_take(place: Path, path: Path) -> bool:
    """Whether something can be moved to a place: it is free, or both are files of one name and so of the same units."""
    return not (place.exists() or place.is_symlink()) or (is_plain_file(place) and is_plain_file(path))
