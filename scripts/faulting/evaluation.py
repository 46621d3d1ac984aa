"""A small evaluation, in processes that have everything imported and compiled, to be stopped at any moment."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from ns_mab_gym.cli.evaluate_command import main
from ns_mab_gym.experiments import pipeline

from .forked_command import Ended, ForkedCommand, units_in, without_report

__all__ = ["evaluate", "killed", "same_results", "warmed_up"]

ARGUMENTS = ["--env", "NSBandit-Abrupt-v0:horizon=200", "--agents", "ts", "random", "--runs", "50", "--jobs", "1"]


def warmed_up(folder: Path) -> float:
    """Evaluate once in this process, so that those forked from it begin at once; returns how long another one takes."""
    main(_into(folder / "first"))
    began = time.perf_counter()
    evaluate(folder / "second")
    return time.perf_counter() - began


def evaluate(folder: Path, *, report: bool = True) -> Ended:
    """Evaluate into a folder, in a process of its own, to the end; if in a hurry, without figures and report."""
    command = ForkedCommand(_into(folder)) if report else ForkedCommand(_into(folder), without_report)
    return command.ended()


def killed(folder: Path, seconds: float, *, at_store: bool) -> Ended:
    """Evaluate into a folder, and kill that after a time, counted from its start or from when it opens the store."""
    if not at_store:
        return _killed(ForkedCommand(_into(folder)), seconds)
    reader, writer = os.pipe()
    command = ForkedCommand(_into(folder), partial(_announce_store, writer))
    os.close(writer)
    os.read(reader, 1)
    ended = _killed(command, seconds)
    os.close(reader)
    return ended


def _into(folder: Path) -> list[str]:
    return [*ARGUMENTS, "--out", str(folder)]


def _announce_store(writer: int) -> None:
    """Write a byte whenever a store is opened."""
    opened = pipeline.Store

    def announced(*arguments: Any) -> Any:
        os.write(writer, b".")
        return opened(*arguments)

    pipeline.Store = announced  # type: ignore[assignment,misc]


def _killed(command: ForkedCommand, seconds: float) -> Ended:
    time.sleep(seconds)
    os.kill(command.process, signal.SIGKILL)  # until it is waited for, its number is its own
    return command.ended()


def same_results(one: Path, other: Path) -> bool:
    """Whether two folders hold the same units and, where both have one, the same summary but for measured times."""
    summaries = [folder / "summary.csv" for folder in (one, other)]
    alike = units_in(one).equals(units_in(other))
    if all(summary.exists() for summary in summaries):
        first, second = (pd.read_csv(summary).drop(columns="engine_seconds") for summary in summaries)
        alike &= first.equals(second)
    return alike
