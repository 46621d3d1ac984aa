"""ActivePTW: the posterior of the current segment, against every binary partition of the time."""

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
Interval = tuple[int, int]


def history(rounds: int, seed: int = 0) -> list[Round]:
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(K)), float(rng.integers(2))) for _ in range(rounds)]


def told(played: Sequence[Round], depth: int, split: float = 0.5) -> agents.Agent:
    agent = agents.ActivePTW(K, depth=depth, split=split)
    for arm, reward in played:
        agent.observe(arm, reward)
    return agent


def partitions(start: int, depth: int, split: float) -> Iterator[tuple[list[Interval], float]]:
    """Every binary partition of 2^depth rounds from a start, with its prior probability."""
    whole = [(start, start + 2**depth)]
    if depth == 0:
        yield whole, 1.0
        return
    yield whole, 1 - split
    left = list(partitions(start, depth - 1, split))
    right = list(partitions(start + 2 ** (depth - 1), depth - 1, split))
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
    for segments, prior in partitions(0, depth, split):
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
            agent = told(played[:rounds], depth, split)
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
    agent = told(played, 9)
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
    counts = told(played, 4).state.counts
    for level in range(5):
        seen = played[rounds - rounds % 2 ** (4 - level) :]
        for arm in range(K):
            rewards = [x for a, x in seen if a == arm]
            assert counts[level, :, arm].tolist() == [len(rewards) - sum(rewards), sum(rewards)]


def test_after_the_last_round_a_new_tree_begins():
    played = history(21, seed=4)
    agent, new = told(played, 4), told(played[16:], 4)
    np.testing.assert_array_equal(agent.state.counts, new.state.counts)
    np.testing.assert_array_equal(agent.state.log_odds, new.state.log_odds)


@pytest.mark.parametrize("rounds", [0, 6, 11])
def test_a_level_is_drawn_then_the_arms_of_its_segment(rounds, count_acts):
    played = history(rounds, seed=2)
    chances = np.zeros(K)
    for level, belief in enumerate(exact_posterior(played, 4, 0.5)):
        seen = played[rounds - rounds % 2 ** (4 - level) :]
        laws = []
        for arm in range(K):
            rewards = [x for a, x in seen if a == arm]
            laws.append(stats.beta(0.5 + sum(rewards), 0.5 + len(rewards) - sum(rewards)))
        chances += belief * winning_chances(laws)
    wins = count_acts(told(played, 4).state, np.ones(K, bool), np.random.default_rng(rounds), ACTS)
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


def test_forgetting_one_arm():
    agent, other = told(history(23), 6), told(history(23), 6)
    agent.forget(1)
    assert not agent.state.counts[:, :, 1].any()
    np.testing.assert_array_equal(agent.state.counts[:, :, [0, 2]], other.state.counts[:, :, [0, 2]])
    np.testing.assert_array_equal(agent.state.log_odds, other.state.log_odds)
    agent.forget()
    for own, new in zip(agent.state, told([], 6).state, strict=True):
        np.testing.assert_array_equal(own, new)
