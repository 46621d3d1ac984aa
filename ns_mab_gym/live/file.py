"""The file of an agent in service: decisions and their rewards, the journal of what happened, the agent's last state.

SQLite in WAL mode gives what is asked for: a transaction is there in full or not at all, also after ``kill -9``, and
one process writes at a time while the others wait. The journal has a number for each transaction that the agent took
part in. Whoever opens the file loads the state that was saved last, and repeats what the journal has after it; a
process that finds numbers that it has not seen repeats those.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

MARK, VERSION = 0x6E73_6D62, 1  # "nsmb", SQLite's application_id of these files; and of the tables below
PAGES = 8_000  # of the log, after which SQLite moves it into the file, which takes milliseconds
WAIT = 60.0  # seconds for which a process waits for another one's transaction
SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE arms (place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, retired INTEGER NOT NULL);
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,  -- 1, 2, 3, …
    time REAL NOT NULL,  -- seconds since 1970, ascending
    arm INTEGER NOT NULL, probability REAL NOT NULL, holdout INTEGER NOT NULL,
    reward REAL,  -- the one that counts: as it came, or expired_reward; NULL if there is none
    answered REAL,  -- when it came, or expired
    expired INTEGER NOT NULL, late REAL  -- whether its time ran out, and the reward that came afterwards
);
CREATE INDEX waiting ON decisions (id, time) WHERE reward IS NULL AND NOT expired;
CREATE TABLE journal (number INTEGER PRIMARY KEY, time REAL NOT NULL, what TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE alarms (time REAL NOT NULL, arm INTEGER NOT NULL, everything INTEGER NOT NULL);
CREATE TABLE state (number INTEGER NOT NULL, about TEXT NOT NULL, arrays BLOB NOT NULL);
"""


class LiveFileError(ValueError):
    """The file of an agent in service cannot be used: it is damaged, foreign, locked, or the disk is full."""


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into a :class:`LiveFileError` of one line."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_BUSY:
            what = f"another process has been writing to it for {WAIT:.0f} seconds; end that one, or wait"
        elif code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            what = f"it is damaged, or no file of ns-mab-gym ({error}); restore a copy, or name a new file"
        else:
            what = f"{error}; what was answered before is intact"
        raise LiveFileError(f"cannot use {str(path)!r}: {what}") from error


class LiveFile:
    """A database with one connection to write, and one to read beside it; threads may share it.

    Args:
        path: where it is; made if it is absent or empty.
        fill: called within the transaction that makes the tables.
        power_safe: wait with every transaction until the disk has it, so that it outlives a power failure too.
    """

    def __init__(self, path: Path, fill: Callable[[sqlite3.Connection], None], power_safe: bool) -> None:
        self.path, self._pid = path, os.getpid()
        self.turn, self._reading = threading.RLock(), threading.Lock()
        with told(path):
            self.db = self._connected()
            try:
                self._open(fill, power_safe)
                self._reader = self._connected()
            except BaseException:
                self.db.close()
                raise

    def _connected(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        except ValueError as error:  # a null byte, a surrogate
            raise LiveFileError(f"{str(self.path)!r} is no name of a file: {error}") from None

    def _open(self, fill: Callable[[sqlite3.Connection], None], power_safe: bool) -> None:
        db = self.db
        if db.execute("PRAGMA schema_version").fetchone()[0]:  # there are tables; of others, nothing is changed
            self._check()
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {'FULL' if power_safe else 'NORMAL'}")
        db.execute(f"PRAGMA wal_autocheckpoint = {PAGES}")
        with self.transaction():
            if not db.execute("PRAGMA schema_version").fetchone()[0]:
                for statement in SCHEMA.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {MARK}")
                db.execute(f"PRAGMA user_version = {VERSION}")
                fill(db)
            self._check()

    def _check(self) -> None:
        mark, version = (self.db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        if mark != MARK:
            raise LiveFileError(f"{str(self.path)!r} is a database of something else; name a new file")
        if version != VERSION:
            raise LiveFileError(
                f"{str(self.path)!r} is of another version of ns-mab-gym (form {version}, here {VERSION})"
            )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection, while no other thread or process writes; all that is written is kept, or nothing."""
        if os.getpid() != self._pid:
            raise RuntimeError(f"{str(self.path)!r} was opened before this process was forked; open it in each process")
        with self.turn, told(self.path):
            try:
                self.db.execute("BEGIN IMMEDIATE")
                yield self.db
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise

    def read(self, query: str, *values: Any) -> list[Any]:
        """All rows of a query, of what is committed; it keeps no writer waiting."""
        with self._reading, told(self.path):
            return self._reader.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the connections."""
        with self.turn, self._reading:
            self._reader.close()
            self.db.close()


def save_state(db: sqlite3.Connection, number: int, about: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Replace the agent's saved state by that after the transaction of this number in the journal."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **state)
    db.execute("DELETE FROM state")
    db.execute("INSERT INTO state VALUES (?, ?, ?)", (number, json.dumps(about), packed.getvalue()))


def saved_state(db: sqlite3.Connection) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """The number, the description and the arrays of the state that was saved last."""
    number, about, arrays = db.execute("SELECT number, about, arrays FROM state").fetchone()
    with np.load(io.BytesIO(arrays), allow_pickle=False) as kept:
        return number, json.loads(about), {name: kept[name] for name in kept.files}
