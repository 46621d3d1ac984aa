"""Shows how many of some things are done: a bar where people look on, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import count
from typing import Any, Protocol, TextIO

from ..agents.core.arguments import shown

__all__ = ["BarCounter", "Counter", "LineCounter", "Progress", "counter_for", "counting", "speed"]

Progress = bool | Callable[[int, int], None]  # what users pass as ``progress``


class Counter(Protocol):
    """Counts things done, and the agents' steps in them."""

    def start(self, done: int, total: int) -> None:
        """Called once: ``done`` of ``total`` things are done already."""

    def advance(self, steps: int, things: int = 1) -> None:
        """Called when so many things more are done, which took the agents so many steps."""

    def fail(self) -> None:
        """Called when a thing has failed, and will not be done."""

    def close(self) -> None:
        """Called at the end, also after an error."""


def speed(steps: int, seconds: float) -> str:
    """The number of steps per second, as a short text.

    >>> speed(3_200_000, 2.0), speed(9_000, 2.0)
    ('1.6 M steps/s', '4.5 k steps/s')
    """
    rate = steps / max(seconds, 1e-9)
    return f"{rate / 1e6:.1f} M steps/s" if rate >= 1e5 else f"{rate / 1e3:.1f} k steps/s"


class BarCounter:
    """A bar with the number of things done, steps per second and time left.

    Args:
        stream: where it is shown.
        noun: what is counted.
    """

    def __init__(self, stream: TextIO, noun: str) -> None:
        try:
            from tqdm import tqdm
        except ImportError:
            raise ImportError("a progress bar needs tqdm: pip install 'ns-mab-gym[experiments]'") from None
        shape = f"runs {{percentage:3.0f}} %|{{bar}}| {{n_fmt}} of {{total_fmt}} {noun}{{postfix}}, {{remaining}} left"
        self._bar: Any = tqdm(file=stream, bar_format=shape, postfix="starting", dynamic_ncols=True)
        self._steps = self._failed = 0
        self._began = time.perf_counter()

    def start(self, done: int, total: int) -> None:
        """Show the total; what was done before does not count for the time left."""
        self._bar.reset(total)
        self._bar.initial = self._bar.n = done
        self._began = time.perf_counter()
        self._bar.refresh()

    def advance(self, steps: int, things: int = 1) -> None:
        """Advance by so many things."""
        self._steps += steps
        self._show()
        self._bar.update(things)

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._bar.write(line, file=self._bar.fp)

    def fail(self) -> None:
        """Show one failed thing more."""
        self._failed += 1
        self._show()
        self._bar.refresh()

    def _show(self) -> None:
        shown = speed(self._steps, time.perf_counter() - self._began)
        self._bar.set_postfix_str(f"{shown}{_failures(self._failed)}", refresh=False)

    def close(self) -> None:
        """Leave the bar on the screen as it is."""
        self._bar.close()


class LineCounter:
    """A line every few seconds, for logs.

    Args:
        stream: where it is printed.
        noun: what is counted.
        every: how many seconds at least lie between two lines.
    """

    def __init__(self, stream: TextIO, noun: str, every: float = 5.0) -> None:
        self._stream, self._noun, self._every = stream, noun, every
        self._steps = self._done = self._new = self._total = self._failed = 0
        self._began = self._told = time.perf_counter()

    def start(self, done: int, total: int) -> None:
        """Note the total."""
        self._done, self._total = done, total
        self._began = self._told = time.perf_counter()

    def advance(self, steps: int, things: int = 1) -> None:
        """Print the progress, if the last line is a few seconds old or this is the last thing."""
        self._done, self._new, self._steps = self._done + things, self._new + things, self._steps + steps
        self._print()

    def fail(self) -> None:
        """Count one failed thing more, which the next line tells."""
        self._failed += 1

    def _print(self) -> None:
        now = time.perf_counter()
        if now - self._told < self._every and self._done < self._total:
            return
        self._told, elapsed = now, now - self._began
        left = elapsed / self._new * (self._total - self._done)
        line = f"{self._done} of {self._total} {self._noun}, {speed(self._steps, elapsed)}, {left:.0f} s left"
        print(f"{line}{_failures(self._failed)}", file=self._stream, flush=True)

    def close(self) -> None:
        """Do nothing: every line is complete."""


def _failures(number: int) -> str:
    return f", {number} failed" if number else ""


def counter_for(stream: TextIO, noun: str) -> Counter:
    """A bar if the stream is a terminal or a notebook, else lines."""
    notebook = type(stream).__module__.partition(".")[0] == "ipykernel"
    return BarCounter(stream, noun) if notebook or stream.isatty() else LineCounter(stream, noun)


@contextmanager
def counting(progress: Progress, total: int, noun: str) -> Iterator[Callable[[int], None]]:
    """A function to be called with the number of steps whenever one more of these things is done.

    Args:
        progress: whether to show how many are done, on the standard error stream; or a function, which is called with
            the number of those done and the total.
        total: how many things there are.
        noun: what they are.
    """
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress must be True, False or a function of (done, total), got {shown(progress)}")
    if progress is True:
        with closing(counter_for(sys.stderr, noun)) as counter:
            counter.start(0, total)
            yield counter.advance
    elif progress is False:
        yield lambda steps: None
    else:
        numbers = count(1)
        yield lambda steps: progress(next(numbers), total)
