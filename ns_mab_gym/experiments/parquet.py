"""The Parquet form of the runs of one unit of work."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import stat
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ..agents.parts.alarms import ALARM
from ..runs import Runs
from .parquet_pages import check_pages
from .units import Unit
from .valid_runs import check_runs, most_rows, seeds_of

__all__ = ["BrokenFileError", "from_parquet", "storable", "to_parquet", "versions"]

KEY = b"ns_mab_gym"  # the key of the metadata in the Parquet schema
SCHEMA = pa.schema(
    {
        "world": pa.string(),
        "agent": pa.string(),
        "run": pa.int32(),
        "round": pa.int64(),
        "regret": pa.float64(),
    }
)
WORDS = ("world", "agent")  # are read as dictionaries, so that a text is held once and not for every row
AS_READ = pa.schema(
    [pa.field(each.name, pa.dictionary(pa.int32(), each.type)) if each.name in WORDS else each for each in SCHEMA]
)
PIECES = {
    "identity", "asked", "code", "versions", "written", "seconds", "seeds", "parameters", "pulls", "suboptimal_pulls",
    "alarms",
}  # fmt: skip
LARGEST_ABOUT = 20_000_000  # bytes of metadata: pulls of 10^5 arms, or 10^4 alarms, in each of 25 runs
PER_ROW = 64  # bytes that a row of the table takes at most
SMALL = 1_000_000  # bytes that a column takes at most besides: the texts in the columns of words


class BrokenFileError(Exception):
    """A file in the store is not what its name says."""


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that produced a result."""
    packages = ("ns-mab-gym", "numpy", "numba", "gymnasium")
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def to_parquet(unit: Unit, code: str, block: Runs) -> bytes:
    """The tidy table of a unit, one row for each run and recorded round, with its description in the metadata."""
    runs = len(block)
    columns = [*_keys(unit, runs, block.rounds), block.regret.ravel()]
    described = _about(unit, code, block)
    digest = _digest(described, block.rounds, block.regret)
    about = json.dumps(described | {"digest": digest}).encode()
    if len(about) > LARGEST_ABOUT:
        raise ValueError(
            f"the pulls and alarms of {runs} runs with {block.pulls.shape[1]:,} arms take {len(about):,} bytes, more "
            f"than the {LARGEST_ABOUT:,} that a result may have; use fewer arms"
        )
    table = pa.table(columns, schema=SCHEMA.with_metadata({KEY: about}))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return bytes(sink.getvalue())


def _keys(unit: Unit, runs: int, rounds: npt.NDArray[np.int64]) -> list[Any]:
    """All columns but the last: what world, agent, run and round the regret of a row is of."""
    rows = runs * len(rounds)
    return [
        pa.repeat(_as_text(unit.world.words), rows),
        pa.repeat(_as_text(unit.agent.words), rows),
        np.repeat(np.arange(unit.first_run, unit.first_run + runs, dtype=np.int32), len(rounds)),
        np.tile(rounds, runs),
    ]


def _as_text(words: str) -> str:
    """Words with those bytes of a file's name as numbers that are no characters."""
    return words.encode(errors="backslashreplace").decode()


def _about(unit: Unit, code: str, block: Runs) -> dict[str, Any]:
    return {
        "identity": unit.identity(code),
        "asked": unit.description(),
        "code": code,
        "versions": versions(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": block.seconds,
        "seeds": block.seeds,
        "parameters": block.parameters,
        "pulls": block.pulls.tolist(),
        "suboptimal_pulls": block.suboptimal_pulls.tolist(),
        "alarms": None if block.alarms is None else [alarms.tolist() for alarms in block.alarms],
    }


def storable(block: Runs) -> Runs:
    """The runs with those parameters of the agent that JSON can hold."""
    return replace(block, parameters=[_plain(parameters) for parameters in block.parameters])


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in parameters.items() if isinstance(value, str | int | float | None)}
    return {key: _as_text(value) if isinstance(value, str) else value for key, value in kept.items()}


def _digest(about: dict[str, Any], rounds: npt.NDArray[np.int64], regret: npt.NDArray[np.float64]) -> str:
    """A hash of a block with its metadata, because Parquet has checksums for its pages but none for the metadata."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(rounds.tobytes())
    digest.update(np.ascontiguousarray(regret).tobytes())
    return digest.hexdigest()


def from_parquet(path: Path, unit: Unit, code: str) -> Runs:
    """The runs of a unit, if the file holds them intact and computed by this version of the code.

    Nothing in the file is believed: its sizes are checked before they are unpacked, and its contents before use.
    """
    try:
        content = _content(path, LARGEST_ABOUT * 4 + PER_ROW * most_rows(unit))
        table = _table(content, unit)
        about = json.loads((table.schema.metadata or {})[KEY])
        digest = about.pop("digest")
        if about["identity"] != unit.identity(code):
            raise BrokenFileError("holds another result than its name says")
        regret = table["regret"].to_numpy().reshape(unit.runs, -1)
        rounds = table["round"].to_numpy()[: regret.shape[1]]
        if digest != _digest(about, rounds, regret):
            raise BrokenFileError("is broken (its contents are not those that were written)")
        block = _runs(unit, code, about, rounds, regret)
        check_runs(unit, block)
        _check_keys(table, unit, block)
        return block
    except KeyError:
        raise BrokenFileError("was not written by ns_mab_gym") from None
    except (pa.ArrowException, OSError, ValueError, TypeError, AttributeError, ArithmeticError, IndexError) as error:
        raise BrokenFileError(f"is broken or cut off ({_first_line(error)})") from None
    except (RecursionError, MemoryError):
        raise BrokenFileError("is broken (what it holds is too deep or too large)") from None


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _content(path: Path, largest: int) -> bytes:
    """The bytes of a file, read once: what is checked is what is used. No link is followed, and no pipe waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as handle:
        found = os.fstat(handle.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a file")
        if found.st_size > largest:
            raise ValueError("it is larger than such a result can be")
        return handle.read(largest)


def _table(content: bytes, unit: Unit) -> pa.Table:
    """The table in a file whose sizes and types are those of a unit's result."""
    file = pq.ParquetFile(
        pa.BufferReader(content),
        read_dictionary=list(WORDS),
        page_checksum_verification=True,
        thrift_string_size_limit=LARGEST_ABOUT * 2,
        thrift_container_size_limit=10_000,
    )
    about, schema = file.metadata, file.schema_arrow
    if len((schema.metadata or {})[KEY]) > LARGEST_ABOUT:
        raise ValueError("its metadata are larger than those of such a result can be")
    rows = sum(about.row_group(group).num_rows for group in range(about.num_row_groups))
    if not schema.equals(AS_READ):
        raise ValueError("its columns are others")
    if not rows == about.num_rows <= most_rows(unit) or rows == 0 or rows % unit.runs:
        raise ValueError("it has more or fewer rows than the unit")
    check_pages(content, about, PER_ROW * rows + SMALL)
    table = file.read(use_threads=False)
    if len(table) != rows or any(column.null_count for column in table.columns):
        raise ValueError("rows are missing")
    return table


def _runs(unit: Unit, code: str, about: Any, rounds: npt.NDArray[np.int64], regret: npt.NDArray[np.float64]) -> Runs:
    """The runs that the metadata and the table hold; raises a ValueError if a piece is not of its type."""
    if about.keys() != PIECES or (about["asked"], about["code"]) != (_as_json(unit.description()), code):
        raise ValueError("its metadata are others")
    if about["seeds"] != _as_json(seeds_of(unit)) or type(about["seconds"]) not in (int, float):
        raise ValueError("its seeds or seconds are others")
    if not isinstance(about["parameters"], list):
        raise ValueError("its parameters are not a list")
    pulls, suboptimal = _integers(about["pulls"]), _integers(about["suboptimal_pulls"])
    alarms = None if about["alarms"] is None else [_alarms(rows) for rows in _lists(about["alarms"])]
    seconds = float(about["seconds"])
    return Runs(rounds, regret, pulls, suboptimal, seeds_of(unit), about["parameters"], seconds, alarms=alarms)


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _lists(value: Any) -> list[list[Any]]:
    if not isinstance(value, list) or not all(isinstance(each, list) for each in value):
        raise ValueError("it holds something else where lists are expected")
    return value


def _integers(value: Any) -> npt.NDArray[np.int64]:
    """A list of lists of integers as a matrix; checked before, since arrays of anything else may be large."""
    if not all(type(each) is int for row in _lists(value) for each in row):
        raise ValueError("it holds something else where integers are expected")
    return np.array(value, np.int64)


def _alarms(rows: list[Any]) -> npt.NDArray[np.void]:
    if not all(list(map(type, row)) == [int, int, bool] for row in _lists(rows)):
        raise ValueError("its alarms are of another kind")
    return np.array([tuple(row) for row in rows], ALARM)


def _check_keys(table: pa.Table, unit: Unit, block: Runs) -> None:
    """Raise a ValueError unless the other columns say of the regret what it is of."""
    for name, expected in zip(SCHEMA.names, _keys(unit, len(block), block.rounds), strict=False):
        column = table[name]
        alike = (
            column.unique().to_pylist() == [expected[0].as_py()]
            if name in WORDS
            else np.array_equal(column.to_numpy(), expected)
        )
        if not alike:
            raise ValueError(f"its column {name!r} is not that of the unit")
