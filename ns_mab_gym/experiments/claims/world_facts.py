"""Claims about the worlds themselves, which the means decide without any run."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ...means import best_arms
from .decisions import Decide
from .evidence import Evidence
from .rules import Finding, Floats, Verdict

__all__ = ["best_arm_by_phase", "every_arm_best", "risen", "turns_best"]


def _exactly(true: bool, figures: str) -> Finding:
    return Finding(Verdict.HOLDS if true else Verdict.FAILS, figures)


def best_arm_by_phase(phases: Sequence[tuple[float, float]], arms: Sequence[int]) -> Decide:
    """Decides whether the best arm, counted from 1, is the given one in every round of each phase."""

    def decide(evidence: Evidence) -> Finding:
        best = best_arms(evidence.means) + 1
        rounds = np.arange(1, evidence.horizon + 1)
        found = []
        for first, last in phases:
            inside = (rounds > evidence.round(first)) & (rounds <= evidence.round(last))
            found.append(np.unique(best[inside]).tolist())
        said = [[arm] for arm in arms]
        words = "; ".join(f"phase {n}: {', '.join(map(str, each))}" for n, each in enumerate(found, start=1))
        return _exactly(found == said, f"best arm in {words}")

    return decide


def every_arm_best() -> Decide:
    """Decides whether every arm is the best in some round."""

    def decide(evidence: Evidence) -> Finding:
        rounds = np.bincount(best_arms(evidence.means), minlength=evidence.means.shape[1])
        fewest = int(rounds.argmin())
        figures = f"arm {fewest + 1} is best in {rounds[fewest]:,} rounds, every other arm in more or as many"
        return _exactly(bool((rounds > 0).all()), figures)

    return decide


def turns_best(arm: int, first: float, last: float) -> Decide:
    """Decides whether an arm, counted from 1, becomes the best between two rounds."""

    def decide(evidence: Evidence) -> Finding:
        best = best_arms(evidence.means) == arm - 1
        starts = np.flatnonzero(best[1:] & ~best[:-1]) + 2  # rounds, from 1
        inside = starts[(starts >= evidence.round(first)) & (starts <= evidence.round(last))]
        if len(inside) == 0:
            return _exactly(False, f"arm {arm} becomes the best in no round of that stretch")
        after = int(inside[0]) + int(np.argmin(np.append(best[inside[0] - 1 :], False))) - 1
        return _exactly(True, f"arm {arm} is the best from round {inside[0]:,} to {after:,}")

    return decide


def risen(means: Floats, lowest: int) -> list[range]:
    """The stretches of rounds, counted from 1, whose best arm was among the lowest since it last was best.

    Args:
        means: (T, K)
        lowest: how many arms are the lowest in a round.
    """
    best = best_arms(means)
    edges = [0, *(np.flatnonzero(best[1:] != best[:-1]) + 1).tolist(), len(best)]
    last_best: dict[int, int] = {}
    found = []
    for start, stop in itertools.pairwise(edges):
        arm = int(best[start])
        before = means[last_best.get(arm, 0) : start]
        if np.any((before < before[:, [arm]]).sum(axis=1) < lowest):
            found.append(range(start + 1, stop + 1))
        last_best[arm] = stop
    return found
