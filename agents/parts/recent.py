"""The memory of each arm's own last pulls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible, is_whole
from ..core.kernel import ALL, BoolArray, FloatArray, IntArray, helper, inlined
from ..core.memory_limits import ensure_fits, grouped

__all__ = ["Recent", "forget_recent", "keep", "new_recent"]


class Recent(NamedTuple):
    """Whether each of an arm's last n pulls was a success, and how many were.

    The window is the arm's own: it spans its last n *pulls*, in however many rounds they were.
    """

    ring: BoolArray  # (K, n); (K, 0) if nothing is ever forgotten
    slots: IntArray  # (K,) of the ring, which come next
    pulls: FloatArray  # (K,) in the window
    sums: FloatArray  # (K,) successes in the window


def _claims(recent: Recent, facts: Facts) -> Claims:
    """Pulls, sums and the slot that comes next are those of the ring."""
    length, pulls, slots = recent.ring.shape[1], recent.pulls, recent.slots
    yield "pulls", is_whole(pulls) & ((pulls <= length) | (length == 0)), "a number of pulls in the window"
    if length == 0:
        yield "slots", slots == 0, "0, as nothing is ever forgotten"
        yield "sums", is_whole(recent.sums) & (recent.sums <= pulls), "a number of successes"
        return
    yield "slots", np.where(pulls < length, slots == pulls, slots < length), "the slot that comes next"
    yield "ring", ~recent.ring | (np.arange(length) < pulls[:, None]), "empty beyond the pulls"
    yield "sums", recent.sums == recent.ring.sum(axis=1), "the successes in the ring"


admissible(Recent, _claims)


def new_recent(n_arms: int, length: int | None) -> Recent:
    """An empty memory of the last ``length`` pulls of each arm; with None, one of all pulls."""
    ensure_fits(f"a window of {grouped(length or 0)} pulls of each arm", n_arms * (length or 0), "choose a shorter one")
    ring = np.zeros((n_arms, length or 0), np.bool_)
    return Recent(ring, np.zeros(n_arms, np.int64), np.zeros(n_arms), np.zeros(n_arms))


@inlined
def keep(recent: Recent, arm: int, reward: float) -> None:
    """Take in a pull, in the place of the arm's oldest if its window is full."""
    length, slot = recent.ring.shape[1], recent.slots[arm]
    if length > 0:
        if recent.pulls[arm] == length:
            recent.pulls[arm] -= 1.0
            recent.sums[arm] -= 1.0 if recent.ring[arm, slot] else 0.0
        recent.ring[arm, slot] = reward > 0.0
        recent.slots[arm] = slot + 1 if slot + 1 < length else 0
    recent.pulls[arm] += 1.0
    recent.sums[arm] += reward


@helper
def forget_recent(recent: Recent, arm: int) -> None:
    """Empty the window of one arm, or with ``ALL`` of every arm."""
    for i in range(recent.pulls.size):
        if arm == ALL or i == arm:
            recent.ring[i, :] = False
            recent.slots[i] = 0
            recent.pulls[i] = 0.0
            recent.sums[i] = 0.0
