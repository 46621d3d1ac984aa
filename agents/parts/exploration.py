"""Forced exploration for detectors, which see no change of an arm that is not played; and forced warm-ups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.arguments import check_types, choice, fraction, positive
from ..core.kernel import (
    BoolArray,
    FloatArray,
    IntArray,
    act,
    expect,
    floor_within,
    forget,
    helper,
    inlined,
    observe,
    rule,
)
from ..core.probabilities import next_choice
from .memories import SEEN

EXPLORATION = {"none": 0, "in turn": 1, "uniform": 2, "diminishing": 3}
NONE, IN_TURN, UNIFORM, DIMINISHING = EXPLORATION.values()
SINCE, EPISODE, NEXT = 0, 1, 2  # indices into the clock
NEVER = 1e18  # rounds, more than are ever played


class Explorer(NamedTuple):
    """The schedule of forced exploration, and where in it the agent is."""

    clock: IntArray  # (3,) rounds SINCE the last restart, the EPISODE (restarts so far + 1), and the NEXT turn's first
    kind: int
    rate: float
    growing: bool
    since_restart: bool


@dataclass(frozen=True)
class Exploration:
    """The kind and the rate of forced exploration.

    Attributes:
        kind: "none"; "in turn", the first K of every max(K + 1, ⌊K/rate⌋) rounds since the last restart play arms
            1 to K; "uniform", with probability rate a uniformly random arm; or "diminishing" (Li, Hsieh, Huang, arXiv
            2410.05734), turns of K rounds that grow rarer with the time s since the last restart, about rate/√s of the
            rounds: after the turn that began in round u the next one begins in round ⌈(√u + K/(2 rate))²⌉, which is
            ⌈u + K√u/rate + K²/(4 rate²)⌉. The first turn is rounds 1 to K, as an agent must see every arm anyway.
        rate: the share of exploration; of the "diminishing" kind any number of at least 0.
        growing: whether the rate of turns grows with the root of the number of restarts so far + 1.
        since_restart: whether turns are counted from the last restart; if not, from the first round.
    """

    kind: str = "none"
    rate: float = 0.0
    growing: bool = False
    since_restart: bool = True

    def __post_init__(self) -> None:
        choice("exploration", self.kind, EXPLORATION)
        check_types(Exploration, {"growing": self.growing})
        if self.kind == "diminishing":
            positive("rate", self.rate, allow_zero=True)
        else:
            fraction("rate", self.rate)

    def new_state(self) -> Explorer:
        """The explorer before the first round; with a rate of 0 it draws nothing and plays nothing."""
        kind = EXPLORATION[self.kind] if self.rate > 0 else NONE
        return Explorer(np.array([0, 1, 1], np.int64), kind, float(self.rate), self.growing, self.since_restart)


@inlined
def explored(explorer: Explorer, mask: BoolArray, rng: np.random.Generator) -> int:
    """The arm that must be played now, if it can be; -1 if the agent is free to choose."""
    clock, kind, n_arms = explorer.clock, explorer.kind, mask.size
    arm = -1
    if kind == IN_TURN:
        rate = explorer.rate * (math.sqrt(clock[EPISODE]) if explorer.growing else 1.0)
        arm = clock[SINCE] % max(n_arms + 1, floor_within(n_arms / rate, NEVER))
    elif kind == UNIFORM:
        u = rng.random()
        if u < explorer.rate:
            # u/rate is uniform too; integers() compiles slowly
            arm = floor_within(u / explorer.rate * n_arms, n_arms - 1.0)
    elif kind == DIMINISHING:
        arm = int(clock[SINCE] + 1 - clock[NEXT])
    return arm if 0 <= arm < n_arms and mask[arm] else -1


@inlined
def open_arm(u: float, mask: BoolArray) -> int:
    """One of the available arms, each for an equal share of the numbers u from 0 to 1."""
    available = 0
    for i in range(mask.size):
        available += mask[i]
    place = floor_within(u * available, available - 1.0)
    for i in range(mask.size):
        if mask[i]:
            if place == 0:
                return i
            place -= 1
    return -1


@inlined
def advance(explorer: Explorer, n_arms: int, alarm: bool) -> None:
    """Count a round; with an alarm in it, a new episode begins."""
    clock = explorer.clock
    if alarm:
        clock[EPISODE] += 1
        if explorer.since_restart:
            clock[SINCE] = 0
            clock[NEXT] = 1
            return
    clock[SINCE] += 1
    if explorer.kind == DIMINISHING and clock[SINCE] + 1 == clock[NEXT] + n_arms:
        root = math.sqrt(clock[NEXT]) + 0.5 * n_arms / explorer.rate
        clock[NEXT] = max(clock[SINCE] + 1, math.ceil(min(NEVER, root * root)))


@helper
def expect_exploration(explorer: Explorer, pulls: int) -> None:
    """Count rounds whose rewards are under way; the next turn is not planned before they come."""
    explorer.clock[SINCE] += pulls


def with_exploration(explorer: Explorer, law: FloatArray, mask: BoolArray) -> FloatArray:
    """(K,) the law of the choice, if it is not explored in turn now and the agent within chooses by this law."""
    if explorer.kind != UNIFORM:
        return law
    share = explorer.rate / mask.size  # of each arm, and of the agent within those of arms that cannot be played
    return share * mask + (1.0 - share * np.count_nonzero(mask)) * law


@helper
def forget_exploration(explorer: Explorer) -> None:
    """Return to the first episode."""
    explorer.clock[SINCE] = 0
    explorer.clock[EPISODE] = 1
    explorer.clock[NEXT] = 1


class WarmedState(NamedTuple):
    """An agent with a window, and how many samples of each arm come before its first choice."""

    inner: Any
    least: int


@helper
def warming(counts: IntArray | FloatArray, clock: IntArray, least: int, mask: BoolArray) -> int:
    """The available arm with the fewest samples, if they are fewer than the least; -1 if there is none.

    Of several it is the one unseen longest: arms are played in turn, as everywhere in this house.

    Args:
        counts: (K,) samples of each arm since it was last forgotten.
        clock: (2 + 2 K,) of a window.
        least: M.
        mask: (K,) which arms can be played.
    """
    arm = -1
    for i in range(mask.size):
        if mask[i] and counts[i] < least:
            fewer = arm < 0 or counts[i] < counts[arm]
            if fewer or (counts[i] == counts[arm] and clock[SEEN + i] < clock[SEEN + arm]):
                arm = i
    return arm


def act_warmed(state: WarmedState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play arms with fewer than M samples first; else what the agent within plays."""
    arm = warming(state.inner.window.pulls, state.inner.window.clock, state.least, mask)
    return arm if arm >= 0 else act(state.inner, mask, rng)


def observe_warmed(state: WarmedState, arm: int, reward: float) -> None:
    """Show the reward to the agent within."""
    observe(state.inner, arm, reward)


def forget_warmed(state: WarmedState, arm: int) -> None:
    """Make the agent within forget."""
    forget(state.inner, arm)


def expect_warmed(state: WarmedState, arm: int, pulls: int) -> None:
    """Let the agent within count the pulls."""
    expect(state.inner, arm, pulls)


def probabilities_warmed(state: WarmedState, mask: BoolArray) -> FloatArray:
    """Those of the agent within."""
    return next_choice(state.inner, mask)


rule(WarmedState, act_warmed, observe_warmed, forget_warmed, expect_warmed, probabilities=probabilities_warmed)
