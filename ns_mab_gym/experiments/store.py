"""The result store: one Parquet file for each unit of work, which exists in full or not at all."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Self

from ..files import write_atomically
from ..runs import Runs
from .identity import CodeVersions
from .parquet import BrokenFileError, from_parquet, to_parquet
from .units import Unit

__all__ = ["MARK", "Store", "StoreError", "guarded", "own_folder"]

MARK = "README.txt"
SUBFOLDERS = ("units", "aside", "figures")
OWNER = "This folder belongs to ns_mab_gym.experiments."
EXPLANATION = f"""{OWNER}

units/*.parquet   one file for each world, agent and block of runs; all of them are one tidy table:
                  pandas.read_parquet("units"), polars.read_parquet("units/*.parquet"),
                  duckdb.sql("from 'units/*.parquet'")
aside/            results of other code, of another description, or broken files: no part of the table
The rest is made from units/ whenever the command is run.
"""


class StoreError(ValueError):
    """The folder of results cannot be used; the message says why and what to do."""


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
        self._lock: IO[str] | None = None
        with guarded(self.folder, "use the folder"):
            self._open()

    def _open(self) -> None:
        own_folder(self.folder, OWNER, "choose a new or empty folder for the results")
        self.units.mkdir(exist_ok=True)
        self._lock = _locked(self.folder)
        write_atomically(self.folder / MARK, EXPLANATION.encode())
        for leftover in self.units.glob(".*.part"):  # left by a run that was killed while writing
            leftover.unlink()

    def close(self) -> None:
        """Release the lock, so that another process can use the folder."""
        if self._lock is not None:
            self._lock.close()

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
        with guarded(self.folder, "store a result in"):
            write_atomically(self.path(unit), to_parquet(unit, self.code(unit), block))

    def load(self, unit: Unit) -> Runs | None:
        """The result of a unit, or ``None`` if it must be computed; a broken file is reported and set aside."""
        path = self.path(unit)
        if not path.is_file() and not self._recalled(path):
            return None
        try:
            return from_parquet(path, unit, self.code(unit))
        except BrokenFileError as error:
            self.report(f"{path.name}: {error}; set aside, to be computed again")
            self._set_aside(path)
            return None

    def has(self, unit: Unit) -> bool:
        """Whether there is a file with the result of a unit, also if it was set aside."""
        path = self.path(unit)
        return path.is_file() or (self.aside / path.name).is_file()

    def tidy(self, wanted: Iterable[Unit]) -> None:
        """Set aside every file that is not the result of a wanted unit, so that the folder is one table."""
        names = {unit.file_name(self.code(unit)) for unit in wanted}
        others = [path for path in self.units.iterdir() if path.name not in names]
        for path in others:
            self._set_aside(path)
        if others:
            self.report(f"{len(others)} files of other code or another description set aside in {self.aside}")

    def _set_aside(self, path: Path) -> None:
        with guarded(self.folder, "tidy"):
            self.aside.mkdir(exist_ok=True)
            path.replace(self.aside / path.name)

    def _recalled(self, path: Path) -> bool:
        """Move the file back if it was set aside only because another description did not need it; whether it was."""
        try:
            (self.aside / path.name).replace(path)
        except OSError:
            return False
        return True


def own_folder(folder: Path, owner: str, remedy: str) -> None:
    """Make the folder; raises a :class:`StoreError` if it holds things, but not the mark of this owner.

    Its subfolders must not lead elsewhere: files are written, moved and removed there.
    """
    mark = folder / MARK
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (mark.is_file() and mark.read_bytes().startswith(owner.encode())):
        raise StoreError(f"{str(folder)!r} holds other things; {remedy}")
    for subfolder in (folder / name for name in SUBFOLDERS):
        if subfolder.is_symlink():
            raise StoreError(f"{str(subfolder)!r} is a link to another place; remove the link, or {remedy}")


@contextlib.contextmanager
def guarded(folder: Path, purpose: str) -> Iterator[None]:
    """Turn errors of the file system into a :class:`StoreError` of one line."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot {purpose} {str(folder)!r}: {error.strerror or error}; what is stored there is intact, "
            f"the same command continues when this is fixed"
        ) from error


def _locked(folder: Path) -> IO[str] | None:
    """An open lock on the folder, which the system releases when the process ends, however it ends."""
    if sys.platform == "win32":
        return None
    import fcntl

    handle = (folder / ".lock").open("a")  # not "w", which would empty the file that a symbolic link leads to
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        raise StoreError(
            f"another process is writing to {str(folder)!r}; wait for it, or choose another folder"
        ) from None
    return handle
