"""Discounted counts and sums of rewards, from the full history."""

from __future__ import annotations

import math

DISCOUNTING = ["d-ucb", "d-ts", "ds-ts", "dsw-ts"]
History = list[tuple[int, float]]


def by_definition(history: History, n_arms: int, gamma: float) -> tuple[list[float], list[float]]:
    """N_i = Σ_s γ^(t − s) 1{I_s = i} and S_i = Σ_s γ^(t − s) x_s 1{I_s = i} after t rounds."""
    t = len(history)
    terms = [(arm, gamma ** (t - s), x) for s, (arm, x) in enumerate(history, 1)]
    pulls = [math.fsum(w for a, w, _ in terms if a == i) for i in range(n_arms)]
    return pulls, [math.fsum(w * x for a, w, x in terms if a == i) for i in range(n_arms)]
