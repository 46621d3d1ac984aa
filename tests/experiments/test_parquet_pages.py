"""The pages of a Parquet file tell how much they unpack to, and are refused if that is more than it may be."""

import io
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ns_mab_gym.experiments.parquet_pages import _fields, check_pages


def thrift(*fields):
    """A record in Thrift's compact form: pairs of a number and an integer or another record."""
    written, before = b"", 0
    for number, value in fields:
        kind, content = (12, value) if isinstance(value, bytes) else (5, varint(value * 2))
        written += bytes([(number - before) << 4 | kind]) + content
        before = number
    return written + b"\0"


def varint(value):
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def page(unpacked=80, packed=80, values=10, encoding=0, kind=0):
    detail = thrift((1, values), (2, encoding), (3, 3), (4, 3)) if kind == 0 else thrift((1, values), (2, encoding))
    return thrift((1, kind), (2, unpacked), (3, packed), (5 if kind == 0 else 7, detail)) + bytes(min(packed, 1_000))


def file_of(*pages, rows=10, size=None):
    content = b"PAR1" + b"".join(pages)
    chunk = SimpleNamespace(
        dictionary_page_offset=None,
        data_page_offset=4,
        total_compressed_size=len(content) - 4 if size is None else size,
        num_values=rows,
    )
    group = SimpleNamespace(num_rows=rows, num_columns=1, column=lambda number: chunk)
    return content, SimpleNamespace(num_row_groups=1, row_group=lambda number: group)


def test_pages_that_are_as_large_as_they_may_be_are_read():
    check_pages(*file_of(page(kind=2, values=3), page(values=4), page(values=6)), largest=240)


BOMBS = {
    "unpacks to much": [page(unpacked=2**31 - 1)],
    "unpack to much together": [page(values=1), page(values=2), page(values=7)],
    "hold more values than there are rows": [page(), page(unpacked=1, packed=0, values=1)],
    "hold fewer values than there are rows": [page(values=9)],
    "hold nothing": [page(), *[page(unpacked=0, packed=0, values=0)] * 3],
    "is twice a dictionary": [page(kind=2, values=1), page(kind=2, values=1)],
    "claims many values": [page(values=2**31 - 1)],
    "claims a large dictionary": [page(kind=2, values=2**31 - 1)],
    "is of another form": [page(encoding=5)],
    "is of another type": [page(kind=3)],
    "ends before the page": [page(packed=2**31 - 1)],
    "has no header": [b""],
    "has half a header": [page()[:3]],
    "is deep": [b"\x1c" * 5_000],
    "has a number without end": [b"\x15" + b"\xff" * 100],
}


@pytest.mark.parametrize("pages", BOMBS.values(), ids=BOMBS)
def test_pages_that_claim_more_than_they_may_are_refused(pages):
    content, about = file_of(*pages, size=None if pages != [b""] else 5)
    with pytest.raises((ValueError, IndexError)):
        check_pages(content, about, largest=200)


@pytest.mark.parametrize("rows", [1, 12_500, 300_000])
def test_the_sizes_in_the_pages_are_those_in_the_footer(rows):
    """The footer counts the headers of the pages too."""
    sink = io.BytesIO()
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"a": rng.random(rows), "b": ["x"] * rows, "c": np.arange(rows)}), sink, compression="zstd")
    content, about = sink.getvalue(), pq.read_metadata(sink)
    for number in range(3):
        column = about.row_group(0).column(number)
        position, whole = column.dictionary_page_offset or column.data_page_offset, 0
        while position < (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size:
            header, end = _fields(content, position)
            whole += end - position + header[2]
            position = end + header[3]
        assert whole == column.total_uncompressed_size
    check_pages(content, about, largest=10 * rows + 1_000)
