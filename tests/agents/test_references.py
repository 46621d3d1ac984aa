"""The reference agents of every comparison: random and oracle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ns_mab_gym import agents


def test_random_is_uniform_over_the_open_arms(example, count_acts):
    agent = example("random", 6)
    mask = np.array([True, False, True, True, False, True])
    counts = count_acts(agent.state, mask, np.random.default_rng(0), 100_000)
    assert counts[~mask].sum() == 0
    assert stats.chisquare(counts[mask]).pvalue > 1e-4
    assert stats.chisquare(count_acts(agent.state, np.ones(6, bool), np.random.default_rng(1), 100_000)).pvalue > 1e-4


def test_the_oracle_plays_the_first_arm_with_the_largest_mean_of_each_round():
    means = np.array([[0.1, 0.9, 0.9], [0.5, 0.5, 0.5], [0.0, 0.1, 0.2], [0.3, 0.2, 0.1]])
    agent = agents.Oracle(3, means=means)
    for _ in range(2):
        agent.reset(seed=0)
        assert [agent.act() for _ in range(4)] == [1, 0, 2, 0]
    assert agent.act() == 0  # beyond the last round: that of the last


def test_the_oracle_skips_closed_arms():
    agent = agents.Oracle(3, means=np.array([[0.1, 0.9, 0.5]] * 2))
    assert agent.act(mask=np.array([True, False, True])) == 2
    assert agent.act(mask=np.array([True, False, False])) == 0


def test_the_oracle_does_not_write_to_the_means():
    means = np.array([[0.1, 0.9], [0.8, 0.2]])
    agent = agents.Oracle(2, means=means)
    with pytest.raises(ValueError, match="read-only"):
        agent.means[0, 0] = 1.0
    means[0] = 5.0  # the caller's array stays the caller's


@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 2, 1)])
def test_means_of_another_shape(shape):
    with pytest.raises(ValueError, match=r"means must have shape \(T, 2\), got \(4"):
        agents.Oracle(2, means=np.zeros(shape))
