"""The two ends of every plot: an agent that knows nothing and one that knows everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .base import Agent
from .kernel import BoolArray, FloatArray, IntArray, rule
from .knowledge import Knowledge

__all__ = ["Oracle", "Random"]


class RandomState(NamedTuple):
    """Nothing but the number of rounds."""

    clock: IntArray  # (1,)


def act_random(state: RandomState, mask: BoolArray, rng: np.random.Generator) -> int:
    """A uniformly random arm of those available."""
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


def observe_random(state: RandomState, arm: int, reward: float) -> None:
    """Learn nothing."""
    state.clock[0] += 1


rule(RandomState, act_random, observe_random)


@dataclass(eq=False)
class Random(Agent):
    """A uniformly random arm in every round.

    Source:
        None; the lower end of every comparison.
    Rule:
        Play each available arm with the same probability.
    Tuning:
        None.
    Knowledge:
        None.
    Deviations:
        None.
    """

    name: ClassVar[str] = "random"

    def _new_state(self) -> RandomState:
        return RandomState(np.zeros(1, np.int64))


class OracleState(NamedTuple):
    """The means of all rounds, and the number of rounds acted in."""

    means: FloatArray  # (T, K)
    clock: IntArray  # (1,)


def act_oracle(state: OracleState, mask: BoolArray, rng: np.random.Generator) -> int:
    """The available arm with the largest mean of the round."""
    t = state.clock[0] if state.clock[0] < state.means.shape[0] else state.means.shape[0] - 1
    state.clock[0] += 1
    arm = -1
    for i in range(mask.size):
        if mask[i] and (arm < 0 or state.means[t, i] > state.means[t, arm]):
            arm = i
    return arm


def observe_oracle(state: OracleState, arm: int, reward: float) -> None:
    """Nothing is left to learn."""


rule(OracleState, act_oracle, observe_oracle)


@dataclass(eq=False)
class Oracle(Agent):
    """The best arm of every round: no regret.

    Source:
        None; the upper end of every comparison.
    Rule:
        Play i*(t), the first arm with the largest mean of round t; beyond the last round, that of the last.
    Tuning:
        None.
    Knowledge:
        The means of all rounds.
    Deviations:
        None.

    Attributes:
        means: the (T, K) matrix of means.
    """

    name: ClassVar[str] = "oracle"

    means: FloatArray = field(kw_only=True, repr=False)

    def _check(self) -> None:
        self.means = np.asarray(self.means, dtype=np.float64)
        if self.means.ndim != 2 or self.means.shape[1] != self.n_arms:
            raise ValueError(f"means must have shape (T, {self.n_arms}), got {self.means.shape}")
        self.means = self.means.view()
        self.means.setflags(write=False)

    def _new_state(self) -> OracleState:
        return OracleState(self.means, np.zeros(1, np.int64))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The means themselves."""
        return {} if "means" in given else {"means": knowledge.need(cls.name, "means")[0]}
