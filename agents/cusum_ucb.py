"""CUSUM-UCB: upper confidence bounds, each arm restarted alone when a CUSUM test finds that it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .core.arguments import fraction, positive
from .core.knowledge import Knowledge
from .parts.active import ActiveAgent, Parts
from .parts.cusum import Cusum, exploration_rate
from .parts.exploration import Exploration
from .parts.warmup import WarmedState
from .ucb1 import new_ucb1_state

__all__ = ["CUSUMUCB"]


@dataclass(eq=False)
class CUSUMUCB(ActiveAgent):
    """CUSUM-UCB: upper confidence bounds, each arm restarted alone when a CUSUM test finds that it changed.

    Source:
        Liu, Lee, Shroff, "A Change-Detection based Framework for Piecewise-stationary Multi-Armed Bandit Problem", AAAI
        2018 (arXiv 1711.03539), Algorithms 1 and 2.
    Rule:
        With probability α play a uniformly random arm, of all K; else argmax of μ̂_i + √(ξ ln(Σ_k N_k) / N_i), with the
        samples of each arm since its own restart; an unseen arm comes first. For each arm û₀ is the mean of the first M
        samples since its restart; then g⁺ ← max(0, g⁺ + x − û₀ − ε) and g⁻ ← max(0, g⁻ + û₀ − x − ε); where one of them
        exceeds h, that arm restarts.
    Tuning:
        h = ln(T/Υ) and α = √((Υ/T) ln(T/Υ)), the source's. Ours: M = 200, ε = 0.1, ξ = ½; and Υ = 1 where Υ is unknown,
        0, or where phases last fewer than 16 rounds on average, as in drifting worlds.
    Knowledge:
        T, and Υ if it is given.
    Deviations:
        None known. The source's text could not be read beyond its introduction; its rule and the formulas for h and α
        were confirmed from two later papers that compare with it and their public codes, which take M = 150 and ε = 0.1
        in worlds with large changes, 0.001 in worlds with small ones; ξ = ½ was not confirmed. Some public codes play
        every arm M times after each restart: ``forced_warmup``; exploration with probability α goes on meanwhile.

    >>> agent = CUSUMUCB(2, threshold=5.0, alpha=0.0, warmup=20)
    >>> agent.reset(seed=1)
    >>> for t in range(200):  # arm 1 pays in 100 rounds, then arm 2 alone
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == (t >= 100)))
    >>> agent.state.alarms.rows[1]  # arm 1 alone, whose g⁻ grows by 1 − ε = 0.9 in each round from round 101 on
    array([106,   0,   0])
    >>> agent.act()
    1

    Attributes:
        threshold: h, which a sum of deviations must exceed.
        alpha: α, the probability of a uniformly random arm.
        warmup: M, the number of samples that û₀ is the mean of.
        epsilon: ε, the deviation that is tolerated in every sample.
        xi: ξ, the width of the confidence bound.
        forced_warmup: whether every arm is played M times at first and after each of its restarts.
    """

    name: ClassVar[str] = "cusum-ucb"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    threshold: float = field(kw_only=True)
    alpha: float = field(kw_only=True)
    warmup: int = field(default=200, kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    xi: float = field(default=0.5, kw_only=True)
    forced_warmup: bool = field(default=False, kw_only=True)

    def _check(self) -> None:
        Cusum(self.threshold, self.warmup, self.epsilon)
        self.alpha = fraction("alpha", self.alpha)
        self.xi = positive("xi", self.xi)

    def _parts(self) -> Parts:
        inner = new_ucb1_state(self.n_arms, self.xi, "samples")
        return Parts(
            inner=WarmedState(inner, self.warmup) if self.forced_warmup else inner,
            detector=Cusum(self.threshold, self.warmup, self.epsilon),
            exploration=Exploration("uniform", self.alpha),
            restart="local",
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """h = ln(T/Υ) and α = √((Υ/T) ln(T/Υ))."""
        tuned = {} if "alpha" in given else {"alpha": exploration_rate(knowledge, cls.name)}
        return tuned | Cusum.tune(knowledge, given)
