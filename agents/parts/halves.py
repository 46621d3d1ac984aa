"""Two halves: the sum of an arm's latest w/2 samples against that of the w/2 before them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible, close, is_whole
from ..core.arguments import positive, positive_int
from ..core.kernel import ALL, COUNTABLE, FloatArray, detection, floor_within
from ..core.knowledge import Knowledge
from ..core.memory_limits import ensure_fits, grouped

__all__ = ["Halves", "HalvesState", "check_even"]

COUNT, OLDER, NEWER, RING = 0, 1, 2, 3  # columns of the memory


class HalvesState(NamedTuple):
    """The last w samples of each arm, and the sum of each half of them."""

    memory: FloatArray  # (K, 3 + w) COUNT of samples since the last alarm, sums OLDER and NEWER, then the RING
    samples: int
    threshold: float


def watch(state: HalvesState, arm: int, reward: float) -> bool:
    """Slide both halves by one sample; an alarm if there are w samples and |Σ newer − Σ older| > b.

    At the end of every lap of the ring both sums are added up afresh, so that rounding errors never pile up.
    """
    memory, width = state.memory, state.samples
    half = width // 2
    count = floor_within(memory[arm, COUNT], COUNTABLE)
    slot = count % width
    middle = (slot + half) % width
    memory[arm, COUNT] = count + 1
    if count >= width:  # the oldest sample leaves, and the oldest of the newer half joins the older
        memory[arm, OLDER] += memory[arm, RING + middle] - memory[arm, RING + slot]
        memory[arm, NEWER] += reward - memory[arm, RING + middle]
    memory[arm, RING + slot] = reward
    if slot + 1 == width:
        older, newer = 0.0, 0.0
        for s in range(half):
            older += memory[arm, RING + s]
            newer += memory[arm, RING + half + s]
        memory[arm, OLDER] = older
        memory[arm, NEWER] = newer
    return count + 1 >= width and abs(memory[arm, NEWER] - memory[arm, OLDER]) > state.threshold


def forget(state: HalvesState, arm: int) -> None:
    """Begin again with one arm, or with ``ALL`` with every arm."""
    for i in range(state.memory.shape[0]):
        if arm == ALL or i == arm:
            for j in range(state.memory.shape[1]):
                state.memory[i, j] = 0.0


detection(HalvesState, watch, forget)


def _claims(state: HalvesState, facts: Facts) -> Claims:
    """The sums are those of the halves of the ring, once it was full."""
    width, counts, ring = state.samples, state.memory[:, COUNT], state.memory[:, RING:]
    yield "memory", is_whole(counts), "a number of samples"
    yield "memory", facts.rewards(ring), "rewards that the agent takes"
    ages = (np.arange(width) - counts[:, None]) % width  # the oldest sample is 0
    older, newer = (ring * (ages < width // 2)).sum(axis=1), (ring * (ages >= width // 2)).sum(axis=1)
    full = counts >= width
    slack = 1e-9 * width
    yield "memory", close(state.memory[:, OLDER], np.where(full, older, 0.0), slack), "the sum of the older half"
    yield "memory", close(state.memory[:, NEWER], np.where(full, newer, 0.0), slack), "the sum of the newer half"


admissible(HalvesState, _claims)


def check_even(what: str, given: object) -> int:
    """The given value as an int, if it is even and positive."""
    value = positive_int(what, given, least=2, hint="it is cut into halves; a common choice is 200")
    if value % 2:
        raise ValueError(f"{what} must be even, as it is cut into halves, got {value}; take {value + 1}")
    return value


@dataclass(frozen=True)
class Halves:
    """M-UCB's test on each arm.

    Source: Cao, Wen, Kveton, Xie, "Nearly Optimal Adaptive Procedure with Change Detection for Piecewise-Stationary
    Bandit", AISTATS 2019, Algorithm 1 and Remark 1. b needs no Υ, so informed and blind are the same.

    Attributes:
        threshold: b, which the difference between the sums must exceed.
        samples: w, the number of an arm's latest samples that are compared, even.
    """

    threshold: float
    samples: int = 200

    def __post_init__(self) -> None:
        positive("threshold", self.threshold, allow_zero=True, hint="the source takes sqrt((w/2)*ln(2*K*T^2))")
        check_even("samples", self.samples)

    def new_state(self, n_arms: int) -> HalvesState:
        """The state before the first round."""
        what = f"a test of {grouped(self.samples)} samples of each arm"
        ensure_fits(what, 8 * n_arms * self.samples, "choose fewer samples")
        return HalvesState(np.zeros((n_arms, RING + self.samples)), int(self.samples), float(self.threshold))

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """b = √((w/2) ln(2KT²)), by which all tests of T rounds together sound a false alarm with probability 1/T."""
        if "threshold" in given:
            return {}
        n_arms, horizon = knowledge.need("a test of two halves", "n_arms", "horizon")
        width = check_even("samples", given.get("samples", cls.samples))
        return {"threshold": math.sqrt(width / 2 * math.log(2 * n_arms * horizon**2))}
