"""Switching Thompson sampling: beliefs about the last change, against sums over all ways a world can change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from winning import agreement, winning_chances

from ns_mab_gym import agents, run_episode, simulate, worlds
from ns_mab_gym.envs import NSBanditEnv

ACTS = 100_000
K = 3
Round = tuple[int, float]


def history(rounds: int, seed: int = 0, k: int = K) -> list[Round]:
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(k)), float(rng.integers(2))) for _ in range(rounds)]


def told(played: Sequence[Round], k: int = K, **parameters: object) -> agents.Agent:
    agent = agents.SwitchingTS(k, **parameters)
    for arm, reward in played:
        agent.observe(arm, reward)
    return agent


def likelihood(played: Sequence[Round]) -> float:
    """The probability of the rewards of a phase, for means that are uniform: Π_i S_i! F_i!/(N_i + 1)!."""
    product = 1.0
    for arm in {arm for arm, _ in played}:
        rewards = [x for a, x in played if a == arm]
        successes = int(sum(rewards))
        failures = len(rewards) - successes
        product *= math.factorial(successes) * math.factorial(failures) / math.factorial(len(rewards) + 1)
    return product


def partitions(played: Sequence[Round], hazard: float) -> dict[int, float]:
    """P(the last change came after so many rounds of the history), by all 2^t ways to change after its t rounds."""
    beliefs = dict.fromkeys(range(len(played) + 1), 0.0)
    for changes in itertools.product([False, True], repeat=len(played)):
        edges = [0, *(t + 1 for t, change in enumerate(changes) if change), len(played)]
        prior = math.prod(hazard if change else 1 - hazard for change in changes)
        phases = [likelihood(played[a:b]) for a, b in itertools.pairwise(edges)]
        beliefs[edges[-2]] += prior * math.prod(phases)
    total = sum(beliefs.values())
    return {began: belief / total for began, belief in beliefs.items()}


def beliefs_of(agent: agents.Agent) -> dict[int, float]:
    """The agent's own: a hypothesis began after as many rounds as there were rewards before it."""
    state = agent.state
    held = state.held[0]
    began = state.before[:, :, :held].sum(axis=(0, 1)).astype(int)
    assert len(set(began)) == held
    return dict(zip(began.tolist(), (state.weights[:held] / state.total[0]).tolist(), strict=True))


@pytest.mark.parametrize("hazard", [1e-3, 0.2, 0.7, 1.0])
@pytest.mark.parametrize("rounds", [0, 1, 2, 5, 11])
def test_weights_are_the_posterior_over_all_partitions(hazard, rounds):
    played = history(rounds, seed=rounds)
    exact = partitions(played, hazard)
    own = beliefs_of(told(played, hazard=hazard))
    assert own.keys() == exact.keys()
    np.testing.assert_allclose([own[t] for t in exact], list(exact.values()), rtol=1e-10, atol=1e-15)


def beliefs_of_arm(agent: agents.Agent, arm: int) -> dict[int, float]:
    """From the number of the arm's pulls since it changed to the probability."""
    state = agent.state
    held = state.held[arm]
    since = state.counts[:, arm].sum() - state.before[:, arm, :held].sum(axis=0)
    weights = (1 - state.fresh[arm]) * state.weights[arm, :held] / max(state.totals[arm], 1e-300)
    return {0: float(state.fresh[arm])} | dict(zip(since.astype(int).tolist(), weights.tolist(), strict=True))


def partitions_of_arm(played: Sequence[Round], arm: int, hazard: float) -> dict[int, float]:
    """The same by all ways in which this arm can have changed, of whose rewards alone the likelihood depends."""
    beliefs: dict[int, float] = {}
    for changes in itertools.product([False, True], repeat=len(played)):
        edges = [0, *(t + 1 for t, change in enumerate(changes) if change), len(played)]
        prior = math.prod(hazard if change else 1 - hazard for change in changes)
        own = [[each for each in played[a:b] if each[0] == arm] for a, b in itertools.pairwise(edges)]
        pulls = len(own[-1])
        beliefs[pulls] = beliefs.get(pulls, 0.0) + prior * math.prod(likelihood(phase) for phase in own)
    total = sum(beliefs.values())
    return {pulls: belief / total for pulls, belief in beliefs.items()}


@pytest.mark.parametrize("hazard", [1e-3, 0.2, 0.7])
@pytest.mark.parametrize("rounds", [0, 1, 2, 5, 11])
def test_weights_of_one_arm_are_its_posterior_over_all_partitions(hazard, rounds):
    played = history(rounds, seed=rounds)
    agent = told(played, hazard=hazard, restart="arm")
    for arm in range(K):
        exact, own = partitions_of_arm(played, arm, hazard), beliefs_of_arm(agent, arm)
        assert own.keys() >= exact.keys()
        np.testing.assert_allclose([own[n] for n in exact], list(exact.values()), rtol=1e-10, atol=1e-15)


def beta(played: Sequence[Round], arm: int) -> object:
    rewards = [x for a, x in played if a == arm]
    return stats.beta(1 + sum(rewards), 1 + len(rewards) - sum(rewards))


@pytest.mark.parametrize("hazard", [0.02, 0.4])
def test_one_hypothesis_is_drawn_for_all_arms(hazard, count_acts):
    """P(arm) = Σ over the last change of its probability times the arm's chance with the posteriors since then."""
    played = history(10, seed=3)
    exact = partitions(played, hazard)
    chances = sum(
        belief * winning_chances([beta(played[began:], i) for i in range(K)]) for began, belief in exact.items()
    )
    wins = count_acts(told(played, hazard=hazard).state, np.ones(K, bool), np.random.default_rng(1), ACTS)
    assert agreement(wins, np.asarray(chances)) > 1e-4


class Mixture:
    """A mixture of Beta laws, as SciPy's laws are asked."""

    def __init__(self, laws: Sequence[tuple[float, float, float]]) -> None:
        self.laws = [(weight, stats.beta(a, b)) for weight, a, b in laws]

    def cdf(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(sum(weight * law.cdf(x) for weight, law in self.laws))

    def ppf(self, u: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        grid = np.linspace(0, 1, 200_001)
        return np.interp(u, self.cdf(grid), grid)


@pytest.mark.parametrize("hazard", [0.02, 0.4])
def test_one_hypothesis_is_drawn_for_each_arm(hazard, count_acts):
    played = history(10, seed=3)
    laws = []
    for arm in range(K):
        rewards = [x for a, x in played if a == arm]
        exact = partitions_of_arm(played, arm, hazard)
        since = {n: sum(rewards[len(rewards) - n :]) for n in exact}
        laws.append(Mixture([(belief, 1 + since[n], 1 + n - since[n]) for n, belief in exact.items()]))
    agent = told(played, hazard=hazard, restart="arm")
    wins = count_acts(agent.state, np.ones(K, bool), np.random.default_rng(1), ACTS)
    assert agreement(wins, winning_chances(laws)) > 1e-4


@pytest.mark.parametrize("restart", ["global", "arm"])
@pytest.mark.parametrize("seen", [[(0, 0)] * 3, [(60, 40), (57, 43), (2, 1)]])
def test_without_changes_it_is_thompson_sampling(restart, seen, count_acts, observe_all):
    """h = 0: the law of the argmax of Beta(1 + S, 1 + F)."""
    agent = agents.SwitchingTS(3, hazard=0.0, restart=restart)
    arms = np.repeat(np.arange(3), [s + f for s, f in seen])
    observe_all(agent.state, arms, np.concatenate([np.repeat([1.0, 0.0], each) for each in seen]))
    wins = count_acts(agent.state, np.ones(3, bool), np.random.default_rng(2), ACTS)
    assert agreement(wins, winning_chances([stats.beta(1 + s, 1 + f) for s, f in seen])) > 1e-4
    assert agent.state.held.max() <= 1


def reference(played: Sequence[Round], hazard: float, most: int) -> dict[int, float]:
    """The rule to the letter: lists of hypotheses, all weights normalised in every round, the lightest dropped."""
    weights, began = [1.0], [0]
    for t, (arm, reward) in enumerate(played):
        likelihoods = []
        for start in began:
            same = [x for a, x in played[start:t] if a == arm]
            successes = sum(same)
            likelihoods.append((1 + (successes if reward else len(same) - successes)) / (len(same) + 2))
        joint = [w * each for w, each in zip(weights, likelihoods, strict=True)]
        weights = [(1 - hazard) * each for each in joint] + [hazard * sum(joint)]
        began = [*began, t + 1]
        if len(weights) > most:
            lightest = weights.index(min(weights))
            del weights[lightest], began[lightest]
        weights = [each / sum(weights) for each in weights]
    return dict(zip(began, weights, strict=True))


@pytest.mark.parametrize("most", [1, 2, 7, 30])
@pytest.mark.parametrize("hazard", [0.003, 0.1])
def test_beyond_the_most_the_lightest_is_dropped(most, hazard):
    """On 400 rounds whose means change half way, with weights that would fall to e^-270 if they were not divided."""
    rng = np.random.default_rng(most)
    played = [(int(t % 2), float(rng.random() < (0.2 if (t < 200) == (t % 2 == 0) else 0.8))) for t in range(400)]
    exact = reference(played, hazard, most)
    own = beliefs_of(told(played, 2, hazard=hazard, hypotheses=most))
    assert own.keys() == exact.keys()
    np.testing.assert_allclose([own[t] for t in exact], list(exact.values()), rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("hazard", [0.0, 0.5])
@pytest.mark.parametrize("restart", ["global", "arm"])
def test_weights_neither_vanish_nor_grow(hazard, restart, observe_all):
    """20 000 rounds, of which each multiplies an undivided weight with about ½."""
    agent = agents.SwitchingTS(2, hazard=hazard, restart=restart)
    rng = np.random.default_rng(5)
    observe_all(agent.state, rng.integers(2, size=20_000), rng.integers(2, size=20_000).astype(float))
    weights = agent.state.weights.reshape(-1, 100)
    totals = agent.state.total if restart == "global" else agent.state.totals
    np.testing.assert_allclose(weights.sum(axis=1) / totals, 1, rtol=1e-9)
    assert totals.min() > 1e-101
    assert np.isfinite(weights).all()


@pytest.mark.parametrize("restart", ["global", "arm"])
def test_forgetting_one_arm(restart):
    """Every hypothesis has its counts of the other arms, and none of this one."""
    agent, other = (told(history(60), hazard=0.05, restart=restart) for _ in range(2))
    agent.forget(1)

    def seen(of: agents.Agent) -> npt.NDArray[np.float64]:
        return of.state.counts[:, :, None] - of.state.before

    assert not seen(agent)[:, 1].any()
    np.testing.assert_array_equal(seen(agent)[:, [0, 2]], seen(other)[:, [0, 2]])
    if restart == "global":
        np.testing.assert_array_equal(agent.state.weights, other.state.weights)
    else:
        assert agent.state.fresh[1] == 1.0
        np.testing.assert_array_equal(agent.state.weights[[0, 2]], other.state.weights[[0, 2]])
    agent.forget()
    for own, new in zip(agent.state[:-1], told([], hazard=0.05, restart=restart).state[:-1], strict=True):
        np.testing.assert_array_equal(own, new)


@pytest.mark.parametrize("hazard", [0.0, 1e-3, 0.1])
def test_changes_of_one_arm_compiled_equal_interpreted(hazard):
    """``tests/play/test_simulate.py`` plays the default, one change for all; more rounds than hypotheses here."""
    parameters = {"restart": "arm", "hazard": hazard, "hypotheses": 20}
    runs = simulate(worlds.Abrupt(horizon=600), "switching-ts", runs=3, seed=4, agent_kwargs=parameters, record="all")
    for r, seeds in enumerate(runs.seeds):
        agent = agents.SwitchingTS(10, **parameters)
        played = run_episode(NSBanditEnv(worlds.Abrupt(horizon=600)), agent, seeds)
        np.testing.assert_array_equal(runs.arms[r], played.arms)
        np.testing.assert_array_equal(runs.rewards[r], played.rewards)
