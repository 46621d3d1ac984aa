"""Elementary facts of a mean matrix: how often, how far and how fast the means move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ns_mab_gym.agents.knowledge import Knowledge

from .matrix import Floats, Ints, as_means, blocks

__all__ = ["best_arm_switches", "best_arms", "breakpoints", "knowledge", "lipschitz", "variation"]


def _moves(matrix: Floats) -> Floats:
    """max_i |μ_{i,t+1} − μ_{i,t}| for t = 1..T−1."""
    moves = np.empty(len(matrix) - 1)
    for rows, columns in blocks(matrix, overlap=1):
        steps = np.diff(columns, axis=1)
        np.abs(steps, out=steps)
        steps.max(axis=0, out=moves[rows.start : rows.stop - 1])
    return moves


def _changes(signal: npt.NDArray[np.generic]) -> Ints:
    """The rounds, 1-based, whose entry differs from that of the round before."""
    return np.flatnonzero(signal[1:] != signal[:-1]) + 2


def breakpoints(means: npt.ArrayLike) -> Ints:
    """The breakpoints b_1 < b_2 < …: rounds t ∈ {2, …, T} at which any arm's mean differs from round t − 1's.

    Definition 3 of the paper; its number is Υ_T. The paper's later line b_Υ < T would forbid a change in the
    last round; the definition wins.

    >>> breakpoints([[0.2, 0.8], [0.2, 0.8], [0.9, 0.8]])
    array([3])
    """
    return np.flatnonzero(_moves(as_means(means))) + 2


def variation(means: npt.ArrayLike) -> float:
    """V_T = Σ_t max_i |μ_{i,t+1} − μ_{i,t}|, the variation budget (Besbes et al. 2014)."""
    return float(_moves(as_means(means)).sum())


def lipschitz(means: npt.ArrayLike) -> float:
    """σ, the smallest number with |μ_{i,t} − μ_{i,t'}| ≤ σ |t − t'|: the largest move in one round."""
    return float(_moves(as_means(means)).max(initial=0.0))


def best_arms(means: npt.ArrayLike) -> Ints:
    """i*(t) for every round, 0-based arms, ties to the lowest index; shape (T,)."""
    matrix = as_means(means)
    # By blocks: argmax copies what it is given if that is read-only.
    parts = (matrix[start : start + 65_536] for start in range(0, len(matrix), 65_536))
    return np.concatenate([part.argmax(axis=1) for part in parts])


def best_arm_switches(means: npt.ArrayLike) -> Ints:
    """Rounds t, 1-based, with i*(t) ≠ i*(t − 1).

    >>> best_arm_switches([[0.2, 0.8], [0.8, 0.8], [0.9, 0.8]])  # a tie goes to the lowest index
    array([2])
    """
    return _changes(best_arms(means))


def knowledge(means: npt.ArrayLike) -> Knowledge:
    """What the literature's tuning formulas ask of a world, read off its means in one cheap pass.

    ``describe`` tells much more, at a higher price.

    >>> knowledge([[0.2, 0.8], [0.2, 0.8], [0.9, 0.8]]).breakpoints
    1
    """
    matrix = as_means(means)
    moves = _moves(matrix)
    return Knowledge(
        horizon=len(matrix),
        n_arms=matrix.shape[1],
        breakpoints=int(np.count_nonzero(moves)),
        variation=float(moves.sum()),
        lipschitz=float(moves.max(initial=0.0)),
        switches=len(best_arm_switches(matrix)),
        means=matrix,
    )
