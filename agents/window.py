"""The memory that all sliding-window agents share."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from .checks import positive_int
from .kernel import BoolArray, FloatArray, IntArray

__all__ = ["Window", "check_window", "highest", "new_window", "paper_window", "slide", "unseen"]


class Window(NamedTuple):
    """The last τ rounds, and per arm the pulls and the rewards in them.

    The window is global: it spans the last τ *rounds*, not the last τ pulls of each arm.
    """

    arms: IntArray  # (τ,) the arm of each round, a ring; empty if nothing is ever forgotten
    rewards: FloatArray  # (τ,)
    clock: IntArray  # (2,) rounds observed so far, and the slot of the ring that comes next
    pulls: IntArray  # (K,) N_i
    sums: FloatArray  # (K,) S_i


def new_window(n_arms: int, length: int | None) -> Window:
    """An empty window of the given length, or one that remembers everything."""
    capacity = length or 0
    return Window(
        arms=np.zeros(capacity, np.int64),
        rewards=np.zeros(capacity),
        clock=np.zeros(2, np.int64),
        pulls=np.zeros(n_arms, np.int64),
        sums=np.zeros(n_arms),
    )


@register_jitable(forceinline=True)
def slide(window: Window, arm: int, reward: float) -> int:
    """Take in a round. Returns the arm whose round left the window, or -1.

    What leaves is subtracted from the arm that was pulled *then*. At the end of every lap of the ring the sums are
    added up afresh, so that rounding errors never pile up.
    """
    capacity = window.arms.size
    slot = window.clock[1]
    gone = -1
    if capacity > 0:
        if window.clock[0] >= capacity:
            gone = window.arms[slot]
            window.pulls[gone] -= 1
            window.sums[gone] -= window.rewards[slot]
        window.arms[slot] = arm
        window.rewards[slot] = reward
    window.pulls[arm] += 1
    window.sums[arm] += reward
    window.clock[0] += 1
    if capacity > 0:
        window.clock[1] = slot + 1
        if slot + 1 == capacity:
            window.clock[1] = 0
            window.sums[:] = 0.0
            for s in range(capacity):
                window.sums[window.arms[s]] += window.rewards[s]
    return gone


@register_jitable(forceinline=True)
def unseen(pulls: IntArray, mask: BoolArray) -> int:
    """The first available arm without an observation in the window, or -1: it is played at once."""
    for i in range(pulls.size):
        if mask[i] and pulls[i] == 0:
            return i
    return -1


@register_jitable(forceinline=True)
def highest(values: FloatArray, mask: BoolArray) -> int:
    """The first available arm with the largest value; no value is −∞."""
    arm, largest = -1, -math.inf
    for i in range(values.size):
        if values[i] > largest and mask[i]:
            arm, largest = i, values[i]
    return arm


def paper_window(horizon: int) -> int:
    """τ = 4√(T ln T), rounded down: the window of the paper's experiments.

    >>> paper_window(50_000)
    2942
    """
    return max(1, math.floor(4 * math.sqrt(horizon * math.log(horizon))))


def check_window(window: object) -> int:
    """The window as an int, if it is a positive integer."""
    return positive_int(
        "window", window, hint=f"the paper suggests 4*sqrt(T*ln T), {paper_window(50_000)} at T = 50 000"
    )
