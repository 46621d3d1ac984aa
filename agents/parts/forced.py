"""Forced play, and the choice of the largest value."""

from __future__ import annotations

import math

from ..core.kernel import BoolArray, FloatArray, IntArray, inlined
from .windows import SEEN

__all__ = ["highest", "unseen"]


@inlined
def unseen(pulls: IntArray | FloatArray, clock: IntArray, mask: BoolArray) -> int:
    """The available arm without an observation in memory that must be played next; -1 if there is none.

    Of several it is the one unseen longest, and of those never seen the first: K new arms are played in turn, and in a
    memory too short for all arms none is forgotten for good.

    Args:
        pulls: (K,) of the window.
        clock: (2 + 2 K,) of the window.
        mask: (K,) which arms can be played.
    """
    arm = -1
    for i in range(pulls.size):
        if mask[i] and pulls[i] == 0 and (arm < 0 or clock[SEEN + i] < clock[SEEN + arm]):
            arm = i
    return arm


@inlined
def highest(values: FloatArray, mask: BoolArray) -> int:
    """The first available arm with the largest value; every value must be above −∞."""
    arm, largest = -1, -math.inf
    for i in range(values.size):
        if values[i] > largest and mask[i]:
            arm, largest = i, values[i]
    return arm
