"""How much memory the pages of a Parquet file ask for, read off their headers before anything is unpacked.

The footer of a file tells how large its columns are, but readers believe the header in front of each page, which may
claim otherwise: a few kilobytes can unpack to gigabytes.
"""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq

__all__ = ["check_pages"]

DATA, DICTIONARY = 0, 2  # types of pages, and which of their header's fields describes them
DETAILS = {DATA: 5, DICTIONARY: 7}
ENCODINGS = (0, 2, 8)  # plain, and both names of dictionaries: what is written here
DEEPEST = 8
Fields = dict[int, Any]


def check_pages(content: bytes, about: pq.FileMetaData, largest: int) -> None:
    """Raise a ValueError if the pages of some column take more than so many bytes, or hold more values than rows."""
    for group in (about.row_group(number) for number in range(about.num_row_groups)):
        for column in (group.column(number) for number in range(group.num_columns)):
            if _unpacked(content, column, group.num_rows) > largest:
                raise ValueError("its columns are larger than such a result can be")


def _unpacked(content: bytes, column: pq.ColumnChunkMetaData, rows: int) -> int:
    """How many bytes the pages of a column take together when they are unpacked."""
    at = min(each for each in (column.dictionary_page_offset, column.data_page_offset) if each)
    end = at + column.total_compressed_size
    if not 0 < at <= end <= len(content):
        raise ValueError("a column lies outside of the file")
    unpacked = values = 0
    while at < end:
        header, at = _fields(content, at)
        values += _values_in(header, rows)
        unpacked += header[2]
        at += header[3]
    if at != end or values != rows:
        raise ValueError("a column has more or fewer pages than there are rows for")
    return unpacked


def _values_in(header: Fields, rows: int) -> int:
    """How many rows a page is for, none if it is a dictionary; raises a ValueError if it is not as written here."""
    kind, unpacked, packed = (header.get(field, -1) for field in (1, 2, 3))
    details = header.get(DETAILS.get(kind, 0), {})
    if unpacked < 0 or packed < 0 or not isinstance(details, dict) or details.get(2) not in ENCODINGS:
        raise ValueError("a page is not as it is written here")
    values = int(details.get(1, -1))
    if not 1 <= values <= rows:
        raise ValueError("a page holds no values, or more than there are rows")
    return values if kind == DATA else 0


def _fields(content: bytes, at: int, depth: int = 0) -> tuple[Fields, int]:
    """The fields of a record in Thrift's compact form, by their numbers, and where it ends."""
    fields: Fields = {}
    number = 0
    while head := content[at]:
        at, kind, step = at + 1, head & 15, head >> 4
        if step:
            number += step
        else:
            number, at = _signed(content, at)
        if kind in (4, 5, 6):  # integers
            fields[number], at = _signed(content, at)
        elif kind == 8:  # texts, which are skipped
            length, at = _unsigned(content, at)
            at += length
        elif kind == 12 and depth < DEEPEST:
            fields[number], at = _fields(content, at, depth + 1)
        elif kind not in (1, 2):  # truth values are part of the head
            raise ValueError("a page has a header of another kind")
    return fields, at + 1


def _signed(content: bytes, at: int) -> tuple[int, int]:
    value, at = _unsigned(content, at)
    return value >> 1 ^ -(value & 1), at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = content[at]
        value, at = value | (byte & 127) << shift, at + 1
        if byte < 128:
            return value, at
    raise ValueError("a number has no end")
