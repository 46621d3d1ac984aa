"""How much memory the pages of a Parquet file ask for, read off their headers before anything is unpacked.

The footer of a file tells how large its columns are, but readers believe the header in front of each page, which may
claim otherwise: a few kilobytes can unpack to gigabytes. The footer is read here too, and not by pyarrow, which ends
the whole process if it is asked for a column that is not described as it should be.
"""

from __future__ import annotations

from .thrift import INT32, INT64, LIST, RECORD, TEXT, Fields, ThriftReader

__all__ = ["check_pages"]

# Numbers of fields, and their kinds
ROW_GROUPS, COLUMNS, ROWS = (4, LIST), (1, LIST), (3, INT64)
ELSEWHERE, DESCRIPTION, ENCRYPTION = (1, TEXT), (3, RECORD), (8, RECORD)  # of a column
PACKED_SIZE, DATA_AT, DICTIONARY_AT = (7, INT64), (9, INT64), (11, INT64)
KIND, UNPACKED, PACKED = (1, INT32), (2, INT32), (3, INT32)  # of a page
VALUES, ENCODING = (1, INT32), (2, INT32)
DATA, DICTIONARY = 0, 2  # kinds of pages, and which of their fields describes them
DETAILS = {DATA: (5, RECORD), DICTIONARY: (7, RECORD)}
ENCODINGS = (0, 2, 8)  # plain, and both names of dictionaries: what is written here
FOOTER = 8  # bytes after the footer: its length, and the mark of the format


def check_pages(content: bytes, rows: int, largest: int) -> None:
    """Raise an error if a file has more or fewer rows than it should, or if the pages of a column take too much memory.

    Args:
        content: the file.
        rows: how many rows it should have.
        largest: how many bytes each column may take when it is unpacked.
    """
    length = int.from_bytes(content[-FOOTER:-4], "little")
    reader = ThriftReader(content, max(0, len(content) - FOOTER - length))
    groups = reader.record().get(ROW_GROUPS, [])
    if sum(group[ROWS] for group in groups) != rows or any(group[ROWS] < 0 for group in groups):
        raise ValueError("it has more or fewer rows than its units")
    unpacked: dict[int, int] = {}
    for group in groups:
        for number, column in enumerate(group[COLUMNS]):
            unpacked[number] = unpacked.get(number, 0) + _unpacked(reader, column, group[ROWS])
    if max(unpacked.values(), default=0) > largest:
        raise ValueError("its columns are larger than such results can be")


def _unpacked(reader: ThriftReader, column: Fields, rows: int) -> int:
    """How many bytes the pages of a column take together when they are unpacked."""
    if ELSEWHERE in column or ENCRYPTION in column:
        raise ValueError("a column is in another file, or encrypted")
    about = column[DESCRIPTION]
    reader.at = min(about[place] for place in (DATA_AT, DICTIONARY_AT) if about.get(place))
    end = reader.at + about[PACKED_SIZE]
    if not 0 < reader.at <= end <= len(reader.content):
        raise ValueError("a column lies outside of the file")
    unpacked = values = 0
    while reader.at < end:
        header = reader.record()
        values += _values_in(header, rows)
        unpacked += header[UNPACKED]
        reader.at += header[PACKED]
    if reader.at != end or values != rows:
        raise ValueError("a column has more or fewer pages than there are rows for")
    return unpacked


def _values_in(header: Fields, rows: int) -> int:
    """How many rows a page is for, none if it is a dictionary; raises a ValueError if it is not as written here."""
    kind = header.get(KIND, -1)
    details: Fields = header[DETAILS[kind]] if kind in DETAILS else {}
    if min(header[UNPACKED], header[PACKED]) < 0 or details.get(ENCODING) not in ENCODINGS:
        raise ValueError("a page is not as it is written here")
    values = int(details.get(VALUES, -1))
    if not 1 <= values <= rows:
        raise ValueError("a page holds no values, or more than there are rows")
    return values if kind == DATA else 0
