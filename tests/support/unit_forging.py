"""Files of units as somebody else may write them: taken apart, changed, and put together with a digest that fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ns_mab_gym.experiments.footers import DETAILS, INDEX, Footer, packed, unpacked
from ns_mab_gym.experiments.units import Unit

Opened = tuple[pa.Table, dict[str, Any], dict[str, Any]]


def opened_up(path: Path) -> Opened:
    """The table in a file, its index and its details."""
    table = pq.read_table(path)
    metadata = table.schema.metadata
    return table.replace_schema_metadata(), json.loads(metadata[INDEX]), json.loads(unpacked(metadata[DETAILS]))


def forge(path: Path, table: pa.Table, index: Any, details: Any) -> None:
    """Write a file with a valid digest, if that can be computed."""
    text = packed(details)
    try:
        keys = np.frombuffer(bytes.fromhex(index["units"]), ">u8").astype(np.uint64)
        columns = table["round"].to_numpy(), table["regret"].to_numpy()
        index = index | {"digest": Footer(keys, index["rows"], text).digest_with(*columns)}
    except (KeyError, ValueError, TypeError, AttributeError, pa.ArrowException):
        pass
    write(path, table, json.dumps(index).encode(), text)


def write(path: Path, table: pa.Table, index: bytes, details: bytes) -> None:
    """Write a file with any footer."""
    pq.write_table(table.replace_schema_metadata({INDEX: index, DETAILS: details}), path, compression="zstd")


def place_of(index: dict[str, Any], unit: Unit, code: str) -> int:
    """The place of a unit in a file."""
    return index["units"].index(unit.identity(code)[:16]) // 16


def rows_of(index: dict[str, Any], place: int) -> slice:
    """The rows of the unit at a place."""
    first = sum(index["rows"][:place])
    return slice(first, first + index["rows"][place])


def at(record: Any, place: str, value: Any) -> Any:
    """The record with another value at a place, such as ``pulls.0.3``."""
    *outer, last = [int(step) if step.isdecimal() else step for step in place.split(".")]
    inner = record
    for step in outer:
        inner = inner[step]
    inner[last] = value
    return record


def nested(depth: int) -> Any:
    """A number within so many lists."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value
