"""Beliefs about the last change, of switching Thompson sampling and ActivePTW, against sums over all ways to change."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from scipy import special, stats
from winning import agreement, winning_chances

from ns_mab_gym import agents

ACTS = 100_000
K = 3
Round = tuple[int, float]


def history(rounds: int, seed: int = 0, k: int = K) -> list[Round]:
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(k)), float(rng.integers(2))) for _ in range(rounds)]


def told(played: Sequence[Round], k: int = K, kind: type = agents.SwitchingTS, **parameters: object) -> agents.Agent:
    agent = kind(k, **parameters)
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


def partitions(played: Sequence[Round], hazard: float, arm: int | None = None) -> dict[int, float]:
    """P(the last change came after this round of the history), by all 2^t ways to change after its t rounds.

    With an arm, P(it has had this many pulls since it changed), of whose rewards alone the likelihood then depends.
    """
    beliefs: dict[int, float] = {}
    for changes in itertools.product([False, True], repeat=len(played)):
        edges = [0, *(t + 1 for t, change in enumerate(changes) if change), len(played)]
        prior = math.prod(hazard if change else 1 - hazard for change in changes)
        phases = [[each for each in played[a:b] if arm in (None, each[0])] for a, b in itertools.pairwise(edges)]
        key = edges[-2] if arm is None else len(phases[-1])
        beliefs[key] = beliefs.get(key, 0.0) + prior * math.prod(likelihood(phase) for phase in phases)
    total = sum(beliefs.values())
    return {key: belief / total for key, belief in beliefs.items()}


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


@pytest.mark.parametrize("hazard", [1e-3, 0.2, 0.7])
@pytest.mark.parametrize("rounds", [0, 1, 2, 5, 11])
def test_weights_of_one_arm_are_its_posterior_over_all_partitions(hazard, rounds):
    played = history(rounds, seed=rounds)
    agent = told(played, hazard=hazard, restart="arm")
    for arm in range(K):
        exact, own = partitions(played, hazard, arm), beliefs_of_arm(agent, arm)
        assert own.keys() >= exact.keys()
        np.testing.assert_allclose([own[n] for n in exact], list(exact.values()), rtol=1e-10, atol=1e-15)


def beta(played: Sequence[Round], arm: int, prior: float = 1.0) -> object:
    rewards = [x for a, x in played if a == arm]
    return stats.beta(prior + sum(rewards), prior + len(rewards) - sum(rewards))


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
        exact = partitions(played, hazard, arm)
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


@pytest.mark.parametrize(("hazard", "restart"), [(0.05, "global"), (0.05, "arm"), ("learnt", "global")])
def test_forgetting_one_arm(hazard, restart):
    """Every hypothesis has its counts of the other arms, and none of this one."""
    agent, other = (told(history(60), hazard=hazard, restart=restart) for _ in range(2))
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


# A learnt hazard: last changes and hazards together.


def with_hazards(played: Sequence[Round]) -> dict[tuple[int, int], float]:
    """P(last change, number of the hazard), by all ways to change under each of 8 hazards from 1e-4 to 0.1."""
    beliefs: dict[tuple[int, int], float] = {}
    for k, hazard in enumerate(np.geomspace(1e-4, 0.1, 8).tolist()):
        for changes in itertools.product([False, True], repeat=len(played)):
            edges = [0, *(t + 1 for t, change in enumerate(changes) if change), len(played)]
            prior = math.prod(hazard if change else 1 - hazard for change in changes) / 8
            phases = math.prod(likelihood(played[a:b]) for a, b in itertools.pairwise(edges))
            beliefs[edges[-2], k] = beliefs.get((edges[-2], k), 0.0) + prior * phases
    total = sum(beliefs.values())
    return {key: belief / total for key, belief in beliefs.items()}


def learnt_beliefs(agent: agents.Agent) -> dict[tuple[int, int], float]:
    """The agent's own; and its sums over hazards and over everything are those of its weights."""
    state = agent.state
    held = state.held[0]
    began = state.before[:, :, :held].sum(axis=(0, 1)).astype(int).tolist()
    np.testing.assert_allclose(state.sums[:held], state.weights[:held].sum(axis=1), rtol=1e-12)
    assert state.total[0] == pytest.approx(state.weights[:held].sum(), rel=1e-9)
    weights = state.weights[:held] / state.total[0]
    return {(s, k): float(weights[j, k]) for j, s in enumerate(began) for k in range(8)}


@pytest.mark.parametrize("rounds", [0, 1, 2, 5, 9])
def test_a_learnt_hazard_has_the_posterior_over_all_partitions_and_hazards(rounds):
    played = history(rounds, seed=rounds)
    exact, own = with_hazards(played), learnt_beliefs(told(played, hazard="learnt"))
    assert own.keys() == exact.keys()
    np.testing.assert_allclose([own[key] for key in exact], list(exact.values()), rtol=1e-10, atol=1e-18)


def test_a_learnt_hazard_acts_by_the_posterior_of_the_last_change(count_acts):
    """P(arm) = Σ over the last change of its probability, over all hazards, times the arm's chance since then."""
    played = history(9, seed=3)
    chances = np.zeros(K)
    for (began, _), belief in with_hazards(played).items():
        chances += belief * winning_chances([beta(played[began:], i) for i in range(K)])
    wins = count_acts(told(played, hazard="learnt").state, np.ones(K, bool), np.random.default_rng(1), ACTS)
    assert agreement(wins, chances) > 1e-4


def learnt_reference(played: Sequence[Round], most: int) -> dict[tuple[int, int], float]:
    """The rule to the letter: all weights normalised in every round, the change that is lightest in sum dropped."""
    hazards = np.geomspace(1e-4, 0.1, 8)
    weights, began = [np.full(8, 1 / 8)], [0]
    for t, (arm, reward) in enumerate(played):
        joint = []
        for start, weight in zip(began, weights, strict=True):
            same = [x for a, x in played[start:t] if a == arm]
            alike = sum(same) if reward else len(same) - sum(same)
            joint.append(weight * (1 + alike) / (len(same) + 2))
        weights = [(1 - hazards) * each for each in joint] + [hazards * sum(joint)]
        began = [*began, t + 1]
        if len(weights) > most:
            lightest = min(range(len(weights)), key=lambda j: weights[j].sum())
            del weights[lightest], began[lightest]
        total = sum(each.sum() for each in weights)
        weights = [each / total for each in weights]
    return {(s, k): float(weight[k]) for s, weight in zip(began, weights, strict=True) for k in range(8)}


@pytest.mark.parametrize("most", [1, 2, 7, 30])
def test_of_a_learnt_hazard_the_lightest_change_is_dropped(most):
    """On 400 rounds whose means change half way, with weights that would fall to e^-270 if they were not divided."""
    rng = np.random.default_rng(most)
    played = [(int(t % 2), float(rng.random() < (0.2 if (t < 200) == (t % 2 == 0) else 0.8))) for t in range(400)]
    exact = learnt_reference(played, most)
    own = learnt_beliefs(told(played, 2, hazard="learnt", hypotheses=most))
    assert own.keys() == exact.keys()
    np.testing.assert_allclose([own[key] for key in exact], list(exact.values()), rtol=1e-8, atol=1e-14)


def test_the_hazard_is_learnt():
    """Rewards of one arm that turn from 1 to 0 or back 40 times in 2 000 rounds, and such that never turn."""
    for period, hazard in ((50, 0.02), (10**6, 1e-4)):
        played = [(0, float(t // period % 2)) for t in range(2_000)]
        state = told(played, 2, hazard="learnt").state
        posterior = state.weights[: state.held[0]].sum(axis=0) / state.total[0]
        nearest = int(np.abs(np.log(np.geomspace(1e-4, 0.1, 8) / hazard)).argmin())
        assert posterior.argmax() == nearest


# ActivePTW: the posterior of the current segment, against every binary partition of the time.

Interval = tuple[int, int]


def in_tree(played: Sequence[Round], depth: int, split: float = 0.5) -> agents.Agent:
    return told(played, kind=agents.ActivePTW, depth=depth, split=split)


def binary_partitions(start: int, depth: int, split: float) -> Iterator[tuple[list[Interval], float]]:
    """Every binary partition of 2^depth rounds from a start, with its prior probability."""
    whole = [(start, start + 2**depth)]
    if depth == 0:
        yield whole, 1.0
        return
    yield whole, 1 - split
    left = list(binary_partitions(start, depth - 1, split))
    right = list(binary_partitions(start + 2 ** (depth - 1), depth - 1, split))
    for (one, p), (two, q) in itertools.product(left, right):
        yield one + two, split * p * q


def log_likelihood(played: Sequence[Round]) -> float:
    """ln Π_i B(½ + S_i, ½ + F_i)/B(½, ½)."""
    total = 0.0
    for arm in range(K):
        rewards = [x for a, x in played if a == arm]
        successes = sum(rewards)
        total += special.betaln(0.5 + successes, 0.5 + len(rewards) - successes) - special.betaln(0.5, 0.5)
    return float(total)


def exact_posterior(played: Sequence[Round], depth: int, split: float) -> npt.NDArray[np.float64]:
    """P(the segment that holds the coming round is an interval of level d), by all partitions."""
    posterior = np.zeros(depth + 1)
    coming = len(played)
    for segments, prior in binary_partitions(0, depth, split):
        weight = prior * math.exp(sum(log_likelihood(played[a:b]) for a, b in segments))
        (length,) = (b - a for a, b in segments if a <= coming < b)
        posterior[depth - length.bit_length() + 1] += weight
    return posterior / posterior.sum()


@pytest.mark.parametrize("split", [0.5, 1 / 3])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_the_level_posterior_is_that_over_all_partitions(depth, split):
    """After every round of three histories."""
    for seed in range(3):
        played = history(2**depth, seed)
        for rounds in range(2**depth):
            agent = in_tree(played[:rounds], depth, split)
            exact = exact_posterior(played[:rounds], depth, split)
            np.testing.assert_allclose(agent.level_posterior(), exact, rtol=1e-11)


def log_weighted(played: Sequence[Round], start: int, depth: int) -> float:
    """ln of the mixture over all partitions of an interval: ½ as one segment + ½ as two halves, each a mixture."""
    seen = played[start : start + 2**depth]
    if depth == 0 or not seen:
        return log_likelihood(seen)
    halves = log_weighted(played, start, depth - 1) + log_weighted(played, start + 2 ** (depth - 1), depth - 1)
    return float(np.logaddexp(math.log(0.5) + log_likelihood(seen), math.log(0.5) + halves))


@pytest.mark.parametrize("rounds", [255, 300, 384, 500])
def test_the_odds_of_long_histories_by_the_recursion_from_the_top(rounds):
    """512 rounds whose means change in the middle: odds far beyond what a probability can hold."""
    rng = np.random.default_rng(rounds)
    played = [(t % K, float(rng.random() < (0.1 if (t < 256) == (t % K == 0) else 0.95))) for t in range(rounds)]
    agent = in_tree(played, 9)
    for level in range(9):
        depth = 9 - level
        start = rounds - rounds % 2**depth
        seen = played[start:]
        middle = start + 2 ** (depth - 1)
        halves = log_weighted(played, start, depth - 1) + log_weighted(played, middle, depth - 1)
        assert agent.state.log_odds[level] == pytest.approx(log_likelihood(seen) - halves, abs=1e-8)
    if rounds == 500:
        assert agent.state.log_odds[0] < -40


@pytest.mark.parametrize("rounds", [0, 1, 6, 7, 8, 12, 16, 17, 24, 40])
def test_each_level_counts_from_where_its_interval_began(rounds):
    """Intervals of level d begin every 2^(D − d) rounds; a new tree begins after 2^D."""
    played = history(rounds, seed=9)
    counts = in_tree(played, 4).state.counts
    for level in range(5):
        seen = played[rounds - rounds % 2 ** (4 - level) :]
        for arm in range(K):
            rewards = [x for a, x in seen if a == arm]
            assert counts[level, :, arm].tolist() == [len(rewards) - sum(rewards), sum(rewards)]


def test_after_the_last_round_a_new_tree_begins():
    played = history(21, seed=4)
    agent, new = in_tree(played, 4), in_tree(played[16:], 4)
    np.testing.assert_array_equal(agent.state.counts, new.state.counts)
    np.testing.assert_array_equal(agent.state.log_odds, new.state.log_odds)


@pytest.mark.parametrize("rounds", [0, 6, 11])
def test_a_level_is_drawn_then_the_arms_of_its_segment(rounds, count_acts):
    played = history(rounds, seed=2)
    chances = np.zeros(K)
    for level, belief in enumerate(exact_posterior(played, 4, 0.5)):
        seen = played[rounds - rounds % 2 ** (4 - level) :]
        chances += belief * winning_chances([beta(seen, arm, 0.5) for arm in range(K)])
    wins = count_acts(in_tree(played, 4).state, np.ones(K, bool), np.random.default_rng(rounds), ACTS)
    assert agreement(wins, chances) > 1e-4


def test_the_memory_grows_with_the_logarithm_of_the_horizon():
    sizes = [sum(np.asarray(part).size for part in agents.make("active-ptw", K, 2**d).state) for d in range(1, 40)]
    assert set(np.diff(sizes)) == {2 * K + 1}


def test_odds_stay_finite_and_beliefs_sum_to_one(observe_all):
    """2^17 rounds of one arm that always pays, then always fails."""
    agent = agents.ActivePTW(2, depth=18)
    rewards = np.repeat([1.0, 0.0], 2**17 - 5)
    observe_all(agent.state, np.zeros(rewards.size, np.int64), rewards)
    assert np.isfinite(agent.state.log_odds[:-1]).all()
    assert agent.level_posterior().sum() == pytest.approx(1, rel=1e-12)


def test_forgetting_one_arm_in_the_tree():
    agent, other = in_tree(history(23), 6), in_tree(history(23), 6)
    agent.forget(1)
    assert not agent.state.counts[:, :, 1].any()
    np.testing.assert_array_equal(agent.state.counts[:, :, [0, 2]], other.state.counts[:, :, [0, 2]])
    np.testing.assert_array_equal(agent.state.log_odds, other.state.log_odds)
