"""Every id takes any number of arms and rounds alone, and its episode is of the same kind at every size."""

import itertools
import json
import math

import gymnasium as gym
import numpy as np
import pytest

from ns_mab_gym import worlds
from ns_mab_gym.envs import ENV_IDS
from ns_mab_gym.leaderboard.plan import chosen_worlds
from ns_mab_gym.theory import breakpoints
from ns_mab_gym.worlds import Mixed, Periodic, Piecewise, RandomWalk, Stationary, Variation

SIZES = ((2, 1), (3, 2), (200, 10), (5, 100), (10, 500), (50, 50_000), (2, 10**6))  # arms and rounds
TEN_ARMS = {"NSBandit-Abrupt-v0", "NSBandit-GeneralAbrupt-v0", "NSBandit-v0"}


def turning_points(curve):
    """How often a curve changes its direction."""
    moves = np.sign(np.diff(curve))
    moves = moves[moves != 0]
    return int((moves[1:] != moves[:-1]).sum())


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_every_id_plays_at_every_size(env_id):
    for n_arms, horizon in SIZES:
        if env_id in TEN_ARMS:  # they have the paper's ten
            with pytest.raises(TypeError, match=r"world '(general-)?abrupt' has no parameter 'n_arms'"):
                gym.make(env_id, n_arms=n_arms, horizon=horizon)
            return
        env = gym.make(env_id, n_arms=n_arms, horizon=horizon).unwrapped
        env.reset(seed=0)
        assert env.means.shape == (horizon, n_arms)
        assert env.means.min() >= 0
        assert env.means.max() <= 1
        *_, truncated, _ = env.step(n_arms - 1)
        assert truncated == (horizon == 1)


# The same kind.


@pytest.mark.parametrize("n_arms", [2, 3, 10, 50])
def test_the_best_of_any_number_of_still_arms_leads_by_as_much(n_arms):
    mu = sorted(Stationary(n_arms=n_arms, horizon=1).means()[0].tolist(), reverse=True)
    assert len(mu) == n_arms
    assert mu[:2] == [0.6, 0.55]
    assert mu[-1] == (0.1 if n_arms > 2 else 0.55)
    assert all(better > worse for better, worse in itertools.pairwise(mu))
    if n_arms == 10:
        assert tuple(reversed(mu)) == (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)


@pytest.mark.parametrize(
    ("n_arms", "horizon", "changes"), [(2, 1, 0), (5, 2, 1), (2, 4, 3), (5, 5, 4), (2, 1_000, 4), (5, 10**6, 4)]
)
def test_phases_are_as_many_or_as_many_as_fit(n_arms, horizon, changes):
    assert breakpoints(Piecewise(horizon=horizon, n_arms=n_arms).means(1)).size == changes
    jumps = Mixed(horizon=horizon, n_arms=n_arms).means(1)[:, : n_arms // 2]
    assert breakpoints(np.hstack([jumps, jumps])).size == changes


def test_phases_of_a_given_length_leave_room_for_fewer():
    assert breakpoints(Piecewise(horizon=100, min_spacing=30).means(2)).size == 2  # four phases of 30 take 120 rounds
    assert Piecewise(horizon=100, min_spacing=20).changes == 4


@pytest.mark.parametrize("horizon", [500, 10**6])
@pytest.mark.parametrize(("kind", "usual"), [(RandomWalk, 0.005), (Mixed, 0.002)])
def test_walks_wander_as_far_in_an_episode(kind, usual, horizon):
    """The steps of means that no step brings to a wall have the deviation usual √(50 000/T), within 4 errors."""
    step = usual * math.sqrt(50_000 / horizon)
    n_arms = 100 if horizon <= 1_000 else 2
    walks = kind(horizon=horizon, n_arms=n_arms).means(3)[:, n_arms // 2 :]
    moves = np.diff(walks, axis=0)[np.abs(walks[:-1] - 0.5) < 0.5 - 5 * step]
    assert moves.size > 5_000
    assert abs(moves.std() / step - 1) < 4 / math.sqrt(2 * moves.size)


@pytest.mark.parametrize(
    ("kind", "key", "value", "horizons"),
    [
        (RandomWalk, "step", 0.25, (1, 2, 10, 19)),
        (Periodic, "period", 4, (1, 2, 10, 39, 40)),
        *((Periodic, "period", horizon // 10, (horizon,)) for horizon in (100, 1_000, 10**6)),
    ],
)
def test_steps_are_at_most_a_quarter_and_periods_a_tenth_of_the_episode_or_four_rounds(kind, key, value, horizons):
    """What a walk of such steps and a wave of such a period look like, is tested with the worlds."""
    for horizon in horizons:
        assert getattr(kind(horizon=horizon), key) == value


@pytest.mark.parametrize(("name", "horizon"), [("rising", 100), ("rising", 1_000), ("rotting", 500)])
def test_monotone_worlds_follow_the_same_curves(name, horizon):
    usual = worlds.make(name).means(5)
    stride = 50_000 // horizon
    np.testing.assert_allclose(worlds.make(name, horizon=horizon).means(5), usual[stride - 1 :: stride], atol=1e-12)


@pytest.mark.parametrize(
    ("n_arms", "horizon", "budget"),
    [(2, 1, 0.0), (10, 2, 0.1), (2, 10, 0.9), (50, 100, 9.9), (10, 101, 10.0), (2, 50_000, 10.0), (50, 50_000, 10.0)],
)
def test_the_variation_is_ten_or_a_tenth_per_round(n_arms, horizon, budget):
    means = Variation(horizon=horizon, n_arms=n_arms).means()
    assert np.abs(np.diff(means, axis=0)).max(axis=1).sum() == pytest.approx(budget, abs=1e-9)
    assert np.ptp(means) > 0.01  # arms differ, in one round too
    if n_arms >= 10 and horizon > 100:  # of two arms the faster moves less than the fastest of many
        assert turning_points(means[:, 0]) in (8, 9, 10)  # five cycles: 10/(0.4 · 2π) = 3.98 is not enough


# What was derived is told, and follows the size; what was given stays.


def test_derived_parameters_are_told_with_their_formulas():
    world = Mixed(horizon=500, n_arms=5, changes=2)
    formulas = {"jumping": "K/2, rounded down", "step": "0.002 √(50,000/T), at most 0.25"}
    assert world.derived == formulas
    assert world.to_dict()["derived"] == formulas
    card = str(worlds.card(world))
    assert "Mixed(horizon=500, n_arms=5, jumping=2, changes=2, step=0.02)" in card
    assert "jumping = 2 (K/2, rounded down); step = 0.02 (0.002" in card
    assert "(default K/2, rounded down)" in str(worlds.card("mixed"))
    assert Mixed(jumping=5, changes=4, step=0.002).derived == {}
    assert "derived" not in Mixed(jumping=5, changes=4, step=0.002).to_dict()


def test_another_size_derives_anew_and_keeps_what_was_given():
    world = RandomWalk()
    described = json.loads(json.dumps(world.to_dict()))
    for shorter in (
        worlds.make(world, horizon=500),
        worlds.make(described, horizon=500),
        worlds.make(worlds.make(described), horizon=500),
        worlds.make("random-walk", horizon=500, step=None),
    ):
        assert shorter == RandomWalk(horizon=500, step=0.05)
    assert worlds.make(RandomWalk(step=0.005), horizon=500).step == 0.005
    assert worlds.make(RandomWalk(step=0.005).to_dict(), horizon=500).step == 0.005
    assert worlds.make(Stationary(n_arms=3), n_arms=2).mu == (0.55, 0.6)
    assert worlds.make(Stationary(n_arms=3), mu=(0.1, 0.2), n_arms=None).n_arms == 2


def test_a_description_by_other_formulas_is_taken_at_its_word():
    old = {"name": "random-walk", "horizon": 100, "n_arms": 10, "step": 0.3, "derived": {"step": "of another version"}}
    assert worlds.make(old) == RandomWalk(horizon=100, step=0.3)


def test_the_leaderboards_worlds_take_no_value_that_depends_on_their_horizon():
    """So that what was published stays what is played: only values that are those of the usual size are derived."""
    for each in chosen_worlds():
        name, given = each.entry.name, {k: v for k, v in each.entry.kwargs.items() if k != "reward"}
        world = worlds.make(ENV_IDS[name]["world"] if name in ENV_IDS else name, **given)
        usual = worlds.make(world, horizon=50_000)
        assert world.derived.keys() == usual.derived.keys()
        assert all(getattr(world, key) == getattr(usual, key) for key in usual.derived)
