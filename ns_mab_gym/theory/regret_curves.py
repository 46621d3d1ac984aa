"""A heuristic for the regret of each window, shaped by the theorems' terms; no theorem bounds the regret by it.

Theorems 1 and 2 charge every learnable round with the smallest gap of the whole horizon, and every
unlearnable one as a lost pull. As a curve over τ that is of little use: one small gap anywhere makes (B)
exceed T, and the minimum lies at windows that leave hardly any round learnable. The heuristic spreads the
same terms evenly over the rounds, takes each with the gap Δ_{i,t,τ} of its own round and arm, and weighs a
pull with its regret. That is a guess: the theorems bound the sum of an arm's pulls over the horizon, up to
constants, and no probability of a pull in a single round follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..means import Floats, Ints, as_means
from .extremes import as_windows, trailing_at
from .learners import BERNOULLI, Learner, as_learner

__all__ = ["RegretCurve", "regret_curve"]

SAMPLE = 100_000  # sampled rounds times arms; more would change the recommended window by less than a grid step


class RegretCurve(NamedTuple):
    """The heuristic regret of each window, with unit constants: a shape, not a guarantee."""

    windows: list[int]
    unlearnable: Floats  # (W,) the regret of arms with Δ_{i,t,τ} ≤ 0: (A)
    learnable: Floats  # (W,) the regret of the others, forced plays included: (B) and (C)

    @property
    def total(self) -> Floats:
        """The heuristic regret of each window."""
        return self.unlearnable + self.learnable

    @property
    def best(self) -> int:
        """The window with the least heuristic regret; if several tie, the longest, which forgets least."""
        return self.windows[-1 - int(self.total[::-1].argmin())]


def regret_curve(
    means: npt.ArrayLike,
    windows: Sequence[int],
    agent: str = "beta-swts",
    *,
    gamma: float | None = None,
    subgaussian: float = BERNOULLI,
) -> RegretCurve:
    """A heuristic regret for every window, shaped by the theorems' terms; `recommend_window` minimises it.

    It supposes that in round t arm i is played with probability at most p_{i,t}, which no theorem says: 1 if
    Δ_{i,t,τ} ≤ 0, where (A) grants it every pull, and else an even share of (B) and (C),
    min{1, (effort + forced)/τ}, with the effort ln τ/Δ² or ln(τΔ² + e⁶)/(γΔ²) at Δ = Δ_{i,t,τ}. The round's
    regret is the largest that probabilities q_i ≤ p_{i,t} with Σ q_i ≤ 1 can cause. Long horizons are sampled:
    one round, drawn from a fixed seed, in each of 100,000/K equal stretches.
    """
    matrix = as_means(means)
    taus = sorted(as_windows(windows, len(matrix)))
    learner = as_learner(agent, gamma, subgaussian, matrix)
    rounds = _sample(*matrix.shape)
    loss, order = _losses(matrix[rounds])
    lows, highs = _extremes(matrix, taus, rounds)
    parts = np.array(
        [
            _costs(learner, tau, np.take_along_axis(low - high, order, axis=0), loss)
            for tau, low, high in zip(taus, lows, highs, strict=True)
        ]
    )
    missed, learnt = parts.T * (len(matrix) / len(rounds))
    return RegretCurve(taus, missed, learnt)


def _sample(horizon: int, arms: int) -> Ints:
    """The sampled rounds, 0-based and ascending; random rather than equidistant, so as not to align with a period."""
    size = max(1, SAMPLE // arms)
    if horizon <= size:
        return np.arange(horizon)
    edges = np.linspace(0, horizon, size + 1).astype(np.intp)
    return np.random.default_rng(0).integers(edges[:-1], edges[1:])


def _losses(means: Floats) -> tuple[Floats, Ints]:
    """μ* − μ_i of every round, the largest loss first, and the arms in that order; both (K, S)."""
    order: Ints = np.argsort(means, axis=1, kind="stable").T
    ascending = np.take_along_axis(means.T, order, axis=0)
    return ascending[-1] - ascending, order


def _extremes(matrix: Floats, windows: list[int], rounds: Ints) -> tuple[Floats, Floats]:
    """For every window and sampled round, the minimum of i*(t) (W, S) and the maximum of every arm (W, K, S)."""
    best = matrix[rounds].argmax(axis=1)
    lows = np.empty((len(windows), len(rounds)))
    highs = np.empty((len(windows), matrix.shape[1], len(rounds)))
    for arm, column in enumerate(matrix.T):
        mean, own = np.ascontiguousarray(column), best == arm
        for row, high in enumerate(trailing_at(mean, np.maximum, windows, rounds)):
            highs[row, arm] = high
        for row, low in enumerate(trailing_at(mean, np.minimum, windows, rounds[own])):
            lows[row, own] = low
    return lows, highs


def _costs(learner: Learner, window: int, gaps: Floats, loss: Floats) -> tuple[float, float]:
    """The regret of confusable and of distinguishable arms in the sampled rounds; gaps and losses are (K, S)."""
    confusable = (gaps <= 0) | (gaps == np.inf)  # an infinite gap belongs to the empty window of round 1
    effort = learner.effort(window, np.where(confusable, 1.0, gaps)) + learner.forced
    most = np.where(confusable, 1.0, np.minimum(effort / window, 1.0))
    played = np.diff(np.minimum(np.cumsum(most, axis=0), 1.0), axis=0, prepend=0.0)
    cost = played * loss
    return float(cost.sum(where=confusable)), float(cost.sum(where=~confusable))
