"""MASTER: many copies of UCB1 that start at random on many scales, two tests of stationarity, and restarts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from .core.arguments import fraction, positive, positive_int
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, allocating, helper, inlined, rule
from .core.knowledge import Knowledge
from .core.probabilities import one_arm
from .core.protocol import Agent
from .parts.alarms import AlarmLog, forget_alarms, new_alarms, sound

ROUNDS, SINCE, ORDER, ACTIVE = 0, 1, 2, 3  # indices into the clock
NONE = -1  # stands for the active instance of a round that has not begun
LOWEST, NOW, PREDICTED, REWARDS, FIRST, SECOND = range(6)  # indices into the levels


class MasterState(NamedTuple):
    """The instances of UCB1 that run now, one of each order at most, and what the tests need of the block."""

    pulls: IntArray  # (M, K) of the instance of each order
    sums: FloatArray  # (M, K)
    running: IntArray  # (M,) 1 where there is an instance of this order now
    before: FloatArray  # (M,) the block's rewards before the instance of this order started
    rates: FloatArray  # (M,) ρ(2^m)
    clock: IntArray  # (4,) ROUNDS in all, SINCE the block began, the block's ORDER n, and that of the ACTIVE instance
    # (6,) of this block: the LOWEST g̃, that of this round (NOW), the sums PREDICTED of g̃ and REWARDS of R; since the
    # first round: the largest statistics of the FIRST and of the SECOND test
    levels: FloatArray
    alarms: AlarmLog
    width: float  # c² ln(T/δ): the bonus is √(width/N)
    complexity: float  # K ln(T/δ)
    inflation: float  # ρ̂ = inflation · ρ


@inlined
def regret_rate(complexity: float, t: int) -> float:
    """ρ(t) = √(K ln(T/δ)/t) + K ln(T/δ)/t, the average regret of UCB1 after t rounds (equation 34)."""
    return math.sqrt(complexity / t) + complexity / t


def act(state: MasterState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Start the instances that are due, and follow the shortest one: argmax of μ̂_i + c √(ln(T/δ)/N_i)."""
    clock = state.clock
    if clock[ACTIVE] == NONE:  # Procedure 1: of every order m whose turn it is, with probability ρ(2^n)/ρ(2^m)
        n, since, running = clock[ORDER], clock[SINCE], state.running
        if since == 0:
            _start(state, n)
        for m in range(n - 1, -1, -1):
            if since % (1 << m) == 0:
                running[m] = 0
                if rng.random() < state.rates[n] / state.rates[m]:
                    _start(state, m)
        clock[ACTIVE] = _shortest(running)
    arm, highest = _best_index(state.pulls, state.sums, clock[ACTIVE], state.width, mask)
    state.levels[NOW] = min(1.0, highest)
    return arm


@helper
def _start(state: MasterState, m: int) -> None:
    state.running[m] = 1
    state.pulls[m, :] = 0
    state.sums[m, :] = 0.0
    state.before[m] = state.levels[REWARDS]


@helper
def _shortest(running: IntArray) -> int:
    m = 0
    while running[m] == 0 and m + 1 < running.size:
        m += 1
    return m


@inlined
def _best_index(pulls: IntArray, sums: FloatArray, m: int, width: float, mask: BoolArray) -> tuple[int, float]:
    """The arm with the largest index of the instance of order m, and that index."""
    arm, highest = -1, -math.inf
    for i in range(mask.size):
        if mask[i]:
            n = max(pulls[m, i], 1)
            index = sums[m, i] / n + math.sqrt(width / n)
            if index > highest:
                arm, highest = i, index
    return arm, highest


def observe(state: MasterState, arm: int, reward: float) -> None:
    """Update the active instance and test; start over if a test fails, else double the block after its 2^n rounds."""
    clock, levels, running = state.clock, state.levels, state.running
    if clock[ACTIVE] == NONE:
        clock[ACTIVE] = _uncalled(state)
    m = clock[ACTIVE]
    state.pulls[m, arm] += 1
    state.sums[m, arm] += reward
    levels[LOWEST] = min(levels[LOWEST], levels[NOW])
    levels[PREDICTED] += levels[NOW]
    levels[REWARDS] += reward
    clock[ROUNDS] += 1
    clock[SINCE] += 1
    clock[ACTIVE] = NONE
    failed = False
    for m in range(clock[ORDER] + 1):  # the first test: an instance that ends now had a mean of R ≥ U + 9 ρ̂(2^m)
        if clock[SINCE] % (1 << m) != 0:
            break
        if running[m] == 1:
            better = (levels[REWARDS] - state.before[m]) / (1 << m) - levels[LOWEST]
            levels[FIRST] = max(levels[FIRST], better)
            failed |= bool(better >= 9.0 * state.inflation * state.rates[m])
    worse = (levels[PREDICTED] - levels[REWARDS]) / clock[SINCE]  # the second test: mean of g̃ − R ≥ 3 ρ̂
    levels[SECOND] = max(levels[SECOND], worse)
    failed |= bool(worse >= 3.0 * state.inflation * regret_rate(state.complexity, clock[SINCE]))
    if failed:
        sound(state.alarms, clock[ROUNDS], ALL, True)
        _begin_block(running, clock, levels, 0)
    elif clock[SINCE] == 1 << clock[ORDER]:
        _begin_block(running, clock, levels, min(clock[ORDER] + 1, running.size - 1))


@allocating
def _uncalled(state: MasterState) -> int:
    """The active order of a round in which nobody asked for an arm: no instance starts but the one of the block."""
    pulls, running, clock = state.pulls, state.running, state.clock
    if clock[SINCE] == 0:
        _start(state, clock[ORDER])
    for m in range(clock[ORDER]):
        if clock[SINCE] % (1 << m) == 0:
            running[m] = 0
    m = _shortest(running)
    everything = np.ones(pulls.shape[1], np.bool_)
    state.levels[NOW] = min(1.0, _best_index(pulls, state.sums, m, state.width, everything)[1])
    return m


@helper
def _begin_block(running: IntArray, clock: IntArray, levels: FloatArray, order: int) -> None:
    running[:] = 0
    clock[SINCE] = 0
    clock[ORDER] = order
    clock[ACTIVE] = NONE
    levels[LOWEST] = 1.0
    levels[PREDICTED] = 0.0
    levels[REWARDS] = 0.0


def forget(state: MasterState, arm: int) -> None:
    """Drop what every instance knows of one arm; with ``ALL``, return to the first round."""
    if arm == ALL:
        state.pulls[:] = 0
        state.sums[:] = 0.0
        state.before[:] = 0.0
        state.clock[:] = 0
        state.levels[:] = 0.0
        _begin_block(state.running, state.clock, state.levels, 0)
        state.levels[FIRST] = -math.inf
        state.levels[SECOND] = -math.inf
        forget_alarms(state.alarms)
    else:
        state.pulls[:, arm] = 0
        state.sums[:, arm] = 0.0


def probabilities(state: MasterState, mask: BoolArray) -> FloatArray:
    """Those of the order that will be active: new instances choose the first arm, others by their indices."""
    found, left = np.zeros(mask.size), 1.0
    n, since = int(state.clock[ORDER]), int(state.clock[SINCE])
    for m in range(n + 1):
        if since % (1 << m) == 0:
            starts = float(state.rates[n] / state.rates[m])  # 1 for the order of the block
            found[mask.argmax()] += left * starts
            left *= 1.0 - starts
        elif state.running[m]:
            return found + left * one_arm(_best_index(state.pulls, state.sums, m, state.width, mask)[0], mask.size)
    return found


rule(MasterState, act, observe, forget, probabilities=probabilities)


def thresholds(n_arms: int, horizon: int, delta: float, rounds: int) -> tuple[float, float]:
    """9 ρ̂ and 3 ρ̂ after this many rounds: what the statistics of the two tests, at most 1, must reach.

    >>> first, second = thresholds(n_arms=10, horizon=50_000, delta=1 / 50_000, rounds=50_000)
    >>> round(first), round(second)
    (1361, 454)
    """
    log = math.log(horizon / delta)
    rate = 6 * (math.log2(horizon) + 1) * log * regret_rate(n_arms * log, rounds)
    return 9 * rate, 3 * rate


@dataclass(eq=False)
class Master(Agent):
    """MASTER: UCB1 on many scales at once, with two tests of stationarity that restart it.

    Source:
        Wei, Luo, "Non-stationary Reinforcement Learning without Prior Knowledge: An Optimal Black-box Approach", COLT
        2021 (arXiv 2102.05406): Procedure 1, Algorithms 2, 3 and 7.
    Rule:
        Blocks of 1, 2, 4, … rounds. In a block of 2^n rounds, at every multiple of 2^m an instance of UCB1 for 2^m
        rounds starts with probability ρ(2^n)/ρ(2^m), m = n, …, 0. The shortest instance plays argmax of
        μ̂_i + c √(ln(T/δ)/N_i) and learns; the others wait. With g̃ the index that was played and U the lowest g̃ of the
        block, everything starts over if an instance of order m ends with a mean reward of at least U + 9 ρ̂(2^m), or
        if the mean of g̃ − R over the t rounds of the block is at least 3 ρ̂(t). ρ(t) = √(K ln(T/δ)/t) + K ln(T/δ)/t,
        ρ̂ = 6 (log₂ T + 1) ln(T/δ) ρ. Each restart is an alarm about all arms.
    Tuning:
        δ = 1/T and c = 1 (ours; the source has a δ of the order of a power of 1/T, and a universal constant c). The
        number and the size of the changes need not be known, so informed and blind are the same.
    Knowledge:
        T.
    Deviations:
        At the source's thresholds the tests cannot fire at practical horizons, as Gerogiannis, Huang, Veeravalli
        (arXiv 2410.13772) prove: both statistics are at most 1, and 3 ρ̂(T) is 454 for K = 10, T = 50 000. What is
        left are the random starts. A ``tolerance`` below 1 lowers the thresholds (ours). g̃ is clipped to 1, as
        Assumption 1 of the source asks. Beyond round T, blocks of the last order are repeated. Rounds in which rewards
        are observed before an arm was asked for start no instance but that of the block. c is ours, and it matters:
        with c = 1, 0.3 and 0.1 the regret on the paper's abrupt world is 8 940 ± 150, 3 790 ± 70 and 5 000 ± 200 (20
        runs, no alarm).
    Weakness:
        Without its tests it is UCB1 that forgets at random, with a wide bound √(ln(T/δ)/N): as ln(T/δ) is 21.6, 100
        samples of an arm leave it at 0.46, beside gaps of 0.05 to 0.5. Its regret on the paper's abrupt world is 8 940
        ± 150, that of ``random`` 21 270 (20 runs).

    >>> agent = Master(2, horizon=1_000, delta=0.001)
    >>> agent.reset(seed=1)
    >>> for _ in range(1_000):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.state.pulls.shape  # orders 0 to 9, two arms
    (10, 2)
    >>> agent.state.alarms.rows[0, 0]  # no alarm
    np.int64(0)

    Attributes:
        horizon: T.
        delta: δ, the probability with which the confidence bounds may fail.
        c: the width of the confidence bounds.
        tolerance: a factor before the thresholds of both tests; 1 is the source's.
    """

    name: ClassVar[str] = "master"
    probability: ClassVar[str] = "exact"
    accepts: ClassVar[Literal["binary", "unit", "real"]] = "unit"
    handles_delay: ClassVar[bool] = False

    horizon: int = field(kw_only=True)
    delta: float = field(kw_only=True)
    c: float = field(default=1.0, kw_only=True)
    tolerance: float = field(default=1.0, kw_only=True)

    def _check(self) -> None:
        self.horizon = positive_int("horizon", self.horizon)
        self.delta = fraction("delta", self.delta, allow_zero=False)
        if self.horizon / self.delta <= 1:
            raise ValueError(f"delta must lie below 1 where the horizon is 1, got {self.delta:g}; ln(T/delta) is 0")
        self.c = positive("c", self.c)
        self.tolerance = positive("tolerance", self.tolerance, hint="1 is the source's; smaller values restart sooner")

    def _new_state(self) -> MasterState:
        orders, log = self.horizon.bit_length(), math.log(self.horizon / self.delta)
        complexity = self.n_arms * log
        return MasterState(
            pulls=np.zeros((orders, self.n_arms), np.int64),
            sums=np.zeros((orders, self.n_arms)),
            running=np.zeros(orders, np.int64),
            before=np.zeros(orders),
            rates=np.array([regret_rate(complexity, 1 << m) for m in range(orders)]),
            clock=np.array([0, 0, 0, NONE], np.int64),
            levels=np.array([1.0, 0.0, 0.0, 0.0, -math.inf, -math.inf]),
            alarms=new_alarms(),
            width=self.c**2 * log,
            complexity=complexity,
            inflation=self.tolerance * 6 * (math.log2(self.horizon) + 1) * log,
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """δ = 1/T."""
        (horizon,) = knowledge.need(cls.name, "horizon")
        return {"horizon": horizon, "delta": 1 / max(2, horizon)}
