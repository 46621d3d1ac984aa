"""Prefix sums at the points at which a detector may split an arm's samples, in bounded memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.admission import Claims, Facts, admissible, is_whole
from ..core.arguments import positive_int
from ..core.kernel import ALL, FloatArray, IntArray, helper, inlined
from ..core.memory_limits import ensure_fits, grouped

__all__ = ["COUNT", "SUM", "Prefixes", "add_sample", "forget_prefixes", "keep_point", "new_prefixes"]

COUNT, SUM = 0, 1  # rows of an arm's points
FINEST = 1.0 / 128.0  # the first ε


class Prefixes(NamedTuple):
    """For each arm s and the sum of its first s samples, at split points s, and behind them those of all samples.

    Points are kept at every multiple of a spacing while there is room. When the memory of an arm is full, points are
    dropped whose neighbours lie closer together than ε times their distance to the nearer end of the samples, with
    ε = 1/128, doubled until a quarter of the memory is free: the grid is fine near both ends, coarse in between. With
    1 024 points and a spacing of 10, every point is kept of the first 10 230 samples, and ε is at most 1/64 up to
    50 000 samples, 1/32 up to 10⁶, and 1/16 up to 10⁹.
    """

    points: FloatArray  # (K, 2, memory) COUNT and SUM
    kept: IntArray  # (K,) the number of split points; at this place are the count and sum of all samples


def _claims(prefixes: Prefixes, facts: Facts) -> Claims:
    """Split points rise from 1 on, and between two of them are so many rewards."""
    yield "kept", prefixes.kept < prefixes.points.shape[2], "a place among the points"
    for row, kept in zip(prefixes.points, prefixes.kept, strict=True):
        counts, sums = row[COUNT, : kept + 1], row[SUM, : kept + 1]
        steps = np.diff(counts, prepend=0.0)
        rising = (steps[:-1] > 0).all() and steps[-1] >= 0
        yield "points", is_whole(counts).all() and rising, "points at which the counts rise"
        rises = np.diff(sums, prepend=0.0)
        slack = 1e-9 * (1.0 + counts)
        fit = (rises >= facts.lowest * steps - slack) & (rises <= facts.highest * steps + slack)
        yield "points", fit, "sums of that many rewards"


admissible(Prefixes, _claims)


def new_prefixes(n_arms: int, memory: int) -> Prefixes:
    """No samples. Rows that stay empty cost address space, not memory."""
    points = positive_int("memory", memory, least=8)
    ensure_fits(f"a memory of {grouped(points)} points of each arm", 16 * n_arms * points, "choose a smaller memory")
    return Prefixes(np.zeros((n_arms, 2, points)), np.zeros(n_arms, np.int64))


@inlined
def add_sample(points: FloatArray, kept: IntArray, arm: int, reward: float) -> None:
    """Count one more sample of an arm."""
    points[arm, COUNT, kept[arm]] += 1.0
    points[arm, SUM, kept[arm]] += reward


@inlined
def keep_point(points: FloatArray, kept: IntArray, arm: int) -> None:
    """Let the samples so far be split from those to come here."""
    last = kept[arm]
    if last + 1 == points.shape[2]:
        last = _thin(points[arm], last)
    points[arm, COUNT, last + 1] = points[arm, COUNT, last]
    points[arm, SUM, last + 1] = points[arm, SUM, last]
    kept[arm] = last + 1


@helper
def _thin(row: FloatArray, last: int) -> int:
    """Drop points that have close neighbours until a quarter is free; the place where the last one is then."""
    n, epsilon, room = row[COUNT, last], FINEST, (3 * row.shape[1]) // 4
    while last >= room:
        place = 0
        for j in range(1, last + 1):
            before, after = row[COUNT, place], row[COUNT, min(j + 1, last)]
            if j == last or after - before > epsilon * min(before, n - after):
                place += 1
                row[COUNT, place], row[SUM, place] = row[COUNT, j], row[SUM, j]
        last = place
        epsilon *= 2.0
    return last


@helper
def forget_prefixes(prefixes: Prefixes, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` those of every arm."""
    for i in range(prefixes.kept.size):
        if arm == ALL or i == arm:
            for j in range(prefixes.kept[i] + 1):
                prefixes.points[i, COUNT, j] = 0.0
                prefixes.points[i, SUM, j] = 0.0
            prefixes.kept[i] = 0
