"""CSV that a spreadsheet shows and does not compute: no text of a user's is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from ..plain_texts import escaped

__all__ = ["csv_table"]

FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # and their wide forms


def csv_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    r"""A table as CSV in UTF-8; a text that a spreadsheet would compute begins with an apostrophe instead.

    >>> csv_table(["agent", "difference"], [["=1+1", -0.5]])
    b"agent,difference\n'=1+1,-0.5\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([*map(_shown, row)] for row in rows)
    return text.getvalue().encode()


def _shown(cell: Any) -> Any:
    if not isinstance(cell, str):
        return cell
    return escaped(f"'{cell}" if cell.startswith(FORMULAS) and not _is_number(cell) else cell)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
