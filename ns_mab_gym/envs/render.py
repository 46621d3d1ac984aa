"""Renders an episode: one line of text per round, or a picture of what has been played so far, with Pillow.

A picture shows the past and nothing else: the true means up to the round just played, which the player never sees, the
arms played, and the regret. Of what is to come it shows the number of rounds, which the player knows too, as room that
is left blank, and how large means ever get, so that the axis does not move.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled

from ..agents.core.arguments import choice
from ..means import Floats, Ints

Colour = tuple[int, int, int]

NO_PILLOW = "pictures and windows need Pillow: pip install 'ns-mab-gym[render]'"

WIDTH, HEIGHT = 960, 640  # even, because video codecs require it
LEFT, RIGHT = 72, 740  # of every panel; numbers stand to the left, arms to the right
WINDOW = 300  # rounds that are shown one by one, each more than two pixels wide
NAMED = 10  # arms that have a colour and a place in the legend; of more arms, the others are grey
SMALL, LARGE = 12, 14  # sizes of texts
LONGEST = 14  # letters of an arm's name
INK, FAINT, CROWD, SHADE = (40, 40, 40), (226, 226, 226), (208, 208, 208), (250, 222, 150)
# Paul Tol's muted colours and a brown, distinguishable for colour-blind readers.
PALETTE: tuple[Colour, ...] = (
    (51, 34, 136), (92, 172, 216), (68, 170, 153), (17, 119, 51), (153, 153, 51),
    (205, 180, 80), (204, 102, 119), (136, 34, 85), (170, 68, 153), (120, 94, 70),
)  # fmt: skip


def render_modes() -> list[str]:
    """The render modes that this installation has: pictures need Pillow."""
    return ["ansi", "rgb_array"] if find_spec("PIL") else ["ansi"]


def check_mode(mode: str) -> None:
    """Raise an error that says what to do, if there is no such render mode."""
    if isinstance(mode, str) and mode in ("rgb_array", "human") and "rgb_array" not in render_modes():  # or an array
        raise DependencyNotInstalled(NO_PILLOW)
    if isinstance(mode, str) and mode == "human":
        raise ValueError('a window is shown by gym.make(…, render_mode="human"), around pictures of "rgb_array"')
    choice("render mode", mode, render_modes())


def arm_in_words(arm: int, names: Sequence[str] | None = None) -> str:
    """An arm by its name, else as people number it, from 1 as in the paper, and the action that plays it.

    >>> arm_in_words(2), arm_in_words(1, ["red", "green"])
    ('arm 3 (action 2)', 'green (action 1)')
    """
    name = (names[arm].strip() if names else "") or f"arm {arm + 1}"
    return f"{name if len(name) <= LONGEST else name[: LONGEST - 1] + '…'} (action {arm})"


def arm_names(world: Any) -> Sequence[str] | None:
    """The names of a world's arms, if it has any."""
    names: Sequence[str] | None = getattr(world, "arm_names", None)
    return names


def ansi_line(env: Any, t: int, played: tuple[int, float, int, float] | None, mu: Floats, total: float) -> str:
    """The round just played in one line: its arm, reward, best arm and regret; if none is yet, the world."""
    if played is None:
        return f"round {t:,} of {env.world.horizon:,}: world {env.world.name!r}, {env.world.n_arms} arms, {env.law!r}"
    arm, reward, best, regret = played
    names = arm_names(env.world)
    return (
        f"round {t:,}: {arm_in_words(arm, names)}, mean {mu[arm]:.3f}, gave {reward:g}; "
        f"best was {arm_in_words(best, names)}, mean {mu[best]:.3f}; regret {regret:.3f}, {total:,.1f} so far"
    )


class EpisodeHistory:
    """The part of an episode that a picture shows; the arms may have names."""

    def __init__(self, means: Floats, names: Sequence[str] | None = None) -> None:
        self.means, self.names, self.rounds = means, names, 0  # (T, K); rounds played
        self.arms = np.zeros(len(means), np.int64)  # (T,)
        self.regret = np.zeros(len(means) + 1)  # (T + 1,) cumulative, from 0 before the first round on
        high = float(means.max())  # rates of some per cent have an axis of their own
        self.range = min(0.0, float(means.min())), nice(high) if 0 < high < 0.5 else max(1.0, high)  # in all frames

    def add(self, arm: int, total_regret: float) -> None:
        """Add one round."""
        self.arms[self.rounds] = arm
        self.rounds += 1
        self.regret[self.rounds] = total_regret

    def last_round(self) -> tuple[int, int, Floats]:
        """The arm just played, the best one, and the means of the round."""
        mu = self.means[self.rounds - 1]
        return int(self.arms[self.rounds - 1]), int(mu.argmax()), mu

    def colours(self, first: int) -> dict[int, Colour]:
        """The arms of the legend: all if they are few, else the best, the one just played and the most played ones.

        Pulls count from the ``first`` round that is shown. The colours are all different; an arm keeps its own unless
        another one has taken it.
        """
        arm, best, _ = self.last_round()
        pulls = np.bincount(self.arms[first - 1 : self.rounds], minlength=self.means.shape[1])
        shown = list(dict.fromkeys([best, arm, *np.argsort(-pulls, kind="stable").tolist()]))[:NAMED]
        free, found = dict(enumerate(PALETTE)), {}
        for arm in sorted(shown):
            found[arm] = free.pop(arm % NAMED if arm % NAMED in free else min(free))
        return found


@dataclass(frozen=True)
class Axes:
    """A panel: a rectangle of pixels with an axis of rounds, each as wide as the others, and one of values."""

    title: str
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

    def columns(self, rounds: int) -> tuple[Ints, Ints]:
        """The columns of pixels up to a round, and the round that each shows."""
        pixels = np.arange(LEFT, min(RIGHT, math.ceil(LEFT + (rounds - self.first + 1) * self.cell)))
        return pixels, np.minimum(self.first + ((pixels - LEFT + 0.5) / self.cell).astype(np.int64), rounds)


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
    return [step * n for n in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def layout(history: EpisodeHistory) -> list[tuple[Axes, Axes]]:
    """Panels of means, each with one of regret: of the last rounds, and of the whole episode if it is longer."""
    horizon, n_arms = history.means.shape
    last = max(history.rounds, min(WINDOW, horizon))
    first = max(1, last - WINDOW + 1)

    def pair(titles: tuple[str, str], top: int, middle: int, bottom: int, first: int, last: int) -> tuple[Axes, Axes]:
        highest = nice(float(history.regret[history.rounds] - history.regret[first - 1]))
        means = Axes(titles[0], top, middle, first, last, *history.range)
        return means, Axes(titles[1], middle + 32, bottom, first, last, 0.0, highest)

    title = f"true means in rounds {first:,} to {last:,}; dots: the arm played"
    title += f"; grey: the other {n_arms - NAMED} arms" if n_arms > NAMED else ""
    if horizon <= WINDOW:
        return [pair((title, "regret so far"), 80, 460, 606, 1, horizon)]
    recent = pair((title, "regret in these rounds"), 80, 300, 384, first, last)
    titles = "true means of the episode so far; shaded: the rounds above", "regret of the episode so far"
    return [recent, pair(titles, 450, 512, 606, 1, horizon)]


def headline(history: EpisodeHistory) -> list[str]:
    """The round just played, in two lines."""

    def precise(value: float, decimals: int = 3) -> str:
        return f"{value:,.{decimals}f}" if abs(value) < 1e9 else f"{value:.3g}"

    head = f"round {history.rounds:,} of {len(history.means):,}"
    if history.rounds == 0:
        return [f"{head}: nothing has been played yet"]
    arm, best, mu = history.last_round()
    regret = f"regret {precise(mu[best] - mu[arm])}, {precise(history.regret[history.rounds], 1)} so far"
    played = f"{arm_in_words(arm, history.names)} was played, mean {precise(mu[arm])}"
    return [f"{head}: {regret}", f"{played}; {arm_in_words(best, history.names)} was best, mean {precise(mu[best])}"]


def draw_frame(history: EpisodeHistory) -> npt.NDArray[np.uint8]:
    """An RGB picture: the means and the arms played in the last rounds, the whole episode, and the regret so far."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise DependencyNotInstalled(NO_PILLOW) from None
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    pen = ImageDraw.Draw(image)
    pen.font = ImageFont.load_default(SMALL)
    for line, words in enumerate(headline(history)):
        pen.text((16, 18 + 22 * line), words, INK, font=ImageFont.load_default(LARGE), anchor="lm")
    pairs = layout(history)
    [recent, _], *longer = pairs
    for axes in (axes for pair in longer for axes in pair):
        begin, end = np.rint(axes.x([recent.first - 0.5, recent.last + 0.5])).tolist()
        pen.rectangle((min(begin, RIGHT - 4), axes.top, min(max(end, begin + 4), RIGHT), axes.bottom), SHADE)
    for means, regret in pairs:
        _draw_axes(pen, means, most=5 if means is recent else 2, numbered=False)
        _draw_axes(pen, regret, most=2, numbered=True)
        if history.rounds:
            _draw_means(pen, means, history, history.colours(recent.first), means is recent)
            x, rounds = regret.columns(history.rounds)
            pen.line(_path(x, regret.y(history.regret[rounds] - history.regret[regret.first - 1])), INK, 2)
    return np.array(image)


def _path(x: npt.ArrayLike, y: npt.ArrayLike) -> Any:
    return np.column_stack((x, y)).ravel().tolist()


def _draw_axes(pen: Any, axes: Axes, most: int, numbered: bool) -> None:
    """The title, the lines and the numbers of a panel; rounds are numbered below the lower panel of two."""
    pen.text((LEFT, axes.top - 15), axes.title, INK, anchor="lm")
    for value in ticks(axes.low, axes.high, most):
        y = round(float(axes.y(value)))
        pen.line((LEFT, y, RIGHT, y), FAINT)
        pen.text((LEFT - 8, y), f"{value:,.7g}" if abs(value) < 1e7 else f"{value:.3g}", INK, anchor="rm")
    for value in ticks(axes.first, axes.last, 7, whole=True):
        x = round(float(axes.x(value)))
        pen.line((x, axes.bottom, x, axes.bottom + 4), FAINT)
        if numbered:
            pen.text((x, axes.bottom + 17), f"{value:,.0f}", INK, anchor="mm")
    if numbered:
        pen.text((RIGHT + 45, axes.bottom + 17), "round", INK, anchor="lm")


def _draw_means(pen: Any, axes: Axes, history: EpisodeHistory, colours: dict[int, Colour], recent: bool) -> None:
    """The means of the arms, grey ones below coloured ones; with recent ones also dots and the legend."""
    x, rounds = axes.columns(history.rounds)
    heights, (arm, best, _) = axes.y(history.means[rounds - 1]), history.last_round()
    for others in np.delete(heights, list(colours), axis=1).T:
        pen.point(_path(x, others), CROWD)
    if recent:
        played = np.arange(axes.first - 1, history.rounds)
        dots = np.column_stack((axes.x(played + 1), axes.y(history.means[played, history.arms[played]])))
        for dot in dots.tolist():  # beneath the curves, so that the arm's colour can still be seen
            _draw_dot(pen, dot, 5 if axes.cell > 12 else 3)
    for line, (each, colour) in enumerate(colours.items()):
        pen.line(_path(x, heights[:, each]), colour, 2 if recent else 1)
        if recent:
            y = axes.top + 8 + 20 * line
            if each == arm:
                _draw_dot(pen, (RIGHT + 16, y), 5)
            pen.line((RIGHT + 8, y, RIGHT + 24, y), colour, 4)
            name = arm_in_words(each, history.names)
            pen.text((RIGHT + 30, y), f"{name}, best" if each == best else name, INK, anchor="lm")


def _draw_dot(pen: Any, centre: Sequence[float], radius: int) -> None:
    pen.ellipse([*np.subtract(centre, radius), *np.add(centre, radius)], INK)
