"""Reads means from the columns of a Parquet file, but not from the index that pandas puts beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..agents.core.memory_limits import ensure_fits
from ..means import BadMeansError, as_floats
from .columns import FULL, ROWS_AND_COLUMNS, SMALLER, Columns, refuse_clocks, shown
from .csv_means import is_number

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_parquet"]

NUMBERS = ("int", "uint", "float", "double", "halffloat", "decimal")  # how the names of Arrow's kinds of numbers begin
BATCH = 65_536  # rounds that are decoded at once


def read_parquet(content: bytes, source: str) -> Columns:
    """The columns of a Parquet file.

    Args:
        content: the bytes of the file.
        source: what error messages call it.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("reading Parquet needs pyarrow: pip install 'ns-mab-gym[experiments]'") from None
    with pq.ParquetFile(pa.BufferReader(content)) as file:
        schema, rounds = file.schema_arrow, file.metadata.num_rows
        arms = _arms(schema, source)
        names = tuple(str(schema.names[k]) for k in arms)
        if rounds < 1 or not arms:
            raise BadMeansError(f"{source} is empty; {ROWS_AND_COLUMNS}")
        claimed = f"{rounds:,} rounds of {len(schema.names)} columns"  # twice: Arrow's and NumPy's
        ensure_fits(f"reading {source}, {claimed},", 16.0 * rounds * len(schema.names), SMALLER)
        values = np.empty((rounds, len(arms)))
        filled = 0
        for part in _batches(file, arms, source):
            if filled + len(part) > rounds:
                break
            values[filled : filled + len(part)] = part
            filled += len(part)
    if filled != rounds:
        raise BadMeansError(f"{source} says that it holds {rounds} rounds, but has another number; save it again")
    refuse_clocks(values, names, source)
    return Columns(values, None if any(map(is_number, names)) else names)


def _arms(schema: pa.Schema, source: str) -> list[int]:
    """The numbers of the columns that hold means: all but pandas' index, if they are numbers."""
    index = _index_of_pandas(schema, source)
    arms = [k for k, name in enumerate(schema.names) if name not in index]
    for k in arms:
        kind, name = str(schema.field(k).type), str(schema.names[k])
        if not kind.startswith(NUMBERS):
            raise BadMeansError(
                f"{source}, column {shown(name)}: {kind[:FULL]} is not a number; leave the column out, or save numbers"
            )
        if name.startswith("__index_level_"):
            raise BadMeansError(f"{source}, column {name!r}: an index of pandas; leave it out with index=False")
    return arms


def _index_of_pandas(schema: pa.Schema, source: str) -> set[str]:
    """The names of the columns that pandas takes for the index."""
    about = (schema.metadata or {}).get(b"pandas")
    if about is None:
        return set()
    try:
        columns = json.loads(about)["index_columns"]
        return {column for column in columns if isinstance(column, str)}
    except (ValueError, LookupError, TypeError, RecursionError):
        raise BadMeansError(f"{source} does not tell which column is the index of pandas; save it again") from None


def _batches(file: Any, arms: list[int], source: str) -> Iterator[npt.NDArray[np.float64]]:
    for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
        columns = (batch.column(k).to_numpy(zero_copy_only=False) for k in arms)
        yield np.column_stack([as_floats(column, source) for column in columns])
