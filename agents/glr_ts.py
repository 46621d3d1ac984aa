"""Thompson sampling that forgets everything where a likelihood ratio test finds a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .beta_swts import new_beta_state
from .core.arguments import choice, fraction
from .core.knowledge import Knowledge
from .parts.active import RESTARTS, ActiveAgent, Parts
from .parts.exploration import Exploration
from .parts.glr import GLR, turn_rate

__all__ = ["GLRTS"]

SHARE = 0.05  # of the forced exploration of glr-klucb


@dataclass(eq=False)
class GLRTS(ActiveAgent):
    """GLR-TS: Thompson sampling on everything seen since a likelihood ratio test last found a change.

    Source:
        None of its own: the detector and the forced exploration of Besson, Kaufmann, Maillard, Seznec, "Efficient
        Change-Point Detection for Tackling Piecewise-Stationary Bandits", JMLR 2022 (arXiv 1902.01575), around Thompson
        sampling.
    Rule:
        As ``glr-klucb``, with θ_i ~ Beta(S_i + 1, N_i − S_i + 1), argmax θ_i, for the index, and global restarts.
    Tuning:
        δ = 1/√T (T = 1 counts as 2), as in the source. α₁ = 0.05 √(K ln T/T): 0.05 times that of ``glr-klucb`` (ours;
        the authors' first experiments had 0.05 too). Informed and blind are the same.
    Knowledge:
        T, K.
    Deviations:
        Those of ``glr-klucb``.

    >>> agent = GLRTS(2, delta=0.01, rate=0.0)
    >>> for t in range(200):  # arm 1 pays always, then never
    ...     agent.observe(0, float(t < 150))
    >>> agent.state.inner.window.pulls  # since the alarm after round 160
    array([40,  0])

    Attributes:
        restart: "global", an alarm about an arm makes all arms forgotten; or "local", that arm alone.
        delta: δ, the probability of a false alarm about an arm that the threshold is made for.
        rate: α₁, the share of forced exploration in the first episode.
        growing: whether the share grows with the root of the number of restarts so far + 1.
        factor: β(n, δ) = ln(factor n^(3/2)/δ).
        every: after how many pulls of an arm it is tested.
        splits: the distance between the points at which the samples are split.
        memory: how many such points are kept for each arm.
    """

    name: ClassVar[str] = "glr-ts"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    restart: str = field(default="global", kw_only=True)
    delta: float = field(kw_only=True)
    rate: float = field(kw_only=True)
    growing: bool = field(default=True, kw_only=True)
    factor: float = field(default=1.0, kw_only=True)
    every: int = field(default=10, kw_only=True)
    splits: int = field(default=5, kw_only=True)
    memory: int = field(default=1024, kw_only=True)

    def _check(self) -> None:
        choice("restart", self.restart, RESTARTS)
        self.rate = fraction("rate", self.rate)

    def _parts(self) -> Parts:
        return Parts(
            inner=new_beta_state(self.n_arms, None),
            detector=GLR(self.delta, self.factor, self.every, self.splits, self.memory),
            exploration=Exploration("in turn", self.rate, growing=self.growing, since_restart=False),
            restart=self.restart,
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/√T, α₁ = 0.05 √(K ln T/T)."""
        rate = {} if "rate" in given else {"rate": SHARE * turn_rate(knowledge, cls.name)}
        return GLR.tune(knowledge, given) | rate
