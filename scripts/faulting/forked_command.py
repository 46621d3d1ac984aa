"""An evaluation in a process of its own, forked from one that has everything imported and compiled; and its results."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ns_mab_gym.cli.evaluate_command import main
from ns_mab_gym.experiments import pictures, pipeline

__all__ = ["Ended", "ForkedCommand", "units_in", "without_report"]


class Ended(NamedTuple):
    """How a command ended: its exit code, or minus the number of a signal; and what it wrote to its streams."""

    status: int
    said: str

    @property
    def refused_in_one_line(self) -> bool:
        """Whether it said in one line what is wrong."""
        errors = [line for line in self.said.splitlines() if "rror" in line]
        return self.status == 2 and len(errors) == 1 and errors[0].startswith("evaluate: error: ")

    @property
    def last(self) -> str:
        """The last line that it wrote."""
        lines = [line for line in self.said.splitlines() if line.strip()]
        return lines[-1] if lines else ""


class ForkedCommand:
    """``evaluate`` in a process of its own, which begins at once.

    Args:
        arguments: those of the command.
        prepare: called in that process before the command.

    Attributes:
        process: the number of the process.
    """

    def __init__(self, arguments: Sequence[str], prepare: Callable[[], None] = lambda: None) -> None:
        self._streams = tempfile.TemporaryFile("w+")  # noqa: SIM115 - it is read when the command has ended
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            for stream in (1, 2):
                os.dup2(self._streams.fileno(), stream)
            prepare()
            os._exit(main(arguments))

    def ended(self) -> Ended:
        """Wait for its end."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        with self._streams:
            self._streams.seek(0)
            return Ended(status, self._streams.read())


def without_report() -> None:
    """Leave out figures and report, which take most of the time, from all that this process evaluates."""
    pictures.planned = lambda study: []
    pipeline.Pipeline._write = lambda *_: None  # type: ignore[method-assign,assignment]


def units_in(folder: Path) -> pd.DataFrame:
    """The table of the units in a folder of results, in an order that does not depend on their files."""
    return pd.read_parquet(folder / "units").sort_values(["world", "agent", "run", "round"], ignore_index=True)
