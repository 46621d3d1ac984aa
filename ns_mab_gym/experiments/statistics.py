"""Statistics of runs that share their luck: bootstrap intervals, paired differences, ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..resampling import Estimate, bootstrap_t, estimate, estimates

__all__ = [
    "Estimate",
    "Summary",
    "bootstrap_t",
    "estimate",
    "estimates",
    "improved",
    "mean_ranks",
    "ranks_of",
    "summarise",
]

Floats = npt.NDArray[np.float64]


def ranks_of(regrets: Floats) -> Floats:
    """(A, M) the rank of each of A agents in each of M columns of regrets; 1 is the least, ties share their ranks.

    >>> ranks_of(np.array([[3.0], [1.0], [3.0]])).ravel().tolist()
    [2.5, 1.0, 2.5]
    """
    less = (regrets[None] < regrets[:, None]).sum(axis=1)
    equal = (regrets[None] == regrets[:, None]).sum(axis=1)
    return np.asarray(less + (equal + 1) / 2)


def mean_ranks(finals: Floats) -> Floats:
    """(A,) the mean over runs of each agent's rank among the (A, R) regrets.

    >>> mean_ranks(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 1.0]])).tolist()
    [1.75, 2.25, 2.0]
    """
    return np.asarray(ranks_of(finals).mean(axis=1))


def improved(agent: Floats, reference: Floats) -> Floats:
    """(R, …) whether the agent has less regret than the reference with the same luck; a tie counts one half.

    Its mean is the probability of improvement.
    """
    return np.where(agent < reference, 1.0, np.where(agent == reference, 0.5, 0.0))


@dataclass(frozen=True)
class Summary:
    """One agent on one world: final regret, and how it compares with the reference on the same luck.

    Attributes:
        label: the agent's label.
        final: regret in round T.
        difference: final regret minus the reference's, run by run; ``None`` for the reference itself.
        improvement: the probability of less regret than the reference; ``None`` for the reference itself.
        rank: mean rank over the runs; 1 is the least regret.
    """

    label: str
    final: Estimate
    difference: Estimate | None
    improvement: Estimate | None
    rank: float


def summarise(finals: Mapping[str, Floats], reference: str) -> list[Summary]:
    """A summary for each agent, given the final regrets (R,) of all, in ascending order of their means."""
    runs = np.stack(list(finals.values()), axis=1)  # (R, A)
    base = finals[reference][:, None]
    columns = zip(
        finals,
        estimates(runs),
        estimates(runs - base),
        estimates(improved(runs, base)),
        mean_ranks(runs.T).tolist(),
        strict=True,
    )
    rows = [
        Summary(label, final, None, None, rank)
        if label == reference
        else Summary(label, final, difference, improvement, rank)
        for label, final, difference, improvement, rank in columns
    ]
    return sorted(rows, key=lambda row: row.final.mean)
