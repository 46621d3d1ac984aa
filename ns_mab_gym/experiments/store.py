"""The result store: one Parquet file for each unit of work, which exists in full or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain, count
from pathlib import Path
from typing import Self

from ..files import is_plain_file, refuse_links, remove_leftovers, write_atomically
from ..runs import Runs
from .folder_lock import FolderLock
from .identity import CodeVersions
from .parquet import BrokenFileError, from_parquet, storable, to_parquet
from .result_folders import StoreError, guarded, mark, own_folder
from .units import Unit
from .valid_runs import InvalidRunsError, check_runs

__all__ = ["Store", "StoreError"]

OWNER = "This folder belongs to ns_mab_gym.experiments."
EXPLANATION = f"""{OWNER}

units/*.parquet   one file for each world, agent and block of runs; all of them are one tidy table:
                  pandas.read_parquet("units"), polars.read_parquet("units/*.parquet"),
                  duckdb.sql("from 'units/*.parquet'")
aside/            results of other code, of another description, or broken files: no part of the table
The rest is made from units/ whenever the command is run.
"""
IDENTITY = re.compile(r"--([0-9a-f]{16})\.parquet$")  # at the end of the name of every unit's file


class Store:
    """A folder that holds the results of units of work.

    Args:
        folder: where they are; made if it does not exist, refused if it holds other things.
        code: gives the version of the code that computes a unit; results of another version are set aside.
        report: a function that shows a line to the user, about a file that is not as it should be.
    """

    def __init__(self, folder: str | Path, code: Callable[[Unit], str], report: Callable[[str], None] = print) -> None:
        self.folder = Path(folder)
        self.code = code
        self.report = report
        self.units, self.aside = self.folder / "units", self.folder / "aside"
        self._others: dict[str, Path] = {}  # files by the identity in their names, whatever else these say
        with guarded(self.folder, "use the folder"):
            own_folder(self.folder, OWNER, "choose a new or empty folder for the results")
            self._lock = FolderLock(self.folder)
            try:
                self._prepare()
            except BaseException:
                self.close()
                raise

    def _prepare(self) -> None:
        """Leave the mark first: whatever is interrupted after that, the folder is known to be ours."""
        mark(self.folder, EXPLANATION)
        self.units.mkdir(exist_ok=True)
        remove_leftovers(self.folder, self.units, self.folder / "figures")
        for folder in (self.aside, self.units):
            for path in folder.iterdir() if folder.is_dir() else ():
                self._others[_identity_in(path)] = path

    def close(self) -> None:
        """Release the lock, so that another process can use the folder."""
        self._lock.release()

    def __enter__(self) -> Self:
        """Returns the store, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def path(self, unit: Unit) -> Path:
        """The path of the file with the result of a unit, whether or not it exists."""
        return self.units / unit.file_name(self.code(unit))

    def save(self, unit: Unit, block: Runs) -> None:
        """Store a result, unless the code behind it changed; the file gets its name only when it is complete."""
        if isinstance(self.code, CodeVersions):
            self.code.confirm(unit)
        block = storable(block)
        try:
            check_runs(unit, block)
        except InvalidRunsError as error:
            raise InvalidRunsError(
                f"the result of {unit.agent.words} on {unit.world.words} cannot be stored: its {error}; correct the "
                f"agent, the world or the engine that gives it"
            ) from None
        refuse_links(self.units)  # which somebody may have put there since this store was opened
        with guarded(self.folder, "store a result in"):
            write_atomically(self.path(unit), to_parquet(unit, self.code(unit), block))

    def load(self, unit: Unit) -> Runs | None:
        """The result of a unit, or ``None`` if it must be computed; a broken file is reported and set aside."""
        path = self._found(unit)
        if path is None:
            return None
        try:
            return from_parquet(path, unit, self.code(unit))
        except BrokenFileError as error:
            self.reject(unit, str(error))
            return None

    def reject(self, unit: Unit, reason: str) -> None:
        """Set the file with the result of a unit aside, and report why."""
        path = self.path(unit)
        self.report(f"{path.name}: {reason}; set aside, to be computed again")
        self._set_aside(path)

    def has(self, unit: Unit) -> bool:
        """Whether there is a file with the result of a unit, also if it was set aside."""
        return any(map(is_plain_file, self._places(self.path(unit))))

    def tidy(self, wanted: Iterable[Unit]) -> None:
        """Set aside every file that is not the result of a wanted unit, so that the folder is one table."""
        found = [self._found(unit) for unit in wanted]
        names = {path.name for path in found if path is not None}
        others = [path for path in self.units.iterdir() if path.name not in names]
        for path in others:
            self._set_aside(path)
        if others:
            self.report(f"{len(others)} files of other code or another description set aside in {self.aside}")

    def _set_aside(self, path: Path) -> None:
        with guarded(self.folder, "tidy"):
            self.aside.mkdir(exist_ok=True)
            refuse_links(self.units, self.aside)
            names = chain([path.name], (f"{number}-{path.name}" for number in count(2)))
            place = next(each for name in names if _can_take(each := self.aside / name, path))
            path.replace(place)
            self._others[_identity_in(place)] = place

    def _found(self, unit: Unit) -> Path | None:
        """The file with the result of a unit, under its name; None if there is none.

        It is moved there if it was set aside only because another description did not need it, or if an earlier
        version gave it another name.
        """
        path = self.path(unit)
        if not is_plain_file(path) and (path.is_symlink() or path.exists()):
            self.reject(unit, "is not a file")
        place = next(filter(is_plain_file, self._places(path)), None)
        if place is None or place == path:
            return place
        with guarded(self.folder, "tidy"):
            return place.replace(path)

    def _places(self, path: Path) -> list[Path]:
        """Where the file with this name may be."""
        other = self._others.get(_identity_in(path))
        return [path, self.aside / path.name, *([] if other is None else [other])]


def _identity_in(path: Path) -> str:
    """The identity of a unit in the name of its file; the whole name if there is none."""
    found = IDENTITY.search(path.name)
    return path.name if found is None else found[1]


def _can_take(place: Path, path: Path) -> bool:
    """Whether a file can be moved to a place: it is free, or holds another file."""
    free = not place.exists() and not place.is_symlink()
    return free or not any(each.is_dir() and not each.is_symlink() for each in (place, path))
