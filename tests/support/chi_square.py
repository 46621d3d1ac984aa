"""Whether arms were played as often as a law says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]


def p_value(counts: npt.NDArray[np.int64], chances: Floats) -> float:
    """Of a chi-square test, with arms expected fewer than 5 times put together with the rarest of the others."""
    order = np.argsort(chances)
    seen, expected = counts[order].astype(float), chances[order] * counts.sum()
    while expected.size > 1 and expected[0] < 5:
        seen[1] += seen[0]
        expected[1] += expected[0]
        seen, expected = seen[1:], expected[1:]
    return 1.0 if expected.size == 1 else float(stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue)
