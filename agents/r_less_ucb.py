"""R-less-UCB: optimism about where rising means will be, from the increments of recent samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import check_subgaussian, positive, positive_int
from .core.kernel import BoolArray, FloatArray, IntArray, floor_within, forgotten, inlined, rule
from .core.knowledge import Knowledge
from .core.protocol import Agent
from .parts import memories
from .parts.races import unseen

LATE, EARLY, LATE_BY_PLACE, EARLY_BY_PLACE = 0, 1, 2, 3  # rows of the blocks
LEVEL, SLOPE, WIDTH = 0, 1, 2  # rows of the lines


class RisingState(NamedTuple):
    """All samples, sums over the last h of an arm and the h before, and the line that continues them."""

    window: memories.Window  # without end
    samples: memories.Samples
    spans: IntArray  # (K,) h = ⌊ε N⌋
    blocks: FloatArray  # (4, K) sums of the LATE and EARLY h samples, and the same with each times its place, 1 to N
    lines: FloatArray  # (3, K) LEVEL after the last sample, SLOPE per round, and WIDTH of the bonus
    epsilon: float
    scale: float  # σ √(10 α)


def act(state: RisingState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play argmax of μ̂_i(t) + σ (t − N_i + h_i − 1) √(10 α ln t / h_i³); an arm with h_i = 0 comes first."""
    pulls, spans, lines = state.window.pulls, state.spans, state.lines
    t = state.window.clock[memories.ROUNDS] + 1
    root = math.sqrt(math.log(t))
    arm, highest, few = -1, -math.inf, -1
    for i in range(mask.size):
        if mask[i]:
            ahead = t - pulls[i]
            index = lines[LEVEL, i] + ahead * lines[SLOPE, i] + (ahead + spans[i] - 1) * lines[WIDTH, i] * root
            if index > highest:
                arm, highest = i, index
            if spans[i] == 0 and (few < 0 or pulls[i] < pulls[few]):
                few = i
    forced = unseen(pulls, state.window.clock, mask)
    return forced if forced >= 0 else (few if few >= 0 else arm)


def observe(state: RisingState, arm: int, reward: float) -> None:
    """Keep the sample, move the two blocks of the arm, and fit its line."""
    memories.append(state.samples, arm, reward)  # first, since it refuses a sample beyond the horizon
    memories.slide(state.window, arm, reward)
    n, before = state.window.pulls[arm], state.spans[arm]
    h = floor_within(state.epsilon * n, 0.5 * n)
    _move(state.samples.values, state.blocks, arm, n, h, h > before)
    state.spans[arm] = h
    if h > 0:  # μ̂(t) = (1/h) Σ over the late block of x_l + (t − l)(x_l − x_{l−h})/h, as a line in t − n
        late, early = state.blocks[LATE, arm], state.blocks[EARLY, arm]
        late_lag = n * late - state.blocks[LATE_BY_PLACE, arm]  # Σ (n − l) x_l
        early_lag = (n - h) * early - state.blocks[EARLY_BY_PLACE, arm]  # Σ (n − l) x_{l−h}
        state.lines[LEVEL, arm] = (late + (late_lag - early_lag) / h) / h
        state.lines[SLOPE, arm] = (late - early) / h / h
        state.lines[WIDTH, arm] = state.scale / (h * math.sqrt(h))


@inlined
def _move(values: FloatArray, blocks: FloatArray, arm: int, n: int, h: int, longer: bool) -> None:
    """Let the blocks end at sample n: the late one gains it; if they do not become longer, both lose their first."""
    blocks[LATE, arm] += values[arm, n - 1]
    blocks[LATE_BY_PLACE, arm] += n * values[arm, n - 1]
    if longer:  # the early block ends where it ended, and gains the sample before it
        first = n - 2 * h + 1
        blocks[EARLY, arm] += values[arm, first - 1]
        blocks[EARLY_BY_PLACE, arm] += first * values[arm, first - 1]
        return
    middle, first = n - h, n - 2 * h
    passed, gone = values[arm, middle - 1], values[arm, first - 1]
    blocks[LATE, arm] -= passed
    blocks[LATE_BY_PLACE, arm] -= middle * passed
    blocks[EARLY, arm] += passed - gone
    blocks[EARLY_BY_PLACE, arm] += middle * passed - first * gone


def forget(state: RisingState, arm: int) -> None:
    """Mark one arm, or with ``ALL`` every arm, as unseen, so that it comes first."""
    memories.forget_rounds(state.window, arm)
    memories.forget_samples(state.samples, arm)
    for i in forgotten(arm, state.spans.size):
        state.spans[i] = 0
        state.blocks[:, i] = 0.0
        state.lines[:, i] = 0.0


def expect(state: RisingState, arm: int, pulls: int) -> None:
    """Let N, h and the bonus be what they would be with so many samples more; the line stays."""
    memories.expect_rounds(state.window, arm, pulls)
    n = state.window.pulls[arm]
    h = floor_within(state.epsilon * n, 0.5 * n)
    state.spans[arm] = h
    if h > 0:
        state.lines[WIDTH, arm] = state.scale / (h * math.sqrt(h))


rule(RisingState, act, observe, forget, expect)


@dataclass(eq=False)
class RLessUCB(Agent):
    """R-less-UCB: upper confidence bounds on means that rise ever more slowly, continued to the coming round.

    Source:
        Metelli, Trovò, Pirola, Restelli, "Stochastic Rising Bandits", ICML 2022.
    Rule:
        With x_1, …, x_N the samples of an arm and h = ⌊εN⌋, its projection to round t is
        μ̂(t) = (1/h) Σ_{l=N−h+1}^{N} [x_l + (t − l)(x_l − x_{l−h})/h]: concave means rise no further than their last
        increments promise. Play argmax of μ̂_i(t) + σ (t − N_i + h_i − 1) √(10 ln(1/δ_t)/h_i³) with δ_t = t^−α; an arm
        with h = 0 comes first, of several the one with the fewest pulls.
    Tuning:
        ε = ¼ and α = 4, as in the authors' experiments (their theorems ask for ε < ½ and α > 2); σ = λ, the subgaussian
        scale of the rewards, ½ for rewards in [0, 1] and where it is not given. The authors' experiments have σ = 0.1,
        that of their rewards.
    Knowledge:
        λ, ½ if it is not given; T, for the memory alone.
    Deviations:
        In the authors' public code an arm is forced twice only and then has index 1 while h = 0, and the weights t − l
        of the increments run in the opposite order, t − 2N + h + l. The bonus, ε and α are as there; the sum is as
        above, the paper's own text being out of reach. Every sample is remembered, K × T numbers of which only
        those written to take memory; a round costs the same at any time.
    Weakness:
        With σ = ½ the bonus falls below b only after N ≈ 4 (σ t √(40 ln t) / b)^(2/3) pulls, 14 000 at t = 20 000 for b
        = 1, so that it needs long horizons or a small σ; and it continues rises that only rising means have. Its regret
        on the paper's abrupt world is 18 860 ± 110, that of ``random`` 21 270, and with σ = 0.1 16 870 ± 540 (20 runs).

    >>> agent = RLessUCB(2, horizon=100, subgaussian=0.01)
    >>> for n in range(12):  # arm 1 stands still at 0.5, arm 2 rises to 0.33
    ...     agent.observe(0, 0.5)
    ...     agent.observe(1, 0.03 * n)
    >>> agent.state.lines[SLOPE].round(2)
    array([0.  , 0.03])
    >>> agent.act()  # 0.33 + 13 · 0.03 = 0.72
    1

    Attributes:
        epsilon: ε, the share of an arm's samples in each of the two blocks that are compared.
        alpha: α, with δ_t = t^−α.
        subgaussian: λ, the scale of the rewards, which is the rule's σ.
        horizon: T, the most samples of an arm that can be remembered.
    """

    name: ClassVar[str] = "r-less-ucb"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    epsilon: float = field(default=0.25, kw_only=True)
    alpha: float = field(default=4.0, kw_only=True)
    subgaussian: float = field(default=0.5, kw_only=True)
    horizon: int = field(kw_only=True)

    def _check(self) -> None:
        hint = "two blocks of that share must fit; the source takes 1/4"
        self.epsilon = positive("epsilon", self.epsilon, below=0.5, hint=hint)
        self.alpha = positive("alpha", self.alpha)
        self.subgaussian = check_subgaussian(self.subgaussian)
        self.horizon = positive_int("horizon", self.horizon)

    def _new_state(self) -> RisingState:
        k = self.n_arms
        return RisingState(
            window=memories.new_window(k, None),
            samples=memories.new_samples(k, self.horizon),
            spans=np.zeros(k, np.int64),
            blocks=np.zeros((4, k)),
            lines=np.zeros((3, k)),
            epsilon=self.epsilon,
            scale=self.subgaussian * math.sqrt(10 * self.alpha),
        )

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """σ from λ; T for the memory."""
        tuned: dict[str, Any] = {"subgaussian": knowledge.scale}
        if "horizon" not in given:
            (tuned["horizon"],) = knowledge.need(cls.name, "horizon")
        return tuned
