"""Reads files of units. Nothing in them is believed: sizes are checked before unpacking, everything else before use."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ..runs import Runs
from .footers import LARGEST_DETAILS, BrokenFileError, Footer, Keys, unpacked
from .parquet import LARGEST_WORDS, MOST_ROWS, SCHEMA, WORDS, as_text, run_numbers, written
from .parquet_pages import check_pages
from .unit_details import runs_from
from .units import Unit
from .valid_runs import check_runs, most_rows

__all__ = ["RecentFiles", "UnitFile", "keys_in", "keys_of_file"]

LARGEST_FOOTER = 2 * LARGEST_DETAILS  # bytes: packed, details take a third more where nothing can be made shorter
PER_ROW = 32  # bytes that a row of the table takes at most
KEPT = 32_000_000  # bytes of memory for files that may be asked for again
BYTES_FOR_JSON = 8  # that a byte of JSON takes in memory, about


@contextlib.contextmanager
def _doubted() -> Iterator[None]:
    """Turn whatever a file that is not as it should be leads to into a :class:`BrokenFileError` of one line."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, TypeError, AttributeError, ArithmeticError, LookupError) as error:
        raise BrokenFileError(f"is broken or cut off ({_first_line(error)})") from None
    except (RecursionError, MemoryError):
        raise BrokenFileError("is broken (what it holds is too deep or too large)") from None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """A file and its size. No link is followed, and no pipe waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as handle:
        found = os.fstat(handle.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a file")
        yield handle, found.st_size


def keys_of_file(path: Path) -> Keys:
    """The keys of the units in a file, of which only the footer is read."""
    with _doubted(), _opened(path) as (handle, size):
        handle.seek(max(0, size - 8))
        length = int.from_bytes(handle.read(4), "little") + 8
        if length > min(size, LARGEST_FOOTER):
            raise ValueError("its footer is larger than one can be")
        handle.seek(size - length)
        return keys_in(handle.read(length))


def keys_in(content: bytes) -> Keys:
    """The keys of the units in a file, or in the end of one that holds its footer."""
    with _doubted():
        return Footer.of(_about(content).metadata).keys


def _about(content: bytes) -> pq.FileMetaData:
    """What pyarrow reads off a footer; not to be asked for columns, see :mod:`parquet_pages`."""
    limits = {"thrift_string_size_limit": LARGEST_FOOTER, "thrift_container_size_limit": 10_000}
    return pq.ParquetFile(pa.BufferReader(content), **limits).metadata


class UnitFile:
    """A file that was read and is as it was written; whether its runs can be those of a unit is checked when asked for.

    Args:
        path: the file.
        unit: a unit that is asked for: a file of its own has as many rows as it needs, however many these are.

    Attributes:
        footer: which units it holds.
        size: how many bytes of memory it takes, about.
    """

    def __init__(self, path: Path, unit: Unit | None = None) -> None:
        with _doubted():
            most = MOST_ROWS if unit is None else max(MOST_ROWS, most_rows(unit))
            content = _content(path, 2 * LARGEST_FOOTER + PER_ROW * most)
            about = _about(content)
            self.footer = Footer.of(about.metadata)
            self._table = _table(content, about, sum(self.footer.rows), most)
            self._numbers = {name: self._table[name].to_numpy() for name in SCHEMA.names if name not in WORDS}
            if self.footer.digest != self.footer.digest_with(self._numbers["round"], self._numbers["regret"]):
                raise BrokenFileError("is broken (its contents are not those that were written)")
            details = unpacked(self.footer.details)
            self._details = _details(details, len(self.footer.keys))
            self._words = {name: _numbered(self._table[name]) for name in WORDS}
            self._places = {key: place for place, key in enumerate(self.footer.keys.tolist())}
            self._rows = [slice(*ends) for ends in pairwise([0, *accumulate(self.footer.rows)])]
            self.size = 2 * self._table.nbytes + BYTES_FOR_JSON * len(details)

    def runs(self, unit: Unit, key: int, code: str) -> Runs:
        """The runs of a unit with this key, if they can be, and were computed by this version of the code."""
        place = self._places.get(key)
        if place is None:
            raise BrokenFileError("holds another result than its name says")
        with _doubted():
            rows = self._rows[place]
            regret = self._numbers["regret"][rows].reshape(unit.runs, -1).copy()  # a view would keep the whole file
            rounds = self._numbers["round"][rows][: regret.shape[1]].copy()
            block = runs_from(unit, code, self._details["units"][place], rounds, regret)
            check_runs(unit, block)
            self._check_keys(rows, unit, block)
            return block

    def part(self, keys: Keys) -> bytes:
        """A file of some of the units in this one, in their order here."""
        with _doubted():
            places = sorted(self._places[key] for key in keys.tolist())
            rows = np.concatenate([np.arange(self._rows[place].start, self._rows[place].stop) for place in places])
            details = self._details | {"units": [self._details["units"][place] for place in places]}
            counts = [self.footer.rows[place] for place in places]
            return written(self._table.take(rows), self.footer.keys[places], counts, details)

    def _check_keys(self, rows: slice, unit: Unit, block: Runs) -> None:
        """Raise a ValueError unless the other columns say of the regret what it is of."""
        for name, words in zip(WORDS, (unit.world.words, unit.agent.words), strict=True):
            numbers, texts = self._words[name]
            if (numbers[rows] != numbers[rows.start]).any() or texts[numbers[rows.start]] != as_text(words):
                raise ValueError(f"its column {name!r} is not that of the unit")
        if not np.array_equal(self._numbers["run"][rows], run_numbers(unit, len(block.rounds))):
            raise ValueError("its column 'run' is not that of the unit")
        if not np.array_equal(self._numbers["round"][rows], np.tile(block.rounds, len(block))):
            raise ValueError("its column 'round' is not that of the unit")


class RecentFiles:
    """The files that were read last, as long as they take little memory: units that share one are asked for in turn."""

    def __init__(self) -> None:
        self._files: OrderedDict[Path, UnitFile] = OrderedDict()

    def open(self, path: Path, unit: Unit | None = None) -> UnitFile:
        """A file, read again only if it is not known any more; see :class:`UnitFile`."""
        if path not in self._files:
            self._files[path] = UnitFile(path, unit)
            while len(self._files) > 1 and sum(file.size for file in self._files.values()) > KEPT:
                self._files.popitem(last=False)
        self._files.move_to_end(path)
        return self._files[path]

    def forget(self, path: Path) -> None:
        """Note that a file changed, or is not there any more."""
        self._files.pop(path, None)


def _content(path: Path, largest: int) -> bytes:
    """The bytes of a file, read once: what is checked is what is used."""
    with _opened(path) as (handle, size):
        if size > largest:
            raise ValueError("it is larger than such a result can be")
        return handle.read(largest)


def _table(content: bytes, about: pq.FileMetaData, rows: int, most: int) -> pa.Table:
    """The table in a file whose sizes and types are those of results."""
    options = {"read_dictionary": list(WORDS), "page_checksum_verification": True}
    file = pq.ParquetFile(pa.BufferReader(content), metadata=about, **options)
    if not file.schema_arrow.equals(SCHEMA):
        raise ValueError("its columns are others")
    if not rows == about.num_rows <= most:
        raise ValueError("it has more or fewer rows than its units")
    check_pages(content, rows, PER_ROW * rows + 2 * LARGEST_WORDS)
    table = file.read(use_threads=False)
    if len(table) != rows or any(column.null_count for column in table.columns):
        raise ValueError("rows are missing")
    return table


def _numbered(words: pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], list[str]]:
    """A column of words as the number of the text in each row, and the texts."""
    whole = words.unify_dictionaries().combine_chunks()
    return whole.indices.to_numpy(), whole.dictionary.to_pylist()


def _details(text: bytes, units: int) -> dict[str, Any]:
    details = json.loads(text)
    if not isinstance(details, dict) or details.keys() != {"versions", "written", "units"}:
        raise ValueError("its details are others")
    if not isinstance(details["units"], list) or len(details["units"]) != units:
        raise ValueError("its details are not those of its units")
    return details
