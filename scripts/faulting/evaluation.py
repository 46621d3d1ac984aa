"""A small evaluation, in processes that have everything imported and compiled, to be stopped at any moment."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ns_mab_gym.cli.evaluate_command import main
from ns_mab_gym.experiments import pictures, pipeline

__all__ = ["Ended", "evaluate", "killed", "same_results", "warmed_up"]

ARGUMENTS = ["--env", "NSBandit-Abrupt-v0:horizon=200", "--agents", "ts", "random", "--runs", "50", "--jobs", "1"]


class Ended(NamedTuple):
    """How a command ended: its exit code, or minus the number of a signal; and what it wrote to its error stream."""

    status: int
    said: str

    @property
    def refused_in_one_line(self) -> bool:
        """Whether it said in one line what is wrong."""
        errors = [line for line in self.said.splitlines() if "rror" in line]
        return self.status == 2 and len(errors) == 1 and errors[0].startswith("evaluate: error: ")


def warmed_up(folder: Path) -> float:
    """Evaluate once in this process, so that those forked from it begin at once; returns how long another one takes."""
    main([*ARGUMENTS, "--out", str(folder / "first")])
    began = time.perf_counter()
    evaluate(folder / "second")
    return time.perf_counter() - began


def evaluate(folder: Path, *, report: bool = True) -> Ended:
    """Evaluate into a folder, in a process of its own, to the end; if in a hurry, without figures and report."""
    with tempfile.TemporaryFile("w+") as stream:
        return _ended(_forked(folder, stream.fileno(), None, report), stream)


def killed(folder: Path, seconds: float, *, at_store: bool) -> Ended:
    """Evaluate into a folder, and kill that after a time, counted from its start or from when it opens the store."""
    reader, writer = os.pipe()
    with tempfile.TemporaryFile("w+") as stream:
        child = _forked(folder, stream.fileno(), writer if at_store else None)
        os.close(writer)
        if at_store:
            os.read(reader, 1)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)  # until it is waited for, its number is its own
        os.close(reader)
        return _ended(child, stream)


def _forked(folder: Path, stream: int, writer: int | None, report: bool = True) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    os.dup2(stream, 2)
    os.dup2(stream, 1)
    if not report:
        pictures.planned = lambda study: []
        pipeline.Pipeline._write = lambda *_: None  # type: ignore[method-assign,assignment]
    opened = pipeline.Store

    def announced(*arguments: Any) -> Any:
        if writer is not None:
            os.write(writer, b".")
        return opened(*arguments)

    pipeline.Store = announced  # type: ignore[assignment,misc]
    os._exit(main([*ARGUMENTS, "--out", str(folder)]))


def _ended(child: int, stream: Any) -> Ended:
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    stream.seek(0)
    return Ended(status, stream.read())


def same_results(one: Path, other: Path) -> bool:
    """Whether two folders hold the same units and, where both have one, the same summary but for measured times."""
    summaries = [folder / "summary.csv" for folder in (one, other)]
    alike = _units_in(one).equals(_units_in(other))
    if all(summary.exists() for summary in summaries):
        first, second = (pd.read_csv(summary).drop(columns="engine_seconds") for summary in summaries)
        alike &= first.equals(second)
    return alike


def _units_in(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder / "units").sort_values(["world", "agent", "run", "round"], ignore_index=True)
