"""Synthetic worlds beside the paper's: the common models of non-stationarity, most drawn anew at each reset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..agents.checks import fraction, positive, positive_int
from .base import FloatArray, World

__all__ = ["ManyArms", "Mixed", "Periodic", "Piecewise", "RandomWalk", "Stationary", "Variation"]


@dataclass(frozen=True, kw_only=True)
class Stationary(World):
    """Means that do not move: the paper's abrupt world if its first phase never ended.

    Attributes:
        mu: the mean of each arm.
    """

    mu: tuple[float, ...] = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
    name: str = field(init=False, repr=False, default="stationary")

    def __post_init__(self) -> None:
        """Check that there are two finite means or more."""
        super().__post_init__()
        if not isinstance(self.mu, Iterable) or not all(isinstance(m, int | float | np.number) for m in self.mu):
            raise TypeError(f"mu must be a sequence of numbers, one an arm, got {self.mu!r}")
        object.__setattr__(self, "mu", tuple(float(m) for m in self.mu))
        positive_int("the number of means in mu", len(self.mu), least=2)
        if not np.isfinite(self.mu).all():
            raise ValueError(f"mu must be finite, got {self.mu!r}")

    @property
    def n_arms(self) -> int:
        """K, as many as there are means."""
        return len(self.mu)

    def _means(self, rng: np.random.Generator) -> FloatArray:
        return np.tile(np.array(self.mu), (self.horizon, 1))


@dataclass(frozen=True, kw_only=True)
class ManyArms(World):
    """A world with any number of arms; the base of those below."""

    n_arms: int = 10

    def __post_init__(self) -> None:
        """Check the number of arms."""
        super().__post_init__()
        positive_int("n_arms", self.n_arms, least=2)


@dataclass(frozen=True, kw_only=True)
class Piecewise(ManyArms):
    """Random piecewise-constant world: breakpoints and the means of every phase are drawn anew at each reset.

    The means of a phase are uniform on [0, 1]^K, conditioned on the best arm leading by ``min_gap``. With
    ``rate=None``, the breakpoints are uniform over all placements that respect ``min_spacing``; with a rate, every
    round at least ``min_spacing`` after the last change is a breakpoint with that probability.

    Attributes:
        changes: the number of breakpoints Υ (ignored when a rate is given).
        rate: the probability of a change in a round, or ``None`` for a fixed number of changes.
        min_spacing: the least number of rounds in a phase (with a rate, the last phase may be cut by T).
        min_gap: the least distance between the best and the second-best mean in every phase.
    """

    random: ClassVar[bool] = True

    changes: int = 4
    rate: float | None = None
    min_spacing: int = 1
    min_gap: float = 0.0
    name: str = field(init=False, repr=False, default="piecewise")

    def __post_init__(self) -> None:
        """Check that the phases fit into the horizon and the gap into [0, 1)."""
        super().__post_init__()
        positive_int("changes", self.changes, least=0)
        positive_int("min_spacing", self.min_spacing)
        if self.rate is not None:
            fraction("rate", self.rate)
        if fraction("min_gap", self.min_gap) == 1:
            raise ValueError("min_gap must be below 1, got 1: no means in [0, 1] are further apart")
        if self.rate is None and (self.changes + 1) * self.min_spacing > self.horizon:
            raise ValueError(
                f"{self.changes} changes with phases of at least {self.min_spacing} rounds need a horizon of "
                f"{(self.changes + 1) * self.min_spacing}, got {self.horizon}: lower changes or min_spacing"
            )

    def _means(self, rng: np.random.Generator) -> FloatArray:
        lengths = self._drawn_lengths(rng) if self.rate is not None else self._placed_lengths(rng)
        return np.repeat(self._phase_means(rng, lengths.size), lengths, axis=0)

    def _placed_lengths(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Phase lengths, uniform over the compositions of T into parts of at least ``min_spacing``."""
        slack = self.horizon - (self.changes + 1) * (self.min_spacing - 1)
        cuts = np.sort(rng.choice(slack - 1, size=self.changes, replace=False)) + 1
        return np.diff(cuts, prepend=0, append=slack).astype(np.int64) + self.min_spacing - 1

    def _drawn_lengths(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Phase lengths of ``min_spacing`` plus a geometric wait, until T is filled."""
        lengths: list[int] = []
        left = self.horizon
        while left > 0:
            wait = int(rng.geometric(self.rate)) - 1 if self.rate else left
            lengths.append(min(left, self.min_spacing + wait))
            left -= lengths[-1]
        return np.array(lengths, dtype=np.int64)

    def _phase_means(self, rng: np.random.Generator, phases: int) -> FloatArray:
        """Uniform means given that the best leads by ``min_gap``, drawn without rejection.

        Given the gap g, the density of the maximum m is proportional to (m − g)^(K−1) on [g, 1], and the other
        arms are uniform below m − g.
        """
        best = self.min_gap + (1 - self.min_gap) * rng.random(phases) ** (1 / self.n_arms)
        means = rng.random((phases, self.n_arms)) * (best - self.min_gap)[:, None]
        means[np.arange(phases), rng.integers(self.n_arms, size=phases)] = best
        return means


@dataclass(frozen=True, kw_only=True)
class RandomWalk(ManyArms):
    """Every mean does a Gaussian random walk, reflected at 0 and 1, from a uniform start.

    Attributes:
        step: the standard deviation of one step.
    """

    random: ClassVar[bool] = True

    step: float = 0.005
    name: str = field(init=False, repr=False, default="random-walk")

    def __post_init__(self) -> None:
        """Check the step."""
        super().__post_init__()
        positive("step", self.step)

    def _means(self, rng: np.random.Generator) -> FloatArray:
        path = rng.normal(scale=self.step, size=(self.horizon, self.n_arms))
        path[0] = rng.random(self.n_arms)
        np.cumsum(path, axis=0, out=path)
        # A symmetric walk folded into [0, 1] has the law of a walk reflected at both ends.
        path += 1
        path %= 2
        path -= 1
        return np.abs(path, out=path)


@dataclass(frozen=True, kw_only=True)
class Variation(ManyArms):
    """Sinusoids that spend a given variation budget: V_T = Σ_t max_i |μ_{i,t+1} − μ_{i,t}| equals ``budget``.

    Arm i follows ½ + a sin(2π(c t/T + i/K)). V_T is proportional to the amplitude a, which is therefore found
    exactly; there are just enough cycles c for the amplitude to stay within 0.4.

    Attributes:
        budget: V_T.
    """

    budget: float = 10.0
    name: str = field(init=False, repr=False, default="variation")

    def __post_init__(self) -> None:
        """Check that the budget can be spent within the horizon."""
        super().__post_init__()
        positive("budget", self.budget)
        positive_int("horizon", self.horizon, least=2, hint="means of one round cannot vary")
        if self.budget > (most := 0.3 * (self.horizon - 1)):
            raise ValueError(f"a budget of {self.budget} is too much for {self.horizon} rounds; at most {most}")

    def _waves(self, cycles: float) -> FloatArray:
        turns = cycles * self._rounds() / self.horizon
        return np.sin(2 * np.pi * (turns[:, None] + np.arange(self.n_arms) / self.n_arms))

    @staticmethod
    def _variation(means: FloatArray) -> float:
        return float(np.abs(np.diff(means, axis=0)).max(axis=1).sum())

    def _means(self, rng: np.random.Generator) -> FloatArray:
        one_cycle = self._variation(self._waves(1))
        cycles = max(1, int(self.budget / (0.4 * one_cycle)))
        while (amplitude := self.budget / self._variation(waves := self._waves(cycles))) > 0.4:
            cycles += 1 + cycles // 100
        return 0.5 + amplitude * waves


@dataclass(frozen=True, kw_only=True)
class Periodic(ManyArms):
    """Means that repeat exactly: arm i follows ½ + amplitude · sin(2π(t/period + i/K)).

    Attributes:
        period: the number of rounds after which the means come back.
        amplitude: how far a mean moves from ½, at most ½.
    """

    period: int = 5_000
    amplitude: float = 0.4
    name: str = field(init=False, repr=False, default="periodic")

    def __post_init__(self) -> None:
        """Check the period and the amplitude."""
        super().__post_init__()
        positive_int("period", self.period, least=2)
        if positive("amplitude", self.amplitude) > 0.5:
            raise ValueError(f"amplitude must be at most 0.5 to keep means in [0, 1], got {self.amplitude}")

    def _means(self, rng: np.random.Generator) -> FloatArray:
        turns = np.arange(1, min(self.period, self.horizon) + 1) / self.period
        one_period = 0.5 + self.amplitude * np.sin(2 * np.pi * (turns[:, None] + np.arange(self.n_arms) / self.n_arms))
        return np.take(one_period, np.arange(self.horizon) % self.period, axis=0)


@dataclass(frozen=True, kw_only=True)
class Mixed(ManyArms):
    """Some arms jump, the others drift: the first ``jumping`` arms are piecewise constant, the rest random walks.

    Attributes:
        jumping: how many arms jump.
        changes: how often they jump (all at the same rounds).
        step: the standard deviation of one step of the drifting arms.
    """

    random: ClassVar[bool] = True

    jumping: int = 5
    changes: int = 4
    step: float = 0.002
    name: str = field(init=False, repr=False, default="mixed")

    def __post_init__(self) -> None:
        """Check that at least one arm jumps and one drifts."""
        super().__post_init__()
        if not positive_int("jumping", self.jumping) < self.n_arms:
            raise ValueError(f"jumping must be below n_arms = {self.n_arms}, got {self.jumping}")
        self._parts()

    def _parts(self) -> tuple[Piecewise, RandomWalk]:
        """The two worlds it is made of; a part of one arm is drawn as two, of which one is used."""
        drifting = self.n_arms - self.jumping
        return (
            Piecewise(horizon=self.horizon, n_arms=max(2, self.jumping), changes=self.changes),
            RandomWalk(horizon=self.horizon, n_arms=max(2, drifting), step=self.step),
        )

    def _means(self, rng: np.random.Generator) -> FloatArray:
        jumps, drifts = (part.means(rng) for part in self._parts())
        return np.hstack([jumps[:, : self.jumping], drifts[:, : self.n_arms - self.jumping]])
