"""Discounting agents: their memory, their tuning, and the arms that they choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents
from ns_mab_gym.agents.core.knowledge import blind_discount
from ns_mab_gym.agents.parts.memories import FAINT

DISCOUNTING = ["d-ucb", "d-ts", "ds-ts", "dsw-ts", "faded-index"]
History = list[tuple[int, float]]


def by_definition(history: History, n_arms: int, gamma: float) -> tuple[list[float], list[float]]:
    """N_i = Σ_s γ^(t − s) 1{I_s = i} and S_i = Σ_s γ^(t − s) x_s 1{I_s = i} after t rounds."""
    t = len(history)
    terms = [(arm, gamma ** (t - s), x) for s, (arm, x) in enumerate(history, 1)]
    pulls = [math.fsum(w for a, w, _ in terms if a == i) for i in range(n_arms)]
    return pulls, [math.fsum(w * x for a, w, x in terms if a == i) for i in range(n_arms)]


@given(
    name=st.sampled_from(DISCOUNTING),
    gamma=st.floats(0.05, 1),
    history=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0])), max_size=60),
)
def test_counts_and_sums_equal_those_of_the_full_history(name, gamma, history):
    agent = agents.make(name, 3, 1_000, gamma=gamma)
    for arm, reward in history:
        agent.observe(arm, reward)
    pulls, sums = by_definition(history, 3, gamma)
    np.testing.assert_allclose(agent.state.memory.pulls, pulls, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(agent.state.memory.sums, sums, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("gamma", [blind_discount(10**6), 1 - 1e-6], ids=["blind", "slow"])
def test_nothing_drifts_in_a_million_rounds(gamma, observe_all):
    """Real rewards; the arms 1 to 4 are rare, very rare, last seen long ago, and never seen."""
    rng = np.random.default_rng(1)
    arms = np.where(rng.random(10**6) < 0.01, 1, 0)
    arms[rng.integers(0, 10**6, 50)] = 2
    arms[:100] = 3
    rewards = rng.random(10**6)
    agent = agents.make("d-ucb", 5, gamma=gamma)
    observe_all(agent.state, arms, rewards)
    weights = np.power(gamma, np.arange(10**6 - 1, -1, -1.0))
    for i in range(3):
        mine = arms == i
        np.testing.assert_allclose(agent.state.memory.pulls[i], weights[mine].sum(), rtol=1e-9)
        np.testing.assert_allclose(agent.state.memory.sums[i], (weights[mine] * rewards[mine]).sum(), rtol=1e-9)
    old = weights[:100].sum()
    np.testing.assert_allclose(agent.state.memory.pulls[3], old if old > FAINT else 0.0, rtol=1e-9)
    assert agent.state.memory.pulls[4] == 0


@pytest.mark.parametrize("name", DISCOUNTING)
@pytest.mark.parametrize("gamma", [0.3, 0.5, 0.9])
def test_an_arm_long_unseen_fades_to_nothing(name, gamma):
    """Its counts reach 0, not the smallest float above it; and the agent acts at every age."""
    agent = agents.make(name, 3, 1_000, gamma=gamma)
    agent.reset(seed=1)
    agent.observe(1, 1.0)
    faded = math.ceil(math.log(FAINT) / math.log(gamma)) + 2
    for t in range(faded):
        agent.observe(2 * (t % 2), 1.0)
        if t % 7 == 0:
            assert agent.act() in range(3)
    assert agent.state.memory.pulls[1] == agent.state.memory.sums[1] == 0
    if name in ("d-ucb", "ds-ts"):
        assert agent.act() == 1


@pytest.mark.parametrize("name", DISCOUNTING)
def test_successes_never_outnumber_pulls(name, observe_all):
    """To the last bit, on histories of 20 000 rounds in which failures are rare: Beta laws need F ≥ 0."""
    rng = np.random.default_rng(2)
    for gamma in (0.7, 0.97, 0.9993):
        agent = agents.make(name, 4, 1_000, gamma=gamma)
        for _ in range(40):
            arms, rewards = rng.integers(0, 4, 500), (rng.random(500) < 0.995).astype(float)
            observe_all(agent.state, arms, rewards)
            assert (agent.state.memory.pulls >= agent.state.memory.sums).all()
            assert (agent.state.memory.sums >= 0).all()


T, K = 50_000, 10


Floats = npt.NDArray[np.float64]
LEVEL = 1e-4  # of each of some fifty tests of laws
ACTS = 100_000


def d_ucb_index(history: History, n_arms: int, gamma: float, xi: float) -> list[float]:
    pulls, sums = by_definition(history, n_arms, gamma)
    n = math.fsum(pulls)
    return [
        s / m + 2 * math.sqrt(xi * math.log(n) / m) if m > 0 else math.inf for m, s in zip(pulls, sums, strict=True)
    ]


def faded_index(history: History, n_arms: int, gamma: float, width: float) -> list[float]:
    pulls, sums = by_definition(history, n_arms, gamma)
    return [(s + 0.5) / (n + 1) + width / math.sqrt(n + 1) for n, s in zip(pulls, sums, strict=True)]


INDICES = {"d-ucb": ("xi", d_ucb_index), "faded-index": ("width", faded_index)}


@pytest.mark.parametrize("gamma", [0.8, 0.99, 0.999, 1.0])
@pytest.mark.parametrize(("name", "bonus"), [("d-ucb", 0.6), ("d-ucb", 0.05), ("faded-index", 0.5), ("faded-index", 2)])
def test_the_largest_index_is_played(name, gamma, bonus):
    """From scratch in every round; a leader by less than 1e-9 may be any of the leaders."""
    parameter, index_of = INDICES[name]
    agent, luck = agents.make(name, 4, gamma=gamma, **{parameter: bonus}), np.random.default_rng(3)
    history: History = []
    for t in range(250):
        arm = agent.act()
        index = index_of(history, 4, gamma, bonus)
        assert index[arm] >= max(index) - 1e-9
        reward = float(luck.random() < 0.1 + 0.2 * (arm if t < 120 else 3 - arm))
        agent.observe(arm, reward)
        history.append((arm, reward))
    assert len({arm for arm, _ in history}) == 4


def test_d_ucb_after_its_last_arm_was_forgotten():
    """n = γ < 1, whose logarithm is negative: no bonus, and no error."""
    agent = agents.make("d-ucb", 2, gamma=0.5)
    agent.observe(0, 1.0)
    agent.observe(1, 1.0)
    agent.forget(1)
    assert agent.act(mask=np.array([True, False])) == 0
    assert agent.act() == 1


def beta_law(history: History, gamma: float, prior: float = 1.0, mask: object = slice(None)) -> Floats:
    """The law of the arm that Thompson sampling plays after this history, from its definition."""
    pulls, sums = (np.array(each)[mask] for each in by_definition(history, 4, gamma))
    return winning_chances([stats.beta(s + prior, n - s + prior) for n, s in zip(pulls, sums, strict=True)])


def luck(seed: int, rounds: int, favour: Sequence[float], means: Sequence[float]) -> History:
    rng = np.random.default_rng(seed)
    arms = rng.choice(len(favour), rounds, p=np.array(favour) / sum(favour))
    return [(int(a), float(rng.random() < means[a])) for a in arms]


EVEN = [1, 1, 1, 1]
ONCE: History = [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0)]
HISTORIES: dict[str, tuple[float, History]] = {
    "nothing seen": (0.9, []),
    "once each": (0.9, ONCE),
    "alike": (0.99, luck(1, 400, EVEN, [0.5, 0.55, 0.45, 0.5])),
    "a leader and faded rivals": (0.97, ONCE + luck(2, 300, [200, 1, 1, 1], [0.8, 0.5, 0.5, 0.1])),
    "without failures": (0.95, luck(3, 60, EVEN, [1.0, 1.0, 1.0, 0.7])),
    "without successes": (0.95, luck(4, 60, EVEN, [0.0, 0.0, 0.0, 0.1])),
    "all but forgotten": (0.5, [*luck(5, 30, EVEN, [0.5] * 4), *[(0, 1.0)] * 40]),
    "nothing forgotten": (1.0, luck(6, 300, [5, 1, 2, 1], [0.6, 0.3, 0.55, 0.5])),
}


@pytest.fixture
def show(observe_all) -> Callable[[agents.Agent, History], None]:
    """A function that shows an agent a history."""

    def shown(agent: agents.Agent, history: History) -> None:
        arms, rewards = np.array(history or np.zeros((0, 2))).T
        observe_all(agent.state, arms.astype(np.int64), rewards)

    return shown


@pytest.mark.parametrize("case", HISTORIES)
def test_d_ts_has_the_law_of_the_discounted_posteriors(case, count_acts, show):
    """P(i) from the full history; and again some rounds later, when most bounds are old."""
    gamma, history = HISTORIES[case]
    agent, mask = agents.make("d-ts", 4, gamma=gamma), np.ones(4, bool)
    show(agent, history)
    counts = count_acts(agent.state, mask, np.random.default_rng(1), ACTS)
    assert agreement(counts, beta_law(history, gamma)) > LEVEL
    show(agent, [(3, 1.0)] * 5)  # the bounds of arms 1 to 3 are from before
    later = count_acts(agent.state, mask, np.random.default_rng(2), ACTS)
    assert agreement(later, beta_law([*history, *[(3, 1.0)] * 5], gamma)) > LEVEL


@pytest.mark.parametrize("case", [each for each in HISTORIES if each != "nothing seen"])
def test_ds_ts_has_the_law_of_its_normals(case, count_acts, show):
    """θ_i ~ N(S_i/N_i, λ²/N_i), from the full history."""
    gamma, history = HISTORIES[case]
    agent = agents.make("ds-ts", 4, gamma=gamma, subgaussian=2.0)
    show(agent, history)
    counts = count_acts(agent.state, np.ones(4, bool), np.random.default_rng(3), ACTS)
    pulls, sums = (np.array(each) for each in by_definition(history, 4, gamma))
    laws = [stats.norm(mean, deviation) for mean, deviation in zip(sums / pulls, 2 / np.sqrt(pulls), strict=True)]
    assert agreement(counts, winning_chances(laws)) > LEVEL


# f-dsw TS: both memories against the full history, and the law of the arm played against numerical integration.

GRID = np.linspace(0, 1, 1_501)


def average_cdf(one: stats.rv_continuous, two: stats.rv_continuous) -> Floats:
    """P((θ + ϑ)/2 ≤ z) = ∫ P(ϑ ≤ 2z − u) dP(θ ≤ u) at the points of the grid."""
    quantiles = (np.arange(1_000) + 0.5) / 1_000
    return np.asarray(two.cdf(2 * GRID[:, None] - one.ppf(quantiles)[None, :]).mean(axis=1))


def combined_cdf(f: str, one: stats.rv_continuous, two: stats.rv_continuous) -> Floats:
    """The distribution function of f of two independent samples."""
    if f == "mean":
        return average_cdf(one, two)
    if f == "max":
        return np.asarray(one.cdf(GRID) * two.cdf(GRID))
    return np.asarray(1 - one.sf(GRID) * two.sf(GRID))


def chances(cdfs: list[Floats]) -> Floats:
    """P(arm i has the largest f) = ∫ ∏_{j≠i} F_j dF_i, by the rule of the trapezium."""
    table = np.array(cdfs)  # (K, grid)
    others = np.array([np.prod(np.delete(table, i, axis=0), axis=0) for i in range(len(cdfs))])
    found = ((others[:, 1:] + others[:, :-1]) / 2 * np.diff(table, axis=1)).sum(axis=1)
    assert found.sum() == pytest.approx(1, abs=1e-4)
    return np.asarray(found / found.sum())


def beta(successes: float, failures: float) -> stats.rv_continuous:
    return stats.beta(successes + 1, failures + 1)


def test_chances_against_closed_forms():
    """The average of two uniforms has a triangular law; equal arms win equally; max of uniforms against one uniform."""
    uniform = beta(0, 0)
    triangle = np.where(GRID <= 0.5, 2 * GRID**2, 1 - 2 * (1 - GRID) ** 2)
    np.testing.assert_allclose(average_cdf(uniform, uniform), triangle, atol=1e-5)
    np.testing.assert_allclose(chances([average_cdf(beta(3, 4), uniform)] * 3), np.full(3, 1 / 3), atol=1e-9)
    np.testing.assert_allclose(chances([combined_cdf("max", uniform, uniform), GRID]), [2 / 3, 1 / 3], atol=1e-6)
    np.testing.assert_allclose(chances([combined_cdf("min", uniform, uniform), GRID]), [1 / 3, 2 / 3], atol=1e-6)


def memories(history: History, n_arms: int, gamma: float, window: int | None) -> list[list[tuple[float, float]]]:
    """For each arm (successes, failures): discounted by rounds, and among its own last pulls; from scratch."""
    t, found = len(history), []
    for i in range(n_arms):
        mine = [(s, x) for s, (arm, x) in enumerate(history, 1) if arm == i]
        faded = [math.fsum(gamma ** (t - s) for s, x in mine if x == value) for value in (1, 0)]
        last = [x for _, x in mine][-(window or t or 1) :]
        found.append([(faded[0], faded[1]), (last.count(1.0), last.count(0.0))])
    return found


@given(
    gamma=st.floats(0.1, 1),
    window=st.one_of(st.none(), st.integers(1, 12)),
    history=st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0])), max_size=60),
    forgotten=st.integers(-1, 2),
)
def test_both_memories_equal_those_of_the_full_history(gamma, window, history, forgotten):
    """The window counts an arm's own pulls, not rounds; what was forgotten in the middle counts for nothing."""
    agent = agents.DSWTS(3, gamma=gamma, window=window)
    kept: History = []
    for t, (arm, reward) in enumerate(history):
        if t == 20 and forgotten >= 0:
            agent.forget(forgotten)
            kept = [(-1 if a == forgotten else a, x) for a, x in kept]
        agent.observe(arm, reward)
        kept.append((arm, reward))
    for i, ((s, f), (r, g)) in enumerate(memories(kept, 3, gamma, window)):
        assert agent.state.memory.sums[i] == pytest.approx(s, rel=1e-12, abs=1e-30)
        assert agent.state.memory.pulls[i] == pytest.approx(s + f, rel=1e-12, abs=1e-30)
        assert agent.state.recent.sums[i] == r
        assert agent.state.recent.pulls[i] == r + g


CASES: dict[str, tuple[float, int | None, History]] = {
    "nothing seen": (0.9, 5, []),
    "alike, below one half": (0.98, 20, luck(1, 300, EVEN, [0.3, 0.35, 0.25, 0.3])),
    "alike, above three quarters": (0.98, 20, luck(2, 300, EVEN, [0.9, 0.93, 0.88, 0.9])),
    "a leader and faded rivals": (0.9, 50, luck(3, 400, [300, 5, 5, 5], [0.9, 0.7, 0.5, 0.8])),
    "the memories disagree": (
        0.99,
        5,
        luck(4, 200, EVEN, [0.9, 0.9, 0.1, 0.5]) + luck(5, 40, EVEN, [0.1, 0.5, 0.9, 0.5]),
    ),
    "without failures": (0.95, 10, [(i % 4, 1.0) for i in range(60)]),
    "without successes": (0.95, 10, [(i % 4, 0.0) for i in range(60)]),
    "nothing forgotten": (1.0, None, luck(6, 200, [4, 1, 2, 1], [0.6, 0.4, 0.55, 0.5])),
}


@pytest.mark.parametrize(
    ("case", "f"),
    [
        (case, f)
        for n, case in enumerate(CASES)
        for f in ("mean", "min", "max")
        if f in ("mean", ("mean", "min", "max")[n % 3])
    ],
)
def test_the_arm_played_has_the_law_of_the_largest_f(case, f, count_acts, show):
    """After a history, and again some rounds later, when what was computed about the other arms is old."""
    gamma, window, history = CASES[case]
    agent = agents.DSWTS(4, gamma=gamma, window=window, f=f)
    show(agent, history)
    more = [(3, 1.0), (3, 0.0), (2, 1.0), (3, 1.0), (2, 0.0), (2, 1.0), (3, 1.0)] * 2
    for seen in (history, [*history, *more]):
        counts = count_acts(agent.state, np.ones(4, bool), np.random.default_rng(1), ACTS)
        found = memories(seen, 4, gamma, window)
        expected = chances([combined_cdf(f, beta(*one), beta(*two)) for one, two in found])
        assert agreement(counts, expected) > LEVEL
        show(agent, more)
