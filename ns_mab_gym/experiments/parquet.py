"""The Parquet form of results: the runs of one unit of work, or of several that share a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ..installed_versions import versions
from ..runs import Runs
from .footers import MOST_UNITS, Footer, Keys, TooLargeError, key_of, packed
from .unit_details import details_of
from .units import Unit
from .valid_runs import InvalidRunsError, check_runs

__all__ = ["as_text", "checked", "to_parquet", "written"]

WORDS = ("world", "agent")  # are dictionaries in memory, so that a text is held once and not for every row
SCHEMA = pa.schema(
    {
        **dict.fromkeys(WORDS, pa.dictionary(pa.int32(), pa.string())),
        "run": pa.int32(),
        "round": pa.int64(),
        "regret": pa.float64(),
    }
)
MOST_ROWS = 1_000_000  # of a file that units share
LARGEST_WORDS = 4_000_000  # bytes of the words of all units in a file
OPTIONS: dict[str, Any] = {
    "compression": "zstd",
    "use_dictionary": ["world", "agent", "run", "round"],
    "write_page_checksum": True,
    "store_schema": False,  # the types are those of Parquet itself
}


def checked(unit: Unit, block: Runs) -> Runs:
    """The runs as they can be stored, without those parameters of the agent that JSON cannot hold.

    Raises an :class:`InvalidRunsError` if a unit cannot have them as its result.
    """
    block = replace(block, parameters=[_plain(parameters) for parameters in block.parameters])
    try:
        check_runs(unit, block)
    except InvalidRunsError as error:
        raise InvalidRunsError(
            f"the result of {unit.agent.words} on {unit.world.words} cannot be stored: its {error}; correct the "
            f"agent, the world or the engine that gives it"
        ) from None
    return block


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in parameters.items() if isinstance(value, str | int | float | None)}
    return {key: as_text(value) if isinstance(value, str) else value for key, value in kept.items()}


def to_parquet(results: Sequence[tuple[Unit, str, Runs]]) -> bytes:
    """The tidy table of some units, one row for each run and recorded round; the footer says whose rows they are.

    Raises a :class:`TooLargeError` if they do not fit into one file.

    Args:
        results: each unit with the version of the code that computed it and its runs, as :func:`checked` gives them.
    """
    rows = [block.regret.size for _, _, block in results]
    if (len(results) > 1 and sum(rows) > MOST_ROWS) or len(results) > MOST_UNITS:
        raise TooLargeError(
            f"{len(results):,} results have {sum(rows):,} rows; at most {MOST_UNITS:,} of them with {MOST_ROWS:,} rows "
            f"share a file, put fewer into it"
        )
    details = {
        "versions": versions(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "units": [details_of(*result) for result in results],
    }
    keys = np.array([key_of(unit.identity(code)) for unit, code, _ in results], np.uint64)
    return written(_table(results, rows), keys, rows, details)


def written(table: pa.Table, keys: Keys, rows: Sequence[int], details: dict[str, Any]) -> bytes:
    """The bytes of a file.

    Args:
        table: the rows of all units, those of each one after another.
        keys: the keys of the units.
        rows: how many rows each of them has.
        details: what else is known of them.
    """
    footer = Footer(keys, rows, packed(details))
    footer = replace(footer, digest=footer.digest_with(table["round"].to_numpy(), table["regret"].to_numpy()))
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, **OPTIONS) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(footer.metadata())
    return bytes(sink.getvalue())


def _table(results: Sequence[tuple[Unit, str, Runs]], rows: Sequence[int]) -> pa.Table:
    columns = [
        _words((unit.world.words for unit, _, _ in results), rows),
        _words((unit.agent.words for unit, _, _ in results), rows),
        np.concatenate([run_numbers(unit, len(block.rounds)) for unit, _, block in results]),
        np.concatenate([np.tile(block.rounds, len(block)) for _, _, block in results]),
        np.concatenate([block.regret.ravel() for _, _, block in results]),
    ]
    return pa.table(columns, schema=SCHEMA)


def _words(words: Iterable[str], rows: Sequence[int]) -> pa.DictionaryArray:
    """A column that has the words of each unit in all of its rows."""
    texts = [as_text(each) for each in words]
    distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    if (size := sum(len(text.encode()) for text in distinct)) > LARGEST_WORDS:
        raise TooLargeError(
            f"the names and parameters of {len(rows):,} units take {size:,} bytes, more than the {LARGEST_WORDS:,} "
            f"that a file may have; put fewer into it"
        )
    numbers = np.repeat(np.array([distinct[text] for text in texts], np.int32), rows)
    return pa.DictionaryArray.from_arrays(pa.array(numbers), pa.array(distinct, pa.string()))


def run_numbers(unit: Unit, rounds: int) -> npt.NDArray[np.int32]:
    """The number of the run in each row of a unit, of which each run has so many."""
    return np.repeat(np.arange(unit.first_run, unit.first_run + unit.runs, dtype=np.int32), rounds)


def as_text(words: str) -> str:
    """Words with those bytes of a file's name as numbers that are no characters."""
    return words.encode(errors="backslashreplace").decode()
