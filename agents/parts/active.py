"""Active agents: a detector of changes around an agent for worlds that stand still, with the exploration it needs.

A detector × any agent that can forget × local or global restarts × a kind of exploration. ``cusum-ucb``, ``m-ucb``,
``glr-klucb`` and others are named points of this grid; ``restarting`` is the whole grid.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.admission import admissible
from ..core.arguments import choice
from ..core.kernel import ALL, BoolArray, IntArray, act, forget, observe, rule, watch
from ..core.protocol import Agent
from .alarms import AlarmLog, forget_alarms, new_alarms, sound
from .exploration import Exploration, Explorer, advance, explored, forget_exploration, restart_exploration

__all__ = ["RESTARTS", "ActiveAgent", "ActiveState", "Detector", "Parts"]

RESTARTS = ("local", "global")


class Detector(Protocol):
    """A detector's parameters."""

    def new_state(self, n_arms: int) -> Any:
        """The state before the first round, tied to its functions by :func:`ns_mab_gym.agents.detection`."""


class Parts(NamedTuple):
    """What an active agent is made of."""

    inner: Any  # the state of the agent within
    detector: Detector
    exploration: Exploration
    restart: str  # "local" or "global"


class ActiveState(NamedTuple):
    """The agent within, the detector, the exploration, and the alarms so far."""

    inner: Any
    detector: Any
    explorer: Explorer
    alarms: AlarmLog
    rounds: IntArray  # (1,) observed
    n_arms: int
    everything: bool  # whether an alarm about one arm makes all arms forgotten


def _act(state: ActiveState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Explore if it is time to; else play what the agent within plays."""
    arm = explored(state.explorer, mask, rng)
    return arm if arm >= 0 else act(state.inner, mask, rng)


def _observe(state: ActiveState, arm: int, reward: float) -> None:
    """Show the reward to the agent and to the detector; on an alarm both forget the arm, or all arms."""
    observe(state.inner, arm, reward)
    state.rounds[0] += 1
    if watch(state.detector, arm, reward):
        forgotten = ALL if state.everything else arm
        forget(state.inner, forgotten)
        forget(state.detector, forgotten)
        restart_exploration(state.explorer, state.n_arms)
        sound(state.alarms, state.rounds[0], arm, state.everything)
    else:
        advance(state.explorer, state.n_arms)


def _forget(state: ActiveState, arm: int) -> None:
    """Drop one arm here and in the detector, or with ``ALL`` return to the first round."""
    forget(state.inner, arm)
    forget(state.detector, arm)
    if arm == ALL:
        forget_exploration(state.explorer)
        forget_alarms(state.alarms)
        state.rounds[0] = 0


rule(ActiveState, _act, _observe, _forget)


admissible(ActiveState)


@dataclass(eq=False)
class ActiveAgent(Agent):
    """An agent made of parts: subclasses say which."""

    @abstractmethod
    def _parts(self) -> Parts:
        """The agent within, the detector, the exploration and the kind of restart."""

    def _new_state(self) -> ActiveState:
        inner, detector, exploration, restart = self._parts()
        choice("restart", restart, RESTARTS)
        return ActiveState(
            inner=inner,
            detector=detector.new_state(self.n_arms),
            explorer=exploration.new_state(),
            alarms=new_alarms(),
            rounds=np.zeros(1, np.int64),
            n_arms=self.n_arms,
            everything=restart == "global",
        )
