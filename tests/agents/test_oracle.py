"""The oracle plays the best arm of the round, the first of them if several are, and goes on after the last round."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym.agents import Oracle

MEANS = [[0.1, 0.9], [0.6, 0.4], [0.1, 0.9], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]]  # more rounds than arms
BEST = [1, 0, 1, 0, 0, 1]


def test_it_plays_the_best_arm_of_each_round_and_then_that_of_the_last():
    agent = Oracle(2, means=MEANS)
    assert [agent.act() for _ in range(9)] == [*BEST, 1, 1, 1]
    agent.reset()
    assert [agent.act() for _ in range(6)] == BEST


def test_it_plays_the_best_of_the_arms_that_are_open():
    agent = Oracle(3, means=np.array([[0.9, 0.5, 0.7]] * 4))
    masks = ([True, True, True], [False, True, True], [False, True, False], [True, False, True])
    assert [agent.act(mask=np.array(mask)) for mask in masks] == [0, 2, 1, 0]


@pytest.mark.parametrize("means", [np.zeros((5, 2)), np.zeros((5, 4)), np.zeros(3), np.zeros((2, 5, 3))])
def test_means_of_another_shape_are_refused(means):
    with pytest.raises(ValueError, match=r"means must have shape \(T, 3\), got \("):
        Oracle(3, means=means)
