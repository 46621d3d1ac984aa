"""A world given by a table of means: one column per arm, one row per round."""

from __future__ import annotations

import csv
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive_int
from ..means import as_means
from .world import FloatArray, World

__all__ = ["Table", "is_number", "read_means"]


@dataclass(frozen=True, kw_only=True)
class Table(World):
    """Means from an array or from a file (``.csv``, ``.parquet``, ``.npz``).

    The first row of a CSV file is a header if none of its cells is a number; an ``.npz`` file holds one array, or one
    called ``means``.

    >>> Table(rows=[[0.1, 0.9], [0.8, 0.2], [0.8, 0.3]])
    Table(horizon=3, rows=((0.1, 0.9), (0.8, 0.2), (0.8, 0.3)), path=None, n_arms=2)

    Attributes:
        rows: the means, T rows of K numbers; or
        path: the file that holds them.
        horizon: T; taken from the table, which it must match if given.
        n_arms: K; taken from the table, which it must match if given.
    """

    rows: tuple[tuple[float, ...], ...] | npt.ArrayLike | None = None
    path: str | Path | None = None
    horizon: int = None  # type: ignore[assignment]  # always an int after __post_init__
    n_arms: int = None  # type: ignore[assignment]
    name: str = field(init=False, repr=False, default="table")

    def __post_init__(self) -> None:
        """Read the table and check it, so that every world that was made can be played."""
        if (self.rows is None) == (self.path is None):
            raise ValueError("a table world takes either rows= (an array of means) or path= (a file)")
        if self.path is not None:
            object.__setattr__(self, "path", str(self.path))
        for what, has in zip(("horizon", "n_arms"), self._values.shape, strict=True):
            given = getattr(self, what)
            if given is not None and positive_int(what, given) != has:
                raise ValueError(f"{what} is {given} but the table has {has}; leave {what} out to take the table's")
            object.__setattr__(self, what, has)
        if self.rows is not None:
            object.__setattr__(self, "rows", tuple(map(tuple, self._values.tolist())))

    @cached_property
    def _values(self) -> FloatArray:
        if self.path is not None:
            return read_means(self.path)
        assert self.rows is not None
        return np.array(as_means(self.rows, "rows"))

    def _means(self, rng: np.random.Generator) -> FloatArray:
        return np.array(self._values)

    def instance(self, rng: np.random.Generator | int | None = None) -> FloatArray:
        """The table itself, read-only."""
        values = self._values.view()
        values.setflags(write=False)
        return values


def read_means(path: str | Path) -> FloatArray:
    """The (T, K) matrix of means in a ``.csv``, ``.parquet`` or ``.npz`` file."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"no file of means at {str(file)!r}")
    readers = {".csv": _read_csv, ".parquet": _read_parquet, ".npz": _read_npz}
    return readers[choice("kind of table", file.suffix.lower(), readers)](file)


def _read_csv(file: Path) -> FloatArray:
    try:
        with file.open(newline="", encoding="utf-8-sig") as handle:
            numbered = [(line, row) for line, row in enumerate(csv.reader(handle), start=1) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{str(file)!r} cannot be read as CSV: {error}") from None
    if numbered and not any(is_number(cell) for cell in numbered[0][1]):
        del numbered[0]  # a header of arm names
    if not numbered:
        raise ValueError(f"{str(file)!r} holds no means; give one row per round and one column per arm")
    width = len(numbered[0][1])
    for line, row in numbered:
        if len(row) != width:
            raise ValueError(f"{str(file)!r}, line {line}: {len(row)} columns where the first row has {width}")
        for column, cell in enumerate(row, start=1):
            if not is_number(cell):
                raise ValueError(f"{str(file)!r}, line {line}, column {column}: {cell!r} is not a number")
    return as_means([[float(cell) for cell in row] for _, row in numbered], repr(str(file)))


def _read_parquet(file: Path) -> FloatArray:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'ns-mab-gym[experiments]'") from None
    try:
        table = pq.read_table(file)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{str(file)!r} cannot be read as Parquet: {error}") from None
    for column in table.column_names:
        kind = str(table.schema.field(column).type)
        if not kind.startswith(("int", "uint", "float", "double", "halffloat", "decimal")):
            raise ValueError(f"{str(file)!r}, column {column!r}: {kind} is not a number")
    return as_means(np.array([column.to_numpy() for column in table.columns]).T, repr(str(file)))


def _read_npz(file: Path) -> FloatArray:
    if not zipfile.is_zipfile(file):
        raise ValueError(f"{str(file)!r} cannot be read as npz: it is not a zip archive; save it with numpy.savez")
    with np.load(file, allow_pickle=False) as archive:
        keys = archive.files
        if len(keys) != 1 and "means" not in keys:
            raise ValueError(f"{str(file)!r} holds {keys}; save one array, or call the array of means 'means'")
        return as_means(archive["means" if "means" in keys else keys[0]], repr(str(file)))


def is_number(cell: str) -> bool:
    """Whether the text of a cell is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
