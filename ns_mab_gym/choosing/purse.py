"""What a search may spend: seconds on the clock, or a number of runs, which is the same on every machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..agents.core.arguments import positive, positive_int

__all__ = ["Purse"]


class Purse:
    """A budget in seconds or in runs; what it buys is priced in the same unit.

    Args:
        seconds: the seconds that may be spent; ignored if ``runs`` is given.
        runs: the runs that may be played.
        clock: returns the time in seconds.
    """

    def __init__(
        self, seconds: float = 20.0, runs: int | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.seconds = positive("budget", seconds, hint="it is in seconds; compilation does not count")
        self.runs = None if runs is None else positive_int("runs", runs)
        self._clock = clock
        self.played = 0
        self._began = clock()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Seconds that pass inside do not count."""
        before = self._clock()
        yield
        self._began += self._clock() - before

    @property
    def total(self) -> float:
        """The whole budget."""
        return self.seconds if self.runs is None else float(self.runs)

    @property
    def spent(self) -> float:
        """What was spent so far, in the budget's unit."""
        return self.elapsed if self.runs is None else float(self.played)

    @property
    def elapsed(self) -> float:
        """The seconds that count, whatever the unit."""
        return self._clock() - self._began

    @property
    def left(self) -> float:
        """What may still be spent."""
        return self.total - self.spent

    def price(self, seconds: float) -> float:
        """The price of one run that takes so many seconds."""
        return seconds if self.runs is None else 1.0
