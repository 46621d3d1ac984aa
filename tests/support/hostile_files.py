"""Files of means as strangers write them: honest ones in every fashion, liars, and damaged ones."""

from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzzing import is_own

from ns_mab_gym.worlds import read_means

SNIPPETS = (b",", b"\n", b'"', b"\0", b".", b"e9", b"-", b"\xff\xfe", b"PK\x05\x06", b"PAR1")


def refusal(path, content):
    """What is said about a file with this content: in one line of our own, which names it."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=re.escape(repr(str(path)))) as caught:
        read_means(path)
    words = str(caught.value)
    assert is_own(caught.value)
    assert "\n" not in words
    return words


def npy(array):
    """The bytes that numpy.save writes."""
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def npy_claiming(shape, data=b"\0" * 48, descr="'<f8'"):
    """An array whose header says what it likes."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def zipped(members, compression=zipfile.ZIP_STORED):
    """An archive of the members, which may have one name twice."""
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice
        with zipfile.ZipFile(content, "w", compression) as archive:
            for name, data in members:
                archive.writestr(name, data)
    return content.getvalue()


def parquet(table, **options):
    """The bytes of a Parquet file of a table of Arrow, or of a frame of pandas."""
    content = io.BytesIO()
    if isinstance(table, pd.DataFrame):
        table.to_parquet(content, **options)
    else:
        pq.write_table(table, content, **options)
    return content.getvalue()


def parquet_claiming(rows, real=77_777):
    """A Parquet file of a few kilobytes whose footer says that it has so many rows."""
    content = parquet(pa.table({"a": np.full(real, 0.5), "b": np.full(real, 0.25)}))
    length = struct.unpack("<I", content[-8:-4])[0]
    body, footer = content[: -8 - length], content[-8 - length : -8]
    footer = footer.replace(_varint(2 * real), _varint(2 * rows))  # Thrift's zigzag doubles what is not negative
    return body + footer + struct.pack("<I", len(footer)) + content[-4:]


def _varint(number):
    digits = []
    while number >= 128:
        digits.append(number % 128 + 128)
        number //= 128
    return bytes([*digits, number])


def damaged(content, rng):
    """The content with some bytes changed, cut out, doubled or put in."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        start, stop = sorted(rng.integers(0, len(changed) + 1, size=2).tolist())
        near = slice(start, min(stop, start + int(rng.choice([1, 2, 4, 8, 200]))))
        deed = rng.integers(0, 5)
        if deed == 0:
            changed[near] = rng.bytes(near.stop - near.start)
        elif deed == 1:
            del changed[near]
        elif deed == 2:
            changed[near] = changed[near] * 2
        elif deed == 3:
            changed[near] = bytes([int(rng.choice([0, 1, 127, 128, 255]))]) * (near.stop - near.start)
        else:
            changed[start:start] = SNIPPETS[rng.integers(len(SNIPPETS))]
    return bytes(changed)
