"""The tables of a study, written in one pass over its worlds: every regret, the final regrets, the detections."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..files import write_atomically, written_atomically
from ..means import Floats
from ..runs import Runs
from .outputs import DETECTIONS, SUMMARY, detection_rows, summary_rows
from .results import Results
from .run_totals import Totals
from .spreadsheets import csv_table
from .study import WorldEntry

__all__ = ["write_tables"]

ROWS = 1 << 17  # of the table that are written at once
SCHEMA = pa.schema(
    {"world": pa.string(), "agent": pa.string(), "run": pa.int32(), "round": pa.int64(), "regret": pa.float64()}
)
Rows = dict[tuple[int, str], list[list[Any]]]  # by the place of the experiment and the label of the world


def write_tables(
    results: Results, folder: Path, means: Mapping[str, Floats | None], drawn_anew: Collection[str]
) -> Totals:
    """Write ``table.parquet``, ``summary.csv``, and ``detections.csv`` if any alarms can be scored.

    Args:
        results: the runs; those of one world are held at a time.
        folder: where the tables go.
        means: those of an instance of each world, by label; None where they are not known.
        drawn_anew: the labels of worlds whose means differ from run to run.

    Returns:
        what the runs amount to.
    """
    totals, finals, detections = Totals(), Rows(), Rows()
    written: set[tuple[str, str]] = set()

    def pieces() -> Iterator[pa.Table]:
        for world in results.study.worlds:
            totals.add(results, world)
            for place, experiment in enumerate(results.study.experiments):
                if world in experiment.worlds:
                    scored = results, experiment, world, means[world.label], world.label in drawn_anew
                    finals[place, world.label] = list(summary_rows(results, experiment, world))
                    detections[place, world.label] = list(detection_rows(*scored))
            yield from _pieces_on(results, world, written)

    _write_table(folder / "table.parquet", pieces())
    write_atomically(folder / "summary.csv", csv_table(SUMMARY, _in_order(results, finals)))
    (folder / "detections.csv").unlink(missing_ok=True)
    if any(detections.values()):
        write_atomically(folder / "detections.csv", csv_table(DETECTIONS, _in_order(results, detections)))
    return totals


def _in_order(results: Results, rows: Rows) -> Iterator[list[Any]]:
    """The rows of each experiment after those of the one before it."""
    for place, experiment in enumerate(results.study.experiments):
        for world in experiment.worlds:
            yield from rows[place, world.label]


def _write_table(path: Path, pieces: Iterable[pa.Table]) -> None:
    """Write pieces of a table as one Parquet file, some of them at once."""
    with written_atomically(path) as handle, pq.ParquetWriter(handle, SCHEMA, compression="zstd") as writer:
        waiting: list[pa.Table] = []
        for piece in pieces:
            waiting.append(piece)
            if sum(map(len, waiting)) >= ROWS:
                writer.write_table(pa.concat_tables(waiting))
                waiting.clear()
        if waiting:
            writer.write_table(pa.concat_tables(waiting))


def _pieces_on(results: Results, world: WorldEntry, written: set[tuple[str, str]]) -> Iterator[pa.Table]:
    """A row for each agent, run and recorded round on a world, a few runs at a time; each pair of entries once."""
    for label, agent in results.agents[world.label].items():
        if (world.words, agent.words) not in written:
            written.add((world.words, agent.words))
            runs = results.curves[world.label][label]
            step = max(1, ROWS // len(runs.rounds))
            for first in range(0, len(runs), step):
                yield _rows(world.words, agent.words, runs, first, min(first + step, len(runs)))


def _rows(world: str, agent: str, runs: Runs, first: int, after: int) -> pa.Table:
    """The rows of some runs of an agent, one for each recorded round."""
    rounds = runs.rounds
    rows = (after - first) * len(rounds)
    columns: list[Iterable[object]] = [
        pa.repeat(world, rows),
        pa.repeat(agent, rows),
        np.repeat(np.arange(first, after, dtype=np.int32), len(rounds)),
        np.tile(rounds, after - first),
        runs.regret[first:after].ravel(),
    ]
    return pa.table(columns, schema=SCHEMA)
