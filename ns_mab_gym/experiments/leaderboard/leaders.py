"""The best agent on a few worlds, and those that cannot be told apart from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...resampling import RESAMPLES, SEED, bootstrap_means
from .board_table import LEAST, Division, Floats
from .board_worlds import BoardWorld

__all__ = ["Leader", "leader_on"]

CHANCE = "random"
LEVEL = 0.95
TINY = 1e-12  # the spread of differences that are always the same, but for rounding


@dataclass(frozen=True)
class Leader:
    """The agent with the least regret on some worlds.

    Attributes:
        label: the agent's.
        alike: agents whose regret cannot be told apart from its, the least first.
        to_oracle: its regret divided by oracle-restart's; NaN where that means nothing on some of the worlds.
        to_chance: its regret divided by that of random play; NaN if that was not played.
        worlds: the labels of the worlds.
    """

    label: str
    alike: tuple[str, ...]
    to_oracle: float
    to_chance: float
    worlds: tuple[str, ...]


def leader_on(division: Division, worlds: Sequence[BoardWorld]) -> Leader | None:
    """The agent with the least geometric mean of regret on some worlds; None if nobody plays all of them.

    Another agent cannot be told apart from it if the interval of the logarithm of their ratio holds 0. Runs are
    resampled in pairs, and so are the worlds if there are several. The intervals hold for all pairs of agents together
    with 95 % (from the largest |t|), so that they are right whoever turns out to be the best of thirty.
    """
    pairs = zip(division.labels, division.competes, strict=True)
    labels = [
        label for label, competes in pairs if competes and all((label, w.label) in division.finals for w in worlds)
    ]
    if not labels:
        return None
    logs = np.log(division.means(labels, worlds)).mean(axis=1)
    order = np.argsort(logs, kind="stable")
    best = int(order[0])
    samples = _log_means(division, labels, worlds)
    reach = _factor(samples) * _spreads(samples)[best]
    alike = tuple(labels[number] for number in order[1:] if logs[number] - logs[best] <= reach[number])
    row = division.labels.index(labels[best])
    columns = [list(division.worlds).index(world) for world in worlds]
    chance = division.means([labels[best]], worlds)[0] / division.of_reference(CHANCE)[columns]
    return Leader(
        labels[best],
        alike,
        _geometric(division.to_oracle[row, columns]),
        _geometric(chance),
        tuple(world.label for world in worlds),
    )


def _geometric(ratios: Floats) -> float:
    return float(np.exp(np.log(ratios).mean()))


def _log_means(division: Division, labels: Sequence[str], worlds: Sequence[BoardWorld]) -> Floats:
    """(B, A) the mean over resampled worlds of ln(regret) of each agent, from resampled runs."""
    count = len(worlds)
    weights = np.random.default_rng(SEED).multinomial(count, np.full(count, 1 / count), size=RESAMPLES) / count
    total = np.zeros((RESAMPLES, len(labels)))
    for world, weight in zip(worlds, weights.T, strict=True):
        finals = np.stack([division.finals[label, world.label] for label in labels], axis=1)  # (R, A)
        total += weight[:, None] * np.log(np.maximum(bootstrap_means(finals), LEAST))
    return total


def _spreads(samples: Floats) -> Floats:
    """(A, A) the standard deviations of the differences of the columns of (B, A) samples."""
    covariance = np.atleast_2d(np.cov(samples.T))
    variances = np.diagonal(covariance)
    return np.sqrt(np.maximum(variances[:, None] + variances - 2 * covariance, 0))


def _factor(samples: Floats) -> float:
    """How many standard deviations a difference may be off, for all pairs of columns of (B, A) samples together."""
    spreads, off = _spreads(samples), samples - samples.mean(axis=0)
    largest = np.zeros(len(samples))
    for number, spread in enumerate(spreads):
        apart = np.abs(off - off[:, [number]])
        np.maximum(largest, (apart / np.where(spread > TINY, spread, np.inf)).max(axis=1), out=largest)
    return float(np.quantile(largest, LEVEL))
