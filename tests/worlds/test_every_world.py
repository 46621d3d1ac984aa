"""What holds for every row of the table of worlds, so that a new row is tested by being there."""

import dataclasses
import json
import pickle

import numpy as np
import pytest

from ns_mab_gym import worlds
from ns_mab_gym.worlds import WORLDS, World

every_world = pytest.mark.parametrize("name", WORLDS)


@every_world
def test_means_are_a_finite_matrix_in_the_unit_interval(name, example_world):
    world = example_world(name)
    for seed in range(5):
        means = world.means(seed)
        world.means(seed)[:] = 0.5  # fresh each time
        assert means.shape == (world.horizon, world.n_arms)
        assert means.dtype == np.float64
        assert np.isfinite(means).all()
        assert means.min() >= 0
        assert means.max() <= 1
        np.testing.assert_array_equal(world.means(seed), means)


@every_world
def test_repr_json_and_pickle_give_the_world_back(name, example_world):
    world = example_world(name)
    assert eval(repr(world), vars(worlds)) == world
    again = worlds.make(json.loads(json.dumps(world.to_dict())))
    assert again == world
    assert type(again) is type(world)
    np.testing.assert_array_equal(again.means(3), world.means(3))
    pickled = pickle.loads(pickle.dumps(world))
    assert (pickled, hash(pickled)) == (world, hash(world))
    np.testing.assert_array_equal(pickled.means(1), world.means(1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        world.horizon = 3


@every_world
def test_numpy_numbers_become_plain_ones(name, example_world):
    world = example_world(name)
    numbers = {k: v for k, v in world.to_dict().items() if type(v) in (int, float)}
    again = dataclasses.replace(world, **{k: np.array(v)[()] for k, v in numbers.items()})
    assert repr(again) == repr(world)
    assert json.dumps(again.to_dict()) == json.dumps(dataclasses.replace(world).to_dict())


@every_world
def test_same_seed_same_means_and_only_random_worlds_differ(name, example_world):
    world = example_world(name)
    np.testing.assert_array_equal(world.means(7), world.means(np.random.default_rng(7)))
    assert np.array_equal(world.means(7), world.means(8)) != world.random
    if world.random:
        with pytest.raises(ValueError, match="draws its means at random: pass a numpy Generator or a seed"):
            world.means()
    else:
        np.testing.assert_array_equal(world.means(), world.means(7))


@every_world
def test_every_world_has_a_docstring_its_name_and_parameters_that_can_be_changed(name, example_world):
    world = example_world(name)
    assert WORLDS[name].__doc__
    assert world.name == name
    assert getattr(worlds, WORLDS[name].__name__) is WORLDS[name]
    assert worlds.make(world) is world
    if name != "table":
        assert worlds.make(world, horizon=50) == type(world)(horizon=50) == worlds.make(name, horizon=50)


def test_a_user_can_write_a_world_in_ten_lines_and_its_shape_is_checked():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Coin(World):
        n_arms: int = 2
        sideways: bool = False

        def _means(self, rng):
            means = np.full((self.horizon, self.n_arms), 0.5)
            return means.T if self.sideways else means

    assert Coin(horizon=3).means().tolist() == [[0.5, 0.5]] * 3
    words = r"Coin\._means must return shape \(horizon, n_arms\) = \(3, 2\), got \(2, 3\)"
    with pytest.raises(ValueError, match=words):
        Coin(horizon=3, sideways=True).means()
