"""The native vector environment plays what N single environments play, bit for bit."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import pytest
from alike import assert_alike
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode

from ns_mab_gym import rewards
from ns_mab_gym.envs import ENV_IDS, vector
from ns_mab_gym.envs.vector import AT_ONCE, rewards_of

FloatArray = npt.NDArray[np.float64]

SAME_STEP = {"autoreset_mode": AutoresetMode.SAME_STEP}
HORIZON = 81  # with the fixture below, two whole blocks of luck and a part


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "BLOCK", 32)


def native(env_id: str = "NSBandit-Piecewise-v0", num_envs: int = 3, **kwargs: Any) -> Any:
    envs = gym.make_vec(env_id, num_envs=num_envs, vectorization_mode="vector_entry_point", **kwargs)
    assert isinstance(envs, vector.NSBanditVectorEnv)
    return envs


def assert_same_trajectory(ours: Any, theirs: Any, rounds: int, seed: int = 5) -> None:
    arms = np.random.default_rng(1).integers(ours.single_action_space.n, size=(rounds, ours.num_envs))
    for one, other in zip(ours.reset(seed=seed), theirs.reset(seed=seed), strict=True):
        assert_alike(one, other)
    for actions in arms:
        for one, other in zip(ours.step(actions), theirs.step(actions), strict=True):
            assert_alike(one, other)


@pytest.mark.parametrize("env_id", ENV_IDS)
def test_every_id_plays_what_sync_vector_env_plays_over_episodes(env_id: str) -> None:
    sync = gym.make_vec(env_id, 3, vectorization_mode="sync", vector_kwargs=SAME_STEP, horizon=HORIZON)
    assert_same_trajectory(native(env_id, horizon=HORIZON), sync, rounds=2 * HORIZON + 40)


@pytest.mark.parametrize("law", [{"reward": "gaussian", "scale": 0.3}, {"reward": "beta", "concentration": 3.0}])
def test_every_law_plays_what_sync_vector_env_plays(law: dict[str, Any]) -> None:
    kwargs = {"horizon": 40, **law}
    sync = gym.make_vec("NSBandit-Piecewise-v0", 3, vectorization_mode="sync", vector_kwargs=SAME_STEP, **kwargs)
    assert_same_trajectory(native(**kwargs), sync, rounds=100)


def test_the_size_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    played = []
    for block, most in ((1, 1 << 26), (128, 1 << 26), (128, 3 * 12 * 8 * 7)):  # of 1 step, 50 steps, and 7
        monkeypatch.setattr(vector, "BLOCK", block)
        monkeypatch.setattr(vector, "BLOCK_BYTES", most)
        envs = native(reward="gaussian", horizon=50)
        envs.reset(seed=0)
        played.append([envs.step(np.zeros(3, int))[1] for _ in range(120)])
    np.testing.assert_array_equal(played[0], played[1])
    np.testing.assert_array_equal(played[0], played[2])


def test_seeds_one_each_are_kept_and_a_none_goes_on() -> None:
    envs = native(horizon=5)
    envs.reset(seed=[11, 4, 9])
    assert envs.np_random_seed == (11, 4, 9)
    before = envs.means
    envs.reset(seed=[11, None, 9])
    assert np.array_equal(envs.means[[0, 2]], before[[0, 2]])
    assert not np.array_equal(envs.means[1], before[1])


@pytest.mark.parametrize("seed", [None, [None, None, None]])
def test_a_reset_without_a_seed_goes_on_with_the_generators_as_the_single_env_does(seed: Any) -> None:
    envs = native(horizon=5)
    envs.reset(seed=11)
    generators = envs.np_random
    envs.reset(seed=seed)
    assert envs.np_random_seed == (11, 12, 13)
    assert all(one is other for one, other in zip(envs.np_random, generators, strict=True))
    for i in range(3):
        env = gym.make("NSBandit-Piecewise-v0", horizon=5)
        env.reset(seed=11 + i)
        env.reset()
        np.testing.assert_array_equal(envs.means[i], env.unwrapped.means)  # type: ignore[attr-defined]


def test_children_that_others_spawn_count_as_in_the_single_env() -> None:
    envs, env = native(num_envs=2, horizon=20), gym.make("NSBandit-Piecewise-v0", horizon=20)
    envs.reset(seed=4)
    env.reset(seed=5)
    for generator in (envs.np_random[1], env.unwrapped.np_random):
        generator.spawn(3)
    envs.reset()
    env.reset()
    np.testing.assert_array_equal(envs.means[1], env.unwrapped.means)  # type: ignore[attr-defined]


def test_an_unseeded_env_draws_its_seeds_and_they_reproduce_it() -> None:
    envs = native(horizon=5)
    envs.reset()
    before = envs.means
    envs.reset(seed=list(envs.np_random_seed))
    np.testing.assert_array_equal(envs.means, before)


@pytest.mark.parametrize("shape", [(5, 2), (3, 5, 2)])
def test_given_means_are_played_for_one_episode(shape: tuple[int, ...]) -> None:
    envs = native(n_arms=2, horizon=5, changes=1)
    means = np.random.default_rng(0).random(shape)
    envs.reset(seed=0, options={"means": means})
    np.testing.assert_array_equal(envs.means, np.broadcast_to(means, (3, 5, 2)))
    for _ in range(5):
        envs.step(np.zeros(3, int))
    assert not np.array_equal(envs.means, np.broadcast_to(means, (3, 5, 2)))


def test_what_a_step_returns_is_the_callers_to_change() -> None:
    envs = native("NSBandit-Abrupt-v0", horizon=50)
    envs.reset(seed=0)
    before = envs.means
    for _ in range(60):
        obs, rewards, _, _, infos = envs.step(np.zeros(3, int))
        obs[:], rewards[:] = 9, 9
        for value in infos.values():
            if isinstance(value, np.ndarray) and value.dtype != object:
                value[:] = 0
    np.testing.assert_array_equal(envs.means, before)


def test_the_spec_makes_the_same_vector_env_again() -> None:
    envs = native(num_envs=2, horizon=7, n_arms=3)
    again = gym.make_vec(type(envs.spec).from_json(envs.spec.to_json()))
    assert isinstance(again, vector.NSBanditVectorEnv)
    assert (again.num_envs, again.world, again.law) == (2, envs.world, envs.law)


def test_an_instance_makes_room_for_the_next_before_that_is_drawn() -> None:
    envs = native(num_envs=6, n_arms=5, horizon=20_000)
    one = 8 * 20_000 * 5
    tracemalloc.start()
    try:
        envs.reset(seed=0)
        envs.step(np.zeros(6, np.int64))
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        envs.reset()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert before > 6 * one
    assert peak - before < 1.5 * one  # a draw needs about one beside what it fills


@pytest.mark.parametrize("stagger", [False, True])
def test_when_an_instance_cannot_be_drawn_a_reset_is_needed(stagger: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    envs, arms = native(horizon=4, stagger=stagger), np.zeros(3, np.int64)

    def no_memory(*_: object) -> FloatArray:
        raise MemoryError

    envs.reset(seed=0)
    for _ in range(1 if stagger else 3):  # until one is about to end
        envs.step(arms)
    with monkeypatch.context() as patch:
        patch.setattr(vector, "drawn_means", no_memory)
        with pytest.raises(MemoryError):
            envs.step(arms)
    with pytest.raises(ResetNeeded, match="call reset"):
        envs.step(arms)
    assert_same_trajectory(native(horizon=4, stagger=stagger), envs, 9)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ([0, 10, 0], "got 10 in sub-environment 1"),
        ([0, 0, -1], "got -1 in sub-environment 2"),
        (np.array([0, -128, 0], np.int8), "got -128 in sub-environment 1"),
        (np.array([0, 0, 2**64 - 1], np.uint64), "got 18446744073709551615 in sub-environment 2"),
        ([0, 1], r"3 integers from 0 to 9.*shape \(2,\)"),
        ([0.0, 1.0, 2.0], "got float64"),
    ],
)
def test_a_bad_action_is_named(actions: Any, words: str) -> None:
    envs = native()
    envs.reset(seed=0)
    with pytest.raises(InvalidAction, match=words):
        envs.step(np.array(actions))


def test_other_bad_input_is_named() -> None:
    envs = native(n_arms=2, horizon=5)
    with pytest.raises(ResetNeeded, match="call reset"):
        envs.step(np.zeros(3, int))
    with pytest.raises(ResetNeeded, match="call reset"):
        _ = envs.means
    with pytest.raises(ValueError, match=r"one for each of the 3 envs, got 2"):
        envs.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="sub-environments, got 2 of them"):
        envs.reset(options={"means": np.zeros((2, 5, 2))})
    with pytest.raises(TypeError, match="no parameter 'mean'; did you mean 'means'"):
        envs.reset(options={"mean": 1})
    with pytest.raises(ValueError, match="num_envs must be a positive integer, got 0"):
        native(num_envs=0)
    with pytest.raises(TypeError, match="did you mean 'horizon'"):
        native(horizn=3)


RNG = np.random.default_rng(0)
MEANS = np.concatenate([[0.0, 0.0, 1.0, 1.0, 0.5], RNG.random(2_000), 1e-9 * RNG.random(50), 1 - 1e-9 * RNG.random(50)])
LAWS = [
    rewards.Bernoulli(),
    rewards.Gaussian(scale=0.3),
    *(rewards.Beta(concentration=c) for c in (0.001, 0.5, 3, 10.0, 1e4)),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_rewards_at_once_are_those_one_by_one(law: rewards.Law) -> None:
    luck = law.luck(np.random.default_rng(1), MEANS.size)
    luck[:2] = 0.0
    at_once = rewards_of(law, MEANS, luck)
    assert at_once.tolist() == [law.reward(mu, u) for mu, u in zip(MEANS.tolist(), luck.tolist(), strict=True)]


def test_every_law_of_the_house_is_computed_at_once() -> None:
    assert {rewards.kind(name).reward for name in ("bernoulli", "gaussian", "beta")} == set(AT_ONCE)


@pytest.mark.parametrize("base", [rewards.Bernoulli, rewards.Gaussian, rewards.Beta])
def test_a_law_that_is_derived_from_one_of_these_plays_by_its_own_rule(base: Any) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Own(base):  # type: ignore[misc]
        def reward(self, mu: float, luck: float) -> float:
            return 0.25 if luck > 0.5 else mu

    mean, luck = np.array([0.1, 0.9]), np.array([0.7, 0.2])
    assert rewards_of(Own(), mean, luck).tolist() == [0.25, 0.9]
