"""Where things lie in a picture of an episode: panels, numbers at their axes, and labels that do not touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    "HEIGHT",
    "WIDTH",
    "WINDOW",
    "Panel",
    "in_short",
    "nice",
    "recent_panels",
    "spread",
    "ticks",
    "whole_panels",
    "window_of",
]

FloatArray = npt.NDArray[np.float64]

WIDTH, HEIGHT = 960, 640  # even, because video codecs require it
WINDOW = 300  # rounds that are shown one by one, each more than two pixels wide
LEFT, RIGHT = 72, 770  # of every panel; numbers stand to the left, arms to the right
WHOLE = ((450, 512), (544, 606))  # tops and bottoms of the panels of the whole episode


@dataclass(frozen=True)
class Panel:
    """A rectangle of pixels with an axis of rounds, each as wide as the others, and one of values."""

    top: int
    bottom: int
    first: int  # round
    last: int  # round
    low: float
    high: float
    left: int = LEFT
    right: int = RIGHT

    @property
    def box(self) -> tuple[int, int, int, int]:
        """The left, top, right and bottom pixel."""
        return self.left, self.top, self.right, self.bottom

    @property
    def cell(self) -> float:
        """The width of a round in pixels."""
        return (self.right - self.left) / (self.last - self.first + 1)

    def x(self, rounds: npt.ArrayLike) -> FloatArray:
        """The middles of rounds."""
        return np.asarray(self.left + (np.asarray(rounds) - self.first + 0.5) * self.cell)

    def y(self, values: npt.ArrayLike) -> FloatArray:
        """The heights of values."""
        share = (np.asarray(values) - self.low) / (self.high - self.low)
        return np.asarray(self.bottom - share * (self.bottom - self.top))

    def columns(self, rounds: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The columns of pixels up to a round, and the round that each shows."""
        played = min(self.right, math.ceil(self.left + (rounds - self.first + 1) * self.cell))
        pixels = np.arange(self.left, max(played, self.left), dtype=np.int64)
        shown = self.first + ((pixels - self.left + 0.5) / self.cell).astype(np.int64)
        return pixels, np.minimum(shown, rounds)


def window_of(rounds: int, horizon: int) -> tuple[int, int]:
    """The first and the last round that are shown one by one, after so many have been played.

    >>> window_of(40, 50_000), window_of(1_000, 50_000), window_of(7, 10)
    ((1, 300), (701, 1000), (1, 10))
    """
    last = max(rounds, min(WINDOW, horizon))
    return max(1, last - WINDOW + 1), last


def recent_panels(rounds: int, horizon: int, means: tuple[float, float], regret: float) -> tuple[Panel, Panel]:
    """The panels of the last rounds: means above regret; they are larger if that is the whole episode.

    Args:
        rounds: how many have been played.
        horizon: how many there are.
        means: the ends of the axis of means.
        regret: that of the last rounds.
    """
    first, last = window_of(rounds, horizon)
    middle, bottom = (300, 384) if horizon > WINDOW else (460, 606)
    most = nice(regret) if regret > 0 else 1.0
    return Panel(80, middle, first, last, *means), Panel(middle + 32, bottom, first, last, 0.0, most)


def whole_panels(horizon: int, means: tuple[float, float], regret: float) -> tuple[Panel, Panel]:
    """The smaller panels of the whole episode, for one that is longer than the window."""
    upper, lower = WHOLE
    return Panel(*upper, 1, horizon, *means), Panel(*lower, 1, horizon, 0.0, nice(regret) if regret > 0 else 1.0)


def nice(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is at least the given number.

    >>> nice(0.3), nice(1), nice(21)
    (0.5, 1.0, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(least))
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9)))


def ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Multiples of a nice number between two others, at most so many and one more.

    >>> ticks(701, 1_000, 6, whole=True)
    [750.0, 800.0, 850.0, 900.0, 950.0, 1000.0]
    """
    step = nice(max((high - low) / most, 1.0 if whole else 0.0))
    begin, end = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * n for n in range(begin, end + 1)]


def in_short(value: float) -> str:
    """A number in few characters.

    >>> in_short(0.6000000001), in_short(12_000), in_short(4e29), in_short(0.0)
    ('0.6', '12,000', '4e+29', '0')
    """
    return f"{value:,.7g}" if abs(value) < 1e7 else f"{value:.3g}"


def spread(heights: Sequence[float], room: tuple[float, float], apart: float) -> list[float]:
    """Heights as near to the given ones as it is easy, in the same order, so far apart, and within the room.

    >>> spread([10, 11, 50], (0, 60), 15)
    [10.0, 25.0, 50.0]
    """
    order = np.argsort(heights, kind="stable")
    placed = np.asarray(heights, np.float64)[order]
    steps = apart * np.arange(len(placed))
    placed = np.maximum.accumulate(np.maximum(placed, room[0]) - steps) + steps
    placed = np.minimum.accumulate((np.minimum(placed, room[1]) + steps[::-1])[::-1])[::-1] - steps[::-1]
    found = np.empty(len(placed))
    found[order] = placed
    return [float(each) for each in found]
