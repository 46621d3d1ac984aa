"""The memory of discounting agents: everything seen, each round a factor γ lighter than the one after it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible
from ..core.arguments import fraction, positive
from ..core.kernel import ALL, FloatArray, IntArray, helper, inlined
from ..core.knowledge import Knowledge
from .windows import ROUNDS, SEEN

__all__ = [
    "Discounted",
    "blind_discount",
    "check_discount",
    "discount",
    "forget_discounted",
    "long_phases",
    "new_discounted",
]

FAINT = 1e-100  # a count below it is as good as none: the arm is unseen again, and no number ever underflows
SHORTEST_PHASE = 16  # rounds; of shorter phases the memory of the formulas below, 4√(T/Υ) rounds, would span several


class Discounted(NamedTuple):
    """The discounted pulls N_i and sums S_i of each arm: after round t, a reward of round s counts γ^(t − s) times."""

    pulls: FloatArray  # (K,) N_i
    sums: FloatArray  # (K,) S_i; 0 ≤ S_i ≤ N_i to the last bit if rewards lie in [0, 1]
    clock: IntArray  # (2 + K,) as that of a window: ROUNDS observed so far, and from SEEN on when each arm was last


def _claims(memory: Discounted, facts: Facts) -> Claims:
    """Counts are at most the number of rounds, and sums those of so many rewards."""
    pulls, sums, rounds = memory.pulls, memory.sums, memory.clock[ROUNDS]
    yield "pulls", (pulls >= 0) & (pulls <= rounds) & ((pulls == 0) | (1.0 / pulls < np.inf)), "a count of the rounds"
    means = np.where(pulls > 0, sums / pulls, 0.0)
    possible = (means >= facts.lowest) & (means <= facts.highest) & ((pulls > 0) | (sums == 0))
    yield "sums", possible, "the sum of that many rewards"
    yield "clock", memory.clock[SEEN:] <= rounds, "rounds that were played"


admissible(Discounted, _claims)


def new_discounted(n_arms: int) -> Discounted:
    """An empty memory."""
    return Discounted(np.zeros(n_arms), np.zeros(n_arms), np.zeros(SEEN + n_arms, np.int64))


@inlined
def discount(memory: Discounted, gamma: float, arm: int, reward: float) -> None:
    """Take in a round: the counts and sums of all arms shrink by γ, then those of the arm played grow."""
    pulls, sums, clock = memory.pulls, memory.sums, memory.clock
    for i in range(pulls.size):
        remembered = gamma if pulls[i] > FAINT else 0.0
        pulls[i] *= remembered
        sums[i] *= remembered
    pulls[arm] += 1.0
    sums[arm] += reward
    clock[ROUNDS] += 1
    clock[SEEN + arm] = clock[ROUNDS]


@helper
def forget_discounted(memory: Discounted, arm: int) -> None:
    """Drop what was seen of one arm but not when; with ``ALL``, empty the memory and set its clock to 0."""
    if arm == ALL:
        memory.pulls[:] = 0.0
        memory.sums[:] = 0.0
        memory.clock[:] = 0
    else:
        memory.pulls[arm] = 0.0
        memory.sums[arm] = 0.0


def blind_discount(horizon: int) -> float:
    """γ = 1 − 1/(4√T), which Garivier and Moulines take where the number of breakpoints is unknown.

    >>> round(blind_discount(50_000), 6)
    0.998882
    """
    return 1 - 1 / (4 * math.sqrt(horizon))


def long_phases(knowledge: Knowledge) -> int | None:
    """Υ, if it is known and phases last at least 16 rounds on average; else, as where means drift, None."""
    horizon, changes = knowledge.horizon, knowledge.breakpoints
    if horizon is None or changes is None or changes * SHORTEST_PHASE > horizon:
        return None
    return changes


def check_discount(gamma: object) -> float:
    """The discount factor as a float, if it lies in (0, 1]."""
    hint = "1 forgets nothing, and 1 - 1/(4*sqrt(T)), 0.9989 at T = 50 000, is a common choice"
    positive("gamma", gamma, hint=hint)
    return fraction("gamma", gamma, hint=hint)
