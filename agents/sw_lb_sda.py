"""SW-LB-SDA: duels of subsamples on a sliding window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import positive
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, helper, rule
from .core.knowledge import Knowledge, suggested_window
from .core.protocol import Agent
from .parts import memories
from .parts.races import unseen

DUELS, LEADER, SINCE, TO_PLAY = 0, 1, 2, 3  # indices into the clock of duels
LOST, PLAYED, DUE = 0, 1, 2  # the outcome of an arm's last duel, and whether a winner was played since


class DuelState(NamedTuple):
    """The window, running totals by which the last samples of an arm are added up, and the duels of this stage."""

    window: memories.Window
    totals: memories.Totals  # of the last τ samples of each arm
    outcomes: IntArray  # (K,) LOST, PLAYED or DUE
    drawn: IntArray  # (K,) the stage in which the arm was last played
    clock: IntArray  # (4,) stages of DUELS so far, the LEADER, the stage SINCE which it leads, and winners TO_PLAY
    explore: float  # arms with fewer samples win without a duel
    few: float  # (ln τ)²
    patience: int  # ⌊(K − 1)(ln τ)²⌋


def act(state: DuelState, mask: BoolArray, rng: np.random.Generator) -> int:
    """The next winner of this stage's duels; an arm unseen in the window comes first."""
    pulls, outcomes = state.window.pulls, state.outcomes
    winner = -1
    for i in range(outcomes.size):
        if winner < 0 and outcomes[i] == DUE:
            winner = i
    forced = unseen(pulls, state.window.clock, mask)
    if winner < 0:  # all winners are under way: they are played in turn until a reward comes
        for i in range(outcomes.size):
            if outcomes[i] < 0 and (winner < 0 or outcomes[i] > outcomes[winner]):
                winner = i
    return forced if forced >= 0 else winner


def observe(state: DuelState, arm: int, reward: float) -> None:
    """Take in the reward; when every winner was played, the next duels follow."""
    clock, outcomes = state.clock, state.outcomes
    memories.slide(state.window, arm, reward)
    memories.add_to_totals(state.totals, arm, reward)
    state.drawn[arm] = max(clock[DUELS], 1)
    if outcomes[arm] == DUE:
        outcomes[arm] = PLAYED
        clock[TO_PLAY] -= 1
        if clock[TO_PLAY] == 0:
            clock[DUELS] += 1
            _choose_leader(state.window.pulls, state.window.sums, outcomes, clock, state.window.arms.size)
            _duel(state)


@helper
def _choose_leader(pulls: IntArray, sums: FloatArray, outcomes: IntArray, clock: IntArray, window: int) -> None:
    """The arm with the most samples, of the old leader and of the winners with at least min(r, τ)/K of them.

    If the old leader has less than min(r, τ)/(2K) itself, of all arms. Ties go to the higher sum, then to the old one.
    """
    k, previous = pulls.size, clock[LEADER]
    seen = min(clock[DUELS], window)
    anyone = previous < 0 or 2 * k * pulls[previous] < seen
    leader = -1
    for i in range(k):
        if anyone or i == previous or (outcomes[i] != LOST and k * pulls[i] >= seen):
            ahead = 1 if leader < 0 else pulls[i] - pulls[leader]
            gain = 0.0 if leader < 0 else sums[i] - sums[leader]
            if ahead > 0 or (ahead == 0 and (gain > 0.0 or (gain == 0.0 and i == previous))):
                leader = i
    if leader != previous:
        clock[LEADER] = leader
        clock[SINCE] = clock[DUELS]


@helper
def _duel(state: DuelState) -> None:
    """Every arm against the leader; who wins will be played, and the leader if nobody does."""
    pulls, sums, outcomes, clock = state.window.pulls, state.window.sums, state.outcomes, state.clock
    leader, stage = clock[LEADER], clock[DUELS]
    stuck = stage - clock[SINCE] >= state.patience and stage - state.drawn[leader] >= state.patience
    winners = 0
    for i in range(pulls.size):
        wins = pulls[i] == 0 or pulls[i] < state.explore
        if not wins and i != leader:
            n = min(pulls[i], pulls[leader])
            block = memories.last_sum(state.totals.values, state.totals.ends, leader, n) / n
            waits = stage - state.drawn[i] >= state.patience and pulls[i] <= state.few
            wins = sums[i] / pulls[i] >= block or (stuck and waits)
        outcomes[i] = DUE if wins else LOST
        winners += int(wins)
    if winners == 0:
        outcomes[leader] = DUE
        winners = 1
    clock[TO_PLAY] = winners


def forget(state: DuelState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    memories.forget_rounds(state.window, arm)
    memories.forget_totals(state.totals, arm)
    if arm == ALL:
        state.outcomes[:] = DUE
        state.drawn[:] = 1
        state.clock[DUELS] = 0
        state.clock[LEADER] = -1
        state.clock[SINCE] = 0
        state.clock[TO_PLAY] = state.outcomes.size


def expect(state: DuelState, arm: int, pulls: int) -> None:
    """Count the pulls; of a winner that is due, as a negative number in the place of its outcome."""
    memories.expect_rounds(state.window, arm, pulls)
    if state.outcomes[arm] == DUE:
        state.outcomes[arm] = -pulls


rule(DuelState, act, observe, forget, expect)


@dataclass(eq=False)
class SWLBSDA(Agent):
    """SW-LB-SDA: arms duel with the last block of the leader's samples, on the last τ rounds, for any kind of rewards.

    Source:
        Baudry, Russac, Cappé, "On Limited-Memory Subsampling Strategies for Bandits", ICML 2021, section 4.
    Rule:
        In stages r = 1, 2, …, after every arm was played once. The leader has the most samples in the window, of the
        last leader and of the winners of the last stage with at least min(r, τ)/K samples; if the last leader has fewer
        than min(r, τ)/(2K), of all arms. An arm wins if its mean is at least that of as many of the leader's last
        samples (of all, if the leader has fewer). Arms with fewer than (ln τ)^a samples win without a duel. If the
        leader neither changed nor was played for D = ⌊(K − 1)(ln τ)²⌋ stages, so does every arm with at most (ln τ)²
        samples that was not played for D stages. All winners are played once, or the leader if there are none.
    Tuning:
        Informed, with 1 ≤ Υ ≤ √T breakpoints: τ = 2√(T ln T / Υ), rounded down, as in the authors' experiments. Blind,
        and where means drift (Υ > √T is ours): τ = 4√(T ln T), rounded down, as for SW-UCB. a = ⅓, as in the
        authors' code, which names ½ as an alternative.
    Knowledge:
        T, and Υ if given; no scale of rewards matters.
    Deviations:
        None known from the authors' public code, but for luck: there, the winners of a stage are played in random order
        and ties between leaders are broken at random; here, in the order of arms and for the first arm. An arm that has
        left the window is played at once, not at the beginning of the next stage. The paper's own text was out of
        reach.

    >>> agent = SWLBSDA(2, window=100)
    >>> agent.reset(seed=1)
    >>> arms = []
    >>> for _ in range(12):  # arm 2 always pays
    ...     arms.append(agent.act())
    ...     agent.observe(arms[-1], float(arms[-1] == 1))
    >>> arms  # both twice, as (ln 100)^⅓ = 1.66; then arm 2, which wins and soon leads
    [0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1]

    Attributes:
        window: τ, the number of rounds remembered.
        exponent: a; arms with fewer than (ln τ)^a samples are played without a duel.
    """

    name: ClassVar[str] = "sw-lb-sda"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"
    handles_mask: ClassVar[bool] = False

    window: int = field(kw_only=True)
    exponent: float = field(default=1 / 3, kw_only=True)

    def _check(self) -> None:
        self.window = memories.check_window(self.window)
        self.exponent = positive("exponent", self.exponent, hint="the authors take 1/3")

    def _new_state(self) -> DuelState:
        k, log = self.n_arms, math.log(self.window)
        return DuelState(
            window=memories.new_window(k, self.window),
            totals=memories.new_totals(k, self.window),
            outcomes=np.full(k, DUE),
            drawn=np.ones(k, np.int64),
            clock=np.array([0, -1, 0, k]),
            explore=log**self.exponent,
            few=log**2,
            patience=math.floor((k - 1) * log**2),
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = 2√(T ln T / Υ) for a known number of breakpoints, else 4√(T ln T)."""
        if "window" in given:
            return {}
        (horizon,) = knowledge.need(cls.name, "horizon")
        changes = knowledge.breakpoints
        if changes is None or not 1 <= changes <= math.sqrt(horizon):
            return {"window": suggested_window(horizon)}
        return {"window": suggested_window(horizon, 4 * changes)}
