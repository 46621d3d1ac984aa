"""Forced play, and the choice of the largest value."""

from __future__ import annotations

import math

from numba.extending import register_jitable

from ..core.kernel import BoolArray, FloatArray, IntArray

__all__ = ["highest", "unseen"]


@register_jitable(forceinline=True)
def unseen(pulls: IntArray, mask: BoolArray) -> int:
    """The first available arm without an observation in memory, which must be played next; -1 if there is none."""
    for i in range(pulls.size):
        if mask[i] and pulls[i] == 0:
            return i
    return -1


@register_jitable(forceinline=True)
def highest(values: FloatArray, mask: BoolArray) -> int:
    """The first available arm with the largest value; every value must be above −∞."""
    arm, largest = -1, -math.inf
    for i in range(values.size):
        if values[i] > largest and mask[i]:
            arm, largest = i, values[i]
    return arm
