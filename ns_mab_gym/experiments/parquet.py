"""The Parquet form of the runs of one unit of work."""

from __future__ import annotations

import hashlib
import json
import platform
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
from .units import Unit

__all__ = ["BrokenFileError", "from_parquet", "to_parquet", "versions"]

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


class BrokenFileError(Exception):
    """A file in the store is not what its name says."""


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that produced a result."""
    packages = ("ns-mab-gym", "numpy", "numba", "gymnasium")
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def to_parquet(unit: Unit, code: str, block: Runs) -> bytes:
    """The tidy table of a unit, one row for each run and recorded round, with its description in the metadata."""
    runs, checkpoints = block.regret.shape
    rows = runs * checkpoints
    columns = [
        pa.repeat(unit.world.words, rows),
        pa.repeat(unit.agent.words, rows),
        np.repeat(np.arange(unit.first_run, unit.first_run + runs, dtype=np.int32), checkpoints),
        np.tile(block.rounds, runs),
        block.regret.ravel(),
    ]
    described = _about(unit, code, block)
    about = json.dumps(described | {"digest": _digest(described, block.rounds, block.regret)}).encode()
    table = pa.table(columns, schema=SCHEMA.with_metadata({KEY: about}))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return bytes(sink.getvalue())


def _about(unit: Unit, code: str, block: Runs) -> dict[str, Any]:
    return {
        "identity": unit.identity(code),
        "asked": unit.description(),
        "code": code,
        "versions": versions(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": block.seconds,
        "seeds": block.seeds,
        "parameters": [_plain(parameters) for parameters in block.parameters],
        "pulls": block.pulls.tolist(),
        "suboptimal_pulls": block.suboptimal_pulls.tolist(),
        "alarms": None if block.alarms is None else [alarms.tolist() for alarms in block.alarms],
    }


def _plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an agent that JSON can hold."""
    return {key: value for key, value in parameters.items() if isinstance(value, str | int | float | None)}


def _alarms(rows: list[list[int]]) -> npt.NDArray[np.void]:
    return np.array([tuple(row) for row in rows], ALARM)


def _digest(about: dict[str, Any], rounds: npt.NDArray[np.int64], regret: npt.NDArray[np.float64]) -> str:
    """A hash of a block with its metadata, because Parquet has checksums for its pages but none for the metadata."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(rounds.tobytes())
    digest.update(np.ascontiguousarray(regret).tobytes())
    return digest.hexdigest()


def from_parquet(path: Path, unit: Unit, code: str) -> Runs:
    """The runs of a unit, if the file holds them intact and computed by this version of the code."""
    try:
        table = pq.ParquetFile(path, page_checksum_verification=True).read()
        about = json.loads((table.schema.metadata or {})[KEY])
        digest = about.pop("digest")
        if about["identity"] != unit.identity(code):
            raise BrokenFileError("holds another result than its name says")
        regret = table["regret"].to_numpy().reshape(unit.runs, -1)
        rounds = table["round"].to_numpy()[: regret.shape[1]]
        if digest != _digest(about, rounds, regret):
            raise BrokenFileError("is broken (its contents are not those that were written)")
        pulls, suboptimal = np.array(about["pulls"]), np.array(about["suboptimal_pulls"])
        seeds = [(env, agent) for env, agent in about["seeds"]]
        alarms = None if about["alarms"] is None else [_alarms(rows) for rows in about["alarms"]]
        return Runs(rounds, regret, pulls, suboptimal, seeds, about["parameters"], about["seconds"], alarms=alarms)
    except KeyError:
        raise BrokenFileError("was not written by ns_mab_gym") from None
    except (pa.ArrowException, OSError, ValueError, TypeError, AttributeError) as error:
        raise BrokenFileError(f"is broken or cut off ({str(error).splitlines()[0]})") from None
