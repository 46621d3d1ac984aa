"""Which parameters of each agent are worth searching, and where, given T and K."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agents.core.arguments import choice, shown
from ..agents.core.zoo import check_parameters, kind

__all__ = ["SCALES", "SPACES", "UNTUNED", "Choices", "Dimension", "Range", "default_space", "grid", "read_space"]

SCALES = ("log", "linear", "memory")  # memory: 1/(1 − value) on a log scale, for discounts close to 1
RATIO = 1.6  # between neighbours of a one-dimensional grid on a log scale
LINEAR_POINTS, LOG_POINTS = 9, 20  # the most values of a one-dimensional grid
MOST_POINTS = 60  # of a product grid; where it would be coarser than COARSEST, an optimiser takes over
COARSEST = 4  # values of each parameter


@dataclass(frozen=True)
class Choices:
    """Values of a parameter, all of which are tried."""

    values: tuple[Any, ...]

    def coarse(self, points: int | None) -> list[Any]:
        """The values, or so many of them, evenly spread over the list."""
        if points is None or points >= len(self.values):
            return list(self.values)
        return [self.values[i] for i in sorted({round(p) for p in np.linspace(0, len(self.values) - 1, points)})]

    def between(self, value: Any, step: float) -> list[Any]:
        """Nothing: only the given values are tried."""
        return []


@dataclass(frozen=True)
class Range:
    """A parameter between two ends, both included; whole numbers only if both ends are ints."""

    low: float
    high: float
    scale: str = "log"

    @property
    def whole(self) -> bool:
        """Whether values are rounded to integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def position(self, value: float) -> float:
        """Where a value lies on the scale on which the grid is even."""
        if self.scale == "linear":
            return float(value)
        return math.log(value) if self.scale == "log" else -math.log(1 - value)

    def value(self, position: float) -> Any:
        """The value at a position, within the ends."""
        if self.scale == "linear":
            raw = position
        else:
            raw = math.exp(position) if self.scale == "log" else 1 - math.exp(-position)
        raw = min(max(raw, self.low), self.high)
        return round(raw) if self.whole else float(raw)

    @property
    def length(self) -> float:
        """The distance between the positions of the ends."""
        return self.position(self.high) - self.position(self.low)

    def natural_points(self) -> int:
        """How many values a one-dimensional grid has."""
        if self.scale == "linear":
            return LINEAR_POINTS
        return min(max(2, math.ceil(self.length / math.log(RATIO)) + 1), LOG_POINTS)

    def coarse(self, points: int | None) -> list[Any]:
        """An even grid of so many values, as many as suit one dimension if None; each once."""
        count = points or self.natural_points()
        at = np.linspace(self.position(self.low), self.position(self.high), count)
        if count == 1:
            at = np.array([(self.position(self.low) + self.position(self.high)) / 2])
        return list(dict.fromkeys(self.value(float(each)) for each in at))

    def between(self, value: Any, step: float) -> list[Any]:
        """The values half a step below and above, where ``step`` is a distance between positions."""
        here = self.position(value)
        return [other for other in (self.value(here - step / 2), self.value(here + step / 2)) if other != value]


Dimension = Choices | Range
Space = dict[str, Dimension]
Described = Callable[[int, int], Space]  # from T and K


def _window(horizon: int, n_arms: int) -> Range:
    return Range(min(max(20, n_arms), horizon), horizon)


def _discount(horizon: int, n_arms: int) -> Range:
    shortest = max(20, n_arms)
    return Range(1 - 1 / shortest, 1 - 1 / max(4 * shortest, 4 * horizon), "memory")


def _hazard(horizon: int) -> Range:
    return Range(min(0.1 / horizon, 0.01), 0.1)


XI = Range(0.02, 2.0)
DELTA = Range(1e-12, 0.3)
RATE = Range(1e-4, 0.5)

# agent: from T and K to what is searched.
SPACES: dict[str, Described] = {
    "beta-swts": lambda t, k: {"window": _window(t, k)},
    "gamma-swgts": lambda t, k: {"window": _window(t, k)},
    "sw-ucb": lambda t, k: {"window": _window(t, k), "xi": XI},
    "kl-ucb": lambda t, k: {"c": Choices((0.0, 0.5, 1.0, 2.0, 3.0))},
    "sw-kl-ucb": lambda t, k: {"window": _window(t, k), "c": Choices((0.0, 1.0, 3.0))},
    "rexp3": lambda t, k: {"batch": _window(t, k)},
    "ser4": lambda t, k: {"phi": Range(0.1 / t, 0.1), "factor": Range(0.1, 2.0)},
    "ucb1": lambda t, k: {"xi": Range(0.02, 4.0)},
    "exp3": lambda t, k: {"gamma": Range(1e-3, 1.0)},
    "exp3s": lambda t, k: {"gamma": Range(1e-3, 1.0), "alpha": Range(0.1 / t, 0.1)},
    "d-ucb": lambda t, k: {"gamma": _discount(t, k), "xi": Range(XI.low / 4, XI.high / 4)},  # its bounds have 4 ξ
    "d-ts": lambda t, k: {"gamma": _discount(t, k)},
    "ds-ts": lambda t, k: {"gamma": _discount(t, k), "scale": Range(0.05, 1.0)},
    "r-less-ucb": lambda t, k: {"epsilon": Range(0.02, 0.49, "linear"), "alpha": Range(0.01, 4.0)},
    "raw-ucb": lambda t, k: {"alpha": Range(0.01, 4.0)},
    "fewa": lambda t, k: {"alpha": Range(0.01, 4.0)},
    "cusum-ucb": lambda t, k: {
        "threshold": Range(1.0, 100.0), "alpha": RATE, "epsilon": Range(0.01, 0.3), "xi": XI,
    },
    "pht-ucb": lambda t, k: {
        "threshold": Range(1.0, 100.0), "alpha": RATE, "epsilon": Range(0.01, 0.3), "xi": XI,
    },
    "glr-klucb": lambda t, k: {"delta": DELTA, "rate": RATE},
    "m-ucb": lambda t, k: {
        "samples": Choices(tuple(2 * w for w in (5, 10, 25, 50, 100, 200))), "threshold": Range(2.0, 200.0),
        "gamma": RATE, "xi": XI,
    },
    "br-mab": lambda t, k: {"threshold": Range(1.0, 100.0), "alpha": RATE, "xi": XI},
    "predictive-sampling": lambda t, k: {"phi": _discount(t, k)},
    "switching-ts": lambda t, k: {"hazard": _hazard(t)},
    "active-ptw": lambda t, k: {"split": Range(0.02, 0.98, "linear")},
    "dsw-ts": lambda t, k: {"gamma": _discount(t, k), "window": _window(t, k)},
    "sw-lb-sda": lambda t, k: {"window": _window(t, k)},
    "glr-ts": lambda t, k: {"delta": DELTA, "rate": RATE},
    "adr-ts": lambda t, k: {"delta": Range(1e-15, 0.5)},
    "restarting": lambda t, k: {"rate": RATE},
    "master": lambda t, k: {"c": Range(0.02, 2.0), "tolerance": Range(1e-3, 1.0)},
    "bandit-over-windows": lambda t, k: {"block": _window(t, k)},
}  # fmt: skip

# agent: why there is nothing to tune.
UNTUNED = {
    "ts": "it remembers everything and explores by its posterior alone",
    "random": "it plays any arm with the same probability",
    "oracle": "it knows the means",
    "oracle-restart": "it knows when the means change",
}


def default_space(agent: Any, horizon: int | None, n_arms: int) -> Space:
    """What is searched by default for an agent; raises a ValueError that says what to do if there is nothing."""
    name = next((each for each in SPACES.keys() | UNTUNED.keys() if agent in (each, kind(each))), None)
    title = agent if isinstance(agent, str) else getattr(agent, "__name__", repr(agent))
    if name in UNTUNED:
        raise ValueError(f"{name} has nothing to tune: {UNTUNED[name]}; tune another agent, such as 'beta-swts'")
    if name is None:
        raise ValueError(
            f"what to search is not known for {title}; say it with space={{'parameter': (low, high, 'log')}} or a list"
        )
    if horizon is None:
        raise ValueError(f"the environment does not tell its horizon; give space= with the values of {title} to search")
    return SPACES[name](horizon, n_arms)


def read_space(agent: Any, given: Mapping[str, Any]) -> Space:
    """The user's space: of each parameter a list of values, or (low, high), or (low, high, scale)."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"space must name at least one parameter, as in {{'window': (10, 1000)}}; got {shown(given)}")
    agent_kind = kind(agent) if isinstance(agent, str) else agent
    check_parameters(f"agent {agent!r}" if isinstance(agent, str) else agent_kind.__name__, agent_kind, given)
    return {name: _dimension(name, values) for name, values in given.items()}


def _dimension(name: str, given: Any) -> Dimension:
    if isinstance(given, Choices | Range):
        return given
    if isinstance(given, tuple) and len(given) in (2, 3) and all(_is_number(end) for end in given[:2]):
        return _range(name, *given)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"space of {name} must be a list of values, or (low, high) or (low, high, scale); got {shown(given)}"
        )
    values = tuple(dict.fromkeys(each.item() if isinstance(each, np.generic) else each for each in given))
    if not values:
        raise ValueError(f"space of {name} is empty; give at least one value")
    return Choices(values)


def _range(name: str, low: float, high: float, scale: str | None = None) -> Range:
    low, high = (end.item() if isinstance(end, np.generic) else end for end in (low, high))
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"space of {name}: the ends must be finite, got ({low}, {high})")
    if low > high:
        raise ValueError(f"space of {name}: low {low} is above high {high}; write (low, high)")
    scale = ("log" if low > 0 else "linear") if scale is None else choice(f"scale of {name}", scale, SCALES)
    if scale == "log" and low <= 0:
        raise ValueError(f"space of {name}: a log scale needs low above 0, got {low}; use 'linear'")
    if scale == "memory" and high >= 1:
        raise ValueError(f"space of {name}: scale 'memory' is for values below 1, got {high}; use 'log' or 'linear'")
    return Range(low, high, scale)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def fits_a_grid(space: Space) -> bool:
    """Whether a product grid of at most 60 points has at least 4 values in each range."""
    return _points(space) is not None


def _points(space: Space) -> int | None:
    """How many values of each range a product grid takes; None if that would be too few."""
    fixed = math.prod(len(each.values) for each in space.values() if isinstance(each, Choices))
    ranges = [each for each in space.values() if isinstance(each, Range)]
    if not ranges:
        return 0
    if len(ranges) == 1:
        points = MOST_POINTS // fixed if fixed > 1 else MOST_POINTS
    else:
        points = math.floor((MOST_POINTS / fixed) ** (1 / len(ranges)) + 1e-9)
    return points if points >= COARSEST else None


def grid(space: Space, points: int | None = None) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """The points of a product grid, and the distance between neighbours of each range on its scale.

    Args:
        space: what is searched.
        points: how many values each range has; chosen so that there are at most 60 points if not given.
    """
    most = points or _points(space)
    axes, steps = {}, {}
    for name, dimension in space.items():
        if isinstance(dimension, Choices):
            axes[name] = dimension.coarse(points)
            continue
        count = min(most or 1, dimension.natural_points()) if points is None else points
        axes[name] = dimension.coarse(count)
        steps[name] = dimension.length / max(count - 1, 1)
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())], steps


def neighbours(space: Space, point: Mapping[str, Any], steps: Mapping[str, float]) -> list[dict[str, Any]]:
    """The points half a step away from a point, in one parameter each."""
    return [{**point, name: value} for name, step in steps.items() for value in space[name].between(point[name], step)]


def nearly_equal(space: Space, one: Mapping[str, Any], other: Mapping[str, Any], steps: Mapping[str, float]) -> bool:
    """Whether two points differ by less than a fifth of a step in each range, and in nothing else."""
    return one.keys() == other.keys() and all(
        one[name] == other[name] or (name in steps and _distance(space[name], one[name], other[name]) < steps[name] / 5)
        for name in one
    )


def _distance(dimension: Dimension, one: Any, other: Any) -> float:
    assert isinstance(dimension, Range)
    return abs(dimension.position(one) - dimension.position(other))
