"""KL-UCB that is told when the world changes: a reference for every agent that must find out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.admission import Claims, Facts, admissible
from .core.arguments import choice, positive
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, rule
from .core.kernel import act as act_within
from .core.kernel import forget as forget_within
from .core.kernel import observe as observe_within
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .kl_ucb import KLState, new_kl_state
from .oracle import Oracle
from .parts.alarms import AlarmLog, forget_alarms, new_alarms, sound

__all__ = ["OracleRestart"]

CHANGES = ("breakpoints", "switches")
ROUNDS, PLACE = 0, 1  # indices into the clock


class OracleRestartState(NamedTuple):
    """KL-UCB within, when it starts over, and the log of it."""

    inner: KLState
    restarts: IntArray  # (n,) after how many rounds it starts over
    clock: IntArray  # (2,) ROUNDS observed, and the PLACE of the next restart
    alarms: AlarmLog


def act(state: OracleRestartState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play what KL-UCB plays."""
    return act_within(state.inner, mask, rng)


def observe(state: OracleRestartState, arm: int, reward: float) -> None:
    """Take in the reward; forget all arms if the world changes before the next round."""
    clock = state.clock
    observe_within(state.inner, arm, reward)
    clock[ROUNDS] += 1
    if clock[PLACE] < state.restarts.size and clock[ROUNDS] == state.restarts[clock[PLACE]]:
        clock[PLACE] += 1
        forget_within(state.inner, ALL)
        sound(state.alarms, clock[ROUNDS], ALL, True)


def forget(state: OracleRestartState, arm: int) -> None:
    """Drop one arm, or with ``ALL`` return to the first round."""
    forget_within(state.inner, arm)
    if arm == ALL:
        state.clock[:] = 0
        forget_alarms(state.alarms)


def _claims(state: OracleRestartState, facts: Facts) -> Claims:
    yield "clock", state.clock[PLACE] <= state.restarts.size, "the place of a restart"


admissible(OracleRestartState, _claims, constant=("restarts",))
rule(OracleRestartState, act, observe, forget)


@dataclass(eq=False)
class OracleRestart(Agent):
    """KL-UCB that starts over whenever the world changes: what detectors could gain at most.

    Source:
        Besson, Kaufmann, Maillard, Seznec, "Efficient Change-Point Detection for Tackling Piecewise-Stationary
        Bandits", JMLR 2022 (arXiv 1902.01575), the oracle of its experiments.
    Rule:
        KL-UCB (c = 0), which forgets all arms before the first round of every new phase; each restart is logged as an
        alarm about all arms.
    Tuning:
        At the breakpoints, the rounds before which any mean changes; where phases have fewer than K rounds on average,
        as in smooth worlds, at the changes of the best arm (ours).
    Knowledge:
        The means of all rounds.
    Deviations:
        None.

    >>> agent = OracleRestart(2, means=[[0.1, 0.9]] * 3 + [[0.8, 0.2]] * 3)
    >>> for _ in range(4):
    ...     agent.observe(1, 1.0)
    >>> agent.state.inner.window.pulls  # since the change after round 3
    array([0, 1])

    Attributes:
        means: the (T, K) matrix of means.
        at: "breakpoints" or "switches", the changes of the best arm.
        c: the weight of ln ln t in the index.
    """

    name: ClassVar[str] = "oracle-restart"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    means: FloatArray = field(kw_only=True, repr=False)
    at: str = field(default="breakpoints", kw_only=True)
    c: float = field(default=0.0, kw_only=True)

    def _check(self) -> None:
        self.means = Oracle(self.n_arms, means=self.means).means
        choice("at", self.at, CHANGES)
        self.c = positive("c", self.c, allow_zero=True)

    def _new_state(self) -> OracleRestartState:
        inner = new_kl_state(self.n_arms, None, self.c)
        return OracleRestartState(inner, changes(self.means, self.at), np.zeros(2, np.int64), new_alarms())

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The matrix of means, from the knowledge, and which of their changes count."""
        (n_arms,) = knowledge.need(cls.name, "n_arms")
        means = Oracle(n_arms, means=given["means"] if "means" in given else knowledge.need(cls.name, "means")[0]).means
        phases = changes(means, "breakpoints").size + 1
        return {"means": means, "at": "breakpoints" if len(means) >= n_arms * phases else "switches"}


def changes(means: FloatArray, at: str) -> IntArray:
    """The numbers of rounds after which any mean changes, or the first of the best arms."""
    states = means if at == "breakpoints" else means.argmax(axis=1)[:, None]
    return np.flatnonzero((states[1:] != states[:-1]).any(axis=1)).astype(np.int64) + 1
