"""The result store: one SQLite file, one row for each unit of work that was computed in full.

A unit is identified by the hash of its description and of the code that computes it, so results of other code simply
have other keys: they are neither moved nor lost, and count again when the code is the same again. SQLite gives what
the store must guarantee: a row is there in full or not at all, also after ``kill -9`` or on a full disk, and a second
process that wants to write is refused. Only the process that runs the study writes; workers send encoded rows.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from ..agents.parts.alarms import ALARM
from ..code_version import CodeVersions
from ..files import is_temporary, remove_leftovers, write_atomically
from ..runs import Runs
from ..sources import versions
from .study import InvalidRunsError, StoreError, Unit, check_runs, check_size, identities, size_of

MARK = "README.txt"


def locked_out(folder: Path) -> StoreError:
    """The error of a process that wants to write to a folder to which another one writes."""
    return StoreError(f"another process is writing to {str(folder)!r}; wait for it, or choose another folder")


def own_folder(folder: Path, owner: str, remedy: str) -> None:
    """Make the folder; raises a :class:`StoreError` if it holds things, but not the mark of this owner.

    A folder whose owner was killed, or found the disk full, before it could leave its mark is taken up again.

    Args:
        folder: the folder.
        owner: how its mark begins.
        remedy: what to do if it cannot be used.
    """
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{str(folder)!r} is no folder; {remedy}")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MARK
    marked = path.is_file() and path.read_bytes().startswith(owner.encode())
    # An interrupted start leaves an empty lock, or a file half written.
    others = [each for each in folder.iterdir() if not is_temporary(each.name)]
    if not marked and any(each.name != ".lock" or each.is_dir() or each.stat().st_size for each in others):
        raise StoreError(f"{str(folder)!r} holds other things; {remedy}")


def mark(folder: Path, explanation: str) -> None:
    """Leave the mark in a folder, the first thing in it besides its lock; unless it is there already."""
    path = folder / MARK
    if not path.is_file() or path.read_bytes() != explanation.encode():
        write_atomically(path, explanation.encode())


@contextlib.contextmanager
def guarded(folder: Path, purpose: str) -> Iterator[None]:
    """Turn errors of the file system and of SQLite into a :class:`StoreError` of one line."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = str(error)
        if isinstance(error, OSError) and error.strerror:
            place = error.filename2 or error.filename  # the name that a file was to get, rather than the one it had
            reason = f"{error.strerror}: {str(place)!r}" if place else error.strerror
        raise StoreError(
            f"cannot {purpose} {str(folder)!r}: {reason}; what is stored there is intact, the same command continues "
            f"when this is fixed"
        ) from error


class FolderLock:
    """A lock that is held from here on until it is released, or the process ends; on Windows, among threads alone.

    It is a POSIX lock on a file, which forked processes do not inherit.

    Args:
        folder: the folder; raises a :class:`StoreError` if somebody holds its lock, in this process or another.
    """

    _held: set[Path] = set()  # noqa: RUF012 - of the whole process, which shares its POSIX locks

    def __init__(self, folder: Path) -> None:
        self._path = folder.resolve() / ".lock"
        if self._path in self._held:
            raise locked_out(folder)
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                os.close(self._handle)
                raise locked_out(folder) from None
        self._held.add(self._path)

    def release(self) -> None:
        """Let the next one have the folder."""
        if self._path in self._held:
            self._held.discard(self._path)
            os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


T = TypeVar("T")
FILE = "results.sqlite"
OWNER = "This folder belongs to ns_mab_gym"  # and to which part of it, in folders of earlier versions
EXPLANATION = f"""{OWNER}. The command that made it continues with what is stored here.

{FILE}    every result: a row for each block of runs of an agent on a world, of this and of earlier code
The rest is made from it whenever the command is run. summary.csv has a row for each agent on each world, table.parquet
one for each recorded round of each run; docs/experiments.md explains their columns.
"""
VERSION = 1  # of the table below
SCHEMA = """CREATE TABLE IF NOT EXISTS units (
    key TEXT PRIMARY KEY,  -- hash of what was asked and of the code; numbers of the runs
    code TEXT NOT NULL,
    world TEXT NOT NULL, agent TEXT NOT NULL, seed TEXT NOT NULL, first_run INTEGER NOT NULL, runs INTEGER NOT NULL,
    about TEXT NOT NULL,  -- JSON: parameters, seconds, versions, date
    arrays BLOB NOT NULL,  -- a compressed .npz: rounds, regret, pulls, suboptimal_pulls, alarms
    digest TEXT NOT NULL  -- SHA-256 of the two before
)"""
ARRAYS = ("rounds", "regret", "pulls", "suboptimal_pulls")
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Row(NamedTuple):
    """A computed unit as workers send it; stored under its key and the version of the code, see ``SCHEMA``."""

    world: str
    agent: str
    seed: str
    first_run: int
    runs: int
    about: str
    arrays: bytes
    digest: str


def encode(unit: Unit, block: Runs) -> Row:
    """Return the row of a unit, without those parameters of the agent that JSON cannot hold.

    Args:
        unit: the unit.
        block: its runs; raises an :class:`InvalidRunsError` if a unit cannot have them as its result.
    """
    parameters = [
        {  # a text, such as a file's name, may have bytes that are no characters
            key: each.encode(errors="backslashreplace").decode() if isinstance(each, str) else each
            for key, each in told.items()
            if each is None or isinstance(each, str | int | float)
        }
        for told in block.parameters
    ]
    try:
        check_runs(unit, replace(block, parameters=parameters))
    except InvalidRunsError as error:
        raise InvalidRunsError(
            f"the result of {unit.agent.text} on {unit.world.text} cannot be stored: its {error}; correct the "
            f"agent, the world or the engine that gives it"
        ) from None
    arrays = {name: getattr(block, name) for name in ARRAYS}
    if block.alarms is not None:
        arrays["alarms"] = np.concatenate([np.empty(0, ALARM), *block.alarms])
        arrays["alarm_counts"] = np.array([len(log) for log in block.alarms])
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    written = datetime.now(UTC).isoformat(timespec="seconds")
    about = json.dumps({"parameters": parameters, "seconds": block.seconds, "versions": versions(), "written": written})
    return Row(*_asked(unit), about, packed.getvalue(), _digest(about, packed.getvalue()))


def decode(unit: Unit, about: str, arrays: bytes, digest: str) -> Runs:
    """Return the runs in a row; raises some error if they are not what was written, or no runs of the unit."""
    if digest != _digest(about, arrays):
        raise ValueError("its contents are not those that were written")
    found: dict[str, Any] = json.loads(about)
    with np.load(io.BytesIO(arrays), allow_pickle=False) as kept:
        alarms = np.split(kept["alarms"], np.cumsum(kept["alarm_counts"])[:-1]) if "alarms" in kept else None
        rounds, regret, pulls, suboptimal = (kept[name] for name in ARRAYS)
    told = unit.seeds, found["parameters"], found["seconds"]
    block = Runs(rounds, regret, pulls, suboptimal, *told, alarms=alarms)
    check_runs(unit, block)
    return block


def _asked(unit: Unit) -> tuple[str, str, str, int, int]:
    return unit.world.text, unit.agent.text, str(unit.seed), unit.first_run, unit.runs


def _digest(about: str, arrays: bytes) -> str:
    return hashlib.sha256(about.encode() + arrays).hexdigest()


class Store:
    """A folder that holds the results of units of work; threads may share it.

    Args:
        folder: where they are; made if it does not exist, refused if it holds other things.
        code: gives the version of the code that computes a unit.
        report: shows a line to the user, about a result that is not as it should be.
        fresh: whether the results that are there are dropped.

    Attributes:
        rejected: the number of results that were dropped because they were not as they should be.
    """

    rejected = 0

    def __init__(
        self,
        folder: str | Path,
        code: Callable[[Unit], str],
        report: Callable[[str], None] = print,
        *,
        fresh: bool = False,
    ) -> None:
        self.folder, self.code, self.report = Path(folder), code, report
        self._turn, self._sizes = threading.RLock(), dict[str, tuple[int, int | None]]()
        with guarded(self.folder, "use the folder"):
            own_folder(self.folder, OWNER, "choose a new or empty folder for the results")
            mark(self.folder, EXPLANATION)
            self._open()
            try:
                remove_leftovers(self.folder, self.folder / "figures")
                if fresh:
                    self._do("write to", lambda db: db.execute("DELETE FROM units"))
            except BaseException:
                self.close()
                raise

    def _open(self) -> None:
        """Open the file; what is no database is set aside."""
        path = self.folder / FILE
        if path.exists() and not os.access(path, os.W_OK):  # of which SQLite says "disk I/O error"
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        try:
            self._db = _database(path)
        except sqlite3.Error as error:
            if _is(error, sqlite3.SQLITE_BUSY):
                raise locked_out(self.folder) from error
            if not _is(error, *DAMAGE):
                raise
            self._set_aside(error)

    def _set_aside(self, error: sqlite3.Error) -> None:
        """Rename the file, and open a new one."""
        path = self.folder / FILE
        aside = path.with_name(f"{FILE}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        self.report(f"{str(path)!r} is damaged ({error}); set aside as {aside.name!r}, to be computed again")
        for ending in ("-wal", "-journal", ""):  # logs first: beside a new file they would be taken for a part of it
            if path.with_name(f"{FILE}{ending}").exists():
                path.with_name(f"{FILE}{ending}").replace(f"{aside}{ending}")
        self._db = _database(path)

    def close(self) -> None:
        """Let another process use the folder."""
        self._db.close()

    def __enter__(self) -> Self:
        """Return the store, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def missing(self, units: Sequence[Unit]) -> list[Unit]:
        """Return those of the units, in their order, that have no result; damage shows when one is loaded."""
        there = self._do("read", lambda db: {key for (key,) in db.execute("SELECT key FROM units")})
        return [unit for unit, key in zip(units, identities(units, self.code), strict=True) if key not in there]

    def has(self, unit: Unit) -> bool:
        """Return True if there is a result of a unit."""
        return bool(self._select("1", unit))

    def save(self, units: Sequence[Unit], rows: Sequence[Row]) -> None:
        """Store the rows of exactly these units, all of them or none, unless the code behind them was edited."""
        if [row[:5] for row in rows] != [_asked(unit) for unit in units]:
            raise StoreError(
                f"what came as the result of {units[0].agent.text} on {units[0].world.text} is something else; give "
                f"every worker the same code and files"
            )
        if isinstance(self.code, CodeVersions):
            for unit in {(unit.world, unit.agent): unit for unit in units}.values():
                self.code.confirm(unit)
        keys = zip(identities(units, self.code), map(self.code, units), rows, strict=True)
        every = [(key, code, *row) for key, code, row in keys]
        insert = f"INSERT OR REPLACE INTO units VALUES ({', '.join('?' * (2 + len(Row._fields)))})"
        self._do("store a result in", lambda db: db.executemany(insert, every))

    def load(self, unit: Unit) -> Runs | None:
        """Return the result of a unit, or None if it must be computed; a damaged one is reported and dropped."""
        for row in self._select("about, arrays, digest", unit):
            key = unit.series.identity(self.code(unit))
            if key not in self._sizes:
                self._sizes[key] = size_of(unit.world)
            try:
                check_size(block := decode(unit, *row), *self._sizes[key])
                return block
            except Exception as error:  # of zipfile, NumPy or JSON
                self.reject(unit, f"is damaged ({next(iter(str(error).splitlines()), type(error).__name__)})")
        return None

    def reject(self, unit: Unit, reason: str) -> None:
        """Drop the result of a unit, and report why."""
        self.rejected += 1
        self.report(f"the result of {unit}, {reason}; dropped, to be computed again")
        self._do("write to", lambda db: db.execute("DELETE FROM units WHERE key = ?", [unit.identity(self.code(unit))]))

    def _select(self, columns: str, unit: Unit) -> list[Any]:
        query = f"SELECT {columns} FROM units WHERE key = ?"
        return self._do("read", lambda db: db.execute(query, [unit.identity(self.code(unit))]).fetchall())

    def _do(self, purpose: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something in one transaction; if the file turns out to be damaged, in a new and empty one."""
        with self._turn, guarded(self.folder, purpose):
            try:
                with self._db:
                    return work(self._db)
            except sqlite3.DatabaseError as error:
                if not _is(error, *DAMAGE):
                    raise
                self._db.close()
                self._set_aside(error)
            with self._db:
                return work(self._db)


class MemoryStore(Store):
    """A store without a folder, whose results end with it.

    Args:
        code: gives the version of the code that computes a unit.
        saved: called with every unit that was stored.
    """

    def __init__(
        self, code: Callable[[Unit], str] = lambda unit: "", saved: Callable[[Unit], None] = lambda unit: None
    ) -> None:
        self.folder, self.code, self.report, self.saved = Path(":memory:"), code, print, saved
        self._turn, self._sizes = threading.RLock(), dict[str, tuple[int, int | None]]()
        self._db = _database(self.folder)

    def save(self, units: Sequence[Unit], rows: Sequence[Row]) -> None:
        """Store the rows, and tell of each unit."""
        super().save(units, rows)
        for unit in units:
            self.saved(unit)


def _database(path: Path) -> sqlite3.Connection:
    """Open the database at a path, and lock it until it is closed."""
    db = sqlite3.connect(path, timeout=0.0, check_same_thread=False)
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        with db:
            db.execute("BEGIN IMMEDIATE")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, VERSION):
                raise StoreError(f"{str(path)!r} is of another version of ns-mab-gym; choose another folder")
            if version == 0:  # else the file stays as it is, which tells that its results did not change
                db.execute(SCHEMA)
                db.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        db.close()
        raise
    return db


def _is(error: sqlite3.Error, *codes: int) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
