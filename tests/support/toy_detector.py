"""A small agent with a detector, for tests of what becomes of its alarms: UCB1 that watches for falling rewards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from ns_mab_gym.agents.core.kernel import ALL, FloatArray, detection
from ns_mab_gym.agents.detecting import ActiveAgent, Parts
from ns_mab_gym.agents.parts.exploration import Exploration
from ns_mab_gym.agents.sw_ucb import new_ucb1_state


class FallState(NamedTuple):
    """By how much the rewards of each arm have fallen short so far."""

    short: FloatArray  # (K,)


def watch(state: FallState, arm: int, reward: float) -> bool:
    state.short[arm] = max(0.0, state.short[arm] + 0.3 - reward)
    return bool(state.short[arm] > 5.0)


def forget(state: FallState, arm: int) -> None:
    if arm == ALL:
        state.short[:] = 0.0
    else:
        state.short[arm] = 0.0


detection(FallState, watch, forget)


class Fall:
    """The detector."""

    def new_state(self, n_arms: int) -> FallState:
        return FallState(np.zeros(n_arms))


@dataclass(eq=False)
class Toy(ActiveAgent):
    """UCB1 with that detector."""

    name: ClassVar[str] = "toy"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    restart: str = field(default="local", kw_only=True)

    def _parts(self) -> Parts:
        inner: Any = new_ucb1_state(self.n_arms, 2.0, "arm")
        return Parts(inner, Fall(), Exploration("in turn", 0.05), self.restart)
