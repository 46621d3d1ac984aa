"""The unlearnable set at T = 10^6, K = 10, against one pass of SciPy's minimum filter over the same matrix."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from benchmarks._outcome import Outcome
from benchmarks._timing import interleaved
from scipy.ndimage import minimum_filter1d

from ns_mab_gym import theory

ROUNDS, WINDOW, LIMIT = 10**6, 2942, 6.0


def run() -> Outcome:
    """Print both times and their ratio, and the time of twenty windows at once."""
    means = np.random.default_rng(0).random((ROUNDS, 10))
    means[:, 0] += 0.5

    def ours() -> float:
        began = perf_counter()
        theory.unlearnable_set(means, WINDOW)
        return perf_counter() - began

    def theirs() -> float:
        began = perf_counter()
        minimum_filter1d(means, WINDOW, axis=0)
        return perf_counter() - began

    mine, filtered, ratio = interleaved(ours, theirs, repeats=3)
    print(
        f"theory: unlearnable_set {mine:.2f} s, minimum_filter1d {filtered:.2f} s, ratio {ratio:.2f} (limit {LIMIT:g})"
    )
    began = perf_counter()
    theory.gap(means, np.linspace(100, 20_000, 20, dtype=int).tolist())
    twenty = perf_counter() - began
    print(f"  the gaps of twenty windows at once: {twenty:.1f} s")
    figures = {"seconds": mine, "ratio_to_minimum_filter": ratio, "seconds_of_twenty_gaps": twenty}
    return Outcome(ratio <= LIMIT, figures)
