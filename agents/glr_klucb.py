"""GLR-klUCB: KL-UCB that forgets where a likelihood ratio test finds a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .core.arguments import choice, fraction, positive
from .core.knowledge import Knowledge
from .kl_ucb import new_kl_state
from .parts.active import RESTARTS, ActiveAgent, Parts
from .parts.exploration import Exploration
from .parts.glr import GLR, turn_rate

__all__ = ["GLRKLUCB"]

SPLITS = {"local": 10, "global": 5}  # of the authors' code


@dataclass(eq=False)
class GLRKLUCB(ActiveAgent):
    """GLR-klUCB: KL-UCB on each arm's samples since a likelihood ratio test last found a change.

    Source:
        Besson, Kaufmann, Maillard, Seznec, "Efficient Change-Point Detection for Tackling Piecewise-Stationary
        Bandits", JMLR 2022 (arXiv 1902.01575).
    Rule:
        After a reward of arm i, its n samples since its restart are tested: if s d(μ̂_{1:s}, μ̂_{1:n}) +
        (n − s) d(μ̂_{s+1:n}, μ̂_{1:n}) ≥ β(n, δ) = ln(n^(3/2)/δ) for some s, arm i is forgotten (local restarts), or all
        arms (global ones). Else KL-UCB: play argmax of max{q : N_i d(μ̂_i, q) ≤ ln(t − τ_i)}, τ_i the restart of arm i.
        Forced exploration: in every P = max(K + 1, ⌊K/α_k⌋) rounds, counted from the first, the first K play arms 1 to
        K; α_k = α₁ √k in episode k, one more than the restarts so far.
    Tuning:
        δ = 1/√T (T = 1 counts as 2) and α₁ = √(K ln T/T), at most 1, as in the source, which needs no more than T and
        K: informed and blind are the same. Tested after every 10 pulls of an arm; splits every 10 samples with local
        restarts and every 5 with global ones. Where Υ is known the authors' code has ``growing=False`` with
        α = √(ΥK ln T/T).
    Knowledge:
        T, K.
    Deviations:
        The authors' code tests in every tenth round since the restart, which leaves out half of the arms in forced
        rounds when P is even; here it is every tenth pull of the arm. Its splits are 1, 11, 21, …, here 10, 20, 30, ….
        An arm with more than 1 024 split points keeps a part of them (see ``agents/parts/prefixes.py``). The theory has
        ln t + 3 ln ln t in the index and a larger β; the authors' code has neither. ``every=1, splits=1,
        memory=T + 1, factor=3`` is the test of the proofs but for lower terms of β. The final article could not be
        read, only the authors' code and the text of an earlier version.

    >>> agent = GLRKLUCB(2, delta=0.01, rate=0.1)
    >>> for t in range(200):  # arm 1 pays always, then never
    ...     agent.observe(0, float(t < 150))
    >>> agent.state.inner.window.pulls  # since the alarm after round 160
    array([40,  0])

    Attributes:
        restart: "local", an alarm about an arm makes that arm forgotten; or "global", all arms.
        delta: δ, the probability of a false alarm about an arm that the threshold is made for.
        rate: α₁, the share of forced exploration in the first episode.
        growing: whether the share grows with the root of the number of restarts so far + 1.
        c: the weight of ln ln t in the index.
        factor: β(n, δ) = ln(factor n^(3/2)/δ); 1 in the authors' code, 3 in their proofs.
        every: after how many pulls of an arm it is tested.
        splits: the distance between the points at which the samples are split.
        memory: how many such points are kept for each arm.
    """

    name: ClassVar[str] = "glr-klucb"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    restart: str = field(default="local", kw_only=True)
    delta: float = field(kw_only=True)
    rate: float = field(kw_only=True)
    growing: bool = field(default=True, kw_only=True)
    c: float = field(default=0.0, kw_only=True)
    factor: float = field(default=1.0, kw_only=True)
    every: int = field(default=10, kw_only=True)
    splits: int = field(default=10, kw_only=True)
    memory: int = field(default=1024, kw_only=True)

    def _check(self) -> None:
        choice("restart", self.restart, RESTARTS)
        self.rate = fraction("rate", self.rate)
        self.c = positive("c", self.c, allow_zero=True)

    def _parts(self) -> Parts:
        counting = "arm" if self.restart == "local" else "rounds"
        return Parts(
            inner=new_kl_state(self.n_arms, None, self.c, counting),
            detector=GLR(self.delta, self.factor, self.every, self.splits, self.memory),
            exploration=Exploration("in turn", self.rate, growing=self.growing, since_restart=False),
            restart=self.restart,
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/√T, α₁ = √(K ln T/T), and the splits of the kind of restart."""
        tuned = GLR.tune(knowledge, given)
        if "rate" not in given:
            tuned["rate"] = turn_rate(knowledge, cls.name)
        restart = choice("restart", given.get("restart", cls.restart), RESTARTS)
        return {"splits": SPLITS[restart]} | tuned
