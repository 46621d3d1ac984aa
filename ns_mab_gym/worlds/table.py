"""A world given by a table of means, one column per arm and one row per round: an array, or a file of one.

Files are ``.csv``, ``.parquet`` or ``.npz``, read once and hashed as read.

A file that could be read in two ways is refused, since either guess might be wrong in silence: a first row 0, 1, … of a
CSV file is the header of a pandas frame without names, or the means of deterministic arms; a column that counts rounds
is an index, and nobody would notice such an arm. A first row of numbers that the rest of the file is unlike, such as
9.99, 14.99 above rates of clicks, is a header of prices.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import zipfile
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive_int
from ..files import content_of
from ..means import BadMeansError, Floats, as_floats, as_means
from .world import World

ROWS_AND_COLUMNS = "give one row per round and one column per arm"
LONGEST = 60  # characters of a cell that an error message repeats; no number is longer
# Names of columns that say when.
CLOCKS = {
    *("round", "rounds", "step", "steps", "time", "t", "timestamp", "datetime", "date", "epoch", "iteration", "trial"),
    *("second", "minute", "hour", "day", "week", "month", "year"),
    *("index", "idx", "id", "row", "no", "nr", "number", "unnamed: 0", "level_0"),
}
# Plain names of the columns of a log of decisions.
LOG_COLUMNS = {
    "time": ("timestamp", "time", "datetime", "date", "date_time", "ts", "created_at", "event_time", "t", "round"),
    "arm": ("arm", "variant", "action", "treatment", "option", "choice", "bucket", "banner", "creative", "ad", "price"),
    "reward": (
        *("reward", "clicked", "click", "converted", "conversion", "revenue", "success", "outcome", "payoff", "profit"),
        *("purchased", "bought", "sold", "won"),
    ),
    "propensity": ("propensity", "probability", "prob", "pscore", "propensity_score", "action_prob"),
    "delay": ("delay", "delay_seconds", "lag"),
}
# No more than what programs write: Python itself would also take 1_000, ٣ and 007.
NUMBER = re.compile(
    r"\s*[+-]?(?:(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)\s*",
    re.ASCII | re.IGNORECASE,
)
# Numbers as others write them: 1_000, 0,5, 10%, 5k, 1.0D-3, 1+2j, 0x1F, ٣. They are no means, and no names either.
NUMBERLIKE = re.compile(r"[+-]?[\d.,_' ]+(?:[^\W\d_]|%)?(?:[+-]?[\d.,_]+[^\W\d_]?)?")
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "inf", "+inf", "-inf", "infinity", "-infinity"}
OTHER_SEPARATORS = re.compile(r"[;\t|]|\d\s+[\d.+-]")
DATE = re.compile(r"\s*\d{4}-\d\d-\d\d(?!\d)")
FAR = 5  # times as far as in any later round must all means move after the first, to look like names
FEWEST_AFTER = 3  # rounds from which that can be told
ARROW_NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")  # beginnings of Arrow's names of types

Names = tuple[str, ...] | None  # of the columns, if they have names


class MeansFile(NamedTuple):
    """The content of a file of means."""

    means: Floats  # (T, K)
    names: Names  # of the arms
    digest: str  # the SHA-256 of the bytes that were read, in hexadecimal


def read_means(path: str | PathLike[str]) -> Floats:
    """The (T, K) matrix of means in a ``.csv``, ``.parquet`` or ``.npz`` file."""
    return read_file(path).means


def read_file(path: str | PathLike[str]) -> MeansFile:
    """Read a file of means once: the means, the names of the arms, and the hash of the very bytes that were read."""
    text = checked_path(path)
    source = repr(text)
    kind, read = READERS[choice("kind of table", os.path.splitext(text)[1].lower(), READERS)]
    try:
        content = content_of(path)
    except FileNotFoundError:
        if os.path.exists(text):
            raise BadMeansError(f"{source} is a folder or a device; give a file of means") from None
        raise FileNotFoundError(f"no file of means at {source}") from None
    except OSError as error:
        raise BadMeansError(f"{source} cannot be opened: {error.strerror}; ask its owner") from error
    try:
        values, names = read(content, source)
    except (BadMeansError, ImportError):
        raise
    except Exception as error:  # of the libraries that read it, which have many kinds
        why = " ".join(str(error).split())[:200].rstrip(" .;") or type(error).__name__
        raise BadMeansError(f"{source} cannot be read as {kind}: {why}; save it again") from error
    return MeansFile(as_means(values, source), names, hashlib.sha256(content).hexdigest())


def checked_path(path: object) -> str:
    """The given path as text."""
    text = fspath(path) if isinstance(path, PathLike) else path
    if not isinstance(text, str):
        raise TypeError(f"the path of a file of means must be text, got {path!r}")
    return str(text)


def _read_csv(content: bytes, source: str) -> tuple[Floats, Names]:
    """CSV with commas between columns, decimal points, UTF-8, and a header if there is one."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise BadMeansError(f"{source} cannot be read as CSV: it is no UTF-8 text; save it as CSV in UTF-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    first: list[str] = []
    names, numbers, places = None, array("d"), NO_POINT
    try:
        for row in filter(None, reader):  # without blank lines
            place = f"{source}, line {reader.line_num}"
            if not first:
                _refuse_logs(row, source)
                first, names = row, _csv_names(row, place)
                if names:
                    continue
            elif len(row) != len(first):
                hint = _csv_hint(first[0] if first[0].startswith("#") else ",".join(row))
                raise BadMeansError(f"{place}: {len(row)} columns where the first row has {len(first)}{hint}")
            for column, cell in enumerate(row, start=1):
                if not NUMBER.fullmatch(cell):
                    raise BadMeansError(f"{place}, column {column}: {_shown(cell)} is not a number{_csv_hint(cell)}")
                numbers.append(float(cell))
                if row is not first:
                    places = min(places, _decimals(cell))
    except csv.Error as error:
        where = f"line {reader.line_num}: {error}"
        raise BadMeansError(f"{source} cannot be read as CSV: {where}; mend that line") from None
    if not numbers:
        raise BadMeansError(f"{source} holds no means; {ROWS_AND_COLUMNS}")
    values = np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(first))
    if names is None and _heads(first, values, places, text, source):
        names, values = tuple(cell.strip() for cell in first), values[1:]
    _refuse_clocks(values, names, source)
    return values, names


def _refuse_logs(names: Sequence[str], source: str) -> None:
    """Raise an error if the names are those of a log, whose rows are decisions: at least of an arm and its reward."""
    told = [
        repr(name)
        for role in ("time", "arm", "reward")
        for name in names
        if name.strip().casefold() in LOG_COLUMNS[role]
    ]
    roles = {role for role in ("arm", "reward") for name in names if name.strip().casefold() in LOG_COLUMNS[role]}
    if len(roles) == 2:
        raise BadMeansError(
            f"{source} looks like a log of decisions (columns {', '.join(told)}), and not like a table of means; "
            f"read it with: ns-mab-gym log {source}"
        )


def _csv_names(row: list[str], place: str) -> Names:
    """The names in the first row; None if it holds numbers. A row that might be either is refused."""
    cells = [cell.strip() for cell in row]
    named = any(map(_is_name, cells)) and all(_is_name(cell) or cell.casefold() in MISSING for cell in cells)
    if len(cells) > 1 and not cells[0] and (named or _is_count(cells[1:])):
        raise BadMeansError(
            f"{place}: the first column has no name, as the index that pandas writes; leave it out with index=False, "
            f"or give it a name if it is an arm"
        )
    if len(cells) > 1 and _is_count(cells):
        raise BadMeansError(
            f"{place}: {cells[0]}, {cells[1]}, … may be the numbers of the columns, as pandas writes them, or means; "
            f"give the columns names (frame.add_prefix('arm ')), or write means as {cells[0]}.0, {cells[1]}.0, …"
        )
    return (cells[0].lstrip("# "), *cells[1:]) if named else None


PRICED = (49, 90, 95, 99)  # the cents of prices
NO_POINT = 99  # decimals, more than anybody writes: those of no cell, and of numbers with exponents


def _decimals(cell: str) -> int:
    return NO_POINT if "e" in cell.lower() else len(cell.strip().partition(".")[2])


def _heads(first: list[str], values: Floats, places: int, text: str, source: str) -> bool:
    """Return whether a first row of numbers is a header, such as one of prices, by the rest of the file.

    It is if it alone is quoted, or if all of it exceeds 1 and the rest are probabilities. Where it might be one, since
    all of it lies far from the rest, or is rounded to fewer decimals than any mean, or ends as prices do and no other
    row does, it is refused; so are equal prices, which are no names.

    Args:
        first: the cells of the first row.
        values: the numbers of all rows.
        places: the fewest decimals of a cell of the others.
        text: the file.
        source: its name.
    """
    rest = values[1:]
    if not len(rest) or len(first) < 2 or not np.isfinite(values).all():
        return False
    quotes = [line.count('"') for line in text.splitlines() if line.strip()]
    low, high = float(rest.min()), float(rest.max())
    alone = quotes[0] == 2 * len(first) and not any(quotes[1:])
    heads = alone or (low >= 0 and high <= 1 < values[0].min())
    distinct = len({*values[0].tolist()}) == len(first)
    if heads and distinct:
        return True
    with np.errstate(all="ignore"):
        priced = np.all(np.isin(np.round(100 * values) % 100, PRICED) & (values > 1), axis=1)
        away = np.maximum(low - values[0], values[0] - high)
        steps = np.abs(np.diff(values, axis=0))
        jumps = len(rest) >= FEWEST_AFTER and bool(np.all(steps[0] > FAR * steps[1:].max(axis=0)))
    rounded = max(map(_decimals, first)) < places < NO_POINT
    unlike = distinct and (bool(np.all(away > 2 * (high - low))) or jumps or rounded)
    charm = np.flatnonzero(priced).tolist() == [0] and max(map(_decimals, first)) <= 2
    if heads or unlike or charm:
        cells = ", ".join(_shown(cell.strip())[1:-1] for cell in first[:2])
        raise BadMeansError(
            f"{source}, line 1: {cells}, … may be names of the columns, such as prices, or means, but unlike all "
            f"other rows; write names with letters ('price {first[0].strip()[:LONGEST]}') or quote them alone, and "
            f"save means as an array with numpy.savez"
        )
    return False


def _is_name(cell: str) -> bool:
    letters = any(map(str.isalpha, cell))
    return letters and cell.casefold() not in MISSING and (len(cell) > LONGEST or not NUMBERLIKE.fullmatch(cell))


def _is_count(cells: list[str]) -> bool:
    """True for 0, 1, 2, … and for 1, 2, 3, …, without decimal points."""
    return any(cells == [str(first + k) for k in range(len(cells))] for first in (0, 1))


def _csv_hint(cell: str) -> str:
    if not cell.strip():
        return "; every round needs one mean for each arm"
    if cell.lstrip().startswith("#"):
        return "; leave comments out"
    if DATE.match(cell):
        return "; a log of decisions, or a table of counts with times (--trials), is read with: ns-mab-gym log"
    if OTHER_SEPARATORS.search(cell):
        return "; put commas between columns, and write decimal points"
    return "; write numbers as 0.25 and names with letters, and leave out columns that are no arms"


def _read_npz(content: bytes, source: str) -> tuple[npt.NDArray[Any], Names]:
    """The array of an npz file that holds one, or one called ``means``."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise BadMeansError(f"{source} cannot be read as npz: it is not a zip archive; save it with numpy.savez")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        names = archive.files
        name = names[0] if len(names) == 1 else "means"
        if names.count(name) != 1:
            held = ", ".join([*map(repr, names[:10]), *(["…"] if len(names) > 10 else [])])
            raise BadMeansError(f"{source} holds [{held}]; save one array, or call the array of means 'means'")
        values = archive[name]
    if not isinstance(values, np.ndarray):
        raise BadMeansError(f"{source} cannot be read as npz: {name!r} is no array; save it with numpy.savez")
    return values, None


def _read_parquet(content: bytes, source: str) -> tuple[Floats, Names]:
    """The columns of a Parquet file, without the index that pandas puts beside them."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'ns-mab-gym[experiments]'") from None
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        table, claimed = pa.Table.from_batches(file.iter_batches(), file.schema_arrow), file.metadata.num_rows
    if table.num_rows != claimed:
        raise BadMeansError(f"{source} has {table.num_rows:,} rounds but says {claimed:,}; save it again")
    _refuse_logs(table.column_names, source)
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    columns = [
        (name, column) for name, column in zip(table.column_names, table.columns, strict=True) if name not in index
    ]
    for name, column in columns:
        if not str(column.type).startswith(ARROW_NUMBERS):
            kind = str(column.type)[:LONGEST]
            raise BadMeansError(
                f"{source}, column {_shown(name)}: {kind} is not a number; leave the column out, or save numbers"
            )
        if name.startswith("__index_level_"):
            raise BadMeansError(f"{source}, column {name!r}: an index of pandas; leave it out with index=False")
    if not columns or not table.num_rows:
        raise BadMeansError(f"{source} is empty; {ROWS_AND_COLUMNS}")
    names = tuple(name for name, _ in columns)
    values = np.column_stack([as_floats(column.to_numpy(), source) for _, column in columns])
    _refuse_clocks(values, names, source)
    return values, None if any(map(NUMBER.fullmatch, names)) else names


def _refuse_clocks(values: Floats, names: Names, source: str) -> None:
    """Raise an error if a column tells the time instead of means.

    A column of whole numbers in equal steps upwards is a clock, if there are three rounds or more to tell; and so is a
    column of growing numbers, or of whole numbers that are all different, which is called as clocks are.
    """
    for k, column in enumerate(values.T):
        with np.errstate(all="ignore"):
            steps = np.diff(column)
        whole = bool(np.all(column == np.floor(column)))
        if len(column) >= 3 and whole and steps[0] >= 1 and np.all(steps == steps[0]):
            numbers = ", ".join(f"{value:.15g}" for value in column[:3].tolist())
            raise BadMeansError(
                f"{source}, column {k + 1}: {numbers}, … counts rounds and is no arm; leave the column out (pandas: "
                f"index=False). If these are means, save them as an array with numpy.savez"
            )
        name = "" if names is None else names[k]
        named = name.strip().casefold() in CLOCKS
        if named and (np.all(steps > 0) or (whole and len(np.unique(column)) == len(column))):
            raise BadMeansError(
                f"{source}, column {k + 1}: {_shown(name)} tells the round and is no arm; leave the column out "
                f"(pandas: index=False), or give it another name if it is an arm"
            )


def _shown(text: str) -> str:
    """A piece of the file as error messages repeat it."""
    return repr(text) if len(text) <= LONGEST else f"{text[:LONGEST]!r}…"


READERS: dict[str, tuple[str, Callable[[bytes, str], tuple[npt.NDArray[Any], Names]]]] = {
    ".csv": ("CSV", _read_csv),
    ".parquet": ("Parquet", _read_parquet),
    ".npz": ("npz", _read_npz),
}


@dataclass(frozen=True, kw_only=True)
class Table(World):
    """Means from an array or from a file (``.csv``, ``.parquet``, ``.npz``).

    The first row of a CSV file is a header if it holds names, or prices; the numbers 0, 1, … there are refused, since
    they may be those of columns, or means. A column that counts the rounds is refused, pandas' index in a Parquet file
    is left out.
    An ``.npz`` file holds one array, or one called ``means``. A file is read once, when the world is made.

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
        if self._file is not None:  # what was read is kept, the path is a plain text
            object.__setattr__(self, "path", checked_path(self.path))
        for what, has in zip(("horizon", "n_arms"), self._values.shape, strict=True):
            given = getattr(self, what)
            if given is not None and positive_int(what, given) != has:
                raise ValueError(f"{what} is {given} but the table has {has}; leave {what} out to take the table's")
            object.__setattr__(self, what, has)
        if self.rows is not None:
            object.__setattr__(self, "rows", tuple(map(tuple, self._values.tolist())))

    @property
    def digest(self) -> str | None:
        """The SHA-256 of the bytes that these means were read from, in hexadecimal; None if they came as rows."""
        return None if self._file is None else self._file.digest

    @property
    def arm_names(self) -> tuple[str, ...] | None:
        """The names of the arms in the file, blank where one has none; None if there are no names."""
        return None if self._file is None else self._file.names

    @cached_property
    def _file(self) -> MeansFile | None:
        return None if self.path is None else read_file(self.path)

    @cached_property
    def _values(self) -> Floats:
        if self._file is not None:
            return self._file.means
        assert self.rows is not None
        return np.array(as_means(self.rows, "rows"))

    def _means(self, rng: np.random.Generator) -> Floats:
        return np.array(self._values)

    def instance(self, rng: np.random.Generator | int | None = None) -> Floats:
        """The table itself, read-only."""
        values = self._values.view()
        values.setflags(write=False)
        return values
