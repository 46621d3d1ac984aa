"""Results in a store: put there one by one, and read without it; and one version of the code for all of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ns_mab_gym.runs import Runs
from ns_mab_gym.studies.store import Store, encode
from ns_mab_gym.studies.study import Unit


def v1(unit: Unit) -> str:
    """The same version of the code for every unit."""
    return "v1"


def save(store: Store, unit: Unit, block: Runs) -> None:
    """Store the runs of a unit."""
    store.save([unit], [encode(unit, block)])


def stored_in(folder: Path) -> dict[str, bytes]:
    """The arrays of every result in a folder, by key; fails unless the file is sound."""
    with closing(sqlite3.connect(folder / "results.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return dict(db.execute("SELECT key, arrays FROM units"))


def change(folder: Path, statement: str, *values: object) -> int:
    """Change the file of a folder that is not open, by SQL; returns how many rows that concerned."""
    with closing(sqlite3.connect(folder / "results.sqlite")) as db, db:
        return db.execute(statement, values).rowcount
