"""Reads means from CSV text: commas between columns, decimal points, UTF-8, and a header if there is one.

A first row that might be a header or might be means is refused, since either guess would be wrong in silence: the
numbers 0, 1, … (as pandas writes columns without names) are also the means of deterministic arms.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterator

import numpy as np

from ..agents.core.memory_limits import ensure_fits
from ..means import BadMeansError
from .columns import ROWS_AND_COLUMNS, SMALLER, Columns, refuse_clocks, shown

__all__ = ["is_number", "read_csv"]

# No more than what programs write: Python itself would also take 1_000, ٣ and 007.
NUMBER = re.compile(
    r"\s*[+-]?(?:(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|nan|inf|infinity)\s*",
    re.ASCII | re.IGNORECASE,
)
# Numbers as others write them: 1_000, 0,5, 10%, 5k, 1.0D-3, 1+2j, 0x1F, ٣. They are no means, and no names either.
NUMBERLIKE = re.compile(r"[+-]?[\d.,_' ]+(?:[^\W\d_]|%)?(?:[+-]?[\d.,_]+[^\W\d_]?)?")
LONG = 60  # characters that no number has
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "inf", "+inf", "-inf", "infinity", "-infinity"}
OTHER_SEPARATORS = re.compile(r"[;\t|]|\d\s+[\d.+-]")
Rows = Iterator[tuple[int, list[str]]]


def read_csv(content: bytes, source: str) -> Columns:
    """The columns of a CSV file.

    Args:
        content: the bytes of the file.
        source: what error messages call it.
    """
    ensure_fits(f"reading {source}", _memory(content), SMALLER)
    if b"\0" in content:
        raise BadMeansError(f"{source} cannot be read as CSV: it is no UTF-8 text; save it as CSV in UTF-8")
    rows = _rows(content, source)
    line, first = next(rows, (1, []))
    names = _names(first, f"{source}, line {line}")
    numbers = array("d")
    if names is None and first:
        numbers.extend(_numbers(first, f"{source}, line {line}"))
    for line, row in rows:
        if len(row) != len(first):
            hint = _hint(first[0] if first[0].startswith("#") else ",".join(row))
            raise BadMeansError(f"{source}, line {line}: {len(row)} columns where the first row has {len(first)}{hint}")
        numbers.extend(_numbers(row, f"{source}, line {line}"))
    if not numbers:
        raise BadMeansError(f"{source} holds no means; {ROWS_AND_COLUMNS}")
    values = np.frombuffer(numbers, dtype=np.float64).reshape(-1, len(first))
    refuse_clocks(values, names, source)
    return Columns(values, names)


def _memory(content: bytes) -> float:
    """The bytes that reading takes: the numbers, which an array may hold twice while it grows, and one row as text."""
    cells = content.count(b",") + content.count(b"\n") + 1
    longest = max(map(len, io.BytesIO(content)), default=0)
    return 16.0 * cells + 32.0 * longest


def _rows(content: bytes, source: str) -> Rows:
    """The rows of the file that are not blank, with the number of their last line."""
    with io.TextIOWrapper(io.BytesIO(content), newline="", encoding="utf-8-sig") as text:
        reader = csv.reader(text, strict=True)
        try:
            yield from ((reader.line_num, row) for row in reader if row)
        except UnicodeDecodeError:
            raise BadMeansError(
                f"{source} cannot be read as CSV: it is no UTF-8 text; save it as CSV in UTF-8"
            ) from None
        except csv.Error as error:
            raise BadMeansError(
                f"{source} cannot be read as CSV: line {reader.line_num}: {error}; mend that line"
            ) from None


def _names(row: list[str], place: str) -> tuple[str, ...] | None:
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


def _is_name(cell: str) -> bool:
    letters = any(map(str.isalpha, cell))
    return letters and cell.casefold() not in MISSING and (len(cell) > LONG or not NUMBERLIKE.fullmatch(cell))


def _is_count(cells: list[str]) -> bool:
    """Whether these are 0, 1, 2, … or 1, 2, 3, …, without decimal points."""
    return any(cells == [str(first + k) for k in range(len(cells))] for first in (0, 1))


def is_number(cell: str) -> bool:
    """Whether the text of a cell is a number as CSV files of means hold them; a missing or infinite one too."""
    return NUMBER.fullmatch(cell) is not None


def _numbers(row: list[str], place: str) -> Iterator[float]:
    for column, cell in enumerate(row, start=1):
        if not NUMBER.fullmatch(cell):
            raise BadMeansError(f"{place}, column {column}: {shown(cell)} is not a number{_hint(cell)}")
        yield float(cell)


def _hint(cell: str) -> str:
    if not cell.strip():
        return "; every round needs one mean for each arm"
    if cell.lstrip().startswith("#"):
        return "; leave comments out"
    if OTHER_SEPARATORS.search(cell):
        return "; put commas between columns, and write decimal points"
    return "; write numbers as 0.25 and names with letters, and leave out columns that are no arms"
