"""Algorithms of the first chapters of textbooks: ε-greedy, softmax, the gradient bandit, and explore-then-commit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .core.arguments import SMALLEST, fraction, number, positive, positive_int
from .core.kernel import ALL, BoolArray, FloatArray, IntArray, forgotten, helper, inlined, rule
from .core.knowledge import Knowledge
from .core.probabilities import equal, noted, one_arm
from .core.protocol import Agent
from .parts.exploration import open_arm, warming
from .parts.memories import ROUNDS, SEEN, Window, expect_rounds, forget_rounds, new_window
from .parts.races import behind, highest, highest_mean, unseen


class Estimates(NamedTuple):
    """The value Q_i of each arm, estimated from rewards that count (1 − α)^j once the arm had j more of them."""

    q: FloatArray  # (K,) Q_i
    weights: FloatArray  # (K,) of its rewards together: their number if α = 0, which stands for sample averages
    clock: IntArray  # (2 + K,) as that of a window
    kept: float  # 1 − α, of the weight at every further reward
    q1: float  # the value of an arm without a reward
    weight1: float  # of that value
    forced: bool  # whether an arm without a reward comes first


def new_estimates(n_arms: int, step: float, initial: float | None) -> Estimates:
    """No rewards yet; with a constant step, an initial value has the weight 1/α, to which that of rewards tends."""
    q1, weight1 = initial or 0.0, 1.0 / step if step > 0 and initial is not None else 0.0
    q, weights, clock = np.full(n_arms, q1), np.full(n_arms, weight1), np.zeros(SEEN + n_arms, np.int64)
    return Estimates(q, weights, clock, 1.0 - step, q1, weight1, initial is None)


@inlined
def learn(estimates: Estimates, arm: int, reward: float) -> None:
    """Q_a ← Q_a + (x − Q_a)/W_a with W_a ← (1 − α) W_a + 1, which is N_a for sample averages and tends to 1/α."""
    q, weights, clock = estimates.q, estimates.weights, estimates.clock
    weights[arm] = estimates.kept * weights[arm] + 1.0
    q[arm] += (reward - q[arm]) / weights[arm]
    clock[ROUNDS] += 1
    clock[SEEN + arm] = clock[ROUNDS]


@helper
def forget_estimates(estimates: Estimates, arm: int) -> None:
    """Return one arm to its initial value but keep the clock; with ``ALL``, every arm and the clock."""
    for i in forgotten(arm, estimates.q.size):
        estimates.q[i] = estimates.q1
        estimates.weights[i] = estimates.weight1
    if arm == ALL:
        estimates.clock[:] = 0


@helper
def expect_rewards(estimates: Estimates, arm: int, pulls: int) -> None:
    """Count rounds whose rewards would leave Q as it is; an arm whose first one is under way waits, unless all do."""
    if estimates.clock[SEEN + arm] == 0 or estimates.weights[arm] == 0.0:
        estimates.q[arm] = behind(arm, pulls, estimates.q.size)
        estimates.weights[arm] = 1.0
    estimates.clock[ROUNDS] += pulls


def check_estimates(step: object, initial: object) -> tuple[float, float | None]:
    """The step size as a float, and the initial value if there is one."""
    alpha = fraction("step", step, hint="0 stands for sample averages")
    return alpha, None if initial is None else number("initial", initial)


class GreedyState(NamedTuple):
    """The estimates, ε, and c/d², by which more is explored at first."""

    estimates: Estimates
    epsilon: float
    decay: float


@inlined
def chance_of_any(state: GreedyState, n_arms: int) -> float:
    """ε_t."""
    return float(min(1.0, max(state.epsilon, state.decay * n_arms / (state.estimates.clock[ROUNDS] + 1))))


def act_greedy(state: GreedyState, mask: BoolArray, rng: np.random.Generator) -> int:
    """With probability ε_t play any arm, else argmax Q_i; an unseen arm comes first if it has no initial value."""
    estimates = state.estimates
    forced = unseen(estimates.weights, estimates.clock, mask) if estimates.forced else -1
    if forced >= 0:
        return forced
    epsilon = chance_of_any(state, mask.size)
    u = rng.random()
    return highest(estimates.q, mask) if u >= epsilon else open_arm(u / epsilon, mask)  # u/ε is uniform too


def observe_greedy(state: GreedyState, arm: int, reward: float) -> None:
    """Move the value of the arm towards the reward."""
    learn(state.estimates, arm, reward)


def forget_greedy(state: GreedyState, arm: int) -> None:
    """Return one arm, or with ``ALL`` every arm, to its initial value."""
    forget_estimates(state.estimates, arm)


def expect_greedy(state: GreedyState, arm: int, pulls: int) -> None:
    """Let the clock run, and arms wait for their first reward."""
    expect_rewards(state.estimates, arm, pulls)


def probabilities_greedy(state: GreedyState, mask: BoolArray) -> FloatArray:
    """ε_t/K, and 1 − ε_t more for the highest estimate."""
    epsilon = chance_of_any(state, mask.size)
    return epsilon * equal(mask) + (1 - epsilon) * one_arm(highest(state.estimates.q, mask), mask.size)


rule(GreedyState, act_greedy, observe_greedy, forget_greedy, expect_greedy, probabilities=probabilities_greedy)


@dataclass(eq=False)
class EpsilonGreedy(Agent):
    """ε-greedy: the arm with the highest estimate, and now and then any arm.

    Source:
        Sutton, Barto, "Reinforcement Learning: An Introduction", 2nd edition, 2018, sections 2.2 to 2.6; the ε that
        falls is that of Auer, Cesa-Bianchi, Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem", Machine
        Learning 2002, ε_n-GREEDY.
    Rule:
        With probability ε_t = min{1, max{ε, (c/d²) K/t}} play a uniformly random arm, else argmax Q_i. Of the arm
        played, Q ← Q + α (x − Q), eq. 2.5; or with 1/N for α, eq. 2.3, which makes Q the average of its rewards.
    Tuning:
        ε = 0.1 and α = 0.1, which the source's exercise 2.5 takes for values that move; nothing to know, so informed
        and blind are the same. For values that stay, the source has sample averages (``step=0``), and Auer and
        others ε = 0 and c/d² with d at most the smallest gap.
    Knowledge:
        None: no scale of rewards matters.
    Deviations:
        Without an initial value every arm is played once first, and α becomes α/(1 − (1 − α)^n) at the n-th reward of
        an arm, the source's trick of exercise 2.7 by which no first value counts; with one the rule is the source's.
        Ties go to the first arm, not to a random one. Auer and others have no ε below which ε_t does not fall: theirs
        is ε = 0.

    >>> agent = EpsilonGreedy(2, epsilon=0.0, step=0.5, initial=1.0)  # optimistic where rewards are at most 1
    >>> for arm, reward in [(0, 1.0), (0, 0.0), (0, 1.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.state.estimates.q
    array([0.75, 1.  ])
    >>> agent.act()
    1

    Attributes:
        epsilon: ε, the probability of a random arm.
        decay: c/d², by which the probability is higher at first; 0 keeps it constant.
        step: α, the share of the latest reward in an estimate; 0 for sample averages.
        initial: the estimate of an arm without a reward, in the units of rewards; above all rewards it is optimistic,
            and every arm is tried. None plays such an arm at once.
    """

    name: ClassVar[str] = "epsilon-greedy"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "waits"

    epsilon: float = field(default=0.1, kw_only=True)
    decay: float = field(default=0.0, kw_only=True)
    step: float = field(default=0.1, kw_only=True)
    initial: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        self.epsilon = fraction("epsilon", self.epsilon)
        self.decay = positive("decay", self.decay, allow_zero=True)
        self.step, self.initial = check_estimates(self.step, self.initial)

    def _new_state(self) -> GreedyState:
        return GreedyState(new_estimates(self.n_arms, self.step, self.initial), self.epsilon, self.decay)


@inlined
def draw_softmax(
    values: FloatArray, scale: float, probabilities: FloatArray, mask: BoolArray, rng: np.random.Generator
) -> int:
    """Draw an available arm with probability p_i = exp(values_i/scale)/Σ, and note the probabilities.

    Args:
        values: (K,) finite.
        scale: by which they are divided, above 0.
        probabilities: (K,) where the p_i are written; 0 for arms that are not available.
        mask: (K,) which arms are available.
        rng: the generator that gives one uniform.
    """
    largest, total = values[highest(values, mask)], 0.0
    for i in range(mask.size):
        probabilities[i] = math.exp((values[i] - largest) / scale) if mask[i] else 0.0
        total += probabilities[i]
    u, arm, last, cumulated = rng.random(), -1, -1, 0.0
    for i in range(mask.size):
        probabilities[i] /= total
        cumulated += probabilities[i]
        if probabilities[i] > 0.0:
            last = i
            if arm < 0 and u < cumulated:
                arm = i
    return arm if arm >= 0 else last


class SoftmaxState(NamedTuple):
    """The estimates, the probabilities of the round, and the temperature."""

    estimates: Estimates
    probabilities: FloatArray  # (K,) of the last draw
    temperature: float
    cooling: bool


def act_softmax(state: SoftmaxState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm with probability ∝ exp(Q_i/τ_t); an unseen arm comes first if it has no initial value."""
    estimates, temperature = state.estimates, state.temperature
    forced = unseen(estimates.weights, estimates.clock, mask) if estimates.forced else -1
    if forced >= 0:
        return forced
    if state.cooling:
        temperature /= math.log(estimates.clock[ROUNDS] + math.e)
    return draw_softmax(estimates.q, temperature, state.probabilities, mask, rng)


def observe_softmax(state: SoftmaxState, arm: int, reward: float) -> None:
    """Move the value of the arm towards the reward."""
    learn(state.estimates, arm, reward)


def forget_softmax(state: SoftmaxState, arm: int) -> None:
    """Return one arm, or with ``ALL`` every arm, to its initial value."""
    forget_estimates(state.estimates, arm)
    state.probabilities[:] = 1.0 / state.probabilities.size


def expect_softmax(state: SoftmaxState, arm: int, pulls: int) -> None:
    """Let the clock run, and arms wait for their first reward."""
    expect_rewards(state.estimates, arm, pulls)


rule(SoftmaxState, act_softmax, observe_softmax, forget_softmax, expect_softmax, probabilities=noted)


@dataclass(eq=False)
class Softmax(Agent):
    """Softmax, or Boltzmann exploration: the higher the estimate of an arm, the more often it is played.

    Source:
        Sutton, Barto, "Reinforcement Learning: An Introduction", 1st edition, 1998, section 2.3, eq. 2.2; its estimates
        are those of ``epsilon-greedy``.
    Rule:
        Play arm i with probability exp(Q_i/τ)/Σ exp(Q/τ). Of the arm played, Q ← Q + α (x − Q), or with 1/N for α.
        With ``cooling`` τ is divided by ln(t + e − 1), which is 1 in the first round.
    Tuning:
        τ = λ/5 with λ the subgaussian scale of the rewards, and ½ where it is unknown, so 0.1 for rewards in [0, 1];
        α = 0.1, as for ``epsilon-greedy``. τ and the form of ``cooling`` are ours: the source has no formula.
        Cesa-Bianchi, Gentile, Lugosi, Neu, "Boltzmann Exploration Done Right", NeurIPS 2017, show that no τ that only
        falls is good for every gap.
    Knowledge:
        λ, ½ if it is not given.
    Deviations:
        τ is in the units of rewards: rewards that are a hundred times as large need one that is. Without an initial
        value every arm is played once first, and α is that of ``epsilon-greedy`` at the first rewards.

    >>> agent = Softmax(2, temperature=0.5)
    >>> agent.reset(seed=1)
    >>> for arm, reward in [(0, 1.0), (1, 0.5)]:
    ...     agent.observe(arm, reward)
    >>> agent.act()
    0
    >>> agent.state.probabilities.round(3)  # e/(e + 1) and 1/(e + 1)
    array([0.731, 0.269])

    Attributes:
        temperature: τ, in the units of rewards; the higher, the more evenly arms are played.
        cooling: whether the temperature falls as 1/ln t.
        step: α, the share of the latest reward in an estimate; 0 for sample averages.
        initial: the estimate of an arm without a reward, in the units of rewards; None plays such an arm at once.
    """

    name: ClassVar[str] = "softmax"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "waits"

    temperature: float = field(default=0.1, kw_only=True)
    cooling: bool = field(default=False, kw_only=True)
    step: float = field(default=0.1, kw_only=True)
    initial: float | None = field(default=None, kw_only=True)

    def _check(self) -> None:
        hint = "it is in the units of rewards; 0.1 is a common choice for rewards in [0, 1]"
        self.temperature = positive("temperature", self.temperature, hint=hint)
        self.step, self.initial = check_estimates(self.step, self.initial)

    def _new_state(self) -> SoftmaxState:
        k, estimates = self.n_arms, new_estimates(self.n_arms, self.step, self.initial)
        return SoftmaxState(estimates, np.full(k, 1.0 / k), self.temperature, self.cooling)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """τ = λ/5, λ = ½ unless it is known."""
        return {"temperature": knowledge.scale / 5}


class GradientState(NamedTuple):
    """The preferences, the probabilities of the round, and the average reward."""

    preferences: FloatArray  # (K,) H_i
    probabilities: FloatArray  # (K,) π_i of the last act
    average: FloatArray  # (1,) of all rewards
    rounds: IntArray  # (1,) observed
    step: float
    baseline: bool


def act_gradient(state: GradientState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Draw an arm with probability π_i = exp(H_i)/Σ exp(H)."""
    return draw_softmax(state.preferences, 1.0, state.probabilities, mask, rng)


def observe_gradient(state: GradientState, arm: int, reward: float) -> None:
    """H_i ← H_i + α (x − x̄)(1{i = a} − π_i), x̄ the average of the rewards before this one."""
    h, pi, average, rounds = state.preferences, state.probabilities, state.average, state.rounds
    if rounds[0] == 0:
        average[0] = reward
    gain = state.step * (reward - average[0] if state.baseline else reward)
    for i in range(h.size):
        h[i] += gain * ((1.0 if i == arm else 0.0) - pi[i])
    rounds[0] += 1
    average[0] += (reward - average[0]) / rounds[0]


def forget_gradient(state: GradientState, arm: int) -> None:
    """Start over with all arms: preferences compare arms with each other, so that one arm cannot restart alone."""
    state.preferences[:] = 0.0
    state.probabilities[:] = 1.0 / state.probabilities.size
    state.average[0] = 0.0
    state.rounds[0] = 0


rule(GradientState, act_gradient, observe_gradient, forget_gradient, probabilities=noted)


@dataclass(eq=False)
class GradientBandit(Agent):
    """The gradient bandit: preferences that climb the gradient of the expected reward.

    Source:
        Sutton, Barto, "Reinforcement Learning: An Introduction", 2nd edition, 2018, section 2.8.
    Rule:
        Play arm i with probability π_i = exp(H_i)/Σ exp(H), eq. 2.11; then H_i ← H_i + α (x − x̄)(1{i = a} − π_i) for
        every arm, eq. 2.12, with x̄ the average of all rewards before this one (the baseline), or 0.
    Tuning:
        α = 0.1/λ with λ the subgaussian scale of the rewards, and ½ where it is unknown, so 0.2 for rewards in [0, 1].
        0.1 is the better one of Figure 2.5, where λ = 1; dividing it by λ is ours.
    Knowledge:
        λ, ½ if it is not given.
    Deviations:
        α is in units of one over the reward: rewards that are a hundred times as large need a hundredth of it. In the
        first round x̄ is the reward itself, as in the source; in its Figure 2.5, by a footnote, x̄ includes the reward of
        the round.

    >>> agent = GradientBandit(2, step=0.5, baseline=False)
    >>> agent.observe(0, 1.0)
    >>> agent.state.preferences  # both π were ½
    array([ 0.25, -0.25])

    Attributes:
        step: α, how far one reward moves the preferences, in units of one over the reward.
        baseline: whether rewards are compared with their average; without it, it matters where their zero is.
    """

    name: ClassVar[str] = "gradient-bandit"
    probability: ClassVar[str] = "exact"
    handles_mask: ClassVar[bool] = False
    handles_delay: ClassVar[bool] = False

    step: float = field(default=0.2, kw_only=True)
    baseline: bool = field(default=True, kw_only=True)

    def _check(self) -> None:
        hint = "it is in units of one over the reward; 0.2 is a common choice for rewards in [0, 1]"
        self.step = positive("step", self.step, hint=hint)

    def _new_state(self) -> GradientState:
        k = self.n_arms
        probabilities, average, rounds = np.full(k, 1.0 / k), np.zeros(1), np.zeros(1, np.int64)
        return GradientState(np.zeros(k), probabilities, average, rounds, self.step, self.baseline)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """α = 0.1/λ, λ = ½ unless it is known."""
        return {"step": 0.1 / knowledge.scale}


class CommitState(NamedTuple):
    """The first m rewards of each arm, as counts and sums."""

    window: Window  # of unlimited length
    m: int


def act_commit(state: CommitState, mask: BoolArray, rng: np.random.Generator) -> int:
    """Play arms in turn until each has m samples, then argmax of the means of these."""
    pulls, sums = state.window.pulls, state.window.sums
    exploring = warming(pulls, state.window.clock, state.m, mask)
    return exploring if exploring >= 0 else highest_mean(pulls, sums, mask)


def observe_commit(state: CommitState, arm: int, reward: float) -> None:
    """Keep the reward if it is one of the first m of its arm, and when the arm was seen in any case."""
    pulls, sums, clock = state.window.pulls, state.window.sums, state.window.clock
    if pulls[arm] < state.m:
        pulls[arm] += 1
        sums[arm] += reward
    clock[ROUNDS] += 1
    clock[SEEN + arm] = clock[ROUNDS]


def forget_commit(state: CommitState, arm: int) -> None:
    """Drop the samples of one arm, or with ``ALL`` of every arm, so that it is explored again."""
    forget_rounds(state.window, arm)


def expect_commit(state: CommitState, arm: int, pulls: int) -> None:
    """Let N grow; an arm whose first reward is under way waits for it, unless all do."""
    unseen_yet = state.window.pulls[arm] == 0
    expect_rounds(state.window, arm, pulls)
    if unseen_yet:
        state.window.sums[arm] = pulls * behind(arm, pulls, state.window.sums.size)


rule(CommitState, act_commit, observe_commit, forget_commit, expect_commit)


@dataclass(eq=False)
class ExploreThenCommit(Agent):
    """Explore-then-commit: m samples of each arm, then the best of them for ever.

    Source:
        Lattimore, Szepesvári, "Bandit Algorithms", 2020, chapter 6, Algorithm 1; without a gap, Slivkins, "Introduction
        to Multi-Armed Bandits", 2019, section 1.2.
    Rule:
        Play arms 1 to K in turn m times; from then on argmax of the means of these m K rewards.
    Tuning:
        Informed: for two arms with the gap Δ, m = max{1, ⌈(4λ²/Δ²) ln(TΔ²/(4λ²))⌉}, eq. 6.5, where λ = 1; for more,
        the m that minimises the bound from which it follows, m Σ Δ_i + T Σ Δ_i exp(−mΔ_i²/(4λ²)) (ours). Gaps are those
        of the means averaged over all rounds (ours); λ = ½ unless it is known. Blind: m = ⌈(T/K)^(2/3) (ln T)^(1/3)⌉,
        Slivkins' order with 1 for its constant (ours). At most T/K, at least 1.
    Knowledge:
        T; and where the means are given, λ, ½ if it is not. Blind, no scale of rewards matters.
    Deviations:
        An arm that is forgotten is explored again. Ties go to the first arm. Slivkins' text was not at hand to confirm
        the order of m.

    >>> agent = ExploreThenCommit(2, m=2)
    >>> for arm, reward in [(0, 0.0), (1, 1.0), (0, 0.5), (1, 0.0), (1, 0.0), (1, 0.0)]:
    ...     agent.observe(arm, reward)
    >>> agent.act()  # 0.25 against 0.5: the last two rewards came after it had committed
    1

    Attributes:
        m: how many samples of each arm decide.
    """

    name: ClassVar[str] = "explore-then-commit"
    probability: ClassVar[str] = "exact"
    late: ClassVar[str] = "counted"

    m: int = field(kw_only=True)

    def _check(self) -> None:
        self.m = positive_int("m", self.m)

    def _new_state(self) -> CommitState:
        return CommitState(new_window(self.n_arms, None), self.m)

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """The m that minimises the bound on the regret, from the gaps, or from T and K alone."""
        if "m" in given:
            return {}
        horizon, n_arms = knowledge.need(cls.name, "horizon", "n_arms")
        most = max(1, horizon // n_arms)
        if knowledge.means is None:
            return {"m": min(most, max(1, math.ceil((horizon / n_arms) ** (2 / 3) * math.log(horizon) ** (1 / 3))))}
        values = knowledge.means.mean(axis=0)
        gaps, scale = values.max() - values, max(SMALLEST, knowledge.scale)
        rates = (gaps / (2 * scale)) * (gaps / (2 * scale))
        low, high = 1, most  # the bound is convex in m: the first m at which it does not fall any more
        while low < high:
            m = (low + high) // 2
            falls = (gaps * (1 - horizon * rates * np.exp(-m * rates))).sum() < 0
            low, high = (m + 1, high) if falls else (low, m)
        return {"m": low}
