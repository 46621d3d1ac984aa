"""Worlds drawn anew at each reset: random phases, random walks, mixtures of the two, and means that rise or fall."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import fraction, positive, positive_int
from ..means import Floats, block_size
from .synthetic import ManyArms
from .world import BLOCK, as_many_changes, derived, shorter_steps


@dataclass(frozen=True, kw_only=True)
class Piecewise(ManyArms):
    """Random piecewise-constant world: breakpoints and the means of every phase are drawn anew at each reset.

    The means of a phase are uniform on [0, 1]^K, conditioned on the best arm leading by ``min_gap``. With
    ``rate=None``, the breakpoints are uniform over all placements that respect ``min_spacing``; with a rate, every
    round at least ``min_spacing`` after the last change is a breakpoint with that probability. An episode has as many
    changes at any T, or as many as fit.

    Attributes:
        changes: the number of breakpoints Υ (ignored when a rate is given).
        rate: the probability of a change in a round, or ``None`` for a fixed number of changes.
        min_spacing: the smallest number of rounds in a phase (with a rate, the last phase may be cut by T).
        min_gap: the smallest distance between the best and the second-best mean in every phase.
    """

    random: ClassVar[bool] = True

    changes: int = derived(
        "4, at most T/min_spacing − 1", lambda world: as_many_changes(4, world.horizon, world.min_spacing)
    )
    rate: float | None = None
    min_spacing: int = 1
    min_gap: float = 0.0
    name: str = field(init=False, repr=False, default="piecewise")

    def __post_init__(self) -> None:
        """Check that the phases fit into the horizon and the gap into [0, 1)."""
        positive_int("min_spacing", self.min_spacing)
        super().__post_init__()
        positive_int("changes", self.changes, least=0)
        if self.rate is not None:
            fraction("rate", self.rate)
        if fraction("min_gap", self.min_gap) == 1:
            raise ValueError("min_gap must be below 1, got 1: no means in [0, 1] are further apart")
        if self.rate is None and (self.changes + 1) * self.min_spacing > self.horizon:
            raise ValueError(
                f"{self.changes} changes with phases of at least {self.min_spacing} rounds need a horizon of "
                f"{(self.changes + 1) * self.min_spacing}, got {self.horizon}: lower changes or min_spacing"
            )

    def _means(self, rng: np.random.Generator) -> Floats:
        lengths = self._lengths(rng)
        means = np.empty((self.horizon, self.n_arms))
        self._draw_phases(rng, means[: lengths.size])
        _spread(means[: lengths.size], lengths, means)
        return means

    def _lengths(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Phase lengths: with a rate, ``min_spacing`` plus geometric waits until T is filled.

        Without one, uniform over the compositions of T into parts of at least ``min_spacing``.
        """
        if self.rate is not None:
            lengths, left = array("q"), self.horizon
            while left > 0:
                wait = int(rng.geometric(self.rate)) - 1 if self.rate else left
                lengths.append(min(left, self.min_spacing + wait))
                left -= lengths[-1]
            return np.array(lengths, dtype=np.int64)
        slack = self.horizon - (self.changes + 1) * (self.min_spacing - 1)
        cuts = np.zeros(self.changes + 2, np.int64)
        cuts[1:-1] = rng.choice(slack - 1, size=self.changes, replace=False)
        cuts[1:-1] += 1
        cuts[-1] = slack
        cuts.sort()
        return cuts[1:] - cuts[:-1] + (self.min_spacing - 1)

    def _draw_phases(self, rng: np.random.Generator, means: Floats) -> None:
        """Fill the rows with uniform means, conditioned on the best arm leading by ``min_gap``, without rejection.

        Given the gap g, the density of the maximum m is proportional to (m − g)^(K−1) on [g, 1], and the other
        arms are uniform below m − g.
        """
        phases = len(means)
        best = self.min_gap + (1 - self.min_gap) * rng.random(phases) ** (1 / self.n_arms)
        rng.random(out=means)
        means *= (best - self.min_gap)[:, None]
        means[np.arange(phases), rng.integers(self.n_arms, size=phases)] = best


def _spread(phases: Floats, lengths: npt.NDArray[np.int64], means: Floats) -> None:
    """Repeat the rows of phases in the rows of the means; from the end, so that both may begin in the same place."""
    ends = lengths.cumsum()
    begins, size = ends - lengths, block_size(means.shape[1], BLOCK)
    for stop in range(len(means), 0, -size):
        start = max(stop - size, 0)
        first, last = ends.searchsorted((start, stop - 1), side="right")
        rounds = np.minimum(ends[first : last + 1], stop) - np.maximum(begins[first : last + 1], start)
        means[start:stop] = phases.take(np.repeat(np.arange(first, last + 1), rounds), axis=0)


@dataclass(frozen=True, kw_only=True)
class RandomWalk(ManyArms):
    """Every mean follows a Gaussian random walk from a uniform start, reflected at 0 and 1.

    Over T rounds a walk wanders by step · √T. The default keeps that distance, 0.005 √50,000 ≈ 1.1, at any T. Below
    T = 20 the step would exceed ¼, and a reflected mean would have little to do with the one before: it stays ¼, and
    shorter episodes wander less.

    Attributes:
        step: the standard deviation of one step.
    """

    random: ClassVar[bool] = True

    step: float = derived("0.005 √(50,000/T), at most 0.25", lambda world: shorter_steps(0.005, world.horizon))
    name: str = field(init=False, repr=False, default="random-walk")

    def __post_init__(self) -> None:
        """Check the step."""
        super().__post_init__()
        positive("step", self.step)

    def _means(self, rng: np.random.Generator) -> Floats:
        path = np.empty((self.horizon, self.n_arms))
        self._walk(rng, path)
        return path

    def _walk(self, rng: np.random.Generator, path: Floats) -> None:
        """Fill (T, k) rows with the first k arms of an instance."""
        k = path.shape[1]
        for rows, t in self._blocks():
            path[rows] = rng.normal(scale=self.step, size=(len(t), self.n_arms))[:, :k]
        path[0] = rng.random(self.n_arms)[:k]
        for rows, _ in self._blocks():
            steps = path[rows]
            if rows.start:
                steps[0] += path[rows.start - 1]
            np.cumsum(steps, axis=0, out=steps)
        # A symmetric walk folded into [0, 1] has the law of a walk reflected at both ends.
        path += 1
        path %= 2
        path -= 1
        np.abs(path, out=path)


@dataclass(frozen=True, kw_only=True)
class DawWalk(ManyArms):
    """Decaying Gaussian random walks, on which people's exploration is studied: each mean is drawn back to a centre.

    μ' = decay · μ + (1 − decay) · centre + N(0, step²), from Daw and others, "Cortical substrates for exploratory
    decisions in humans", Nature 2006: four arms, 300 rounds, a centre of 50 points, steps of 2.8 and rewards with a
    standard deviation of 4. Here 100 points are 1, and the reward law of the id has the scale 0.04. The source does not
    say how a walk begins; here, in its stationary law, with a standard deviation of 0.155. There payoffs are rounded
    and lie between 1 and 100 points; here a walk that leaves [0, 1], about one round in 800 of an arm, goes on beyond
    and shows the end as its mean, and rewards are neither rounded nor cut. At other T and K the walks are the same.

    Attributes:
        horizon: T, the number of rounds.
        n_arms: K, the number of arms.
        decay: how much of a mean's distance from the centre is left after one round, below 1.
        centre: what the means are drawn back to.
        step: the standard deviation of one step.
    """

    random: ClassVar[bool] = True

    horizon: int = 300
    n_arms: int = 4
    decay: float = 0.9836
    centre: float = 0.5
    step: float = 0.028
    name: str = field(init=False, repr=False, default="daw-walk")

    def __post_init__(self) -> None:
        """Check decay, centre and step."""
        super().__post_init__()
        positive("decay", self.decay, below=1, hint="for walks that are not drawn back use random-walk")
        fraction("centre", self.centre)
        positive("step", self.step)

    def _means(self, rng: np.random.Generator) -> Floats:
        path = rng.normal(scale=self.step, size=(self.horizon, self.n_arms))
        path[0] /= math.sqrt(1 - self.decay**2)
        for t in range(1, self.horizon):
            path[t] += self.decay * path[t - 1]
        path += self.centre
        return np.clip(path, 0, 1, out=path)


@dataclass(frozen=True, kw_only=True)
class Mixed(ManyArms):
    """Some arms jump, the others drift: the first ``jumping`` arms are piecewise constant, the rest random walks.

    By default half of the arms jump, as often at any T, and a walk wanders as far in any episode, 0.002 √50,000 ≈ 0.45.

    Attributes:
        jumping: how many arms jump.
        changes: how often they jump (all at the same rounds).
        step: the standard deviation of one step of the drifting arms.
    """

    random: ClassVar[bool] = True

    jumping: int = derived("K/2, rounded down", lambda world: world.n_arms // 2)
    changes: int = derived("4, at most T − 1", lambda world: as_many_changes(4, world.horizon))
    step: float = derived("0.002 √(50,000/T), at most 0.25", lambda world: shorter_steps(0.002, world.horizon))
    name: str = field(init=False, repr=False, default="mixed")

    def __post_init__(self) -> None:
        """Check that at least one arm jumps and one drifts."""
        super().__post_init__()
        if not positive_int("jumping", self.jumping) < self.n_arms:
            raise ValueError(f"jumping must be below n_arms = {self.n_arms}, got {self.jumping}")
        self._parts()

    def _parts(self) -> tuple[Piecewise, RandomWalk]:
        """The two worlds of which it is made; a part with one arm is drawn with two arms, of which one is used."""
        drifting = self.n_arms - self.jumping
        return (
            Piecewise(horizon=self.horizon, n_arms=max(2, self.jumping), changes=self.changes),
            RandomWalk(horizon=self.horizon, n_arms=max(2, drifting), step=self.step),
        )

    def _means(self, rng: np.random.Generator) -> Floats:
        jumps, drifts = self._parts()
        lengths = jumps._lengths(rng)
        phases = np.empty((lengths.size, jumps.n_arms))
        jumps._draw_phases(rng, phases)
        means = np.empty((self.horizon, self.n_arms))
        _spread(phases[:, : self.jumping], lengths, means[:, : self.jumping])
        drifts._walk(rng, means[:, self.jumping :])
        return means


@dataclass(frozen=True, kw_only=True)
class Rising(ManyArms):
    """Rising restless world: concave increasing means with random parameters.

    Arm i follows c (1 − e^(−r x)) or c (1 − (1 + r x)^(−1/2)), x = t/T, with equal probability (the exponential and
    the polynomial family of Metelli et al., "Stochastic Rising Bandits", 2022). The ceiling c is uniform on
    [0, 1] and the rate r log-uniform on [1, ``fastest``]: slow arms with high ceilings overtake fast starters.

    Attributes:
        fastest: the largest rate, in units of 1/T.
    """

    random: ClassVar[bool] = True

    fastest: float = 100.0
    name: str = field(init=False, repr=False, default="rising")

    def __post_init__(self) -> None:
        """Check the rate."""
        super().__post_init__()
        if positive("fastest", self.fastest) < 1:
            raise ValueError(f"fastest must be at least 1, the slowest rate, got {self.fastest}")

    def _means(self, rng: np.random.Generator) -> Floats:
        ceiling = rng.random(self.n_arms)
        rate = self.fastest ** rng.random(self.n_arms)
        exponential = rng.random(self.n_arms) < 0.5

        def formula(t: Floats) -> Floats:
            x = t[:, None] / self.horizon
            decay = np.where(exponential, np.exp(-rate * x), 1 / np.sqrt(1 + rate * x))
            return np.asarray(ceiling * (1 - decay))

        return self._by_blocks(formula)


@dataclass(frozen=True, kw_only=True)
class Rotting(Rising):
    """Rotting restless world: the rising world upside down, μ = 1 − rising, so that every mean falls."""

    name: str = field(init=False, repr=False, default="rotting")

    def _means(self, rng: np.random.Generator) -> Floats:
        means = super()._means(rng)
        return np.subtract(1, means, out=means)
