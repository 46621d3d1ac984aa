"""The law of the next choice of a rule: which arm it plays with which probability.

A rule that draws nothing plays one arm. Rules that draw one arm from weights note these, or say in a few lines what
they draw from. That one of several independent samples is the largest has a probability that is an integral, taken here
by quadrature. What is left is drawn 10,000 times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel import RULES, BoolArray, FloatArray, Probabilities, act, copied

DRAWS = 10_000
POINTS = 6  # of Gauss and Legendre, in each cell between two edges
# Edges on both sides of the middle of a density, in standard deviations or, where a tail is exponential, its lengths.
OFFSETS = np.array([0.0, 0.6, 1.2, 1.9, 2.7, 3.6, 5.0, 8.0, 14.0, 28.0])
FARTHEST = 8.0  # standard deviations of a Gaussian that count
EDGES = np.concatenate([-OFFSETS[:0:-1], OFFSETS])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(POINTS)


POWERS = np.arange(POINTS)
# (P, P) the integral from −1 to each node of the polynomial that is 1 at one node and 0 at the others
UP_TO_NODE: FloatArray = ((NODES[:, None] ** (POWERS + 1) - (-1.0) ** (POWERS + 1)) / (POWERS + 1)) @ np.linalg.inv(
    NODES[:, None] ** POWERS
)


def next_choice(state: Any, mask: BoolArray) -> FloatArray:
    """(K,) the probability with which ``act(state, mask, rng)`` plays each arm; the state stays as it is."""
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    only = act(copied(state, mask.size), mask, rng)
    if rng.bit_generator.state == before:  # nothing was drawn
        return one_arm(int(only), mask.size)
    law: Probabilities = RULES[type(state)].get("probabilities", drawn)
    found = law(state, mask)
    return np.asarray(found / found.sum())


def one_arm(arm: int, n_arms: int) -> FloatArray:
    """(K,) probability 1 for an arm."""
    found = np.zeros(n_arms)
    found[arm] = 1.0
    return found


def equal(mask: BoolArray) -> FloatArray:
    """(K,) the same probability for every available arm."""
    return mask / np.count_nonzero(mask)


def noted(state: Any, mask: BoolArray) -> FloatArray:
    """(K,) the probabilities that a rule notes in its state when it acts."""
    view = copied(state, mask.size)
    act(view, mask, np.random.default_rng(0))
    found: FloatArray = view.probabilities
    return found


def drawn(state: Any, mask: BoolArray) -> FloatArray:
    """(K,) shares of the arms in 10,000 draws with a generator of their own, always the same."""
    rng, counts = np.random.default_rng(0), np.zeros(mask.size)
    for _ in range(DRAWS):
        counts[act(copied(state, mask.size), mask, rng)] += 1
    return counts / DRAWS


def largest_beta_law(a: FloatArray, b: FloatArray, mask: BoolArray) -> FloatArray:
    """(K,) the probability that each available θ_i ~ Beta(a_i, b_i) is the largest.

    In z = ln(θ/(1 − θ)) the density is θ^a (1 − θ)^b, whose tails are exponential, with lengths 1/a and 1/b.

    >>> largest_beta_law(np.array([2.0, 1.0, 1.0]), np.ones(3), np.array([True, True, False])).round(6)  # ∫ 2x · x dx
    array([0.666667, 0.333333, 0.      ])
    """
    a, b = a[mask, None], b[mask, None]
    spread = 1.0 / a + 1.0 / b
    left, right = np.sqrt(spread + 1.0 / (a * a)), np.sqrt(spread + 1.0 / (b * b))
    edges = np.log(a / b) + EDGES * np.where(EDGES < 0.0, left, right)

    def log_density(z: FloatArray) -> FloatArray:
        log_theta = -np.logaddexp(0.0, -z)
        return a * log_theta + b * (log_theta - z)

    return _spread(_largest(edges, log_density), mask)


def largest_gaussian_law(means: FloatArray, deviations: FloatArray, mask: BoolArray) -> FloatArray:
    """(K,) the probability that each available θ_i ~ N(means_i, deviations_i²) is the largest.

    >>> largest_gaussian_law(np.array([1.0, 0.0]), np.array([0.6, 0.8]), np.ones(2, np.bool_)).round(6)  # Φ(1)
    array([0.841345, 0.158655])
    """
    mask = mask & (means + FARTHEST * deviations >= (means - FARTHEST * deviations)[mask].max())
    if np.count_nonzero(mask) == 1:
        return one_arm(int(mask.argmax()), mask.size)
    middle, deviation = means[mask, None], deviations[mask, None]
    edges = middle + EDGES[2:-2] * deviation
    return _spread(_largest(edges, lambda x: -0.5 * np.square((x - middle) / deviation)), mask)


def _spread(found: FloatArray, mask: BoolArray) -> FloatArray:
    law = np.zeros(mask.size)
    law[mask] = found
    return law


def _largest(edges: FloatArray, log_density: Any) -> FloatArray:
    """(k,) ∫ f_i Π_{j≠i} F_j for densities whose logarithms are known up to a constant.

    Each cell between neighbouring edges has nodes of its own, at which f is known, and F by the integral of the
    polynomial through these values.

    Args:
        edges: (k, E) where the density of each changes; all of them are edges for all.
        log_density: the function from (n,) points to the (k, n) logarithms.
    """
    edges = np.unique(edges)
    half = 0.5 * np.diff(edges)
    points = (edges[:-1] + half)[:, None] + half[:, None] * NODES
    logs = log_density(points.ravel())
    density = np.exp(logs - logs.max(axis=1, keepdims=True)).reshape(-1, *points.shape)  # (k, cells, P)
    cells = density @ WEIGHTS * half
    ends = cells.cumsum(axis=1)
    below = (ends - cells)[:, :, None] + density @ UP_TO_NODE.T * half[:, None]
    below = np.clip(below / ends[:, -1, None, None], 0.0, 1.0)
    before, after = np.ones_like(below), np.ones_like(below)
    np.cumprod(below[:-1], axis=0, out=before[1:])
    np.cumprod(below[:0:-1], axis=0, out=after[-2::-1])
    found = ((density * before * after) @ WEIGHTS * half).sum(axis=1) / ends[:, -1]
    return np.asarray(found / found.sum())
