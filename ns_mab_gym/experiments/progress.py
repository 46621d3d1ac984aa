"""Shows the progress of a run: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import Never, TextIO

from tqdm import tqdm

from ..runs import Runs
from .runner import Progress
from .units import Unit

__all__ = ["Bar", "Lines", "progress_for", "speed"]

BAR = "{desc} {percentage:3.0f} %|{bar}| {n_fmt} of {total_fmt} units{postfix}, {remaining} left"


def speed(steps: int, seconds: float) -> str:
    """The number of steps per second, as a short text.

    >>> speed(3_200_000, 2.0), speed(9_000, 2.0)
    ('1.6 M steps/s', '4.5 k steps/s')
    """
    rate = steps / max(seconds, 1e-9)
    return f"{rate / 1e6:.1f} M steps/s" if rate >= 1e5 else f"{rate / 1e3:.1f} k steps/s"


class Bar(Progress):
    """A bar with units done, steps per second and time left."""

    def __init__(self, stream: TextIO) -> None:
        self._bar: tqdm[Never] = tqdm(file=stream, bar_format=BAR, desc="runs", postfix="starting", dynamic_ncols=True)
        self._steps, self._began = 0, time.perf_counter()

    def start(self, done: int, total: int) -> None:
        """Show the number of units; units stored before do not count for the time left."""
        self._bar.reset(total)
        self._bar.initial = self._bar.n = done
        self._began = time.perf_counter()
        self._bar.refresh()

    def advance(self, unit: Unit, block: Runs) -> None:
        """Advance by one unit."""
        self._steps += block.steps
        self._bar.set_postfix_str(speed(self._steps, time.perf_counter() - self._began), refresh=False)
        self._bar.update()

    def __exit__(self, *_: object) -> None:
        """Close the bar, and leave it on the screen."""
        self._bar.close()


class Lines(Progress):
    """Prints a line every few seconds, for logs."""

    def __init__(self, stream: TextIO, every: float = 5.0) -> None:
        self._stream, self._every = stream, every
        self._steps = self._done = self._new = self._total = 0
        self._began = self._told = time.perf_counter()

    def start(self, done: int, total: int) -> None:
        """Print the number of units."""
        self._done, self._total = done, total
        self._began = self._told = time.perf_counter()
        print(f"{total - done} of {total} units to compute, {done} stored already", file=self._stream, flush=True)

    def advance(self, unit: Unit, block: Runs) -> None:
        """Print the progress, if the last line is a few seconds old or this is the last unit."""
        self._done, self._new, self._steps = self._done + 1, self._new + 1, self._steps + block.steps
        now = time.perf_counter()
        if now - self._told < self._every and self._done < self._total:
            return
        self._told, elapsed = now, now - self._began
        left = elapsed / self._new * (self._total - self._done)
        line = f"{self._done} of {self._total} units, {speed(self._steps, elapsed)}, {left:.0f} s left"
        print(line, file=self._stream, flush=True)

    def __exit__(self, *_: object) -> None:
        """Do nothing: there is nothing to close."""


def progress_for(stream: TextIO) -> Progress:
    """A bar if the stream is a terminal, else lines."""
    return Bar(stream) if stream.isatty() else Lines(stream)
