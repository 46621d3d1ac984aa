"""The paper's four worlds equal its equations, evaluated here one arm and one round at a time in plain Python."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from ns_mab_gym import worlds
from ns_mab_gym.theory import breakpoints


def in_odd_phase(t, horizon=50_000):
    """The appendix's "t < 15000 or 30000 < t < 40000", as exact fractions of the horizon."""
    x = Fraction(t, horizon)
    return x < Fraction(3, 10) or Fraction(6, 10) < x < Fraction(8, 10)


def abrupt(i, t, horizon=50_000):
    if 2 <= i <= 8:
        return 0.2 + 0.05 * (i - 2)
    odd, even = {1: (0.1, 0.99), 9: (0.55, 0.15), 10: (0.6, 0.1)}[i]
    return odd if in_odd_phase(t, horizon) else even


def general_abrupt(i, t, horizon=50_000):
    if i in (3, 5, 7, 8):
        return 0.2 + 0.05 * (i - 2)
    if i in (2, 4, 6):
        return 0.2 + 0.05 * (i - 2) + 0.1 * math.sin(0.001 * t)
    odd, even = {1: (0.1, 0.9), 9: (0.55, 0.15), 10: (0.6, 0.1)}[i]
    return odd if in_odd_phase(t, horizon) else even + 0.1 * math.sin(0.001 * t)


def smooth(i, t, sigma, k=10):
    w = 1 + (k - 1) * (1 + math.sin(sigma * t)) / 2
    return (k - 1) / k - abs(w - i) / k


def random_rounds(horizon, seed):
    return random.Random(seed).sample(range(1, horizon + 1), min(horizon, 100))


def assert_follows(means, equation, rounds):
    expected = [[equation(i, t) for i in range(1, means.shape[1] + 1)] for t in rounds]
    np.testing.assert_allclose(means[np.array(rounds) - 1], expected, rtol=0, atol=1e-13)


def test_the_breakpoints_of_the_abrupt_world():
    assert breakpoints(worlds.Abrupt().means()).tolist() == [15_000, 30_001, 40_000]


SMOOTH = [(10, 1e-4, 50_000), (10, 1e-3, 50_000), (2, 0.05, 300), (3, 1e-2, 1_000), (25, 7e-4, 10_000)]


@pytest.mark.parametrize(("k", "sigma", "horizon"), SMOOTH)
def test_smooth_follows_its_equation_with_any_number_of_arms_and_speed(k, sigma, horizon):
    means = worlds.Smooth(n_arms=k, sigma=sigma, horizon=horizon).means()
    assert means.shape == (horizon, k)
    assert means.min() >= 0
    assert_follows(means, lambda i, t: smooth(i, t, sigma, k), random_rounds(horizon, seed=k))


@pytest.mark.parametrize("horizon", [50_000, 1, 2, 3, 7, 10, 11, 99, 100, 1_234, 100_000])
@pytest.mark.parametrize(("world", "equation"), [("abrupt", abrupt), ("general-abrupt", general_abrupt)])
def test_abrupt_worlds_follow_their_equations_at_any_horizon(world, equation, horizon):
    means = worlds.make(world, horizon=horizon).means()
    edges = {1, horizon} | {round(horizon * share) + d for share in (0.3, 0.6, 0.8) for d in (-1, 0, 1)}
    rounds = sorted({t for t in edges if 1 <= t <= horizon} | set(random_rounds(horizon, seed=4)))
    assert_follows(means, lambda i, t: equation(i, t, horizon), rounds)
