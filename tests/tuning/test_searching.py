"""Searches of made-up landscapes, whose lowest point is known and lies between the points of the first grid."""

import math

import numpy as np
import pytest

from ns_mab_gym.tuning.race import Budget, Candidate, Race
from ns_mab_gym.tuning.search import Choices, Range, grid, search


class Landscape:
    """Regret is 100 at the lowest point and grows with the squared distance on a log scale; runs add common noise."""

    def __init__(self, **lowest):
        self.lowest = lowest

    def play(self, candidates, first, runs):
        noise = np.random.default_rng(1).standard_normal((5_000, 8))
        return [
            100 * (1 + self.height(each.kwargs))
            + 10 * noise[first : first + runs, 0]
            + noise[first : first + runs, 1 + i % 7]
            for i, each in enumerate(candidates)
        ]

    def height(self, point):
        return sum(math.log(point[name] / value) ** 2 for name, value in self.lowest.items())

    def seconds(self, candidate):
        return 1.0


def found(space, evaluator, runs, start=(), fixed=None):
    race = Race(evaluator, Budget(runs=runs))
    search(race, "made-up", space, fixed or {}, list(start), 0.0, 1)
    return race


def test_the_grid_is_refined_around_the_best():
    space = {"window": Range(20, 50_000)}
    windows = [point["window"] for point in grid(space)[0]]
    lowest = math.sqrt(windows[8] * windows[9])  # as far from the first grid as can be
    race = found(space, Landscape(window=lowest), 3_000)
    assert abs(math.log(race.leader.kwargs["window"] / lowest)) < math.log(1.1)
    assert abs(math.log(windows[8] / lowest)) > math.log(1.2)


def test_two_parameters_are_searched_on_one_grid():
    race = found({"window": Range(20, 5_000), "xi": Range(0.02, 2.0)}, Landscape(window=300, xi=0.3), 8_000)
    best = race.leader.kwargs
    assert abs(math.log(best["window"] / 300)) < math.log(1.3)
    assert abs(math.log(best["xi"] / 0.3)) < math.log(1.3)


def test_four_parameters_are_left_to_the_optimiser():
    """A random point is 4.5 above the lowest one on average."""
    space = {name: Range(0.1, 10.0) for name in "abcd"}
    race = found(space, Landscape(a=1.0, b=2.0, c=0.5, d=1.0), 3_000)
    assert set(race.leader.kwargs) == set("abcd")
    assert Landscape(a=1.0, b=2.0, c=0.5, d=1.0).height(race.leader.kwargs) < 1


def test_an_optimiser_without_budget_is_told_only_what_was_played():
    race = found({name: Range(0.1, 10.0) for name in "abcd"}, Landscape(a=1.0), 60)
    assert all(len(finals) for finals in race.finals.values())


def test_a_list_of_values_is_all_that_is_tried():
    race = found({"window": Choices((10, 100, 1_000))}, Landscape(window=90), 500, fixed={"xi": 2})
    assert {each.kwargs["window"] for each in race.finals} == {10, 100, 1_000}
    assert race.leader.kwargs == {"window": 100, "xi": 2}


def test_candidates_of_a_formula_take_part():
    formula = Candidate.of("made-up", {"window": 777})
    race = found({"window": Choices((10, 100))}, Landscape(window=777), 500, start=[formula])
    assert race.leader == formula


@pytest.mark.parametrize("runs", [20, 60, 300, 2_000])
def test_the_budget_is_kept(runs):
    assert found({"window": Range(20, 50_000)}, Landscape(window=500), runs).budget.played <= runs
