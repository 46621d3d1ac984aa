"""A world that makes no sense is refused when it is made, with what was given, what is allowed and what to do."""

import numpy as np
import pytest

from ns_mab_gym import worlds
from ns_mab_gym.envs import NSBanditEnv
from ns_mab_gym.worlds import WORLDS

ANY_HORIZON = [name for name in WORLDS if name != "table"]


@pytest.mark.parametrize("name", ANY_HORIZON)
def test_every_world_checks_its_size(name):
    with pytest.raises(ValueError, match="horizon must be a positive integer, got 0"):
        worlds.make(name, horizon=0)
    if "n_arms" in WORLDS[name].parameters():
        with pytest.raises(ValueError, match="n_arms must be an integer of at least 2, got 1"):
            worlds.make(name, n_arms=1)


@pytest.mark.parametrize(
    ("name", "parameters", "error", "words"),
    [
        ("abrupt", {"horizon": 10.0}, TypeError, "horizon must be a positive integer, got 10.0"),
        ("smooth", {"n_arms": 2.0}, TypeError, "n_arms must be an integer of at least 2, got 2.0"),
        ("stationary", {"mu": [0.5]}, ValueError, "number of means in mu must be an integer of at least 2, got 1"),
        ("stationary", {"mu": [0.5, float("nan")]}, ValueError, r"mu must be finite, got \(0.5, nan\)"),
        ("stationary", {"mu": ["0.5", "0.1"]}, TypeError, "mu must be a sequence of numbers, one per arm, got"),
        ("stationary", {"mu": 0.5}, TypeError, "mu must be a sequence of numbers, one per arm, got 0.5"),
        ("smooth", {"sigma": 0}, ValueError, "sigma must be a finite number above 0, got 0"),
        ("piecewise", {"changes": -1}, ValueError, "changes must be an integer of at least 0, got -1"),
        ("piecewise", {"rate": 1.5}, ValueError, r"rate must lie in \[0, 1\], got 1.5"),
        ("piecewise", {"min_gap": 1.0}, ValueError, "min_gap must be below 1, got 1: no means in .* further apart"),
        ("piecewise", {"min_spacing": 0}, ValueError, "min_spacing must be a positive integer, got 0"),
        (
            "piecewise",
            {"changes": 4, "min_spacing": 30, "horizon": 100},
            ValueError,
            "4 changes .* at least 30 rounds need a horizon of 150, got 100: lower changes or min_spacing",
        ),
        ("random-walk", {"step": 0}, ValueError, "step must be a finite number above 0, got 0"),
        ("rising", {"fastest": 0.5}, ValueError, "fastest must be at least 1, the slowest rate, got 0.5"),
        ("variation", {"budget": -1}, ValueError, "budget must be a finite number above 0, got -1"),
        ("variation", {"budget": 10, "horizon": 11}, ValueError, "budget of 10 is too much for 11 rounds; at most 3.0"),
        ("variation", {"horizon": 1, "budget": 1}, ValueError, "means of one round cannot vary: leave the budget out"),
        ("periodic", {"period": 1}, ValueError, "period must be an integer of at least 2, got 1"),
        ("periodic", {"amplitude": 0.6}, ValueError, r"at most 0.5 to keep means in \[0, 1\], got 0.6"),
        ("mixed", {"jumping": 10}, ValueError, "jumping must be below n_arms = 10, got 10"),
        ("mixed", {"jumping": 0}, ValueError, "jumping must be a positive integer, got 0"),
        ("mixed", {"changes": 4, "horizon": 3}, ValueError, "need a horizon of 5, got 3"),
        ("stationary", {"mu": [0.5, 0.1], "n_arms": 3}, ValueError, "n_arms is 3 but mu has 2 means; leave n_arms out"),
    ],
)
def test_bad_parameters(name, parameters, error, words):
    with pytest.raises(error, match=words):
        worlds.make(name, **parameters)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("abrubt", "unknown world 'abrubt'; did you mean 'abrupt'?"),
        ("random_walk", "unknown world 'random_walk'; did you mean 'random-walk'?"),
        ("xyz", "unknown world 'xyz'; choose one of 'abrupt', 'general-abrupt', .*'table'"),
        (7, "unknown world 7; choose one of"),
        ({"horizon": 5}, "unknown world None; choose one of"),
        ({"name": "smoth"}, "unknown world 'smoth'; did you mean 'smooth'?"),
    ],
)
def test_an_unknown_world_names_the_nearest(given, words):
    with pytest.raises(ValueError, match=words.replace("?", r"\?")):
        worlds.make(given)


@pytest.mark.parametrize("name", WORLDS)
def test_an_unknown_parameter_names_the_nearest(name, example_world):
    ours = rf"world '{name}' has no parameter 'horizn'; did you mean 'horizon'\? it takes .*horizon.*"
    words = rf"{ours} \(unexpected keyword argument 'horizn'\)$"  # Python's own, which trainers look for
    with pytest.raises(TypeError, match=words):
        worlds.make(name, horizn=5)
    with pytest.raises(TypeError, match=words):
        worlds.make(example_world(name), horizn=5)


def test_a_world_that_draws_without_saying_so_is_noticed():
    class Dice(worlds.World):
        n_arms = 2

        def _means(self, rng):
            return rng.random((self.horizon, 2))

    with pytest.raises(ValueError, match=r"^Dice._means draws from rng, .*: write random = True in the class, or draw"):
        NSBanditEnv(Dice(horizon=5))
    Dice.random = True
    assert NSBanditEnv(Dice(horizon=5)).reset(seed=1)


def test_a_worlds_own_generator_is_its_own_affair():
    class Fixed(worlds.World):
        n_arms = 2

        def _means(self, rng):
            return np.random.default_rng(7).random((self.horizon, 2))

    assert NSBanditEnv(Fixed(horizon=5)).means.shape == (5, 2)
