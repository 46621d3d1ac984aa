"""The choice of the largest value: the first of several open arms that share it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ns_mab_gym.agents.parts.forced import highest

VALUES = st.sampled_from([-1.0, 0.0, 0.5, math.inf])  # few, so that most lists have ties


@given(st.lists(st.tuples(VALUES, st.booleans()), min_size=1, max_size=8).filter(lambda arms: any(o for _, o in arms)))
def test_it_is_the_first_open_arm_with_the_largest_value(arms):
    values, is_open = zip(*arms, strict=True)
    ranked = sorted((-value, i) for i, (value, each) in enumerate(arms) if each)
    assert highest(np.array(values), np.array(is_open)) == ranked[0][1]


@pytest.mark.parametrize(
    ("values", "is_open", "arm"),
    [([1, 2, 2], [True] * 3, 1), ([3, 2, 2], [False, True, True], 1), ([3, 2, 2], [False, False, True], 2)],
)
def test_by_hand(values, is_open, arm):
    assert highest(np.array(values, float), np.array(is_open)) == arm
