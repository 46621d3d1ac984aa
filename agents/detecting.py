"""Active agents: a detector of changes around an agent for worlds that stand still, with the exploration it needs.

A detector × any agent that can forget × local or global restarts × a kind of exploration. ``restarting`` is the whole
grid; ``cusum-ucb``, ``pht-ucb``, ``m-ucb``, ``glr-klucb``, ``glr-ts`` and ``adr-ts`` are named points of it.
"""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from .beta_swts import BetaState, new_beta_state
from .core.arguments import choice, fraction, known_parameters, positive, read_call, spell_call, typed
from .core.kernel import ALL, RULES, BoolArray, FloatArray, IntArray, act, expect, forget, observe, rule, watch
from .core.knowledge import Knowledge, assumed_changes
from .core.probabilities import next_choice
from .core.protocol import Agent
from .core.registry import kind as agent_kind
from .kl_ucb import KLState, new_kl_state
from .parts.alarms import AlarmLog, forget_alarms, log_in, new_alarms, sound
from .parts.detectors import ADWIN, GLR, Cusum, Halves, PageHinkley, check_even, exploration_rate, turn_rate
from .parts.exploration import (
    EXPLORATION,
    Exploration,
    Explorer,
    WarmedState,
    advance,
    expect_exploration,
    explored,
    forget_exploration,
    with_exploration,
)
from .parts.races import COUNTING
from .sw_ucb import new_ucb1_state

RESTARTS = ("local", "global")
FORMULAS = ("source", "comparison")  # of M-UCB's γ


class Detector(Protocol):
    """A detector's parameters."""

    def new_state(self, n_arms: int) -> Any:
        """The state before the first round, tied to its functions by :func:`ns_mab_gym.agents.detection`."""


class Parts(NamedTuple):
    """The parts of an active agent."""

    inner: Any  # the state of the agent within
    detector: Detector
    exploration: Exploration
    restart: str  # "local" or "global"


class ActiveState(NamedTuple):
    """The agent within, the detector, the exploration, and the alarms so far."""

    inner: Any
    detector: Any
    explorer: Explorer
    alarms: AlarmLog
    rounds: IntArray  # (1,) observed
    n_arms: int
    everything: bool  # whether an alarm about one arm makes all arms forgotten


def act_or_explore(state: ActiveState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Explore if it is time to; else play what the agent within plays."""
    arm = explored(state.explorer, mask, rng)
    return arm if arm >= 0 else act(state.inner, mask, rng)


def observe_and_watch(state: ActiveState, arm: int, reward: float) -> None:
    """Show the reward to the agent and to the detector; on an alarm both forget the arm, or all arms."""
    observe(state.inner, arm, reward)
    state.rounds[0] += 1
    alarm = watch(state.detector, arm, reward)
    if alarm:
        forgotten = ALL if state.everything else arm
        forget(state.inner, forgotten)
        forget(state.detector, forgotten)
        sound(state.alarms, state.rounds[0], arm, state.everything)
    advance(state.explorer, state.n_arms, alarm)


def forget_both(state: ActiveState, arm: int) -> None:
    """Drop one arm here and in the detector, or with ``ALL`` return to the first round."""
    forget(state.inner, arm)
    forget(state.detector, arm)
    if arm == ALL:
        forget_exploration(state.explorer)
        forget_alarms(state.alarms)
        state.rounds[0] = 0


def expect_or_explore(state: ActiveState, arm: int, pulls: int) -> None:
    """Let the agent within count the pulls, and the rounds of exploration go by; the detector waits."""
    expect(state.inner, arm, pulls)
    expect_exploration(state.explorer, pulls)


def probabilities(state: ActiveState, mask: BoolArray) -> FloatArray:
    """Those of the agent within, and of exploration at random."""
    return with_exploration(state.explorer, next_choice(state.inner, mask), mask)


rule(ActiveState, act_or_explore, observe_and_watch, forget_both, expect_or_explore, probabilities=probabilities)


@dataclass(eq=False)
class ActiveAgent(Agent):
    """An agent made of parts: subclasses say which."""

    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    @abstractmethod
    def _parts(self) -> Parts:
        """The agent within, the detector, the exploration and the kind of restart."""

    def _new_state(self) -> ActiveState:
        inner, detector, exploration, restart = self._parts()
        everything = choice("restart", restart, RESTARTS) == "global"
        watching, explorer, rounds = detector.new_state(self.n_arms), exploration.new_state(), np.zeros(1, np.int64)
        return ActiveState(inner, watching, explorer, new_alarms(), rounds, self.n_arms, everything)


@dataclass(eq=False)
class MonitoredUCB(ActiveAgent):
    """Upper confidence bounds with uniform exploration; a test that adds up deviations restarts each arm alone.

    Attributes:
        threshold: h, which a sum of deviations must exceed.
        alpha: α, the probability of a uniformly random arm.
        epsilon: ε, the deviation that is tolerated in every sample.
        xi: ξ, the width of the confidence bound.
    """

    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    threshold: float = field(kw_only=True)
    alpha: float = field(kw_only=True)
    epsilon: float = field(default=0.1, kw_only=True)
    xi: float = field(default=0.5, kw_only=True)

    @abstractmethod
    def _test(self) -> Detector:
        """The test."""

    def _check(self) -> None:
        self.alpha = fraction("alpha", self.alpha)
        self.xi = positive("xi", self.xi)

    def _parts(self) -> Parts:
        inner = new_ucb1_state(self.n_arms, self.xi, "samples")
        return Parts(inner, self._test(), Exploration("uniform", self.alpha), restart="local")

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """h = ln(T/Υ) and α = √((Υ/T) ln(T/Υ))."""
        tuned = {} if "alpha" in given else {"alpha": exploration_rate(knowledge, cls.name)}
        return tuned | Cusum.tune(knowledge, given)


@dataclass(eq=False)
class CUSUMUCB(MonitoredUCB):
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
        in worlds with large changes, 0.001 in worlds with small ones. ξ = ½ was not confirmed, and it matters: with
        ξ = ½, 1 and 2 the regret on the paper's abrupt world is 6 080 ± 450, 5 070 ± 390 and 4 000 ± 260 (20 runs).
        Some public codes play every arm M times after each restart: ``forced_warmup``; exploration with probability α
        goes on meanwhile.

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
        warmup: M, the number of samples that û₀ is the mean of.
        forced_warmup: whether every arm is played M times at first and after each of its restarts.
    """

    name: ClassVar[str] = "cusum-ucb"

    warmup: int = field(default=200, kw_only=True)
    forced_warmup: bool = field(default=False, kw_only=True)

    def _test(self) -> Cusum:
        return Cusum(self.threshold, self.warmup, self.epsilon)

    def _parts(self) -> Parts:
        parts = super()._parts()
        return parts._replace(inner=WarmedState(parts.inner, self.warmup)) if self.forced_warmup else parts


@dataclass(eq=False)
class PHTUCB(MonitoredUCB):
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
        confirms the test and that the mean includes the latest sample; that code itself leaves it out. ξ = ½ was not
        confirmed, and it matters: with ξ = ½, 1 and 2 the regret on the paper's abrupt world is 5 700 ± 370,
        4 710 ± 300 and 3 980 ± 210 (20 runs).

    >>> agent = PHTUCB(2, threshold=5.0, alpha=0.0)
    >>> agent.reset(seed=1)
    >>> for t in range(200):  # arm 1 pays in 100 rounds, then arm 2 alone
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == (t >= 100)))
    >>> agent.act()
    1
    """

    name: ClassVar[str] = "pht-ucb"

    def _test(self) -> PageHinkley:
        return PageHinkley(self.threshold, self.epsilon)


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
        b = √((w/2) ln(2KT²)), and γ = min{1, √(ΥK(2b + 3√w)/(2T))} as in the source's experiments; Υ is its M − 1. With
        ``formula="comparison"`` γ = min{1, √(ΥK ln T/T)}, said to be that of later comparisons, which was not
        confirmed: a public code of one of them has the source's. Ours: w = 200 (the source's own, 4/δ² (√ln(2KT²) +
        √ln(2T))², needs the smallest change δ), and Υ = 1 where Υ is unknown, 0, or where phases last fewer than 16
        rounds on average, as in drifting worlds.
    Knowledge:
        T, K, and Υ if it is given.
    Deviations:
        A period has at least K + 1 rounds, so that the agent chooses sometimes even with γ = 1. The source's text could
        not be read beyond its abstract; test and tuning were confirmed from later papers that compare with it and their
        public codes.
    Weakness:
        It explores by force, and most of its regret is the price of that. On the paper's abrupt world the source's γ is
        0.21, so that a fifth of the rounds play arms in turn and cost 0.21 · 21 270 = 4 390 of its 6 590 ± 210 (20
        runs; 21 270 is the regret of ``random``); its three alarms are right. With the other formula γ is 0.08 and the
        regret 4 960 ± 300.

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
        formula: by which γ is tuned if it is not given, ``"source"`` or ``"comparison"``.
    """

    name: ClassVar[str] = "m-ucb"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    threshold: float = field(kw_only=True)
    gamma: float = field(kw_only=True)
    samples: int = field(default=200, kw_only=True)
    xi: float = field(default=2.0, kw_only=True)
    formula: str = field(default="source", kw_only=True)

    def _check(self) -> None:
        self.gamma = fraction("gamma", self.gamma)
        self.xi = positive("xi", self.xi)
        choice("formula", self.formula, FORMULAS)

    def _parts(self) -> Parts:
        inner, detector = new_ucb1_state(self.n_arms, self.xi, "rounds"), Halves(self.threshold, self.samples)
        return Parts(inner, detector, Exploration("in turn", self.gamma), restart="global")

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """b from w, K and T; γ from b, w, K, T and Υ, or from K, T and Υ."""
        tuned = Halves.tune(knowledge, given)
        if "gamma" in given:
            return tuned
        n_arms, horizon = knowledge.need(cls.name, "n_arms", "horizon")
        if choice("formula", given.get("formula", cls.formula), FORMULAS) == "comparison":
            square = assumed_changes(knowledge) * n_arms * math.log(horizon) / horizon
            return tuned | {"gamma": min(1.0, math.sqrt(square))}
        b, w = (tuned | dict(given))["threshold"], check_even("samples", given.get("samples", cls.samples))
        width = 2 * positive("threshold", b, allow_zero=True) + 3 * math.sqrt(w)
        return tuned | {"gamma": min(1.0, math.sqrt(assumed_changes(knowledge) * n_arms * width / (2 * horizon)))}


@dataclass(eq=False)
class MonitoredByGLR(ActiveAgent):
    """An agent with a likelihood ratio test and forced exploration in turn.

    Attributes:
        restart: "local", an alarm about an arm makes that arm forgotten; or "global", all arms.
        delta: δ, the probability of a false alarm about an arm that the threshold is made for.
        rate: α₁, the share of forced exploration in the first episode.
        growing: whether the share grows with the root of the number of restarts so far + 1.
        factor: β(n, δ) = ln(factor n^(3/2)/δ); 1 in the authors' code, 3 in their proofs.
        every: after how many pulls of an arm it is tested.
        splits: the distance between the points at which the samples are split.
        memory: how many such points are kept for each arm.
    """

    restart: str = field(default="global", kw_only=True)
    delta: float = field(kw_only=True)
    rate: float = field(kw_only=True)
    growing: bool = field(default=True, kw_only=True)
    factor: float = field(default=1.0, kw_only=True)
    every: int = field(default=10, kw_only=True)
    splits: int = field(default=5, kw_only=True)
    memory: int = field(default=1024, kw_only=True)

    @abstractmethod
    def _inner(self) -> Any:
        """The state of the agent within."""

    def _check(self) -> None:
        self.rate = fraction("rate", self.rate)

    def _parts(self) -> Parts:
        detector = GLR(self.delta, self.factor, self.every, self.splits, self.memory)
        exploration = Exploration("in turn", self.rate, growing=self.growing, since_restart=False)
        return Parts(self._inner(), detector, exploration, self.restart)


@dataclass(eq=False)
class GLRKLUCB(MonitoredByGLR):
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
        An arm with more than 1 024 split points keeps a part of them (see ``agents/parts/memories.py``). The theory has
        ln t + 3 ln ln t in the index and a larger β; the authors' code has neither. ``every=1, splits=1,
        memory=T + 1, factor=3`` is the test of the proofs but for lower terms of β. The final article could not be
        read, only the authors' code and the text of an earlier version.

    >>> agent = GLRKLUCB(2, delta=0.01, rate=0.1)
    >>> for t in range(200):  # arm 1 pays always, then never
    ...     agent.observe(0, float(t < 150))
    >>> agent.state.inner.window.pulls  # since the alarm after round 160
    array([40,  0])

    Attributes:
        c: the weight of ln ln t in the index.
    """

    name: ClassVar[str] = "glr-klucb"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"

    restart: str = field(default="local", kw_only=True)
    splits: int = field(default=10, kw_only=True)
    c: float = field(default=0.0, kw_only=True)

    def _check(self) -> None:
        super()._check()
        self.c = positive("c", self.c, allow_zero=True)

    def _inner(self) -> KLState:
        return new_kl_state(self.n_arms, None, self.c, "arm" if self.restart == "local" else "rounds")

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/√T, α₁ = √(K ln T/T), and the splits of the kind of restart."""
        tuned = GLR.tune(knowledge, given)
        if "rate" not in given:
            tuned["rate"] = turn_rate(knowledge, cls.name)
        restart = choice("restart", given.get("restart", cls.restart), RESTARTS)
        return {"splits": 10 if restart == "local" else 5} | tuned  # as in the authors' code


@dataclass(eq=False)
class GLRTS(MonitoredByGLR):
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
    """

    name: ClassVar[str] = "glr-ts"
    probability: ClassVar[str] = "quadrature"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    def _inner(self) -> BetaState:
        return new_beta_state(self.n_arms, None)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/√T, α₁ = 0.05 √(K ln T/T)."""
        rate = {} if "rate" in given else {"rate": 0.05 * turn_rate(knowledge, cls.name)}
        return GLR.tune(knowledge, given) | rate


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
    probability: ClassVar[str] = "quadrature"
    late: ClassVar[str] = "drawn"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"

    delta: float = field(kw_only=True)
    cut: str = field(default="hoeffding", kw_only=True)
    every: int = field(default=10, kw_only=True)
    per_row: int = field(default=5, kw_only=True)

    def _parts(self) -> Parts:
        detector = ADWIN(self.delta, self.cut, self.every, self.per_row)
        return Parts(new_beta_state(self.n_arms, None), detector, Exploration("none"), restart="global")

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/T³."""
        return ADWIN.tune(knowledge, given)


DETECTORS: dict[str, Any] = {"glr": GLR, "cusum": Cusum, "page-hinkley": PageHinkley, "halves": Halves, "adwin": ADWIN}


def base_kind(name: str) -> type[Agent]:
    """The class of the agent with this name, if it can be put into a detector's hands."""
    found = agent_kind(name)
    if not issubclass(found, Agent):
        raise TypeError(f"base must be an agent derived from ns_mab_gym.agents.Agent, got {name!r}")
    if issubclass(found, ActiveAgent):
        raise ValueError(f"base {name!r} has a detector already; take an agent without one, such as 'ts' or 'kl-ucb'")
    if "means" in found.tunable():
        raise ValueError(f"base {name!r} is told the means; take an agent that learns, such as 'ts' or 'kl-ucb'")
    return found


def made(what: str, name: str, kind: type[Any], options: Mapping[str, Any], *before: Any) -> Any:
    """A detector or an agent with these options; an error that names what is missing or unknown."""
    fields = [f for f in dataclasses.fields(kind) if f.name not in ("n_arms", "binarize")]
    known_parameters(f"{what} {name!r}", options, [f.name for f in fields])
    missing = [f.name for f in fields if f.default is dataclasses.MISSING and f.name not in options]
    if missing:
        raise TypeError(
            f"{what} {name!r} needs {' and '.join(missing)}; give it as in '{name}({missing[0]}=…)', or let "
            f"ns_mab_gym.agents.make tune it from the horizon"
        )
    return typed(kind, options, lambda: kind(*before, **options))


def spelled(name: str, of: Any) -> str:
    """The name with all options of a detector or an agent."""
    fields = (f.name for f in dataclasses.fields(of) if f.name not in ("n_arms", "binarize"))
    return spell_call(name, {field: getattr(of, field) for field in fields})


@dataclass(eq=False)
class Restarting(ActiveAgent):
    """A detector of changes around any agent that can forget.

    Source:
        The framework of Liu, Lee, Shroff, "A Change-Detection based Framework for Piecewise-stationary Multi-Armed
        Bandit Problem", AAAI 2018, with more detectors, agents and kinds of exploration. Each part has its own source.
    Rule:
        Play what the base plays, but for exploration. Every reward is shown to the base and to the detector; after an
        alarm both forget the arm (local restarts) or all arms (global ones).
    Tuning:
        Base and detector by their own formulas, informed or blind. The rate is √(K ln T/T), at most 1, that of
        ``glr-klucb``; 0 without exploration, and 1 where it diminishes (ours).
    Knowledge:
        T and K, and what base and detector use.
    Deviations:
        Turns are counted from the first round, as in ``glr-klucb``; ``m-ucb`` counts them from the last restart. The
        rewards are those of the base, within [0, 1]; the card shows those of the default base.

    >>> agent = Restarting(2, base="kl-ucb(c=0)", detector="glr(delta=0.01)", rate=0.05)
    >>> agent.base, agent.detector
    ('kl-ucb(c=0.0)', 'glr(delta=0.01, factor=1.0, every=10, splits=10, memory=1024)')
    >>> for t in range(200):  # arm 1 pays always, then never
    ...     agent.observe(0, float(t < 150))
    >>> agent.state.inner.window.pulls  # since the alarm after round 160
    array([40,  0])

    Attributes:
        base: the agent within, one that can forget, with options if it has any: "ts", "kl-ucb(c=0)".
        detector: "glr", "cusum", "page-hinkley", "halves" or "adwin", with options: "cusum(threshold=5)".
        restart: "global", an alarm about an arm makes all arms forgotten; or "local", that arm alone.
        exploration: "none"; "in turn", in every max(K + 1, ⌊K/rate⌋) rounds the first K play arms 1 to K; "uniform",
            with probability rate a random arm; or "diminishing", turns that grow rarer with the time since the restart.
        rate: how much is explored.
        growing: whether the rate of turns grows with the root of the number of restarts so far + 1.
        counting: what the t of an index counts: "rounds", as the base does it alone; "samples" in memory; or rounds
            since the "arm" was forgotten.
    """

    name: ClassVar[str] = "restarting"
    probability: ClassVar[str] = "base"
    late: ClassVar[str] = "base"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "binary"  # of the default base; each agent has its own

    base: str = field(default="ts", kw_only=True)
    detector: str = field(default="glr", kw_only=True)
    restart: str = field(default="global", kw_only=True)
    exploration: str = field(default="in turn", kw_only=True)
    rate: float = field(kw_only=True)
    growing: bool = field(default=False, kw_only=True)
    counting: str = field(default="rounds", kw_only=True)
    tuned: InitVar[Mapping[str, str] | None] = field(default=None, kw_only=True)  # base and detector with all options

    def __post_init__(self, tuned: Mapping[str, str] | None) -> None:
        """Fill in what was tuned, check the parameters and get ready to play."""
        for part, text in (tuned or {}).items():
            setattr(self, part, text)
        super().__post_init__()

    def _check(self) -> None:
        choice("exploration", self.exploration, EXPLORATION)
        choice("counting", self.counting, COUNTING)
        self.rate = positive("rate", self.rate, allow_zero=True)
        name, options = read_call("base", self.base)
        self._within: Agent = made("base", name, base_kind(name), options, self.n_arms)
        if log_in(self._within.state) is not None:
            raise ValueError(f"base {name!r} restarts by itself; take an agent that does not, such as 'ts' or 'kl-ucb'")
        if "forget" not in RULES[type(self._within.state)]:
            raise ValueError(f"base {name!r} cannot forget; take an agent that learns, such as 'ts' or 'kl-ucb'")
        if self.counting != "rounds" and not hasattr(self._within.state, "counting"):
            advice = "leave counting at 'rounds', or take 'kl-ucb' or 'ucb1'"
            raise ValueError(f"base {name!r} has no index that counts {self.counting!r}; {advice}")
        self.base = spelled(name, self._within)
        name, options = read_call("detector", self.detector)
        self._detector: Any = made("detector", name, DETECTORS[choice("detector", name, DETECTORS)], options)
        self.detector = spelled(name, self._detector)
        accepts = "binary" if self._within.accepts == "binary" else "unit"  # detectors are for rewards in [0, 1]
        mask, delay = self._within.handles_mask, self._within.handles_delay
        vars(self).update(accepts=accepts, handles_mask=mask, handles_delay=delay)

    def _parts(self) -> Parts:
        self._within.reset()
        inner, since_restart = self._within.state, self.exploration == "diminishing"
        if self.counting != "rounds":
            inner = inner._replace(counting=COUNTING[self.counting])
        exploration = Exploration(self.exploration, self.rate, growing=self.growing, since_restart=since_restart)
        return Parts(inner, self._detector, exploration, self.restart)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of base and detector that were not given, and the rate."""
        base, options = read_call("base", given.get("base", cls.base))
        detector, settings = read_call("detector", given.get("detector", cls.detector))
        kind, test = base_kind(base), DETECTORS[choice("detector", detector, DETECTORS)]
        assumed = {piece: value for piece, value in kind.assumes.items() if getattr(knowledge, piece) is None}
        known = dataclasses.replace(knowledge, **assumed)
        exploration = given.get("exploration", cls.exploration)
        if "rate" in given:
            rate = given["rate"]
        elif exploration in ("none", "diminishing"):
            rate = float(exploration == "diminishing")
        else:
            rate = turn_rate(knowledge, cls.name)
        tuned = {
            "base": spell_call(base, kind.tune(known, options) | options),
            "detector": spell_call(detector, test.tune(knowledge, settings) | settings),
        }
        return {"rate": rate, "tuned": tuned}
