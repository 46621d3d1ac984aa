"""Synthetic worlds that follow a formula: stationary, of a given variation, periodic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..agents.core.arguments import positive, positive_int, shown
from ..means import Floats, variation
from .world import ARMS, World, derived

PAPER_MEANS = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)  # of the first phase of the abrupt world


def _like_the_paper(world: Stationary) -> tuple[float, ...]:
    """The best mean, 0.6, last; the others from 0.55 down to 0.1, interpolated between the paper's."""
    from_the_top = np.linspace(0, len(PAPER_MEANS) - 2, world.n_arms - 1)  # for two arms, 0.55 alone
    others = np.interp(from_the_top, np.arange(len(PAPER_MEANS) - 1), PAPER_MEANS[-2::-1])
    return (*others[::-1].tolist(), PAPER_MEANS[-1])


@dataclass(frozen=True, kw_only=True)
class Stationary(World):
    """Means that do not move: by default those of the first phase of the paper's abrupt world.

    With another number of arms, the best mean stays 0.6 and the second 0.55, so that telling the two apart is as hard
    as ever; the others are spread between 0.55 and 0.1 as the paper's are.

    Attributes:
        n_arms: K, the number of arms.
        mu: the mean of each arm.
    """

    n_arms: int = derived("10, or as many as mu has", lambda world: ARMS if world.mu is None else len(world.mu))
    mu: tuple[float, ...] = derived(
        "0.1, 0.2, 0.25, 0.3, …, 0.55, 0.6 for K = 10; for others 0.6, and 0.55 to 0.1 interpolated between these",
        _like_the_paper,
    )
    name: str = field(init=False, repr=False, default="stationary")

    def __post_init__(self) -> None:
        """Check that there are at least two means, as many as arms, and that all are finite."""
        if self.mu is not None:
            listed = isinstance(self.mu, Iterable) and getattr(self.mu, "ndim", 1) > 0
            if not listed or not all(isinstance(m, int | float | np.number) for m in self.mu):
                raise TypeError(f"mu must be a sequence of numbers, one per arm, got {shown(self.mu)}")
            try:
                object.__setattr__(self, "mu", tuple(float(m) for m in self.mu))
            except OverflowError:  # an integer beyond all floats
                raise ValueError(f"mu must be finite, got {shown(self.mu)}") from None
            positive_int("the number of means in mu", len(self.mu), least=2)
            if not np.isfinite(self.mu).all():
                raise ValueError(f"mu must be finite, got {self.mu!r}")
        if self.n_arms is not None:
            positive_int("n_arms", self.n_arms, least=2)
        super().__post_init__()
        if self.n_arms != len(self.mu):
            raise ValueError(
                f"n_arms is {self.n_arms} but mu has {len(self.mu)} means; leave n_arms out, or give as many means"
            )

    def _means(self, rng: np.random.Generator) -> Floats:
        means = np.empty((self.horizon, self.n_arms))
        means[:] = self.mu
        return means


@dataclass(frozen=True, kw_only=True)
class ManyArms(World):
    """A world with any number of arms; the base class of most worlds.

    Attributes:
        n_arms: K, the number of arms.
    """

    n_arms: int = 10

    def __post_init__(self) -> None:
        """Check the number of arms, before anything is derived from it."""
        positive_int("n_arms", self.n_arms, least=2)
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class Variation(ManyArms):
    """Sinusoids that spend a given variation budget: V_T = Σ_t max_i |μ_{i,t+1} − μ_{i,t}| equals ``budget``.

    Arm i follows ½ + a sin(2π(c t/T + i/K)). V_T is proportional to the amplitude a, which is therefore computed
    exactly; there are just enough cycles c to keep the amplitude within 0.4.

    V_T belongs to the shape of the curves and is the same however many rounds they are spread over: a budget of 10
    buys about as many cycles at any T. In fewer than 101 rounds it is less, a tenth for each change of round, so that
    neighbouring rounds remain alike. One round has a budget of 0, and the means of a quarter of a cycle.

    Attributes:
        budget: V_T.
    """

    budget: float = derived("10, at most (T − 1)/10", lambda world: min(10.0, (world.horizon - 1) / 10))
    name: str = field(init=False, repr=False, default="variation")

    def __post_init__(self) -> None:
        """Check that the budget can be spent within the horizon."""
        super().__post_init__()
        if self.horizon == 1 and self.budget == 0:
            return
        positive("budget", self.budget)
        positive_int("horizon", self.horizon, least=2, hint="means of one round cannot vary: leave the budget out")
        if self.budget > (most := 0.3 * (self.horizon - 1)):
            raise ValueError(f"a budget of {self.budget} is too much for {self.horizon} rounds; at most {most}")

    def _waves(self, cycles: float) -> Floats:
        return self._by_blocks(lambda t: _sine(cycles * t / self.horizon, self.n_arms))

    def _means(self, rng: np.random.Generator) -> Floats:
        if self.horizon == 1:
            return 0.5 + 0.4 * self._waves(0.25)
        one_cycle = variation(self._waves(1))
        cycles = max(1, int(self.budget / (0.4 * one_cycle)))
        waves = self._waves(cycles)
        while (amplitude := self.budget / variation(waves)) > 0.4:
            cycles += 1 + cycles // 100
            del waves  # there is room for one matrix
            waves = self._waves(cycles)
        waves *= amplitude
        waves += 0.5
        return waves


@dataclass(frozen=True, kw_only=True)
class Periodic(ManyArms):
    """Means that repeat exactly: arm i follows ½ + amplitude · sin(2π(t/period + i/K)).

    By default an episode has ten periods; in fewer than 40 rounds it has fewer, since a sine that is seen less than
    four times per period is none (with two, the means of two arms would never move).

    Attributes:
        period: the number of rounds after which the means come back.
        amplitude: how far a mean moves from ½, at most ½.
    """

    period: int = derived("T/10, at least 4", lambda world: max(4, round(world.horizon / 10)))
    amplitude: float = 0.4
    name: str = field(init=False, repr=False, default="periodic")

    def __post_init__(self) -> None:
        """Check the period and the amplitude."""
        super().__post_init__()
        positive_int("period", self.period, least=2)
        if positive("amplitude", self.amplitude) > 0.5:
            raise ValueError(f"amplitude must be at most 0.5 to keep means in [0, 1], got {self.amplitude}")

    def _means(self, rng: np.random.Generator) -> Floats:
        means = np.empty((self.horizon, self.n_arms))
        filled = min(self.period, self.horizon)
        for rows, t in self._blocks():
            turns = t[: max(filled - rows.start, 0)] / self.period
            means[rows.start : rows.start + len(turns)] = 0.5 + self.amplitude * _sine(turns, self.n_arms)
            if rows.stop >= filled:
                break
        while filled < self.horizon:  # with whole periods, twice as many each time
            more = min(filled, self.horizon - filled)
            means[filled : filled + more] = means[:more]
            filled += more
        return means


def _sine(turns: Floats, n_arms: int) -> Floats:
    """(B, K) sin(2π(x + i/K)) for each number of turns x and each arm i."""
    return np.sin(2 * np.pi * (turns[:, None] + np.arange(n_arms) / n_arms))
