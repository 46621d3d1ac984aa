"""Discounting agents: their memory, their tuning, and the arms that they choose."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from discounted_history import DISCOUNTING, History, by_definition
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents, theory, worlds
from ns_mab_gym.agents import Knowledge
from ns_mab_gym.agents.core.knowledge import blind_discount
from ns_mab_gym.agents.parts.memories import FAINT


@settings(deadline=None, max_examples=60)
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


@pytest.mark.parametrize("name", DISCOUNTING)
def test_a_forgotten_arm_is_new_and_the_others_go_on(name):
    agent = agents.make(name, 3, 1_000, gamma=0.9)
    for arm in (0, 1, 2, 1, 0):
        agent.observe(arm, 1.0)
    before = agent.state.memory.pulls.copy()
    agent.forget(0)
    assert agent.state.memory.pulls.tolist() == [0.0, before[1], before[2]]
    assert agent.state.memory.sums.tolist() == [0.0, before[1], before[2]]
    agent.observe(0, 0.0)
    np.testing.assert_allclose(agent.state.memory.pulls, [1.0, 0.9 * before[1], 0.9 * before[2]], rtol=1e-15)


T, K = 50_000, 10


@pytest.mark.parametrize("name", ["d-ucb", "d-ts", "ds-ts"])
def test_blind_discounts(name):
    """1 − 1/(4√T): 0.75 at T = 1, 0.998882 at 50 000, 0.99975 at 10^6."""
    for horizon, gamma in [(1, 0.75), (2, 1 - 1 / (4 * math.sqrt(2))), (T, 0.998882), (10**6, 0.99975)]:
        for n_arms in (2, 10, 200):
            assert agents.make(name, n_arms, horizon).gamma == pytest.approx(gamma, abs=1e-6)


def test_discounts_from_breakpoints():
    """D-UCB: 1 − ¼√(Υ/T); DS-TS: 1 − √(Υ/(T ln T)). At T = 50 000, Υ = 3: 1 − 0.0019365 and 1 − 0.0023548."""
    abrupt = theory.knowledge(worlds.Abrupt().means())
    assert (abrupt.breakpoints, abrupt.horizon) == (3, T)
    assert agents.make("d-ucb", knowledge=abrupt).gamma == pytest.approx(1 - 0.0019365, abs=1e-7)
    assert agents.make("ds-ts", knowledge=abrupt).gamma == pytest.approx(1 - 0.0023548, abs=1e-7)
    assert agents.make("d-ts", knowledge=abrupt).gamma == blind_discount(T)
    assert agents.make("d-ucb", knowledge=abrupt, gamma=0.5).gamma == 0.5
    assert agents.make("d-ucb", knowledge=abrupt).xi == 0.6


@pytest.mark.parametrize("name", ["d-ucb", "ds-ts"])
def test_discounts_at_the_ends(name):
    """No breakpoints: nothing is forgotten. Phases of under 16 rounds: means that drift, and the blind discount."""
    for horizon in (1, 2, 50, T, 10**6):
        still = agents.make(name, 3, horizon, knowledge=Knowledge(breakpoints=0))
        moving = agents.make(name, 3, horizon, knowledge=Knowledge(breakpoints=horizon))
        assert (still.gamma, moving.gamma) == (1.0, blind_discount(horizon))
    for changes, blind in [(100, False), (101, True)]:
        gamma = agents.make(name, 3, 1_600, knowledge=Knowledge(breakpoints=changes)).gamma
        assert (gamma == blind_discount(1_600)) is blind


def test_ds_ts_takes_the_scale_that_it_is_told():
    assert agents.make("ds-ts", K, T).scale == 0.5
    assert agents.make("ds-ts", K, T, knowledge=Knowledge(subgaussian=2.0)).scale == 2.0
    assert agents.make("ds-ts", K, T, knowledge=Knowledge(subgaussian=2.0), scale=0.1).scale == 0.1


Floats = npt.NDArray[np.float64]
LEVEL = 1e-4  # of each of about twenty tests of laws
ACTS = 100_000


def d_ucb_index(history: History, n_arms: int, gamma: float, xi: float) -> list[float]:
    pulls, sums = by_definition(history, n_arms, gamma)
    n = math.fsum(pulls)
    return [
        s / m + 2 * math.sqrt(xi * math.log(n) / m) if m > 0 else math.inf for m, s in zip(pulls, sums, strict=True)
    ]


@pytest.mark.parametrize("gamma", [0.8, 0.99, 0.999, 1.0])
@pytest.mark.parametrize("xi", [0.6, 0.05])
def test_d_ucb_plays_the_largest_index(gamma, xi):
    """From scratch in every round; a leader by less than 1e-9 may be any of the leaders."""
    agent, luck = agents.make("d-ucb", 4, gamma=gamma, xi=xi), np.random.default_rng(3)
    history: History = []
    for t in range(250):
        arm = agent.act()
        index = d_ucb_index(history, 4, gamma, xi)
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


def luck(seed: int, rounds: int, favour: Floats, means: Floats) -> History:
    rng = np.random.default_rng(seed)
    arms = rng.choice(favour.size, rounds, p=favour / favour.sum())
    return [(int(a), float(rng.random() < means[a])) for a in arms]


ONCE: History = [(0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0)]
HISTORIES: dict[str, tuple[float, History]] = {
    "nothing seen": (0.9, []),
    "once each": (0.9, ONCE),
    "alike": (0.99, luck(1, 400, np.ones(4), np.array([0.5, 0.55, 0.45, 0.5]))),
    "a leader and faded rivals": (
        0.97,
        ONCE + luck(2, 300, np.array([200.0, 1, 1, 1]), np.array([0.8, 0.5, 0.5, 0.1])),
    ),
    "without failures": (0.95, luck(3, 60, np.ones(4), np.array([1.0, 1.0, 1.0, 0.7]))),
    "without successes": (0.95, luck(4, 60, np.ones(4), np.array([0.0, 0.0, 0.0, 0.1]))),
    "all but forgotten": (0.5, [*luck(5, 30, np.ones(4), np.full(4, 0.5)), *[(0, 1.0)] * 40]),
    "nothing forgotten": (1.0, luck(6, 300, np.array([5.0, 1, 2, 1]), np.array([0.6, 0.3, 0.55, 0.5]))),
}


def shown(name: str, gamma: float, history: History, observe_all: Callable[..., None]) -> agents.Agent:
    agent = agents.make(name, 4, 1_000, gamma=gamma)
    arms = np.array([a for a, _ in history], np.int64)
    observe_all(agent.state, arms, np.array([x for _, x in history], np.float64))
    return agent


@pytest.mark.parametrize("case", HISTORIES)
def test_d_ts_has_the_law_of_the_discounted_posteriors(case, count_acts, observe_all):
    """P(i) from the full history; and again some rounds later, when most bounds are old."""
    gamma, history = HISTORIES[case]
    agent, mask = shown("d-ts", gamma, history, observe_all), np.ones(4, bool)
    counts = count_acts(agent.state, mask, np.random.default_rng(1), ACTS)
    assert agreement(counts, beta_law(history, gamma)) > LEVEL
    observe_all(agent.state, np.full(5, 3), np.ones(5))  # the bounds of arms 1 to 3 are from before
    later = count_acts(agent.state, mask, np.random.default_rng(2), ACTS)
    assert agreement(later, beta_law([*history, *[(3, 1.0)] * 5], gamma)) > LEVEL


@pytest.mark.parametrize("case", [each for each in HISTORIES if each != "nothing seen"])
def test_ds_ts_has_the_law_of_its_normals(case, count_acts, observe_all):
    """θ_i ~ N(S_i/N_i, λ²/N_i), from the full history."""
    gamma, history = HISTORIES[case]
    agent = agents.make("ds-ts", 4, gamma=gamma, scale=2.0)
    observe_all(agent.state, np.array([a for a, _ in history]), np.array([x for _, x in history]))
    counts = count_acts(agent.state, np.ones(4, bool), np.random.default_rng(3), ACTS)
    pulls, sums = (np.array(each) for each in by_definition(history, 4, gamma))
    laws = [stats.norm(mean, deviation) for mean, deviation in zip(sums / pulls, 2 / np.sqrt(pulls), strict=True)]
    assert agreement(counts, winning_chances(laws)) > LEVEL
