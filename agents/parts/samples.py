"""A memory of every sample, arm by arm and in order, for detectors that look back at whole histories."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible
from ..core.arguments import positive_int
from ..core.kernel import ALL, FloatArray, IntArray, helper
from ..core.memory_limits import ensure_fits, grouped

__all__ = ["Samples", "append", "forget_samples", "new_samples"]


class Samples(NamedTuple):
    """The rewards of each arm since it was last forgotten, the oldest first."""

    values: FloatArray  # (K, capacity); row i holds counts[i] samples
    counts: IntArray  # (K,)


def _claims(samples: Samples, facts: Facts) -> Claims:
    yield "values", facts.rewards(samples.values), "a reward that the agent takes"
    yield "counts", samples.counts <= samples.values.shape[1], "at most the number of places"


admissible(Samples, _claims)


def new_samples(n_arms: int, horizon: int) -> Samples:
    """An empty memory for as many samples of each arm as there are rounds.

    Rows that stay empty cost address space, not memory: the system hands out a page when it is first written to.
    """
    rounds = positive_int("horizon", horizon)
    ensure_fits(f"the samples of {grouped(rounds)} rounds", 8 * rounds, "choose a smaller horizon")
    return Samples(np.zeros((n_arms, rounds)), np.zeros(n_arms, np.int64))


@helper
def append(samples: Samples, arm: int, reward: float) -> None:
    """Keep one more sample of an arm."""
    count = samples.counts[arm]
    if count == samples.values.shape[1]:
        raise ValueError(
            "the memory of samples is full: it holds one sample of each arm per round of the horizon that the agent "
            "was made for; make the agent with a longer horizon, or reset it between episodes"
        )
    samples.values[arm, count] = reward
    samples.counts[arm] = count + 1


@helper
def forget_samples(samples: Samples, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    if arm == ALL:
        samples.counts[:] = 0
    else:
        samples.counts[arm] = 0
