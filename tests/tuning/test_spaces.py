"""What is searched: every agent of the zoo has a space or a reason, and every point of it can be played."""

import math

import numpy as np
import pytest

from ns_mab_gym import agents
from ns_mab_gym.tuning.search import (
    ADVISED,
    MOST_POINTS,
    SPACES,
    UNTUNED,
    Choices,
    Range,
    advised_space,
    coarse_grid,
    default_space,
    grid,
    grid_points,
    nearly_equal,
    neighbours,
    read_space,
)


def corners(space):
    ends = {name: [each.coarse(2)[0], each.coarse(2)[-1]] for name, each in space.items()}
    return [{name: values[i] for name, values in ends.items()} for i in (0, 1)]


def test_every_agent_of_the_zoo_is_in_one_of_the_tables():
    assert sorted([*SPACES, *UNTUNED]) == sorted(agents.HOUSE)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("horizon", "n_arms"), [(1, 2), (30, 40), (50_000, 10)])
def test_the_ends_of_every_space_are_allowed(name, horizon, n_arms):
    known = agents.Knowledge(n_arms=n_arms, horizon=horizon, variation=1.0, switches=1, breakpoints=1)
    for point in corners(default_space(name, horizon, n_arms)):
        made = agents.make(name, knowledge=known, **point)
        assert {key: made.parameters[key] for key in point} == point


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("horizon", "n_arms"), [(1_000, 5), (50_000, 10), (10_000_000, 10)])
def test_the_default_of_every_parameter_can_be_found(name, horizon, n_arms):
    """The default of an agent that is told T, K and the law of rewards alone lies in the space that is searched."""
    made = agents.make(name, n_arms=n_arms, horizon=horizon, blind=True)
    for parameter, searched in default_space(name, horizon, n_arms).items():
        value = made.parameters[parameter]
        if isinstance(searched, Choices):
            assert value in searched.values
        else:
            assert searched.low <= value <= searched.high


@pytest.mark.parametrize("name", SPACES)
def test_a_grid_is_small_or_left_to_the_optimiser(name):
    space = default_space(name, 50_000, 10)
    if grid_points(space) is not None:
        assert 3 <= len(grid(space)[0]) <= MOST_POINTS
    else:
        assert len(space) > 2


def test_windows_lie_evenly_on_a_log_scale_from_end_to_end():
    points, steps = grid({"window": Range(20, 50_000)})
    windows = [point["window"] for point in points]
    assert windows[0] == 20
    assert windows[-1] == 50_000
    assert np.ptp(np.diff(np.log(windows))) < 0.05
    assert steps["window"] == pytest.approx(math.log(2_500) / (len(windows) - 1))
    assert math.exp(steps["window"]) < 1.65


def test_discounts_lie_evenly_in_the_memory_that_they_give():
    values = [point["gamma"] for point in grid({"gamma": Range(0.95, 0.9999, "memory")})[0]]
    memories = [1 / (1 - value) for value in values]
    assert memories[0] == pytest.approx(20)
    assert memories[-1] == pytest.approx(10_000)
    assert np.ptp(np.diff(np.log(memories))) < 1e-9


def test_neighbours_lie_half_a_step_away_and_within_the_ends():
    space = {"window": Range(20, 2_000), "xi": Range(0.1, 1.0), "c": Choices((0, 1))}
    found = neighbours(
        space, {"window": 2_000, "xi": 0.5, "c": 0}, {"window": 2 * math.log(2), "xi": 2 * math.log(1.5)}
    )
    assert [each["window"] for each in found] == [1_000, 2_000, 2_000]
    assert [each["xi"] for each in found] == pytest.approx([0.5, 0.5 / 1.5, 0.75])


@pytest.mark.parametrize(
    ("dimension", "edge", "nearest"), [(Range(0.95, 0.999, "memory"), 1.0, 0.999), (Range(0.02, 2.0), 0.0, 0.02)]
)
def test_the_end_of_a_scale_is_next_to_the_nearest_end_of_its_range(dimension, edge, nearest):
    assert {each["x"] for each in neighbours({"x": dimension}, {"x": edge}, {"x": 0.1})} == {nearest}
    assert not nearly_equal({"x": dimension}, {"x": edge}, {"x": nearest}, {"x": 0.1})


def test_points_that_nearly_coincide_are_recognised():
    space, steps = {"window": Range(20, 2_000), "c": Choices((0, 1))}, {"window": math.log(2)}
    assert nearly_equal(space, {"window": 890, "c": 0}, {"window": 891, "c": 0}, steps)
    assert not nearly_equal(space, {"window": 890, "c": 0}, {"window": 891, "c": 1}, steps)
    assert not nearly_equal(space, {"window": 890, "c": 0}, {"window": 1_200, "c": 0}, steps)


def test_users_describe_spaces_by_lists_and_ranges():
    space = read_space("sw-ucb", {"window": (10, 1_000), "xi": [0.1, 0.6, 0.6]})
    assert space == {"window": Range(10, 1_000, "log"), "xi": Choices((0.1, 0.6))}
    assert read_space("d-ts", {"gamma": (0.9, 0.999, "memory")})["gamma"] == Range(0.9, 0.999, "memory")
    assert read_space("kl-ucb", {"c": (0, 3)})["c"].scale == "linear"
    assert read_space("sw-ucb", {"window": np.array([5, 9])})["window"] == Choices((5, 9))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "at least one parameter"),
        ({"windw": [1]}, "did you mean 'window'"),
        ({"window": []}, "is empty"),
        ({"window": (9, 3)}, "low 9 is above high 3"),
        ({"window": (0, 3, "log")}, "needs low above 0"),
        ({"window": (1, 3, "root")}, "unknown scale of window 'root'"),
        ({"window": (1, math.inf)}, "must be finite"),
        ({"window": 5}, "must be a list of values"),
        ({"window": "5"}, "must be a list of values"),
        ({"xi": (0.5, 1.0, "memory")}, "below 1"),
    ],
)
def test_spaces_that_make_no_sense_are_refused(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        read_space("sw-ucb", given)


@pytest.mark.parametrize("name", UNTUNED)
def test_agents_with_nothing_to_tune_say_why(name):
    with pytest.raises(ValueError, match="nothing to tune"):
        default_space(name, 100, 3)


def test_an_agent_of_ones_own_needs_a_space():
    class Mine: ...

    with pytest.raises(ValueError, match=r"not known for Mine; say it with space="):
        default_space(Mine, 100, 3)
    assert "window" in default_space(agents.BetaSWTS, 100, 3)


def test_every_point_that_advice_may_give_can_be_made():
    known = agents.Knowledge(n_arms=3, horizon=500)
    for name in ADVISED:
        for point in coarse_grid(advised_space(name, 500, 3), 2.0)[0]:
            agents.make(name, knowledge=known, **point)
