"""Bootstrap-t intervals of paired differences, each for itself and for several together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..statistics import bootstrap_t

__all__ = ["Interval", "intervals_of"]

Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]

LEVEL = 0.95


class Resampled(NamedTuple):
    """The mean of differences, its standard error, its bootstrap t, and the ends of its own interval."""

    mean: float
    se: float
    t: Floats  # (B,)
    own: Interval


_KNOWN: OrderedDict[bytes, Resampled] = OrderedDict()
MOST_KNOWN = 2_000  # 80 kB each


def intervals_of(
    differences: Sequence[Floats], settled: Callable[[int, Interval], bool]
) -> list[tuple[Interval, Interval]]:
    """For each of several (R,) differences its own interval, and the one that holds for several of them together.

    The latter comes from the largest and the least t of all that are not settled, resampled together.

    Args:
        differences: the differences.
        settled: a function from a place and its own interval to whether that difference cannot be a matter of luck, so
            that the others need not be stricter for it.
    """
    resampled = _resampled(differences)
    left = [each for place, each in enumerate(resampled) if not settled(place, each.own)] or resampled[:1]
    least, largest = left[0].t.copy(), left[0].t.copy()
    for each in left[1:]:
        np.minimum(least, each.t, out=least)
        np.maximum(largest, each.t, out=largest)
    (low, _), (_, high) = _tails(least), _tails(largest)
    return [(each.own, (each.mean - high * each.se, each.mean - low * each.se)) for each in resampled]


def _tails(t: Floats) -> tuple[float, float]:
    """The values with (1 − LEVEL)/2 of all values below the one, and above the other."""
    below = int((1 - LEVEL) / 2 * len(t))
    above = len(t) - 1 - below
    ranked = np.partition(t, [below, above])
    return float(ranked[below]), float(ranked[above])


def _resampled(differences: Sequence[Floats]) -> list[Resampled]:
    """Readings of a claim share most of their comparisons, so that resamples are kept and found by the differences."""
    keys = [each.tobytes() for each in differences]
    new = {key: each for key, each in zip(keys, differences, strict=True) if key not in _KNOWN}
    if new:
        mean, se, t = bootstrap_t(np.stack(list(new.values()), axis=1))
        for key, its_mean, its_se, its_t in zip(new, mean.tolist(), se.tolist(), t.T.copy(), strict=True):
            low, high = _tails(its_t)
            _KNOWN[key] = Resampled(its_mean, its_se, its_t, (its_mean - high * its_se, its_mean - low * its_se))
    found = [_KNOWN[key] for key in keys]
    while len(_KNOWN) > MOST_KNOWN:
        _KNOWN.popitem(last=False)
    return found
