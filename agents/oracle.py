"""The best possible agent, which knows the means: a reference for every comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.admission import admissible
from .core.arguments import LARGEST
from .core.kernel import BoolArray, FloatArray, IntArray, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent

__all__ = ["Oracle"]


class OracleState(NamedTuple):
    """The means, and the number of rounds in which the agent has acted."""

    means: FloatArray  # (T, K)
    rounds: IntArray  # (1,) in which it has acted


def act(state: OracleState, mask: BoolArray, rng: np.random.Generator) -> int:
    """The available arm with the largest mean of the round."""
    t = state.rounds[0] if state.rounds[0] < state.means.shape[0] else state.means.shape[0] - 1
    state.rounds[0] += 1
    arm = -1
    for i in range(mask.size):
        if mask[i] and (arm < 0 or state.means[t, i] > state.means[t, arm]):
            arm = i
    return arm


def observe(state: OracleState, arm: int, reward: float) -> None:
    """Do nothing: the agent knows the means already."""


admissible(OracleState)
rule(OracleState, act, observe)


@dataclass(eq=False)
class Oracle(Agent):
    """The best arm of every round: no regret.

    Source:
        None; the best that any agent can do, for comparison.
    Rule:
        Play i*(t), the first arm with the largest mean of round t; beyond the last round, the best arm of the last.
    Tuning:
        None.
    Knowledge:
        The means of all rounds.
    Deviations:
        None.

    >>> agent = Oracle(2, means=[[0.1, 0.9], [0.8, 0.2]])
    >>> agent.act(), agent.act()
    (1, 0)

    Attributes:
        means: the (T, K) matrix of means.
    """

    name: ClassVar[str] = "oracle"

    means: FloatArray = field(kw_only=True, repr=False)

    def _check(self) -> None:
        try:
            self.means = np.asarray(self.means, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError("means must be numbers, a row for each round and a column for each arm") from None
        if self.means.ndim != 2 or self.means.shape[1] != self.n_arms:
            raise ValueError(f"means must have shape (T, {self.n_arms}), got {self.means.shape}")
        if not self.means.size or not (self.means.min() >= -LARGEST and self.means.max() <= LARGEST):
            raise ValueError(f"means must be finite numbers of at most {LARGEST:g} in size, for one round or more")
        self.means = self.means.view()
        self.means.setflags(write=False)

    def _new_state(self) -> OracleState:
        return OracleState(self.means, np.zeros(1, np.int64))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The matrix of means, from the knowledge."""
        return {} if "means" in given else {"means": knowledge.need(cls.name, "means")[0]}
