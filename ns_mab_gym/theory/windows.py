"""Minima and maxima over the last τ rounds, for many τ at once.

A minimum over 2k rounds is the smaller of two minima over k, so a ladder of doublings, shared by all
windows, gives each window with one more step: log₂ τ passes over contiguous arrays in total, and one pass
for every further window. At T = 10^6 that is faster than van Herk's O(T) scheme in NumPy for any τ tried (to
3000).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ns_mab_gym.agents.checks import positive_int

from .matrix import Floats

__all__ = ["Windows", "as_windows", "trailing"]

Windows = int | Sequence[int]


def as_windows(window: Windows, horizon: int) -> list[int]:
    """The given window or windows as a list of positive Python ints."""
    suggestion = int(4 * np.sqrt(horizon * np.log(horizon)))
    hint = f"the paper suggests 4*sqrt(T*ln T) = {suggestion}" if suggestion else ""
    several = [window] if np.ndim(window) == 0 else list(window)  # type: ignore[arg-type]
    if not several:
        raise ValueError("window must be a positive integer or several of them, got an empty sequence")
    return [positive_int("window", each, hint=hint) for each in several]


def trailing(signal: Floats, extreme: np.ufunc, windows: Sequence[int]) -> Iterator[Floats]:
    """The extreme of the rounds t − τ, …, t − 1 for every round t, for each τ of ``windows``, which ascend.

    Windows are clipped at round 1. The first entry stands for the empty window: it is the extreme of nothing,
    +∞ for ``np.minimum`` and −∞ for ``np.maximum``.
    """
    length, ladder = 1, signal[:-1].copy()  # ladder[s]: the extreme of the last ``length`` entries up to s
    nothing = np.inf if extreme is np.minimum else -np.inf
    for window in windows:
        while 2 * length <= min(window, len(ladder)):
            _lengthen(ladder, length, extreme, out=ladder)
            length *= 2
        result = np.empty(len(signal))
        result[0], result[1:] = nothing, ladder
        _lengthen(ladder, min(window, len(ladder)) - length, extreme, out=result[1:])
        yield result


def _lengthen(ladder: Floats, by: int, extreme: np.ufunc, out: Floats) -> None:
    if by > 0:
        extreme(ladder[by:], ladder[:-by], out=out[by:])
