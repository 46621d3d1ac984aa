"""Renders an episode: one line of text per round, or a picture of what has been played so far, with Pillow.

A picture shows the past and nothing else: the true means up to the round just played, which the player never sees, the
arms played, and the regret. Of what is to come it shows the number of rounds, which the player knows too, as room that
is left blank, and how large means ever get, so that the axis does not move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from ..means import Floats

Colour = tuple[int, int, int]

WIDTH, HEIGHT = 960, 640  # even, because video codecs require it
LEFT, RIGHT = 72, 740  # of every panel; numbers stand to the left, arms to the right
WINDOW = 300  # rounds that are shown one by one, each more than two pixels wide
NAMED = 10  # arms that have a colour and a place in the legend; of more arms, the others are grey
SMALL, LARGE = 12, 14  # sizes of texts
DIGIT = 8  # pixels of a character of a number, at most
INK, FAINT, CROWD, SHADE = (40, 40, 40), (226, 226, 226), (208, 208, 208), (250, 222, 150)
# Paul Tol's muted colours and a brown, distinguishable for colour-blind readers.
PALETTE: tuple[Colour, ...] = (
    (51, 34, 136), (92, 172, 216), (68, 170, 153), (17, 119, 51), (153, 153, 51),
    (205, 180, 80), (204, 102, 119), (136, 34, 85), (170, 68, 153), (120, 94, 70),
)  # fmt: skip


def arm_in_words(arm: int) -> str:
    """An arm as people number it, from 1 as in the paper, and the action that plays it.

    >>> arm_in_words(2)
    'arm 3 (action 2)'
    """
    return f"arm {arm + 1} (action {arm})"


def ansi_line(t: int, arm: int, reward: float, mu: Floats, best: int, regret: float, total: float) -> str:
    """One round in one line."""
    return (
        f"round {t:,}: {arm_in_words(arm)}, mean {mu[arm]:.3f}, gave {reward:g}; "
        f"best was {arm_in_words(best)}, mean {mu[best]:.3f}; regret {regret:.3f}, {total:,.1f} so far"
    )


@dataclass
class EpisodeHistory:
    """The part of an episode that a picture shows."""

    means: Floats  # (T, K)
    arms: npt.NDArray[np.int64]  # (T,)
    regret: Floats  # (T,) cumulative
    rounds: int  # played
    range: tuple[float, float]  # of the axis of the means, which is the same in all frames

    @classmethod
    def of(cls, means: Floats) -> EpisodeHistory:
        """An empty history of an episode with these means."""
        low, high = min(0.0, float(means.min())), max(1.0, float(means.max()))
        return cls(means, np.zeros(len(means), np.int64), np.zeros(len(means)), 0, (low, high))

    def add(self, arm: int, total_regret: float) -> None:
        """Add one round."""
        self.arms[self.rounds] = arm
        self.regret[self.rounds] = total_regret
        self.rounds += 1

    def regret_until(self, rounds: int) -> float:
        """The regret of the first rounds of the episode."""
        return float(self.regret[rounds - 1]) if rounds > 0 else 0.0

    def last_round(self) -> tuple[int, int, Floats]:
        """The arm just played, the best one, and the means of the round."""
        mu = self.means[self.rounds - 1]
        return int(self.arms[self.rounds - 1]), int(mu.argmax()), mu

    def colours(self, first: int) -> dict[int, Colour]:
        """The arms of the legend: all if they are few, else the best, the one just played and the most played ones.

        The colours are all different; an arm keeps its own unless another one has taken it.

        Args:
            first: the first round that is shown.
        """
        n, k = self.rounds, self.means.shape[1]
        arms = list(range(min(k, NAMED)))
        if k > NAMED and n > 0:
            arm, best, _ = self.last_round()
            pulls = np.bincount(self.arms[first - 1 : n], minlength=k)
            often = np.argsort(-pulls, kind="stable")[:NAMED].tolist()
            arms = list(dict.fromkeys([best, arm, *often]))[:NAMED]
        free, found = list(range(NAMED)), {}
        for arm in sorted(arms):
            found[arm] = PALETTE[free.pop(free.index(arm % NAMED) if arm % NAMED in free else 0)]
        return found


@dataclass(frozen=True)
class Axes:
    """A panel: a rectangle of pixels with an axis of rounds, each as wide as the others, and one of values."""

    top: int
    bottom: int
    first: int  # round
    last: int  # round
    low: float
    high: float

    @property
    def cell(self) -> float:
        """The width of a round in pixels."""
        return (RIGHT - LEFT) / (self.last - self.first + 1)

    def x(self, rounds: npt.ArrayLike) -> Floats:
        """The middles of rounds."""
        return np.asarray(LEFT + (np.asarray(rounds) - self.first + 0.5) * self.cell)

    def y(self, values: npt.ArrayLike) -> Floats:
        """The heights of values."""
        share = (np.asarray(values) - self.low) / (self.high - self.low)
        return np.asarray(self.bottom - share * (self.bottom - self.top))

    def columns(self, rounds: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The columns of pixels up to a round, and the row of the means that each shows."""
        stop = min(RIGHT, math.ceil(LEFT + (rounds - self.first + 1) * self.cell))
        pixels = np.arange(LEFT, max(stop, LEFT), dtype=np.int64)
        shown = self.first + ((pixels - LEFT + 0.5) / self.cell).astype(np.int64)
        return pixels, np.minimum(shown, rounds) - 1


def window_of(rounds: int, horizon: int) -> tuple[int, int]:
    """The first and the last round that are shown one by one, after a number of rounds.

    >>> window_of(40, 50_000), window_of(1_000, 50_000), window_of(7, 10)
    ((1, 300), (701, 1000), (1, 10))
    """
    last = max(rounds, min(WINDOW, horizon))
    return max(1, last - WINDOW + 1), last


def nice(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is at least the given number; 1 for 0.

    >>> nice(0.3), nice(1), nice(21), nice(0)
    (0.5, 1.0, 50.0, 1.0)
    """
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return float(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9)))


def ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Multiples of a nice number between two others, at most ``most`` of them and one more.

    >>> ticks(701, 1_000, 6, whole=True)
    [750.0, 800.0, 850.0, 900.0, 950.0, 1000.0]
    """
    step = nice(max((high - low) / most, 1.0 if whole else 0.0))
    begin, end = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * n for n in range(begin, end + 1)]


def layout(history: EpisodeHistory) -> list[tuple[Axes, str]]:
    """The panels with their titles: means above regret, of the last rounds and of the whole episode if it is longer."""
    horizon, n_arms = history.means.shape
    first, last = window_of(history.rounds, horizon)
    total = history.regret_until(history.rounds)
    title = f"true means in {f'rounds {first:,} to {last:,}' if last > 1 else 'round 1'}; dots: the arm played"
    title += f"; grey: the other {n_arms - NAMED} arms" if n_arms > NAMED else ""
    middle, bottom = (300, 384) if horizon > WINDOW else (460, 606)
    recent = Axes(middle + 32, bottom, first, last, 0.0, nice(total - history.regret_until(first - 1)))
    panels = [(Axes(80, middle, first, last, *history.range), title)]
    if horizon <= WINDOW:
        return [*panels, (recent, "regret so far")]
    return [
        *panels,
        (recent, "regret in these rounds"),
        (Axes(450, 512, 1, horizon, *history.range), "true means of the episode so far; shaded: the rounds above"),
        (Axes(544, 606, 1, horizon, 0.0, nice(total)), "regret of the episode so far"),
    ]


def draw_frame(history: EpisodeHistory) -> npt.NDArray[np.uint8]:
    """An RGB picture: the means and the arms played in the last rounds, the whole episode, and the regret so far."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise DependencyNotInstalled("pictures need Pillow: pip install 'ns-mab-gym[render]'") from None
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(image)
    panels = layout(history)
    recent, _ = panels[0]
    colours = history.colours(recent.first)
    _draw_headline(pen, history)
    for place, (axes, title) in enumerate(panels):
        if place >= 2:
            begin, end = np.rint(axes.x([recent.first - 0.5, recent.last + 0.5])).tolist()
            pen.rectangle((min(begin, RIGHT - 4), axes.top, min(max(end, begin + 4), RIGHT), axes.bottom), SHADE)
        _draw_axes(pen, axes, title, most=5 if place == 0 else 2, numbered=place % 2 == 1)
        if history.rounds and place % 2 == 0:
            _draw_means(pen, axes, history, colours, recent=place == 0)
        elif history.rounds:
            columns, rows = axes.columns(history.rounds)
            heights = axes.y(history.regret[rows] - history.regret_until(axes.first - 1))
            pen.line(list(zip(columns.tolist(), heights.tolist(), strict=True)), INK, 2)
    return np.array(image)


def _text(pen: Any, x: float, y: float, text: str, anchor: str = "lm", size: int = SMALL) -> None:
    """Write a line at a point: of its left, middle or right end (l, m, r) and of its middle height."""
    pen.text((x, y), text, INK, font=_font(size), anchor=anchor)


@lru_cache(maxsize=2)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _draw_headline(pen: Any, history: EpisodeHistory) -> None:
    def precise(value: float, decimals: int = 3) -> str:
        return f"{value:,.{decimals}f}" if abs(value) < 1e9 else f"{value:.3g}"

    n, head = history.rounds, f"round {history.rounds:,} of {len(history.means):,}"
    if n == 0:
        _text(pen, 16, 18, f"{head}: nothing has been played yet", size=LARGE)
        return
    arm, best, mu = history.last_round()
    regret = f"regret {precise(mu[best] - mu[arm])}, {precise(history.regret[n - 1], 1)} so far"
    _text(pen, 16, 18, f"{head}: {regret}", size=LARGE)
    played = f"{arm_in_words(arm)} was played, mean {precise(mu[arm])}"
    _text(pen, 16, 40, f"{played}; {arm_in_words(best)} was best, mean {precise(mu[best])}", size=LARGE)


def _draw_axes(pen: Any, axes: Axes, title: str, most: int, numbered: bool) -> None:
    """The title, the lines and the numbers of a panel; rounds are numbered below the lower panel of two."""
    _text(pen, LEFT, axes.top - 15, title)
    for value in ticks(axes.low, axes.high, most):
        y = round(float(axes.y(value)))
        pen.line((LEFT, y, RIGHT, y), FAINT)
        _text(pen, LEFT - 8, y, f"{value:,.7g}" if abs(value) < 1e7 else f"{value:.3g}", "rm")
    room = DIGIT * len(f"{axes.last:,}") + 24
    for value in ticks(axes.first, axes.last, (RIGHT - LEFT) // room, whole=True):
        x = round(float(axes.x(value)))
        pen.line((x, axes.bottom, x, axes.bottom + 4), FAINT)
        if numbered:
            _text(pen, x, axes.bottom + 17, f"{value:,.0f}", "mm")
    if numbered:
        _text(pen, RIGHT + 45, axes.bottom + 17, "round")


def _draw_means(pen: Any, axes: Axes, history: EpisodeHistory, colours: dict[int, Colour], recent: bool) -> None:
    """The means of the arms, grey ones below coloured ones; with recent ones also dots and the legend."""
    columns, rows = axes.columns(history.rounds)
    means, x = history.means[rows], columns.tolist()
    for heights in axes.y(np.delete(means, list(colours), axis=1)).T:
        pen.point(list(zip(x, heights.tolist(), strict=True)), CROWD)
    if recent:
        played = np.arange(axes.first - 1, history.rounds)
        centres = axes.x(played + 1).tolist(), axes.y(history.means[played, history.arms[played]]).tolist()
        for centre in zip(*centres, strict=True):  # beneath the curves, so that the arm's colour can still be seen
            _dot(pen, *centre, 5 if axes.cell > 12 else 3)
    for arm, colour in colours.items():
        pen.line(list(zip(x, axes.y(means[:, arm]).tolist(), strict=True)), colour, 2 if recent else 1)
    if recent:
        arm, best, _ = history.last_round()
        for line, (each, colour) in enumerate(colours.items()):
            y = axes.top + 8 + 20 * line
            if each == arm:
                _dot(pen, RIGHT + 16, y, 5)
            pen.line((RIGHT + 8, y, RIGHT + 24, y), colour, 4)
            _text(pen, RIGHT + 30, y, arm_in_words(each) + (", best" if each == best else ""))


def _dot(pen: Any, x: float, y: float, radius: int) -> None:
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), INK)
