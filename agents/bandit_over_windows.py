"""Bandit over bandit: Exp3 chooses, block by block, the window on which another agent plays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.extending import overload

from .beta_swts import BetaSWTS
from .core.arguments import (
    check_subgaussian,
    choice,
    fraction,
    known_parameters,
    number,
    positive_int,
    read_call,
    spell_call,
)
from .core.kernel import (
    ALL,
    INLINED,
    BoolArray,
    FloatArray,
    IntArray,
    act,
    expect,
    forget,
    helper,
    inlined,
    observe,
    rule,
)
from .core.knowledge import Knowledge
from .core.probabilities import next_choice, noted
from .core.protocol import Agent
from .exp3 import Weights, draw_arm, multiply, new_weights, reset_weights
from .gamma_swgts import GammaSWGTS
from .kl_ucb import SWKLUCB
from .parts.memories import Window
from .sw_ucb import SWUCB

BASES: dict[str, Any] = {"sw-ucb": SWUCB, "beta-swts": BetaSWTS, "gamma-swgts": GammaSWGTS, "sw-kl-ucb": SWKLUCB}
ROUNDS, CHOSEN = 0, 1  # indices into the clock
REWARDS, LOW = 0, 1  # indices into the total
UNDRAWN = -1  # stands for the window of a block that has not begun


class BlockState(NamedTuple):
    """The agent within, the windows it may have, and what Exp3 knows about them."""

    inner: Any  # the base on the longest window; on a shorter one it uses the beginning of that memory
    windows: IntArray  # (J,) rising; the last one is as long as a block
    weights: Weights  # of the windows
    probabilities: FloatArray  # (J,) with which the last window was drawn
    clock: IntArray  # (2,) ROUNDS of this block so far, and which window is CHOSEN; J for the longest, without a draw
    total: FloatArray  # (2,) the REWARDS of this block so far, and the LOW end of what block means are scaled from
    gamma: float
    length: float  # 2λ, of the interval of block means that is scaled to [0, 1]
    low: float  # its low end; −∞ if that follows from the mean of the first block


@inlined
def _beginning(window: Window, length: int) -> Window:
    """The window with the beginning of its ring only: a window of this length."""
    return Window(window.arms[:length], window.rewards[:length], window.clock, window.pulls, window.sums)


def shortened(state: Any, length: int) -> Any:
    """The same state, in the same memory, on a window of this length; it must be new."""
    return type(state)(_beginning(state.window, length), *state[1:])


@overload(shortened, strict=False, jit_options=INLINED)
def _compiled_shortened(state, length):  # type: ignore[no-untyped-def]
    kind = state.instance_class
    return lambda state, length: kind(_beginning(state.window, length), *state[1:])


@inlined
def _window(windows: IntArray, chosen: int) -> int:
    return windows[min(chosen, windows.size - 1)]  # type: ignore[no-any-return]


def act_in_block(state: BlockState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw a window when a block begins; play what the base plays on that window."""
    if state.clock[CHOSEN] == UNDRAWN:
        state.clock[CHOSEN] = draw_arm(state.weights.plain, state.probabilities, state.gamma, rng)
    return act(shortened(state.inner, _window(state.windows, state.clock[CHOSEN])), mask, rng)


def observe_in_block(state: BlockState, arm: int, reward: float) -> None:
    """Show the reward to the base; at the end of a block Exp3 learns its scaled mean, and the base starts over."""
    clock, windows, total = state.clock, state.windows, state.total
    if clock[CHOSEN] == UNDRAWN:
        clock[CHOSEN] = windows.size  # nobody asked for an arm, so no window was drawn
    observe(shortened(state.inner, _window(windows, clock[CHOSEN])), arm, reward)
    total[REWARDS] += reward
    clock[ROUNDS] += 1
    if clock[ROUNDS] == windows[windows.size - 1]:
        mean = total[REWARDS] / clock[ROUNDS]
        if total[LOW] == -math.inf:
            total[LOW] = mean - 0.5 * state.length
        if clock[CHOSEN] < windows.size:
            estimate = min(max((mean - total[LOW]) / state.length, 0.0), 1.0) / state.probabilities[clock[CHOSEN]]
            multiply(state.weights, clock[CHOSEN], state.gamma * estimate / windows.size)
        _begin_block(state)


@helper
def _begin_block(state: BlockState) -> None:
    forget(state.inner, ALL)
    state.clock[ROUNDS] = 0
    state.clock[CHOSEN] = UNDRAWN
    state.total[REWARDS] = 0.0


def forget_in_block(state: BlockState, arm: int) -> None:
    """Make the base forget one arm; with ``ALL`` Exp3 starts over too."""
    if arm == ALL:
        _begin_block(state)
        state.total[LOW] = state.low
        reset_weights(state.weights)
        state.probabilities[:] = 1.0 / state.probabilities.size
    else:
        forget(shortened(state.inner, _window(state.windows, max(0, state.clock[CHOSEN]))), arm)


def expect_in_block(state: BlockState, arm: int, pulls: int) -> None:
    """Let the base count the pulls."""
    expect(state.inner, arm, pulls)


def probabilities(state: BlockState, mask: BoolArray) -> FloatArray:
    """Those of the base on its window; when a block begins, of the base on every window, as likely as it is drawn."""
    if state.clock[CHOSEN] != UNDRAWN:
        return next_choice(shortened(state.inner, _window(state.windows, state.clock[CHOSEN])), mask)
    chances = noted(state, mask)
    choices = [next_choice(shortened(state.inner, int(length)), mask) for length in state.windows]
    found: FloatArray = chances @ np.array(choices)
    return found


rule(
    BlockState,
    act_in_block,
    observe_in_block,
    forget_in_block,
    expect_in_block,
    probabilities=probabilities,
    decided=("probabilities", "clock"),
)


def check_block(block: object) -> int:
    """The number of rounds in a block as an int, if it is a positive integer."""
    return positive_int("block", block, hint="the default is sqrt(K*T), 707 at K = 10, T = 50 000")


def window_grid(block: int) -> list[int]:
    """The windows ⌊H^(j/Δ)⌋, j = 0, …, Δ, with Δ = ⌈ln H⌉, each of them once.

    >>> window_grid(223)
    [1, 2, 6, 14, 36, 90, 223]
    """
    steps = math.ceil(math.log(block))
    exact = (block ** (j / max(1, steps)) for j in range(steps + 1))
    return sorted({math.floor(length * (1 + 1e-12)) for length in exact})


@dataclass(eq=False)
class BanditOverWindows(Agent):
    """Bandit over windows: Exp3 learns, block by block, which window suits a sliding-window agent.

    Source:
        Cheung, Simchi-Levi, Zhu, "Hedging the Drift: Learning to Optimize under Non-Stationarity", Management Science
        2022 (arXiv 1903.01461), and AISTATS 2019: the BOB algorithm.
    Rule:
        Blocks of H rounds. At the beginning of each, draw a window from p_j = (1 − γ) w_j/Σw + γ/|J|, and start the
        base afresh on it. At the end, with x the mean reward of the block, w_j ← w_j exp(γ (x/p_j)/|J|) for that
        window, scaled to [0, 1] as below. J = {⌊H^(j/Δ)⌋ : j = 0, …, Δ}, Δ = ⌈ln H⌉.
    Tuning:
        H = ⌊√(K T)⌋ (at most T), which balances what the base loses for want of a longer window, T√(K/H), with what
        Exp3 loses, √(H T); γ = min{1, √(|J| ln |J| / ((e − 1) ⌈T/H⌉))}. Blind by nature, so informed and blind are the
        same.
    Knowledge:
        T; λ, ½ if it is not given; and the interval in which rewards lie, [0, 1] if neither is given.
    Deviations:
        H is the source's ⌊d √T⌋ for linear bandits of dimension d, balanced for the regret of K arms; that it is the
        source's own choice for K arms could not be confirmed. A block's reward is its mean, scaled from [m − λ, m + λ]
        to [0, 1] and clipped, where λ is the subgaussian scale of the rewards and m the middle of their interval, or
        without bounds the mean of the first block: the mean itself for rewards in [0, 1]. The source has
        ½ + Σ/(2H + 4R√(H ln(T/√H))), for means in [−1, 1] and R-subgaussian noise, half as steep. The base
        is any of four agents, with the bonus of that agent (SW-UCB: √(0.6 ln(min(t, τ))/N)), not the source's. A
        block in which rewards are observed before an arm was asked for has the longest window and teaches Exp3
        nothing.
    Weakness:
        On the paper's abrupt world there are 71 blocks for 8 windows, of which 1, 2 and 6 rounds are shorter than a
        round of all ten arms and play at random; Exp3 explores in 0.37 of the blocks and has hardly begun to choose.
        Its regret is 13 470 ± 330, that of ``sw-ucb`` on 707 rounds throughout 4 070 ± 17 (20 runs).

    >>> agent = BanditOverWindows(2, block=100, gamma=0.2)
    >>> agent.reset(seed=1)
    >>> for _ in range(3_000):  # arm 2 always pays
    ...     arm = agent.act()
    ...     agent.observe(arm, float(arm == 1))
    >>> agent.state.windows
    array([  1,   2,   6,  15,  39, 100])
    >>> agent.state.weights.plain.argmin()  # a window of one round cannot tell which arm is better
    np.int64(0)

    Attributes:
        block: H, the number of rounds in a block, and the longest window.
        gamma: γ, the share of windows that are drawn uniformly.
        base: the agent that plays: "sw-ucb", "beta-swts", "gamma-swgts" or "sw-kl-ucb", with options as in
            "sw-ucb(xi=1.0)".
        subgaussian: λ, the scale of the rewards, of which the base is told too.
        mean: m, the middle of the rewards; None for the mean of the first block.
    """

    name: ClassVar[str] = "bandit-over-windows"
    probability: ClassVar[str] = "base"
    late: ClassVar[str] = "base"

    block: int = field(kw_only=True)
    gamma: float = field(kw_only=True)
    base: str = field(default="sw-ucb", kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)
    mean: float | None = field(default=0.5, kw_only=True)

    def _check(self) -> None:
        self.block = check_block(self.block)
        self.gamma = fraction("gamma", self.gamma)
        self.subgaussian = check_subgaussian(self.subgaussian)
        self.mean = None if self.mean is None else number("mean", self.mean)
        name, options = read_call("base", self.base)
        choice("base", name, BASES)
        allowed = [option for option in BASES[name].tunable() if option not in ("window", "binarize")]
        known_parameters(f"base {name!r}", options, allowed)
        told = {"window": self.block} | options
        told = BASES[name].tune(Knowledge(n_arms=self.n_arms, subgaussian=self.subgaussian), told) | told
        self._within: Agent = BASES[name](self.n_arms, **told)
        self.base = spell_call(name, {option: getattr(self._within, option) for option in sorted(options)})

    def check_rewards(self, support: tuple[float, float], binary: bool) -> None:
        """Raise an error if the base's rule is not defined for rewards of this kind.

        Args:
            support: the interval in which rewards lie.
            binary: whether every reward is 0 or 1.
        """
        if self.binarize:
            super().check_rewards(support, binary)
        else:
            self._within.check_rewards(support, binary)

    def _new_state(self) -> BlockState:
        windows = window_grid(self.block)
        low = -math.inf if self.mean is None else self.mean - self.subgaussian
        self._within.reset()
        return BlockState(
            inner=self._within.state,
            windows=np.array(windows, np.int64),
            weights=new_weights(len(windows)),
            probabilities=np.full(len(windows), 1.0 / len(windows)),
            clock=np.array([0, UNDRAWN], np.int64),
            total=np.array([0.0, low]),
            gamma=self.gamma,
            length=2 * self.subgaussian,
            low=low,
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """H from T and K, γ from the number of blocks and of windows; λ and m from the law of the rewards."""
        tuned: dict[str, Any] = {"subgaussian": knowledge.scale, "mean": knowledge.centre}
        if "block" not in given:
            horizon, n_arms = knowledge.need(cls.name, "horizon", "n_arms")
            tuned["block"] = min(horizon, math.isqrt(n_arms * horizon))
        if "gamma" not in given:
            (horizon,) = knowledge.need(cls.name, "horizon")
            block = check_block((tuned | dict(given))["block"])
            windows, blocks = len(window_grid(block)), math.ceil(horizon / block)
            tuned["gamma"] = min(1.0, math.sqrt(windows * math.log(windows) / ((math.e - 1) * blocks)))
        return tuned
