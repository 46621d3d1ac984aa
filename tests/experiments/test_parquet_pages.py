"""The pages of a Parquet file tell how much they unpack to, and are refused if that is more than it may be."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ns_mab_gym.experiments.parquet_pages import DATA_AT, DICTIONARY_AT, PACKED, PACKED_SIZE, UNPACKED, check_pages
from ns_mab_gym.experiments.thrift import INT32, INT64, LIST, RECORD, TEXT, ThriftReader


def thrift(*fields):
    """A record in Thrift's compact form: a number, a kind and a value for each field."""
    written, before = b"", 0
    for number, kind, value in fields:
        step = (
            bytes([(number - before) << 4 | kind]) if 0 < number - before < 16 else bytes([kind]) + varint(number * 2)
        )
        written += step + (value if isinstance(value, bytes) else varint(value * 2))
        before = number
    return written + b"\0"


def varint(value):
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def listed(*records):
    return bytes([len(records) << 4 | RECORD]) + b"".join(records)


def page(unpacked=80, packed=80, values=10, encoding=0, kind=0):
    levels = [(3, INT32, 3), (4, INT32, 3)] if kind == 0 else []
    detail = (5 if kind == 0 else 7, RECORD, thrift((1, INT32, values), (2, INT32, encoding), *levels))
    header = thrift((1, INT32, kind), (2, INT32, unpacked), (3, INT32, packed), detail)
    return header + bytes(min(packed, 1_000))


def described(size, at=4):
    """What a footer says of a column."""
    return thrift((7, INT64, size), (9, INT64, at))


def with_footer(pages, *columns, rows=10):
    """A file of one group of rows, with what its footer says of its columns."""
    footer = thrift((3, INT64, rows), (4, LIST, listed(thrift((1, LIST, listed(*columns)), (3, INT64, rows)))))
    return b"PAR1" + pages + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def file_of(*pages, size=None):
    content = b"".join(pages)
    return with_footer(content, thrift((3, RECORD, described(len(content) if size is None else size))))


def test_pages_that_are_as_large_as_they_may_be_are_read():
    check_pages(file_of(page(kind=2, values=3), page(values=4), page(values=6)), rows=10, largest=240)


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
    with pytest.raises((ValueError, LookupError)):
        check_pages(file_of(*pages, size=None if pages != [b""] else 5), rows=10, largest=200)


FOOTERS = {
    "that is whole": ([thrift((3, RECORD, described(len(page()))))], True),
    "of a column in another file": ([thrift((1, TEXT, b"\1x"), (3, RECORD, described(len(page()))))], False),
    "of an encrypted column": ([thrift((3, RECORD, described(len(page()))), (8, RECORD, thrift()))], False),
    "of a column that is not described": ([thrift((2, INT64, 4))], False),
    "of a column described twice": ([thrift(*[(3, RECORD, described(len(page())))] * 2)], False),
    "of a column without a place": ([thrift((3, RECORD, thrift((7, INT64, 10))))], False),
    "of a column before the file": ([thrift((3, RECORD, described(10, at=0)))], False),
    "of a column beyond the file": ([thrift((3, RECORD, described(10_000)))], False),
    "whose numbers are of another kind": ([thrift((3, RECORD, thrift((7, INT32, len(page())), (9, INT32, 4))))], False),
    "of a page too few": ([thrift((3, RECORD, described(len(page())))), thrift((3, RECORD, described(0)))], False),
}


@pytest.mark.parametrize(("columns", "fine"), FOOTERS.values(), ids=FOOTERS)
def test_a_footer(columns, fine):
    content = with_footer(page(), *columns)
    if fine:
        check_pages(content, rows=10, largest=80)
    else:
        with pytest.raises((ValueError, LookupError)):
            check_pages(content, rows=10, largest=1_000)


@pytest.mark.parametrize("rows", [9, 11, 0])
def test_other_rows_than_there_should_be_are_refused(rows):
    with pytest.raises(ValueError, match="more or fewer rows"):
        check_pages(file_of(page()), rows=rows, largest=1_000)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\xff" * 20, b"PAR1" + b"\0" * 8, b"\xff\xff\xff\x7fPAR1"])
def test_what_has_no_footer_is_refused(content):
    with pytest.raises((ValueError, LookupError)):
        check_pages(content, rows=10, largest=1_000)


def test_records_without_end_are_refused(monkeypatch):
    """A few bytes may claim very many values, each of which takes time to read."""
    monkeypatch.setattr("ns_mab_gym.experiments.thrift.MOST_VALUES", 1_000)
    many = bytes([1 << 4 | LIST, 15 << 4 | INT32]) + varint(2_000) + bytes(2_000)
    with pytest.raises(ValueError, match="larger or deeper"):
        ThriftReader(many, 0).record()


@pytest.mark.parametrize("rows", [1, 12_500, 300_000])
def test_the_sizes_in_the_pages_are_those_in_the_footer(rows):
    """The footer counts the headers of the pages too."""
    sink = io.BytesIO()
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"a": rng.random(rows), "b": ["x"] * rows, "c": np.arange(rows)}), sink, compression="zstd")
    content, about = sink.getvalue(), pq.read_metadata(sink)
    for number in range(3):
        column = about.row_group(0).column(number)
        begin, whole = column.dictionary_page_offset or column.data_page_offset, 0
        reader = ThriftReader(content, begin)
        while reader.at < begin + column.total_compressed_size:
            before = reader.at
            header = reader.record()
            whole += reader.at - before + header[UNPACKED]
            reader.at += header[PACKED]
        assert whole == column.total_uncompressed_size
    check_pages(content, rows, largest=10 * rows + 1_000)


def test_the_footer_is_read_as_pyarrow_reads_it():
    sink = io.BytesIO()
    table = pa.table({"a": np.arange(50_000) / 7, "b": ["x", "y"] * 25_000})
    pq.write_table(table, sink, row_group_size=20_000, compression="zstd")
    content, about = sink.getvalue(), pq.read_metadata(sink)
    length = int.from_bytes(content[-8:-4], "little")
    groups = ThriftReader(content, len(content) - 8 - length).record()[4, LIST]
    assert [group[3, INT64] for group in groups] == [20_000, 20_000, 10_000]
    for number, group in enumerate(groups):
        for place, column in enumerate(group[1, LIST]):
            theirs, ours = about.row_group(number).column(place), column[3, RECORD]
            expected = (theirs.total_compressed_size, theirs.data_page_offset, theirs.dictionary_page_offset)
            assert (ours[PACKED_SIZE], ours[DATA_AT], ours.get(DICTIONARY_AT)) == expected
    check_pages(content, 50_000, largest=20 * 50_000)
