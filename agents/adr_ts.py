"""ADR-TS: Thompson sampling that forgets everything where adaptive windowing finds a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .beta_swts import new_beta_state
from .core.knowledge import Knowledge
from .parts.active import ActiveAgent, Parts
from .parts.adwin import ADWIN
from .parts.exploration import Exploration

__all__ = ["ADRTS"]


@dataclass(eq=False)
class ADRTS(ActiveAgent):
    """ADR-TS: Thompson sampling on everything seen since ADWIN last found a change in one of the arms.

    Source:
        Komiyama, Fouché, Honda, "Finite-time Analysis of Globally Nonstationary Multi-Armed Bandits", arXiv 2107.11419.
    Rule:
        θ_i ~ Beta(S_i + 1, N_i − S_i + 1); play argmax θ_i. Each arm's n samples are cut into n₀ older and n₁ newer
        ones; where their means differ by √(ln(1/δ)/(2n₀)) + √(ln(1/δ)/(2n₁)) or more, all arms are forgotten. No forced
        exploration: changes are taken to be global, seen in the arms that are played anyway.
    Tuning:
        δ = 1/T³ (T = 1 counts as 2), the source's theory; its experiments try 0.1 to 10^-15. Informed and blind are the
        same.
    Knowledge:
        T.
    Deviations:
        Cuts lie between the buckets of ADWIN's exponential histogram, 5 of each size; the source's analysis has every
        cut (``per_row=T``), its code every third. Tested after every 10 pulls of an arm, in the source's code in
        every tenth round. Later versions of the source's code also play, in some rounds, the arm played most in the
        block before ("monitoring"); that is left out. The article's text could not be read, only its code and abstract.

    >>> agent = ADRTS(2, delta=0.01)
    >>> for t in range(200):  # arm 1 pays always, then never
    ...     agent.observe(0, float(t < 150))
    >>> agent.state.inner.window.pulls  # since the alarm after round 160
    array([40,  0])

    Attributes:
        delta: δ, the confidence of a single comparison.
        cut: "hoeffding", as above; or "variance", √(2 σ̂² ln(2/δ')/m) + 2 ln(2/δ')/(3m) with 1/m = 1/n₀ + 1/n₁ and
            δ' = δ/ln n, of Bifet and Gavaldà 2007.
        every: after how many pulls of an arm it is tested.
        per_row: how many buckets of each size the histogram has; as many as there are rounds make every cut exact.
    """

    name: ClassVar[str] = "adr-ts"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    delta: float = field(kw_only=True)
    cut: str = field(default="hoeffding", kw_only=True)
    every: int = field(default=10, kw_only=True)
    per_row: int = field(default=5, kw_only=True)

    def _parts(self) -> Parts:
        return Parts(
            inner=new_beta_state(self.n_arms, None),
            detector=ADWIN(self.delta, self.cut, self.every, self.per_row),
            exploration=Exploration("none"),
            restart="global",
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/T³."""
        return ADWIN.tune(knowledge, given)
