"""An agent whose rule chooses what it is told to, an arm or not, from a given round on; it can be put into others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ns_mab_gym.agents import Agent, rule
from ns_mab_gym.agents.core.kernel import IntArray


class WildState(NamedTuple):
    """What is chosen, and when."""

    chosen: Any  # (1,) integers or floats
    rounds: IntArray  # (1,) observed
    after: int


def act(state, mask, rng):  # type: ignore[no-untyped-def]
    return state.chosen[0] if state.rounds[0] >= state.after else state.chosen.dtype.type(0)


def observe(state, arm, reward):  # type: ignore[no-untyped-def]
    state.rounds[0] += 1


def forget(state, arm):  # type: ignore[no-untyped-def]
    pass


rule(WildState, act, observe, forget)


@dataclass(eq=False)
class Wild(Agent):
    """Plays arm 1 for some rounds, and then what it is told to."""

    name: ClassVar[str] = "wild"

    chosen: Any = field(default=0, kw_only=True)
    after: int = field(default=0, kw_only=True)

    def _new_state(self) -> WildState:
        return WildState(np.array([self.chosen]), np.zeros(1, np.int64), self.after)
