"""The result store: Parquet files of one unit of work or several, each of which exists in full or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from ..files import remove_leftovers
from ..runs import Runs
from .filing import Filing
from .folder_lock import FolderLock
from .footers import BrokenFileError, Keys, key_of
from .identity import CodeVersions
from .parquet import checked, to_parquet
from .result_folders import StoreError, guarded, mark, own_folder
from .shelves import name_of_shared
from .unit_files import keys_in
from .units import Unit

__all__ = ["Store", "StoreError"]

OWNER = "This folder belongs to ns_mab_gym.experiments."
EXPLANATION = f"""{OWNER}

units/*.parquet   the results: each file holds a block of runs of an agent on a world, or several such blocks that
                  were computed together; all of them are one tidy table:
                  pandas.read_parquet("units"), polars.read_parquet("units/*.parquet"),
                  duckdb.sql("from 'units/*.parquet'")
aside/            results of other code or of another description, and broken files: no part of the table
The rest is made from units/ whenever the command is run.
"""


class Store:
    """A folder that holds the results of units of work.

    Units that are computed together share a file; the file of one unit is of the same form. Which unit is in which file
    is known from names and footers, so that a start takes seconds even with a million units. Files of versions before
    the first release, which had another form, are set aside, and their units computed again.

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
        self._files = Filing(self.folder, self._name, self.report)

    def close(self) -> None:
        """Release the lock, so that another process can use the folder."""
        self._lock.release()

    def __enter__(self) -> Self:
        """Returns the store, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def path(self, unit: Unit) -> Path:
        """The file with the result of a unit; if there is none, where a file of its own would be."""
        return self._files.find(self._key(unit)) or self.units / unit.file_name(self.code(unit))

    def has(self, unit: Unit) -> bool:
        """Whether there is a file with the result of a unit, also if it was set aside."""
        return self._files.find(self._key(unit)) is not None

    def missing(self, units: Sequence[Unit]) -> list[Unit]:
        """Those of the units, in their order, of which there is no file; whether a file is broken shows its loading."""
        there = self._files.holds(self._keys(units)).tolist()
        return [unit for unit, is_there in zip(units, there, strict=True) if not is_there]

    def save(self, unit: Unit, block: Runs) -> None:
        """Store a result, unless the code behind it changed; the file gets its name only when it is complete."""
        self._confirm([unit])
        self._write([unit], to_parquet([(unit, self.code(unit), checked(unit, block))]))

    def take(self, units: Sequence[Unit], content: bytes) -> None:
        """Store a file that ``to_parquet`` made of exactly these units, here or elsewhere; it is not unpacked.

        Raises a :class:`StoreError` if it is of other units, or of other code than there is here.
        """
        if _said_in(content) != self._keys(units).tolist():
            raise StoreError(
                f"what came as the result of {units[0].agent.words} on {units[0].world.words} is something else, or "
                f"was computed by other code than there is here; give every worker the same code and files"
            )
        self._confirm(units)
        self._write(units, content)

    def load(self, unit: Unit) -> Runs | None:
        """The result of a unit, or ``None`` if it must be computed; a broken file is reported and set aside."""
        with guarded(self.folder, "tidy"):
            return self._files.runs(unit, self._key(unit), self.code(unit))

    def reject(self, unit: Unit, reason: str) -> None:
        """Set the file with the result of a unit aside for good, with all units in it, and report why."""
        with guarded(self.folder, "tidy"):
            self._files.reject(self._key(unit), reason)

    def tidy(self, wanted: Iterable[Unit]) -> None:
        """Set aside every result that is not of a wanted unit, and bring back those that are: the rest is one table."""
        units = list(wanted)
        with guarded(self.folder, "tidy"):
            if others := self._files.arrange(units, self._keys(units)):
                self.report(f"{others} files of other code or another description set aside in {self.aside}")

    def _confirm(self, units: Sequence[Unit]) -> None:
        """Raise an error if code or files behind these units were changed since the run began."""
        if isinstance(self.code, CodeVersions):
            for unit in {(unit.world, unit.agent): unit for unit in units}.values():
                self.code.confirm(unit)

    def _write(self, units: Sequence[Unit], content: bytes) -> None:
        with guarded(self.folder, "store a result in"):
            self._files.write(units, self._keys(units), content)

    def _key(self, unit: Unit) -> int:
        return key_of(unit.identity(self.code(unit)))

    def _keys(self, units: Sequence[Unit]) -> Keys:
        return np.fromiter(map(self._key, units), np.uint64, len(units))

    def _name(self, units: Sequence[Unit], keys: Keys) -> str:
        return units[0].file_name(self.code(units[0])) if len(units) == 1 else name_of_shared(units, keys)


def _said_in(content: bytes) -> list[int] | None:
    """The keys of the units in a file; None if it is no such file."""
    try:
        return list(keys_in(content).tolist())
    except BrokenFileError:
        return None
