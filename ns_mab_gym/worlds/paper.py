"""The four worlds of the paper's experiments, exactly as in its appendix on experimental details."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import positive
from .scaling import derived, fewer_turns
from .synthetic import ManyArms
from .world import FloatArray

__all__ = ["Abrupt", "GeneralAbrupt", "Smooth", "SmoothFast"]


@dataclass(frozen=True, kw_only=True)
class Abrupt(ManyArms):
    """Piecewise-constant abruptly changing world (paper, Equation eqabr1): 10 arms, 3 breakpoints.

    Arm 10 (μ = 0.6) is best in phases 1 and 3, arm 1 (μ = 0.99) in phases 2 and 4; arms 2 to 8 never move. With
    another horizon the breakpoints stay at the same fractions of T: 0.3, 0.6 and 0.8.

    >>> Abrupt().means()[[14_998, 14_999]][:, [0, 8, 9]]  # rounds 14 999 and 15 000, arms 1, 9 and 10
    array([[0.1 , 0.55, 0.6 ],
           [0.99, 0.15, 0.1 ]])

    Attributes:
        n_arms: K, which is 10 in the paper and cannot be another.
    """

    name: str = field(init=False, repr=False, default="abrupt")

    def __post_init__(self) -> None:
        """Check that there are ten arms."""
        super().__post_init__()
        if self.n_arms != 10:
            raise ValueError(
                f"world {self.name!r} is the paper's and has 10 arms, got n_arms={self.n_arms}; for any number of arms "
                f"take 'piecewise' (NSBandit-Piecewise-v0), or 'mixed' (NSBandit-Mixed-v0), where some arms drift"
            )

    def _first_or_third_phase(self, t: FloatArray) -> npt.NDArray[np.bool_]:
        """The rounds with "t < 15000 or 30000 < t < 40000", in tenths of T so that rounding moves no breakpoint."""
        tenths = 10 * t
        return (tenths < 3 * self.horizon) | ((6 * self.horizon < tenths) & (tenths < 8 * self.horizon))

    def _means(self, rng: np.random.Generator) -> FloatArray:
        return self._by_blocks(self._formula)

    def _formula(self, t: FloatArray) -> FloatArray:
        means = np.empty((len(t), 10))
        means[:, 1:8] = 0.2 + 0.05 * np.arange(7)
        odd_phase = self._first_or_third_phase(t)
        for arm, inside, outside in ((1, 0.1, 0.99), (9, 0.55, 0.15), (10, 0.6, 0.1)):
            means[:, arm - 1] = np.where(odd_phase, inside, outside)
        return means


@dataclass(frozen=True, kw_only=True)
class GeneralAbrupt(Abrupt):
    """General abruptly changing world (paper, Equation eqabr2): the abrupt world with sinusoids inside phases.

    The best arm jumps at the abrupt world's breakpoints; in between, arms 2, 4 and 6 always, and arms 1, 9 and
    10 in the second and fourth phase, move with 0.1 sin(0.001 t). With another horizon the sinusoids turn by the
    paper's 50 radians, eight waves; in fewer than 50 rounds they turn by one radian per round, as faster ones could
    not be seen.

    Attributes:
        frequency: of the sinusoids, in radians per round. The paper plays 0.001.
    """

    frequency: float = derived("50/T, at most 1", lambda world: fewer_turns(50, world.horizon))
    name: str = field(init=False, repr=False, default="general-abrupt")

    def __post_init__(self) -> None:
        """Check the frequency."""
        super().__post_init__()
        positive("frequency", self.frequency)

    def _formula(self, t: FloatArray) -> FloatArray:
        means = super()._formula(t)
        wave = 0.1 * np.sin(self.frequency * t)
        for arm in (2, 4, 6):
            means[:, arm - 1] += wave
        odd_phase = self._first_or_third_phase(t)
        for arm, inside, outside in ((1, 0.1, 0.9), (9, 0.55, 0.15), (10, 0.6, 0.1)):
            means[:, arm - 1] = np.where(odd_phase, inside, outside + wave)
        return means


@dataclass(frozen=True, kw_only=True)
class Smooth(ManyArms):
    """Smoothly changing world (paper, Equation smoothequation2): the best arm sweeps over all arms and back.

    μ_{i,t} = (K−1)/K − |w(t) − i|/K with w(t) = 1 + (K−1)(1 + sin(σt))/2. With another horizon the sine turns by the
    paper's σT = 5 radians, at most by one radian per round.

    Attributes:
        sigma: σ, the speed. The paper plays 1e-4 and 1e-3.
    """

    sigma: float = derived("5/T, at most 1", lambda world: fewer_turns(5, world.horizon))
    name: str = field(init=False, repr=False, default="smooth")

    def __post_init__(self) -> None:
        """Check the speed."""
        super().__post_init__()
        positive("sigma", self.sigma)

    @property
    def lipschitz(self) -> float:
        """σ, with which the paper tunes, although no mean moves by more than σ(K−1)/(2K) in one round."""
        return self.sigma

    def _means(self, rng: np.random.Generator) -> FloatArray:
        return self._by_blocks(self._formula)

    def _formula(self, t: FloatArray) -> FloatArray:
        k = self.n_arms
        w = 1 + (k - 1) * (1 + np.sin(self.sigma * t)) / 2
        means = np.empty((len(t), k))
        for i in range(1, k + 1):
            # Where w(t) is exactly 1 or K, rounding may give the farthest arm -1e-17 instead of 0.
            means[:, i - 1] = np.maximum((k - 1) / k - np.abs(w - i) / k, 0.0)
        return means


@dataclass(frozen=True, kw_only=True)
class SmoothFast(Smooth):
    """The paper's faster smoothly changing world: the best arm sweeps over all arms and back eight times.

    It is the smooth world with ten times its speed. With another horizon the sine turns by the paper's σT = 50
    radians, at most by one radian per round.
    """

    sigma: float = derived("50/T, at most 1", lambda world: fewer_turns(50, world.horizon))
    name: str = field(init=False, repr=False, default="smooth-fast")
