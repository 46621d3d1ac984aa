"""The runs of one unit of work, and their Parquet form."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from .units import Unit

__all__ = ["Block", "BrokenFileError", "Runs", "from_parquet", "to_parquet", "versions"]

KEY = b"ns_mab_gym"  # of the metadata in the Parquet schema
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


class Runs(Protocol):
    """What ``nsb.simulate`` gives."""

    @property
    def rounds(self) -> npt.NDArray[Any]: ...  # noqa: D102
    @property
    def regret(self) -> npt.NDArray[Any]: ...  # noqa: D102
    @property
    def pulls(self) -> npt.NDArray[Any]: ...  # noqa: D102
    @property
    def suboptimal_pulls(self) -> npt.NDArray[Any]: ...  # noqa: D102
    @property
    def seeds(self) -> Any: ...  # noqa: D102
    @property
    def parameters(self) -> Any: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Block:
    """The runs of one unit.

    Attributes:
        rounds: (C,) the rounds, 1-based, at which regret was noted; the last is T.
        regret: (R, C) cumulative pseudo-regret.
        pulls: (R, K) how often each arm was played.
        suboptimal_pulls: (R, K) how often each arm was played while another was better.
        seeds: R pairs, of the environment and of the agent.
        parameters: the agent's, in the first of the runs; instances of a random world may tune it differently.
        seconds: the engine's time.
    """

    rounds: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]
    pulls: npt.NDArray[np.int64]
    suboptimal_pulls: npt.NDArray[np.int64]
    seeds: tuple[tuple[int, int], ...]
    parameters: dict[str, Any]
    seconds: float

    @classmethod
    def of(cls, runs: Runs) -> Block:
        """The part of the engine's answer that is kept."""
        return cls(
            np.asarray(runs.rounds, np.int64),
            np.asarray(runs.regret, np.float64),
            np.asarray(runs.pulls, np.int64),
            np.asarray(runs.suboptimal_pulls, np.int64),
            tuple((int(env), int(agent)) for env, agent in runs.seeds),
            {key: value for key, value in runs.parameters[0].items() if isinstance(value, str | int | float | None)},
            float(runs.seconds),
        )

    @property
    def steps(self) -> int:
        """How many steps the agent took."""
        return len(self.regret) * int(self.rounds[-1])


def versions() -> dict[str, str]:
    """The versions behind a number."""
    packages = ("ns-mab-gym", "numpy", "numba", "gymnasium")
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in packages}}


def to_parquet(unit: Unit, version: str, block: Block) -> bytes:
    """The tidy table of a unit, one row for each run and noted round, with its description in the metadata."""
    runs, checkpoints = block.regret.shape
    rows = runs * checkpoints
    columns = [
        pa.repeat(unit.world.words, rows),
        pa.repeat(unit.agent.words, rows),
        np.repeat(np.arange(unit.first_run, unit.first_run + runs, dtype=np.int32), checkpoints),
        np.tile(block.rounds, runs),
        block.regret.ravel(),
    ]
    described = _about(unit, version, block)
    about = json.dumps(described | {"digest": _digest(described, block.rounds, block.regret)}).encode()
    table = pa.table(columns, schema=SCHEMA.with_metadata({KEY: about}))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    return bytes(sink.getvalue())


def _about(unit: Unit, version: str, block: Block) -> dict[str, Any]:
    return {
        "identity": unit.identity(version),
        "asked": unit.description(),
        "code": version,
        "versions": versions(),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": block.seconds,
        "seeds": block.seeds,
        "parameters": block.parameters,
        "pulls": block.pulls.tolist(),
        "suboptimal_pulls": block.suboptimal_pulls.tolist(),
    }


def _digest(about: dict[str, Any], rounds: npt.NDArray[np.int64], regret: npt.NDArray[np.float64]) -> str:
    """A hash of all that a block is: pages have checksums of their own, the metadata have none."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    digest.update(rounds.tobytes())
    digest.update(np.ascontiguousarray(regret).tobytes())
    return digest.hexdigest()


def from_parquet(path: Path, unit: Unit, version: str) -> Block:
    """The runs of a unit, if the file holds them, whole and of this version."""
    try:
        table = pq.ParquetFile(path, page_checksum_verification=True).read()
        about = json.loads((table.schema.metadata or {})[KEY])
        digest = about.pop("digest")
        if about["identity"] != unit.identity(version):
            raise BrokenFileError("holds another result than its name says")
        regret = table["regret"].to_numpy().reshape(unit.runs, -1)
        rounds = table["round"].to_numpy()[: regret.shape[1]]
        if digest != _digest(about, rounds, regret):
            raise BrokenFileError("is broken (its contents are not those that were written)")
        pulls, suboptimal = np.array(about["pulls"]), np.array(about["suboptimal_pulls"])
        seeds = tuple((env, agent) for env, agent in about["seeds"])
        return Block(rounds, regret, pulls, suboptimal, seeds, about["parameters"], about["seconds"])
    except KeyError:
        raise BrokenFileError("was not written by ns_mab_gym") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BrokenFileError(f"is broken or cut off ({str(error).splitlines()[0]})") from None
