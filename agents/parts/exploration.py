"""Exploration that a detector needs: arms that nobody plays are arms whose changes nobody sees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.admission import MOST, Claims, Facts, admissible
from ..core.arguments import choice, fraction, positive
from ..core.kernel import BoolArray, IntArray, floor_within, helper, inlined
from ..core.parameter_types import check_types

__all__ = ["EXPLORATION", "Exploration", "Explorer", "advance", "explored", "forget_exploration", "restart_exploration"]

EXPLORATION = {"none": 0, "in turn": 1, "uniform": 2, "diminishing": 3}
NONE, IN_TURN, UNIFORM, DIMINISHING = EXPLORATION.values()
SINCE, EPISODE, NEXT = 0, 1, 2  # indices into the clock
NEVER = 1e18  # rounds, more than are ever played


class Explorer(NamedTuple):
    """When which arm is played whatever the agent would play."""

    clock: IntArray  # (3,) rounds SINCE the last restart, the EPISODE (restarts so far + 1), and the NEXT turn's first
    kind: int
    rate: float
    growing: bool
    since_restart: bool


def _claims(explorer: Explorer, facts: Facts) -> Claims:
    """Episodes and turns are counted from 1 on, and the next turn is not over."""
    since, episode, following = (int(count) for count in explorer.clock)
    yield (
        "clock",
        0 <= since <= MOST and 1 <= episode <= MOST and 1 <= following <= NEVER,
        "rounds from 0, turns from 1",
    )
    ahead = explorer.kind != DIMINISHING or since + 1 < following + facts.n_arms
    yield "clock", ahead, "a turn that is not over"


admissible(Explorer, _claims, free=("clock",))


@dataclass(frozen=True)
class Exploration:
    """How much of the time is explored, and how.

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
def advance(explorer: Explorer, n_arms: int) -> None:
    """Count a round without an alarm."""
    clock = explorer.clock
    clock[SINCE] += 1
    if explorer.kind == DIMINISHING and clock[SINCE] + 1 == clock[NEXT] + n_arms:
        root = math.sqrt(clock[NEXT]) + 0.5 * n_arms / explorer.rate
        clock[NEXT] = max(clock[SINCE] + 1, math.ceil(min(NEVER, root * root)))


@helper
def restart_exploration(explorer: Explorer, n_arms: int) -> None:
    """Begin a new episode after a round with an alarm."""
    explorer.clock[EPISODE] += 1
    if explorer.since_restart:
        explorer.clock[SINCE] = 0
        explorer.clock[NEXT] = 1
    else:
        advance(explorer, n_arms)


@helper
def forget_exploration(explorer: Explorer) -> None:
    """Return to the first episode."""
    explorer.clock[SINCE] = 0
    explorer.clock[EPISODE] = 1
    explorer.clock[NEXT] = 1
