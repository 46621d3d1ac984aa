"""Search of a space by racing: a coarse grid first, then the neighbourhood of the best; or an optimiser's proposals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agents.core.arguments import choice, shown
from ..agents.core.registry import check_parameters, kind
from .race import Candidate, Race

SCALES = ("log", "linear", "memory")  # memory: 1/(1 − value) on a log scale, for discounts close to 1
RATIO = 1.6  # between neighbours of a one-dimensional grid on a log scale
LINEAR_POINTS, LOG_POINTS = 9, 20  # the most values of a one-dimensional grid
MOST_POINTS = 60  # of a product grid; where it would be coarser than COARSEST, an optimiser takes over
COARSEST = 4  # values of each parameter
COARSE = 0.5  # the share of what a search may spend that the first generation gets
KEPT = 3  # candidates around which the grid is refined
HALVINGS = {1: 2, 2: 3}  # number of ranges: how often the steps of the grid are halved
FEWEST_VALUES = 3  # of a range, in a grid that the budget makes thin
FIRST_PROPOSALS, PROPOSALS, GENERATIONS = 24, 10, 4


@dataclass(frozen=True)
class Choices:
    """Values of a parameter, all of which are tried."""

    values: tuple[Any, ...]

    def coarse(self, points: int) -> list[Any]:
        """Return the values, or this number of them, evenly spread over the list."""
        places = np.linspace(0, len(self.values) - 1, min(points, len(self.values)))
        return [self.values[i] for i in sorted({round(place) for place in places})]

    def at(self, place: int) -> Any:
        """Return the value at a place of the list."""
        return self.values[place]


@dataclass(frozen=True)
class Range:
    """A parameter between two ends, both included; whole numbers only if both ends are ints."""

    low: float
    high: float
    scale: str = "log"

    def position(self, value: float) -> float:
        """Return the position of a value on the scale on which the grid is even; infinite at the end of the scale.

        That is where a formula may put a value that no grid has, such as a discount of 1 where nothing changes.
        """
        if self.scale == "linear":
            return float(value)
        if self.scale == "log":
            return math.log(value) if value > 0 else -math.inf
        return -math.log(1 - value) if value < 1 else math.inf

    def at(self, position: float) -> Any:
        """Return the value at a position, within the ends."""
        if self.scale == "linear":
            raw = position
        else:
            raw = math.exp(position) if self.scale == "log" else 1 - math.exp(-position)
        raw = min(max(raw, self.low), self.high)
        return round(raw) if isinstance(self.low, int) and isinstance(self.high, int) else float(raw)

    @property
    def length(self) -> float:
        """The distance between the positions of the ends."""
        return self.position(self.high) - self.position(self.low)

    def natural_points(self) -> int:
        """Return the number of values of a one-dimensional grid."""
        if self.scale == "linear":
            return LINEAR_POINTS
        return min(max(2, math.ceil(self.length / math.log(RATIO)) + 1), LOG_POINTS)

    def coarse(self, points: int) -> list[Any]:
        """Return an even grid of this number of values, each once; the one in the middle if it is 1."""
        low, high = self.position(self.low), self.position(self.high)
        places = np.linspace(low, high, points) if points > 1 else [(low + high) / 2]
        return list(dict.fromkeys(self.at(float(each)) for each in places))

    def between(self, value: Any, step: float) -> list[Any]:
        """Return the values half a step below and above, where ``step`` is a distance between positions."""
        here = self.position(value)
        return [other for other in (self.at(here - step / 2), self.at(here + step / 2)) if other != value]


Dimension = Choices | Range
Space = dict[str, Dimension]
Described = Callable[[int, int], Space]  # from T and K
Grid = tuple[list[dict[str, Any]], dict[str, float]]  # points, and the steps of the ranges


def _window(horizon: int, n_arms: int) -> Range:
    return Range(min(max(20, n_arms), horizon), horizon)


def _discount(horizon: int, n_arms: int) -> Range:
    shortest = max(20, n_arms)
    return Range(1 - 1 / shortest, 1 - 1 / max(4 * shortest, 4 * horizon), "memory")


def _drift(horizon: int) -> Range:
    """Walks that wander in an episode from 0.005 to 10."""
    return Range(0.005 / math.sqrt(horizon), 10 / math.sqrt(horizon))


XI = Range(0.02, 2.0)
DESCENT, LEAST = Range(1e-5, 0.1), Range(0.5, 0.999, "memory")  # of gradient descent on the factor of forgetting
DELTA = Range(1e-12, 0.3)
RATE = Range(1e-4, 0.5)
STEP = Range(2e-3, 1.0)
CUSUM: Space = {"threshold": Range(1.0, 100.0), "alpha": RATE, "epsilon": Range(0.01, 0.3), "xi": XI}

# agent: its space, from T and K.
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
    "d-ucb": lambda t, k: {"gamma": _discount(t, k), "xi": Range(XI.low / 4, XI.high)},  # its bounds have 4 ξ
    "d-ts": lambda t, k: {"gamma": _discount(t, k)},
    "ds-ts": lambda t, k: {"gamma": _discount(t, k), "subgaussian": Range(0.05, 1.0)},
    "faded-index": lambda t, k: {"gamma": _discount(t, k), "width": Range(0.02, 2.0)},
    "aff-ucb": lambda t, k: {"step": DESCENT, "least": LEAST, "delta": Range(1e-4, 0.5)},
    "aff-ts": lambda t, k: {"step": DESCENT, "least": LEAST},
    "r-less-ucb": lambda t, k: {"epsilon": Range(0.02, 0.49, "linear"), "alpha": Range(0.01, 4.0)},
    "raw-ucb": lambda t, k: {"alpha": Range(0.01, 4.0)},
    "fewa": lambda t, k: {"alpha": Range(0.01, 4.0)},
    "cusum-ucb": lambda t, k: dict(CUSUM),
    "pht-ucb": lambda t, k: dict(CUSUM),
    "glr-klucb": lambda t, k: {"delta": DELTA, "rate": RATE},
    "m-ucb": lambda t, k: {
        "samples": Choices(tuple(2 * w for w in (5, 10, 25, 50, 100, 200))), "threshold": Range(2.0, 200.0),
        "gamma": Range(RATE.low, 1.0), "xi": XI,
    },
    "br-mab": lambda t, k: {"threshold": Range(1.0, 100.0), "alpha": RATE, "xi": XI},
    "kalman-ucb": lambda t, k: {"drift": _drift(t), "width": Range(0.25, 4.0)},
    "kalman-ts": lambda t, k: {"drift": _drift(t)},
    "predictive-sampling": lambda t, k: {"phi": _discount(t, k)},
    "changepoint-ucb": lambda t, k: {"width": Range(0.3, 3.0), "growth": Range(0.1, 3.0)},
    "switching-ts": lambda t, k: {"hazard": Range(min(0.1 / t, 0.01), 0.1)},
    "active-ptw": lambda t, k: {"split": Range(0.02, 0.98, "linear")},
    "dsw-ts": lambda t, k: {"gamma": _discount(t, k), "window": _window(t, k)},
    "sw-lb-sda": lambda t, k: {"window": _window(t, k)},
    "glr-ts": lambda t, k: {"delta": DELTA, "rate": RATE},
    "adr-ts": lambda t, k: {"delta": Range(min(1e-15, 1 / t**3), 0.5)},
    "restarting": lambda t, k: {"rate": RATE},
    "floor": lambda t, k: {"share": Range(1e-3 / k, 1.0 / k)},
    "master": lambda t, k: {"c": Range(0.02, 2.0), "tolerance": Range(1e-3, 1.0)},
    "bandit-over-windows": lambda t, k: {"block": _window(t, k)},
    "epsilon-greedy": lambda t, k: {"epsilon": Range(1e-3, 0.5), "step": STEP},
    "softmax": lambda t, k: {"temperature": Range(5e-3, 1.0), "step": STEP},
    "gradient-bandit": lambda t, k: {"step": Range(2e-3, 10.0)},
    "explore-then-commit": lambda t, k: {"m": Range(1, max(1, t // k))},
    "exp3-ix": lambda t, k: {"eta": Range(1e-4, 1.0)},
    "tsallis-inf": lambda t, k: {"rate": Range(0.1, 100.0), "estimator": Choices(("rv", "iw"))},
}  # fmt: skip

# agent: why there is nothing to tune.
UNTUNED = {
    "ts": "it remembers everything and explores by its posterior alone",
    "random": "it plays any arm with the same probability",
    "oracle": "it knows the means",
    "oracle-restart": "it knows when the means change",
}


# The agent to start with: `recommend` always plays and judges it, told T, K and the law of rewards alone.
START = "changepoint-ucb"
# The agents that `recommend` tries, and of equally good and equally simple ones names the first; REAL_VALUED too, where
# rewards are not 0 or 1; and those of them for which it searches another space than the default one.
ADVISED = (
    *(START, "beta-swts", "gamma-swgts", "sw-ucb", "d-ts", "switching-ts", "glr-ts", "adr-ts", "active-ptw"),
    *("ts", "kl-ucb", "ucb1", "predictive-sampling"),
)
REAL_VALUED = ("sw-lb-sda", "ds-ts", "raw-ucb", "fewa")
NARROWED: dict[str, Described] = {
    START: lambda t, k: {},
    "sw-ucb": lambda t, k: SPACES["sw-ucb"](t, k) | {"xi": Choices((0.1, 0.6))},
    "glr-ts": lambda t, k: {"rate": Range(1e-4, 0.1)},
    "active-ptw": lambda t, k: {"split": Choices((0.1, 0.5))},
    "kl-ucb": lambda t, k: {"c": Choices((0.0,))},
    "ds-ts": lambda t, k: SPACES["ds-ts"](t, k) | {"subgaussian": Choices((0.1, 0.3))},
}
POINTS = {"window": 10, "gamma": 8, "phi": 6, "hazard": 6, "delta": 4, "rate": 4, "xi": 4}  # of its first grid
# Parameters that measure rewards, of agents that are not told λ beside them: the power of λ with which they grow. Their
# ranges are for λ = ½, rewards in [0, 1].
POWERS: dict[str, dict[str, int]] = {
    "ds-ts": {"subgaussian": 1}, "kalman-ucb": {"drift": 1}, "kalman-ts": {"drift": 1}, "softmax": {"temperature": 1},
    "gradient-bandit": {"step": -1}, "cusum-ucb": {"xi": 2}, "pht-ucb": {"xi": 2},
    "m-ucb": {"xi": 2}, "br-mab": {"xi": 2},
}  # fmt: skip


def default_space(agent: Any, horizon: int | None, n_arms: int, subgaussian: float = 0.5) -> Space:
    """Return the space that is searched by default for an agent; raises a ValueError if there is none.

    Args:
        agent: its name or class.
        horizon: T.
        n_arms: K.
        subgaussian: λ of the rewards.
    """
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
    return _scaled(name, SPACES[name](horizon, n_arms), subgaussian)


def advised_space(name: str, horizon: int, n_arms: int, subgaussian: float = 0.5) -> Space:
    """Return the space of an agent that `recommend` searches; an empty one if there is nothing to tune."""
    if name in NARROWED:
        return _scaled(name, NARROWED[name](horizon, n_arms), subgaussian)
    return {} if name in UNTUNED else default_space(name, horizon, n_arms, subgaussian)


def _scaled(agent: str, space: Space, subgaussian: float) -> Space:
    """Return an agent's space for rewards of another λ than ½."""
    made = dict(space)
    for name, power in POWERS.get(agent, {}).items():
        factor = (2 * subgaussian) ** power
        if isinstance(values := space.get(name), Range) and factor != 1:
            made[name] = Range(factor * values.low, factor * values.high, values.scale)
        elif isinstance(values, Choices) and factor != 1:
            made[name] = Choices(tuple(factor * each for each in values.values))
    return made


def read_space(agent: Any, given: Mapping[str, Any]) -> Space:
    """Read the user's space: of each parameter a list of values, or (low, high), or (low, high, scale)."""
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"space must name at least one parameter, as in {{'window': (10, 1000)}}; got {shown(given)}")
    check_parameters(f"agent {agent!r}" if isinstance(agent, str) else agent.__name__, kind(agent), given)
    return {name: _dimension(name, values) for name, values in given.items()}


def _dimension(name: str, given: Any) -> Dimension:
    if isinstance(given, Choices | Range):
        return given
    if isinstance(given, tuple) and len(given) in (2, 3):
        low, high, *scale = (each.item() if isinstance(each, np.generic) else each for each in given)
        if all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high)):
            return _range(name, low, high, *scale)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"space of {name} must be a list of values, or (low, high) or (low, high, scale); got {shown(given)}"
        )
    values = tuple(dict.fromkeys(each.item() if isinstance(each, np.generic) else each for each in given))
    if not values:
        raise ValueError(f"space of {name} is empty; give at least one value")
    return Choices(values)


def _range(name: str, low: float, high: float, scale: str | None = None) -> Range:
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


def grid_points(space: Space) -> int | None:
    """Return the number of values of each range in a product grid of at most 60 points; None if they are below 4."""
    fixed = math.prod(len(each.values) for each in space.values() if isinstance(each, Choices))
    ranges = sum(isinstance(each, Range) for each in space.values())
    points = math.floor((MOST_POINTS / fixed) ** (1 / ranges) + 1e-9) if ranges else 0
    return points if points >= COARSEST or not ranges else None


def grid(space: Space) -> Grid:
    """Return the points of a product grid of at most 60, and the distance between neighbours of each range."""
    most = grid_points(space) or 1
    counts = {
        name: min(most, each.natural_points()) if isinstance(each, Range) else len(each.values)
        for name, each in space.items()
    }
    return product_grid(space, counts)


def coarse_grid(space: Space, share: float) -> Grid:
    """Return a share of the first grid of `recommend`, and the distance between neighbours of each range."""
    full = {name: POINTS.get(name, 4) if isinstance(each, Range) else len(each.values) for name, each in space.items()}
    return product_grid(space, {name: max(1, math.ceil(share * count)) for name, count in full.items()})


def product_grid(space: Space, counts: Mapping[str, int]) -> Grid:
    """Return the product of grids with these numbers of values, and the distance between neighbours of each range."""
    steps = {name: each.length / max(counts[name] - 1, 1) for name, each in space.items() if isinstance(each, Range)}
    axes = (each.coarse(counts[name]) for name, each in space.items())
    return [dict(zip(space, values, strict=True)) for values in itertools.product(*axes)], steps


def neighbours(space: Space, point: Mapping[str, Any], steps: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the points half a step away from a point, in one parameter each."""
    ranges = ((name, each) for name, each in space.items() if name in steps and isinstance(each, Range))
    return [{**point, name: near} for name, each in ranges for near in each.between(point[name], steps[name])]


def nearly_equal(space: Space, one: Mapping[str, Any], other: Mapping[str, Any], steps: Mapping[str, float]) -> bool:
    """Return True if two points differ by less than a fifth of a step in each range, and in nothing else."""
    if one.keys() != other.keys():
        return False
    for name in (each for each in one if one[each] != other[each]):
        each = space.get(name)
        if not isinstance(each, Range) or abs(each.position(one[name]) - each.position(other[name])) >= steps[name] / 5:
            return False
    return True


def search(
    race: Race, agent: Any, space: Space, fixed: Mapping[str, Any], start: Sequence[Candidate], floor: float, seed: int
) -> None:
    """Search a space for the best parameters of an agent; the race's leader is the answer.

    Args:
        race: a race that nobody has entered yet.
        agent: the agent, by name or class.
        space: the space of its parameters.
        fixed: parameters that are not searched.
        start: candidates that are tried in any case, such as those of formulas.
        floor: the part of the budget that must be left at the end.
        seed: of the optimiser.
    """
    if grid_points(space) is None:
        _propose(race, agent, space, fixed, start, floor, seed)
        return
    share = COARSE * (race.budget.left - floor)
    price = race.budget.price(race.evaluator.seconds(Candidate.of(agent, fixed)))
    points, steps = grid(space)  # thinned until there are two runs for each point; three values of each range stay
    count = max((each.natural_points() for each in space.values() if isinstance(each, Range)), default=0)
    while 2 * len(points) * price > share and count > FEWEST_VALUES:
        count = max(FEWEST_VALUES, count // 2)
        points, steps = product_grid(space, dict.fromkeys(space, count))
    race.enter([*start, *(Candidate.of(agent, {**point, **fixed}) for point in points)])
    race.narrow(race.budget.left - share if steps else floor, keep=KEPT if steps else 1)
    if steps:
        refine(race, {agent: space}, {agent: steps}, floor, HALVINGS.get(len(steps), 3))


def refine(
    race: Race, spaces: Mapping[Any, Space], steps: Mapping[Any, Mapping[str, float]], floor: float, halvings: int
) -> None:
    """Halve the steps of the grids again and again, around the best candidates only, and race to the end.

    Args:
        race: a race that a coarse grid has gone through.
        spaces: the space of each agent.
        steps: of each agent, the distance between neighbours in its coarse grid.
        floor: the part of the budget that must be left at the end.
        halvings: the number of times that the steps are halved.
    """
    for done in range(halvings):
        if race.budget.left <= floor:
            return
        shrunk = {agent: {name: step / 2**done for name, step in its.items()} for agent, its in steps.items()}
        race.enter(_around(race, spaces, shrunk))
        share = 1 / (halvings - done)
        race.narrow(race.budget.left - share * (race.budget.left - floor), keep=1 if share == 1 else KEPT)


def _around(race: Race, spaces: Mapping[Any, Space], steps: Mapping[Any, Mapping[str, float]]) -> list[Candidate]:
    """Return the neighbours of the best candidates, without those that nearly equal one that was tried."""
    found: list[Candidate] = []
    for best in race.ranked()[:KEPT]:
        its = {name: step for name, step in steps.get(best.agent, {}).items() if name in best.kwargs}
        for point in neighbours(spaces[best.agent], best.kwargs, its) if its else ():
            tried = [each.kwargs for each in [*race.finals, *found] if each.agent == best.agent]
            if not any(nearly_equal(spaces[best.agent], point, each, its) for each in tried):
                found.append(Candidate.of(best.agent, point))
    return found


def _propose(
    race: Race, agent: Any, space: Space, fixed: Mapping[str, Any], start: Sequence[Candidate], floor: float, seed: int
) -> None:
    """Race what an optimiser proposes, which learns from the regrets; of each range, it sees positions."""
    try:
        import optuna
    except ImportError:
        raise ImportError(
            f"searching {', '.join(space)} together needs Optuna: pip install 'ns-mab-gym[tune]'; "
            f"or give space= with one or two of them"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed % 2**32))
    where: dict[str, Any] = {
        name: optuna.distributions.IntDistribution(0, len(each.values) - 1)
        if isinstance(each, Choices)
        else optuna.distributions.FloatDistribution(each.position(each.low), each.position(each.high))
        for name, each in space.items()
    }
    race.enter(start)
    price = race.budget.price(race.evaluator.seconds(Candidate.of(agent, fixed)))
    affordable = COARSE * (race.budget.left - floor) / (2 * price) if price else FIRST_PROPOSALS  # with two runs each
    for generation in range(1 + GENERATIONS):
        new = {}
        count = PROPOSALS if generation else max(FEWEST_VALUES, min(FIRST_PROPOSALS, math.floor(affordable)))
        for trial in [study.ask(where) for _ in range(count)]:
            point = {name: space[name].at(place) for name, place in trial.params.items()}
            new[Candidate.of(agent, {**point, **fixed})] = trial
        race.enter(list(new))
        share = COARSE if generation == 0 else 1 / (1 + GENERATIONS - generation)
        race.narrow(race.budget.left - share * (race.budget.left - floor), keep=1 if share == 1 else KEPT)
        for candidate, trial in new.items():
            if candidate in race.finals:  # else there was no budget to try it
                study.tell(trial, float(race.finals[candidate][: race.first].mean()))
