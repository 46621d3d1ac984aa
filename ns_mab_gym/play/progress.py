"""Progress of simulations and studies: a bar on a terminal or in a notebook, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from typing import Any, Self, TextIO

from ..agents.core.arguments import shown

ProgressOption = bool | Callable[[int, int], None]  # the argument ``progress`` of public functions


def speed(steps: int, seconds: float) -> str:
    """Return the number of steps per second as a short text, always in the same unit.

    >>> speed(3_200_000, 2.0), speed(9_000, 2.0)
    ('1,600 k steps/s', '4.5 k steps/s')
    """
    rate = steps / max(seconds, 1e-9) / 1e3
    return f"{rate:,.0f} k steps/s" if rate >= 10 else f"{rate:.1f} k steps/s"


class Progress:
    """The progress of some work, from the beginning of a ``with`` block to its end; shows nothing."""

    steps = failed = done = total = 0
    began = 0.0

    def start(self, done: int, total: int) -> None:
        """Begin, with ``done`` of ``total`` things done before; these do not count for the time left."""
        self.done, self.total, self.began = done, total, time.perf_counter()

    def advance(self, things: int, steps: int) -> None:
        """Count things that are done, and the steps of agents in them."""
        self.done, self.steps = self.done + things, self.steps + steps

    def fail(self) -> None:
        """Count a thing that has failed."""
        self.failed += 1

    def say(self, line: str) -> None:
        """Print a line."""

    def close(self) -> None:
        """End, also after an error."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def failures(self) -> str:
        """The number of failures as the end of a line; empty without failures."""
        return f", {self.failed} failed" if self.failed else ""


class Bar(Progress):
    """A bar with the number of things done, steps per second and time left.

    Args:
        stream: where it is shown.
        noun: what is counted.
    """

    def __init__(self, stream: TextIO, noun: str = "units") -> None:
        from tqdm import tqdm

        shape = f"runs {{percentage:3.0f}} %|{{bar}}| {{n_fmt}} of {{total_fmt}} {noun}{{postfix}}, {{remaining}} left"
        self._bar: Any = tqdm(file=stream, bar_format=shape, postfix="starting", dynamic_ncols=True)

    def start(self, done: int, total: int) -> None:
        """Show the total."""
        super().start(done, total)
        self._bar.reset(total)
        self._bar.initial = self._bar.n = done
        self._bar.refresh()

    def advance(self, things: int, steps: int) -> None:
        """Advance the bar."""
        super().advance(things, steps)
        self._show()
        self._bar.update(things)

    def fail(self) -> None:
        """Show one failed thing more."""
        super().fail()
        self._show()
        self._bar.refresh()

    def _show(self) -> None:
        shown = speed(self.steps, time.perf_counter() - self.began)
        self._bar.set_postfix_str(f"{shown}{self.failures}", refresh=False)

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._bar.write(line, file=self._bar.fp)

    def close(self) -> None:
        """Leave the bar on the screen as it is."""
        self._bar.close()


class Lines(Progress):
    """A line every few seconds, for logs.

    Args:
        stream: where it is printed.
        noun: what is counted.
        every: the seconds between two lines.
    """

    def __init__(self, stream: TextIO, noun: str = "units", every: float = 5.0) -> None:
        self._stream, self._noun, self._every = stream, noun, every

    def start(self, done: int, total: int) -> None:
        """Remember what was done before."""
        super().start(done, total)
        self._before, self._printed = done, self.began

    def advance(self, things: int, steps: int) -> None:
        """Print the progress, if the last line is a few seconds old or everything is done."""
        super().advance(things, steps)
        now = time.perf_counter()
        if now - self._printed < self._every and self.done < self.total:
            return
        self._printed, elapsed = now, now - self.began
        left = elapsed / (self.done - self._before) * (self.total - self.done)
        line = f"{self.done} of {self.total} {self._noun}, {speed(self.steps, elapsed)}, {left:.0f} s left"
        self.say(f"{line}{self.failures}")

    def say(self, line: str) -> None:
        """Print a line."""
        print(line, file=self._stream, flush=True)


def progress_for(stream: TextIO, noun: str = "units") -> Progress:
    """Return a bar if the stream is a terminal or a notebook, and tqdm is installed; else lines."""
    watched = stream.isatty() or type(stream).__module__.partition(".")[0] == "ipykernel"
    return Bar(stream, noun) if watched and find_spec("tqdm") else Lines(stream, noun)


@contextmanager
def counting(progress: ProgressOption, total: int, noun: str) -> Iterator[Callable[[int], None]]:
    """Give a function to be called with the number of steps whenever one more thing is done.

    Args:
        progress: whether to show the number of things done, on the standard error stream; or a function, which is
            called with that number and the total.
        total: the number of things.
        noun: what they are.
    """
    if not isinstance(progress, bool) and not callable(progress):
        raise TypeError(f"progress must be True, False or a function of (done, total), got {shown(progress)}")
    if progress is True:
        with progress_for(sys.stderr, noun) as shows:
            shows.start(0, total)
            yield lambda steps: shows.advance(1, steps)
    elif progress is False:
        yield lambda steps: None
    else:
        numbers = count(1)
        yield lambda steps: progress(next(numbers), total)
