"""How often each of several independent draws is the largest, by SciPy, and whether counted wins agree with that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

FloatArray = npt.NDArray[np.float64]
POINTS = 4_000


def winning_chances(laws: Sequence[Any]) -> FloatArray:
    """P(draw i is the largest) = ∫ Π_{j≠i} F_j(F_i⁻¹(u)) du for each of the frozen SciPy laws, by the midpoint rule."""
    u = (np.arange(POINTS) + 0.5) / POINTS
    chances = np.empty(len(laws))
    for i, law in enumerate(laws):
        x = law.ppf(u)
        chances[i] = np.mean(np.prod([other.cdf(x) for j, other in enumerate(laws) if j != i], axis=0))
    return chances / chances.sum()


def agreement(wins: npt.NDArray[np.int64], chances: FloatArray) -> float:
    """The p-value of the chi-square test; outcomes expected fewer than 5 times are taken together."""
    expected = chances * wins.sum()
    rare = expected < 5
    seen = np.append(wins[~rare], wins[rare].sum())
    wanted = np.append(expected[~rare], expected[rare].sum())
    if wanted[-1] < 5:
        seen, wanted = np.append(seen[:-2], seen[-2:].sum()), np.append(wanted[:-2], wanted[-2:].sum())
    if wanted.size == 1:
        return 1.0
    return float(stats.chi2.sf(((seen - wanted) ** 2 / wanted).sum(), wanted.size - 1))
