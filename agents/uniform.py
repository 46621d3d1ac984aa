"""An agent that knows nothing and learns nothing: the weakest reference for every comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .core.admission import admissible
from .core.kernel import BoolArray, IntArray, rule
from .core.protocol import Agent

__all__ = ["Random"]


class RandomState(NamedTuple):
    """The number of rounds, the only thing that this agent keeps."""

    rounds: IntArray  # (1,) observed


def act(state: RandomState, mask: BoolArray, rng: np.random.Generator) -> int:
    """A uniformly random one of the available arms."""
    available = 0
    for i in range(mask.size):
        available += mask[i]
    place = rng.integers(0, available)
    for i in range(mask.size):
        if mask[i]:
            if place == 0:
                return i
            place -= 1
    return -1


def observe(state: RandomState, arm: int, reward: float) -> None:
    """Count the round and ignore the reward."""
    state.rounds[0] += 1


admissible(RandomState)
rule(RandomState, act, observe)


@dataclass(eq=False)
class Random(Agent):
    """A uniformly random arm in every round.

    Source:
        None; an agent that learns nothing, for comparison.
    Rule:
        Play each available arm with the same probability.
    Tuning:
        None.
    Knowledge:
        None.
    Deviations:
        None.

    >>> agent = Random(3)
    >>> agent.reset(seed=1)
    >>> [agent.act() for _ in range(8)]
    [1, 1, 2, 2, 0, 0, 2, 2]
    """

    name: ClassVar[str] = "random"

    def _new_state(self) -> RandomState:
        return RandomState(np.zeros(1, np.int64))
