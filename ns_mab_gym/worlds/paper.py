"""The four worlds of the paper's experiments, exactly as in its appendix on experimental details."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import positive
from ..means import Floats
from .synthetic import ManyArms
from .world import World


@dataclass(frozen=True, kw_only=True)
class Abrupt(World):
    """Piecewise-constant abruptly changing world (paper, Equation eqabr1): 10 arms, 3 breakpoints.

    Arm 10 (μ = 0.6) is best in phases 1 and 3, arm 1 (μ = 0.99) in phases 2 and 4; arms 2 to 8 never move. With
    another horizon the breakpoints stay at the same fractions of T: 0.3, 0.6 and 0.8.

    >>> Abrupt().means()[[14_998, 14_999]][:, [0, 8, 9]]  # rounds 14 999 and 15 000, arms 1, 9 and 10
    array([[0.1 , 0.55, 0.6 ],
           [0.99, 0.15, 0.1 ]])
    """

    name: str = field(init=False, repr=False, default="abrupt")

    @property
    def n_arms(self) -> int:
        """K = 10."""
        return 10

    def _first_or_third_phase(self, t: Floats) -> npt.NDArray[np.bool_]:
        """The rounds with "t < 15000 or 30000 < t < 40000", in tenths of T so that rounding moves no breakpoint."""
        tenths = 10 * t
        return (tenths < 3 * self.horizon) | ((6 * self.horizon < tenths) & (tenths < 8 * self.horizon))

    def _means(self, rng: np.random.Generator) -> Floats:
        return self._by_blocks(self._formula)

    def _formula(self, t: Floats) -> Floats:
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
    10 in the second and fourth phase, move with 0.1 sin(0.001 t). The sinusoids keep their period at any horizon.
    """

    name: str = field(init=False, repr=False, default="general-abrupt")

    def _formula(self, t: Floats) -> Floats:
        means = super()._formula(t)
        wave = 0.1 * np.sin(0.001 * t)
        for arm in (2, 4, 6):
            means[:, arm - 1] += wave
        odd_phase = self._first_or_third_phase(t)
        for arm, inside, outside in ((1, 0.1, 0.9), (9, 0.55, 0.15), (10, 0.6, 0.1)):
            means[:, arm - 1] = np.where(odd_phase, inside, outside + wave)
        return means


@dataclass(frozen=True, kw_only=True)
class Smooth(ManyArms):
    """Smoothly changing world (paper, Equation smoothequation2): the best arm sweeps over all arms and back.

    μ_{i,t} = (K−1)/K − |w(t) − i|/K with w(t) = 1 + (K−1)(1 + sin(σt))/2.

    Attributes:
        sigma: σ, the speed. The paper plays 1e-4 and 1e-3.
    """

    sigma: float = 1e-4
    name: str = field(init=False, repr=False, default="smooth")

    def __post_init__(self) -> None:
        """Check the speed."""
        super().__post_init__()
        positive("sigma", self.sigma)

    @property
    def lipschitz(self) -> float:
        """σ, with which the paper tunes, although no mean moves by more than σ(K−1)/(2K) in one round."""
        return self.sigma

    def _means(self, rng: np.random.Generator) -> Floats:
        return self._by_blocks(self._formula)

    def _formula(self, t: Floats) -> Floats:
        k = self.n_arms
        w = 1 + (k - 1) * (1 + np.sin(self.sigma * t)) / 2
        means = np.empty((len(t), k))
        for i in range(1, k + 1):
            # Where w(t) is exactly 1 or K, rounding may give the farthest arm -1e-17 instead of 0.
            means[:, i - 1] = np.maximum((k - 1) / k - np.abs(w - i) / k, 0.0)
        return means
