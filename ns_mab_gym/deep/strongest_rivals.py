"""Which agents of the zoo do best on a world: those that a trained model has to be compared with.

Every agent is tuned on instances of the world, and judged on others; neither are those of an evaluation. So the choice
of the strongest rivals flatters nobody: what they come to is measured anew, on runs that had no part in choosing them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gymnasium as gym

from ..choosing.best_parameters import tune
from ..choosing.spaces import SPACES
from ..experiments.study import WorldEntry
from .rivals import TUNING_SEED, rivals_of

__all__ = ["Placed", "strongest", "zoo_race"]


class Placed(NamedTuple):
    """What an agent of the zoo came to in a race.

    Attributes:
        agent: its name.
        tuned: its mean regret with the parameters that were found.
        untuned: the same with those of its own formula; None if it has none.
        parameters: those that were found; empty if its formula was best.
    """

    agent: str
    tuned: float
    untuned: float | None
    parameters: dict[str, Any]


def zoo_race(
    world: WorldEntry, env: gym.Env[Any, Any], runs: int, agents: Sequence[str] = tuple(SPACES)
) -> list[Placed]:
    """All agents that can be tuned and that can play a world, the least regret first.

    Args:
        world: the world.
        env: an environment of it.
        runs: how many runs the tuning of each may take.
        agents: their names.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that some of them do not learn this world is what the race shows
        placed = [_placed(name, env, runs) for name in _able(world, agents)]
    return sorted(placed, key=lambda each: each.tuned)


def _able(world: WorldEntry, agents: Sequence[str]) -> Iterator[str]:
    for name in agents:
        try:
            rivals_of(world, [name])
        except ValueError:
            continue  # it cannot play such rewards, or such a world
        yield name


def _placed(name: str, env: gym.Env[Any, Any], runs: int) -> Placed:
    found = tune(env, name, runs=runs, seed=TUNING_SEED)
    by_formula = found.formula.regret.mean if found.formula is not None else None
    tuned = found.regret.mean
    return Placed(name, tuned, tuned if not found.parameters else by_formula, found.parameters)


def strongest(race: Sequence[Placed], count: int) -> list[str]:
    """The names of the best when tuned, so many, and of the best without, if it is none of them."""
    best = [each.agent for each in race[:count]]
    untuned = min(
        (each for each in race if each.untuned is not None), key=lambda each: each.untuned or 0.0, default=None
    )
    return best if untuned is None or untuned.agent in best else [*best, untuned.agent]
