"""Shows the progress of a run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from typing import TextIO

from ..play.counters import BarCounter, LineCounter, speed
from .runner import Progress

__all__ = ["Bar", "Lines", "progress_for", "speed"]


class Bar(Progress):
    """A bar with units done, steps per second and time left."""

    def __init__(self, stream: TextIO) -> None:
        self._counter = BarCounter(stream, "units")

    def start(self, done: int, total: int) -> None:
        """Show the number of units; units stored before do not count for the time left."""
        self._counter.start(done, total)

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._counter.say(line)

    def advance(self, units: int, steps: int) -> None:
        """Advance by so many units."""
        self._counter.advance(steps, units)

    def fail(self) -> None:
        """Show one failed unit more."""
        self._counter.fail()

    def __exit__(self, *_: object) -> None:
        """Close the bar, and leave it on the screen."""
        self._counter.close()


class Lines(Progress):
    """Prints a line every few seconds, for logs."""

    def __init__(self, stream: TextIO, every: float = 5.0) -> None:
        self._stream, self._counter = stream, LineCounter(stream, "units", every)

    def start(self, done: int, total: int) -> None:
        """Print the number of units."""
        self._counter.start(done, total)
        print(f"{total - done} of {total} units to compute, {done} stored already", file=self._stream, flush=True)

    def say(self, line: str) -> None:
        """Print a line."""
        print(line, file=self._stream, flush=True)

    def advance(self, units: int, steps: int) -> None:
        """Print the progress, if the last line is a few seconds old or these are the last units."""
        self._counter.advance(steps, units)

    def fail(self) -> None:
        """Count one failed unit more, which the next line tells."""
        self._counter.fail()

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is nothing to close."""


def progress_for(stream: TextIO) -> Progress:
    """A bar if the stream is a terminal, else lines."""
    return Bar(stream) if stream.isatty() else Lines(stream)
