"""References for comparisons: random play, the best arm of every round, and KL-UCB that is told of every change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core import kernel
from .core.arguments import LARGEST, choice, positive
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, random_below, rule
from .core.knowledge import Knowledge
from .core.probabilities import equal
from .core.protocol import Agent
from .kl_ucb import KLState, new_kl_state
from .parts.alarms import AlarmLog, forget_alarms, new_alarms, sound


class RandomState(NamedTuple):
    """The number of rounds, the only thing that this agent keeps."""

    rounds: IntArray  # (1,) observed


def act_at_random(state: RandomState, mask: BoolArray, rng: np.random.Generator) -> int:
    """A uniformly random one of the available arms."""
    available = 0
    for i in range(mask.size):
        available += mask[i]
    place = random_below(available, rng)
    for i in range(mask.size):
        if mask[i]:
            if place == 0:
                return i
            place -= 1
    return -1


def count_round(state: RandomState, arm: int, reward: float) -> None:
    """Count the round and ignore the reward."""
    state.rounds[0] += 1


def probabilities_at_random(state: RandomState, mask: BoolArray) -> FloatArray:
    """The same for every available arm."""
    return equal(mask)


rule(RandomState, act_at_random, count_round, probabilities=probabilities_at_random)


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
    late: ClassVar[str] = "none"
    probability: ClassVar[str] = "exact"

    def _new_state(self) -> RandomState:
        return RandomState(np.zeros(1, np.int64))


class OracleState(NamedTuple):
    """The means, and the number of rounds in which the agent has acted."""

    means: FloatArray  # (T, K)
    rounds: IntArray  # (1,) in which it has acted


def act_best(state: OracleState, mask: BoolArray, rng: np.random.Generator) -> int:
    """The available arm with the largest mean of the round."""
    t = state.rounds[0] if state.rounds[0] < state.means.shape[0] else state.means.shape[0] - 1
    state.rounds[0] += 1
    arm = -1
    for i in range(mask.size):
        if mask[i] and (arm < 0 or state.means[t, i] > state.means[t, arm]):
            arm = i
    return arm


def ignore(state: OracleState, arm: int, reward: float) -> None:
    """Do nothing: the agent knows the means already."""


rule(OracleState, act_best, ignore)


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
    late: ClassVar[str] = "none"
    probability: ClassVar[str] = "exact"

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


CHANGES = ("breakpoints", "switches")
ROUNDS, PLACE = 0, 1  # indices into the clock


class OracleRestartState(NamedTuple):
    """KL-UCB within, when it starts over, and the log of it."""

    inner: KLState
    restarts: IntArray  # (n,) after how many rounds it starts over
    clock: IntArray  # (2,) ROUNDS observed, and the PLACE of the next restart
    alarms: AlarmLog


def act_between_changes(state: OracleRestartState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play what KL-UCB plays."""
    return kernel.act(state.inner, mask, rng)


def observe_until_change(state: OracleRestartState, arm: int, reward: float) -> None:
    """Take in the reward; forget all arms if the world changes before the next round."""
    clock = state.clock
    kernel.observe(state.inner, arm, reward)
    clock[ROUNDS] += 1
    if clock[PLACE] < state.restarts.size and clock[ROUNDS] == state.restarts[clock[PLACE]]:
        clock[PLACE] += 1
        kernel.forget(state.inner, ALL)
        sound(state.alarms, clock[ROUNDS], ALL, True)


def forget_between_changes(state: OracleRestartState, arm: int) -> None:
    """Drop one arm, or with ``ALL`` return to the first round."""
    kernel.forget(state.inner, arm)
    if arm == ALL:
        state.clock[:] = 0
        forget_alarms(state.alarms)


def expect_between_changes(state: OracleRestartState, arm: int, pulls: int) -> None:
    """Let KL-UCB count the pulls."""
    kernel.expect(state.inner, arm, pulls)


rule(OracleRestartState, act_between_changes, observe_until_change, forget_between_changes, expect_between_changes)


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
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"
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
