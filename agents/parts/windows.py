"""The memory of sliding-window agents: the last τ rounds, or everything."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible
from ..core.arguments import positive_int
from ..core.kernel import ALL, FloatArray, IntArray, helper, inlined
from ..core.memory_limits import ensure_fits, grouped
from ..core.tuning import suggested_window

__all__ = ["ROUNDS", "SEEN", "Window", "check_window", "forget_rounds", "new_window", "slide"]

ROUNDS, SLOT, SEEN = 0, 1, 2  # indices into the clock
NOBODY = -1  # stands in the ring for the arm of a round that was forgotten


class Window(NamedTuple):
    """The last τ rounds, and the pulls and the sum of rewards of each arm in them.

    The window is global: it spans the last τ *rounds*, not the last τ pulls of each arm.
    """

    arms: IntArray  # (τ,) the arm of each round, a ring; empty if nothing is ever forgotten
    rewards: FloatArray  # (τ,)
    clock: (
        IntArray  # (2 + 2 K,) ROUNDS observed so far, the SLOT of the ring that comes next, from SEEN on the round in
    )
    # which each arm was last observed, however long ago, 0 if never, and from SEEN + K on the number of rounds observed
    # when each arm was last forgotten (one more array in the tuple would take time)
    pulls: IntArray  # (K,) N_i
    sums: FloatArray  # (K,) S_i


def _claims(window: Window, facts: Facts) -> Claims:
    """The ring holds arms and their rewards, the clock tells its slot, and pulls and sums are those of the ring."""
    k, length, rounds = facts.n_arms, window.arms.size, window.clock[ROUNDS]
    yield "arms", (window.arms >= NOBODY) & (window.arms < k), f"an arm from 0 to {k - 1}, or -1"
    yield "rewards", facts.rewards(window.rewards), "a reward that the agent takes"
    yield "clock", window.clock[SLOT] == (rounds % length if length else 0), "the slot of the ring that comes next"
    yield "clock", window.clock[SEEN:] <= rounds, "rounds that were played"
    if length == 0:
        yield "pulls", window.pulls <= rounds, "at most the number of rounds"
        yield "sums", facts.sums(window.sums, window.pulls), "the sum of that many rewards"
        return
    held = np.arange(length) < rounds
    held &= window.arms != NOBODY
    yield "pulls", window.pulls == np.bincount(window.arms[held], minlength=k), "the pulls in the ring"
    sums = np.bincount(window.arms[held], window.rewards[held], minlength=k)
    sizes = np.bincount(window.arms[held], np.abs(window.rewards[held]), minlength=k)
    slack = 0.0 if facts.whole else 1e-9 * (1.0 + sizes.max())
    yield "sums", np.abs(window.sums - sums) <= slack, "the sum of the rewards in the ring"


admissible(Window, _claims, free=("arms",))


def new_window(n_arms: int, length: int | None) -> Window:
    """An empty window of the given length; with None, one that remembers everything."""
    capacity = length or 0
    ensure_fits(f"a window of {grouped(capacity)} rounds", 16 * capacity, "choose a shorter one")
    return Window(
        arms=np.zeros(capacity, np.int64),
        rewards=np.zeros(capacity),
        clock=np.zeros(SEEN + 2 * n_arms, np.int64),
        pulls=np.zeros(n_arms, np.int64),
        sums=np.zeros(n_arms),
    )


@inlined
def slide(window: Window, arm: int, reward: float) -> int:
    """Take in a round. Returns the arm whose round left the window, or -1.

    What leaves is subtracted from the arm that was pulled *then*. At the end of every lap of the ring the sums are
    added up afresh, so that rounding errors never pile up.
    """
    capacity = window.arms.size
    slot = window.clock[SLOT]
    gone = NOBODY
    if capacity > 0:
        if window.clock[ROUNDS] >= capacity:
            gone = window.arms[slot]
            counts = int(gone != NOBODY)  # no branch: a forgotten round counts for nothing, and its reward is 0
            window.pulls[gone * counts] -= counts
            window.sums[gone * counts] -= window.rewards[slot]
        window.arms[slot] = arm
        window.rewards[slot] = reward
    window.pulls[arm] += 1
    window.sums[arm] += reward
    window.clock[ROUNDS] += 1
    window.clock[SEEN + arm] = window.clock[ROUNDS]
    if capacity > 0:
        window.clock[SLOT] = slot + 1
        if slot + 1 == capacity:
            window.clock[SLOT] = 0
            window.sums[:] = 0.0
            for s in range(capacity):
                window.sums[window.arms[s] * int(window.arms[s] != NOBODY)] += window.rewards[s]
    return gone


@helper
def forget_rounds(window: Window, arm: int) -> None:
    """Drop the rounds of one arm but keep the clock; with ``ALL``, empty the window and set its clock to 0.

    When the one arm was last seen is kept: as a new arm it would be forced before all others, and one that is forgotten
    again and again would keep them waiting for ever.
    """
    if arm == ALL:
        for c in range(window.clock.size):  # not [:] = 0, which takes a second to compile
            window.clock[c] = 0
        for i in range(window.pulls.size):
            window.pulls[i] = 0
            window.sums[i] = 0.0
        return
    window.clock[SEEN + window.pulls.size + arm] = window.clock[ROUNDS]
    window.pulls[arm] = 0
    window.sums[arm] = 0.0
    for s in range(window.arms.size):
        if window.arms[s] == arm:
            window.arms[s] = NOBODY
            window.rewards[s] = 0.0


def check_window(window: object) -> int:
    """The window as an int, if it is a positive integer."""
    return positive_int(
        "window", window, hint=f"the paper suggests 4*sqrt(T*ln T), {suggested_window(50_000)} at T = 50 000"
    )
