"""The arms that discounting agents play: indices and laws against their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from chi_square import p_value
from discounted_history import History, by_definition
from scipy import stats

from ns_mab_gym import agents

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


def test_d_ucb_by_hand():
    """γ = ½; arms 1, 2, 2: N = ¼, 1½ and n = 1¾: bonuses 2√(0.6 ln 1.75/N) = 2.3178 and 0.9462, means 0 and 1."""
    agent = agents.make("d-ucb", 2, gamma=0.5)
    for arm, reward in [(0, 0.0), (1, 1.0), (1, 1.0)]:
        agent.observe(arm, reward)
    assert d_ucb_index([(0, 0.0), (1, 1.0), (1, 1.0)], 2, 0.5, 0.6) == pytest.approx([2.3178, 1.9462], abs=1e-4)
    assert agent.act() == 0
    assert agents.make("d-ucb", 2, gamma=0.5, xi=0.2).act() == 0  # nothing seen: the first arm


def test_d_ucb_after_its_last_arm_was_forgotten():
    """n = γ < 1, whose logarithm is negative: no bonus, and no error."""
    agent = agents.make("d-ucb", 2, gamma=0.5)
    agent.observe(0, 1.0)
    agent.observe(1, 1.0)
    agent.forget(1)
    assert agent.act(mask=np.array([True, False])) == 0
    assert agent.act() == 1


def law_of_the_largest(law: stats.rv_continuous, edges: Floats) -> Floats:
    """P(i has the largest sample) = ∫ f_i ∏ F_j, by Gauss and Legendre's rule between the edges and quantiles.

    Args:
        law: K laws at once, which takes points (n, 1).
        edges: where to begin and end, and to cut between.
    """
    cuts = np.concatenate([law.ppf(q) for q in (1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9)])
    cuts = np.unique(np.concatenate([edges, np.clip(cuts, edges[0], edges[-1])]))
    nodes, weights = np.polynomial.legendre.leggauss(30)
    half = np.diff(cuts)[:, None] / 2
    x = ((cuts[:-1] + cuts[1:])[:, None] / 2 + half * nodes).reshape(-1, 1)
    density, below = law.pdf(x), law.cdf(x)
    others = np.array([np.prod(np.delete(below, i, axis=1), axis=1) for i in range(below.shape[1])]).T
    chances = ((half * weights).reshape(-1, 1) * density * others).sum(axis=0)
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    return np.asarray(chances)


def beta_law(history: History, gamma: float, prior: float = 1.0, mask: object = slice(None)) -> Floats:
    """The law of the arm that Thompson sampling plays after this history, from its definition."""
    pulls, sums = (np.array(each)[mask] for each in by_definition(history, 4, gamma))
    return law_of_the_largest(stats.beta(sums + prior, pulls - sums + prior), np.linspace(0, 1, 21))


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
    assert p_value(counts, beta_law(history, gamma)) > LEVEL
    observe_all(agent.state, np.full(5, 3), np.ones(5))  # the bounds of arms 1 to 3 are from before
    later = count_acts(agent.state, mask, np.random.default_rng(2), ACTS)
    assert p_value(later, beta_law([*history, *[(3, 1.0)] * 5], gamma)) > LEVEL


@pytest.mark.parametrize("case", [each for each in HISTORIES if each != "nothing seen"])
@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_ds_ts_has_the_law_of_its_normals(case, scale, count_acts, observe_all):
    """θ_i ~ N(S_i/N_i, λ²/N_i), from the full history."""
    gamma, history = HISTORIES[case]
    agent = agents.make("ds-ts", 4, gamma=gamma, scale=scale)
    observe_all(agent.state, np.array([a for a, _ in history]), np.array([x for _, x in history]))
    counts = count_acts(agent.state, np.ones(4, bool), np.random.default_rng(3), ACTS)
    pulls, sums = (np.array(each) for each in by_definition(history, 4, gamma))
    means, deviations = sums / pulls, scale / np.sqrt(pulls)
    edges = np.unique(np.concatenate([means + z * deviations for z in range(-9, 10)]))
    assert p_value(counts, law_of_the_largest(stats.norm(means, deviations), edges)) > LEVEL


def test_the_tests_of_laws_can_fail(count_acts, observe_all):
    """D-TS with another γ, or the prior of Beta(2, 2) that one public code has, is found out."""
    gamma, history = HISTORIES["alike"]
    mask, rng = np.ones(4, bool), np.random.default_rng(1)
    wrong = count_acts(shown("d-ts", 0.97, history, observe_all).state, mask, rng, ACTS)
    right = count_acts(shown("d-ts", gamma, history, observe_all).state, mask, rng, ACTS)
    assert p_value(wrong, beta_law(history, gamma)) < LEVEL
    assert p_value(right, beta_law(history, gamma, prior=2.0)) < LEVEL


def test_arms_that_are_closed_take_no_part(count_acts, observe_all):
    gamma, history = HISTORIES["alike"]
    mask = np.array([False, True, False, True])
    counts = count_acts(shown("d-ts", gamma, history, observe_all).state, mask, np.random.default_rng(4), ACTS)
    assert not counts[~mask].any()
    assert p_value(counts[mask], beta_law(history, gamma, mask=mask)) > LEVEL
