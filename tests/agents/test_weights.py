"""Exponential weights: their ratios are those of the definition, however large they grow, and a reset is a reset."""

from __future__ import annotations

import numpy as np
import pytest

from ns_mab_gym.agents.parts.weights import multiply, new_weights, reset_weights


@pytest.mark.parametrize("step", [0.7, 40.0, 290.0, 400.0, 2_000.0])
def test_shares_are_those_of_the_logarithms_beyond_the_range_of_floats(step):
    weights, logs = new_weights(4), np.zeros(4)
    rng = np.random.default_rng(1)
    for _ in range(60):
        arm, factor = int(rng.integers(4)), float(step * rng.random())
        multiply(weights, arm, factor)
        logs[arm] += factor
        exact = np.exp(logs - logs.max())
        np.testing.assert_allclose(weights.plain / weights.plain.sum(), exact / exact.sum(), rtol=1e-9, atol=1e-300)


def test_weights_that_were_rescaled_are_new_after_a_reset():
    weights = new_weights(3)
    multiply(weights, 1, 5_000.0)
    reset_weights(weights)
    multiply(weights, 0, 1.0)
    np.testing.assert_allclose(weights.plain, [np.e, 1.0, 1.0], rtol=1e-15)
    for after, new in zip(weights, new_weights(3), strict=True):
        np.testing.assert_array_equal(after[1:], new[1:])
    assert weights.reference[0] == 0
