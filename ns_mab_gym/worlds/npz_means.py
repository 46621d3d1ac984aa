"""Reads means from an archive of NumPy arrays, and believes none of its claims before they are checked."""

from __future__ import annotations

import io
import math
import zipfile
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from ..agents.core.memory_limits import ensure_fits
from ..means import BadMeansError
from .columns import ROWS_AND_COLUMNS, SMALLER, Columns

__all__ = ["read_npz"]

HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others unpack more at once than they are asked for
FEW = 10  # names of arrays that an error message repeats


class _Header(NamedTuple):
    shape: tuple[int, ...]
    by_column: bool
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def read_npz(content: bytes, source: str) -> Columns:
    """The array of an npz file that holds one, or one called ``means``.

    Args:
        content: the bytes of the file.
        source: what error messages call it.
    """
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise BadMeansError(f"{source} cannot be read as npz: it is not a zip archive; save it with numpy.savez")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        member = _member(archive, source)
        if member.compress_type not in COMPRESSIONS:
            raise BadMeansError(f"{source} is compressed as numpy.savez never does it; save it with numpy.savez")
        with archive.open(member) as stream:
            return Columns(_array(stream, member.file_size, source))


def _member(archive: zipfile.ZipFile, source: str) -> zipfile.ZipInfo:
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    chosen = [member for member, name in zip(members, names, strict=True) if len(names) == 1 or name == "means"]
    if len(chosen) == 1:
        return chosen[0]
    held = ", ".join([*map(repr, names[:FEW]), *(["…"] if len(names) > FEW else [])])
    raise BadMeansError(f"{source} holds [{held}]; save one array, or call the array of means 'means'")


def _array(stream: IO[bytes], size: int, source: str) -> npt.NDArray[Any]:
    """The array in a stream of so many bytes, if these are as many as its header says."""
    header = _header(stream, source)
    start = stream.tell()
    if header.size != size - start:
        raise BadMeansError(
            f"{source} says that it holds an array of shape {header.shape}, but has not as many bytes; save it again"
        )
    ensure_fits(f"reading {source}, an array of shape {header.shape},", 2.0 * header.size, SMALLER)
    data = stream.read(header.size)
    if len(data) != header.size:
        raise BadMeansError(f"{source} cannot be read as npz: its array is cut off; save it again")
    flat = np.frombuffer(data, dtype=header.dtype)
    return flat.reshape(header.shape[::-1]).T if header.by_column else flat.reshape(header.shape)


def _header(stream: IO[bytes], source: str) -> _Header:
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise BadMeansError(f"{source} cannot be read as npz: its array is no table of numbers; {ROWS_AND_COLUMNS}")
    shape, by_column, dtype = HEADERS[version](stream)
    if dtype.hasobject:
        raise BadMeansError(f"{source} holds Python objects, which are not loaded; save an array of numbers")
    if dtype.kind not in "iuf":
        raise BadMeansError(f"{source} holds something that is not a number ({dtype.name}); save an array of numbers")
    if len(shape) != 2:
        raise BadMeansError(f"{source} must be a table of T rounds by K arms, got shape {shape}")
    return _Header(tuple(map(int, shape)), by_column, dtype)
