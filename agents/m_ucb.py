"""M-UCB: monitored upper confidence bounds, restarted when the two halves of an arm's latest samples differ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .core.arguments import fraction, positive
from .core.knowledge import Knowledge
from .parts.active import ActiveAgent, Parts
from .parts.changes import assumed_changes
from .parts.exploration import Exploration
from .parts.halves import Halves, check_even
from .ucb1 import new_ucb1_state

__all__ = ["MUCB"]


@dataclass(eq=False)
class MUCB(ActiveAgent):
    """M-UCB: monitored upper confidence bounds, restarted when the two halves of an arm's latest samples differ.

    Source:
        Cao, Wen, Kveton, Xie, "Nearly Optimal Adaptive Procedure with Change Detection for Piecewise-Stationary
        Bandit", AISTATS 2019 (arXiv 1802.03692), Algorithms 1 and 2.
    Rule:
        Of every P = max(K + 1, ⌊K/γ⌋) rounds since the last restart t₀ the first K play arms 1 to K; the others argmax
        of μ̂_i + √(2 ln(t − t₀) / N_i). If of the arm just played there are w samples since t₀ and the sums of the
        older and the newer half of the last w differ by more than b, all arms restart.
    Tuning:
        b = √((w/2) ln(2KT²)), and γ = min{1, √(ΥK(2b + 3√w)/(2T))} as in the source's experiments; Υ is its M − 1.
        Ours: w = 200 (the source's own, 4/δ² (√ln(2KT²) + √ln(2T))², needs the smallest change δ), and Υ = 1 where Υ
        is unknown, 0, or where phases last fewer than 16 rounds on average, as in drifting worlds.
    Knowledge:
        T, K, and Υ if it is given.
    Deviations:
        A period has at least K + 1 rounds, so that the agent chooses sometimes even with γ = 1. The source's text could
        not be read beyond its abstract; test and tuning were confirmed from later papers that compare with it and their
        public codes.

    >>> agent = MUCB(2, samples=20, threshold=8.0, gamma=0.1)
    >>> agent.reset(seed=1)
    >>> for t in range(200):  # arm 1 pays in 100 rounds, then arm 2 alone
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == (t >= 100)))
    >>> agent.state.alarms.rows[1]  # after arm 1's ninth failure, all restarted; it was arm 2's turn in round 102
    array([110,   0,   1])
    >>> agent.act()
    1

    Attributes:
        threshold: b, which the difference between the sums must exceed.
        gamma: γ, the share of rounds in which arms are played in turn.
        samples: w, the number of an arm's latest samples that are compared, even.
        xi: ξ, the width of the confidence bound √(ξ ln(t − t₀) / N_i).
    """

    name: ClassVar[str] = "m-ucb"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    threshold: float = field(kw_only=True)
    gamma: float = field(kw_only=True)
    samples: int = field(default=200, kw_only=True)
    xi: float = field(default=2.0, kw_only=True)

    def _check(self) -> None:
        Halves(self.threshold, self.samples)
        self.gamma = fraction("gamma", self.gamma)
        self.xi = positive("xi", self.xi)

    def _parts(self) -> Parts:
        return Parts(
            inner=new_ucb1_state(self.n_arms, self.xi, "rounds"),
            detector=Halves(self.threshold, self.samples),
            exploration=Exploration("in turn", self.gamma),
            restart="global",
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """b from w, K and T; γ from b, w, K, T and Υ."""
        tuned = Halves.tune(knowledge, given)
        if "gamma" in given:
            return tuned
        n_arms, horizon = knowledge.need(cls.name, "n_arms", "horizon")
        b, w = (tuned | dict(given))["threshold"], check_even("samples", given.get("samples", cls.samples))
        width = 2 * positive("threshold", b, allow_zero=True) + 3 * math.sqrt(w)
        return tuned | {"gamma": min(1.0, math.sqrt(assumed_changes(knowledge) * n_arms * width / (2 * horizon)))}
