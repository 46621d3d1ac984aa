"""What the arms of a world are called: by the header of its file of means, if it has one."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ..kept_files import KeptFile, content_of
from ..worlds.table import is_number
from .study import WorldEntry

__all__ = ["arm_names", "header_of", "names_in_file"]


def arm_names(world: WorldEntry, n_arms: int) -> list[str]:
    """The names of a world's arms: those of its file, or "arm 1", "arm 2" and so on."""
    return names_in_file(world, n_arms) or _numbered(n_arms)


def names_in_file(world: WorldEntry, n_arms: int) -> list[str] | None:
    """The names of a world's arms in its file of means; None if there is no such file, or if it has no names."""
    header = None if world.file is None else header_of(world.kwargs["path"])
    if header is None or len(header) != n_arms:
        return None
    return [name.strip() or number for name, number in zip(header, _numbered(n_arms), strict=True)]


def _numbered(n_arms: int) -> list[str]:
    return [f"arm {arm + 1}" for arm in range(n_arms)]


def header_of(path: str | Path) -> list[str] | None:
    """The names of the columns of a file of means, unless one of them is a number; None if it has no names."""
    readers = {".csv": _first_line, ".parquet": _columns}
    read = readers.get(Path(path).suffix.lower())
    if read is None or not (isinstance(path, KeptFile) or Path(path).is_file()):
        return None
    header = read(content_of(path))
    return None if any(is_number(cell) for cell in header) else header


def _first_line(content: bytes) -> list[str]:
    with io.TextIOWrapper(io.BytesIO(content), newline="", encoding="utf-8-sig") as lines:
        return next((row for row in csv.reader(lines) if row), [])


def _columns(content: bytes) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return [str(name) for name in pq.read_schema(pa.BufferReader(content)).names]
