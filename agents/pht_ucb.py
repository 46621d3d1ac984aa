"""PHT-UCB: upper confidence bounds, each arm restarted alone when Page and Hinkley's test finds that it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .core.arguments import fraction, positive
from .core.knowledge import Knowledge
from .parts.active import ActiveAgent, Parts
from .parts.cusum import exploration_rate
from .parts.exploration import Exploration
from .parts.page_hinkley import PageHinkley
from .ucb1 import new_ucb1_state

__all__ = ["PHTUCB"]


@dataclass(eq=False)
class PHTUCB(ActiveAgent):
    """PHT-UCB: upper confidence bounds, each arm restarted alone when Page and Hinkley's test finds that it changed.

    Source:
        Liu, Lee, Shroff, "A Change-Detection based Framework for Piecewise-stationary Multi-Armed Bandit Problem", AAAI
        2018 (arXiv 1711.03539).
    Rule:
        CUSUM-UCB with another test: û₀ is the mean of all samples of the arm since its restart, the latest included, so
        that there is no warm-up.
    Tuning:
        As CUSUM-UCB: h = ln(T/Υ) and α = √((Υ/T) ln(T/Υ)). Ours: ε = 0.1, ξ = ½; and Υ = 1 where Υ is unknown, 0, or
        where phases last fewer than 16 rounds on average, as in drifting worlds.
    Knowledge:
        T, and Υ if it is given.
    Deviations:
        None known. The source's text could not be read beyond its introduction. The documentation of public code
        confirms the test and that the mean includes the latest sample; that code itself leaves it out.

    >>> agent = PHTUCB(2, threshold=5.0, alpha=0.0)
    >>> agent.reset(seed=1)
    >>> for t in range(200):  # arm 1 pays in 100 rounds, then arm 2 alone
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == (t >= 100)))
    >>> agent.act()
    1

    Attributes:
        threshold: h, which a sum of deviations must exceed.
        alpha: α, the probability of a uniformly random arm.
        epsilon: ε, the deviation that is tolerated in every sample.
        xi: ξ, the width of the confidence bound.
    """

    name: ClassVar[str] = "pht-ucb"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    threshold: float = field(kw_only=True)
    alpha: float = field(kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    xi: float = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        PageHinkley(self.threshold, self.epsilon)
        self.alpha = fraction("alpha", self.alpha)
        self.xi = positive("xi", self.xi)

    def _parts(self) -> Parts:
        return Parts(
            inner=new_ucb1_state(self.n_arms, self.xi, "samples"),
            detector=PageHinkley(self.threshold, self.epsilon),
            exploration=Exploration("uniform", self.alpha),
            restart="local",
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """h = ln(T/Υ) and α = √((Υ/T) ln(T/Υ))."""
        tuned = {} if "alpha" in given else {"alpha": exploration_rate(knowledge, cls.name)}
        return tuned | PageHinkley.tune(knowledge, given)
