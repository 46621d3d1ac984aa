"""Forced warm-ups: every arm is played M times, after a restart again, before the agent within may choose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.admission import admissible
from ..core.kernel import BoolArray, FloatArray, IntArray, act, forget, helper, observe, rule
from .windows import SEEN

__all__ = ["WarmedState", "warming"]


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


def _act(state: WarmedState, mask: BoolArray, rng: np.random.Generator) -> int:
    arm = warming(state.inner.window.pulls, state.inner.window.clock, state.least, mask)
    return arm if arm >= 0 else act(state.inner, mask, rng)


def _observe(state: WarmedState, arm: int, reward: float) -> None:
    observe(state.inner, arm, reward)


def _forget(state: WarmedState, arm: int) -> None:
    forget(state.inner, arm)


rule(WarmedState, _act, _observe, _forget)


admissible(WarmedState)
