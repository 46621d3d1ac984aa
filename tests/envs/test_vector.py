"""The native vector environment plays what N single environments play, bit for bit."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import pytest
from alike import assert_alike
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode

from ns_mab_gym.envs import ENV_IDS, rounds_ahead, vector

FloatArray = npt.NDArray[np.float64]

SAME_STEP = {"autoreset_mode": AutoresetMode.SAME_STEP}
HORIZON = 81  # with the fixture below, two whole blocks of luck and a part


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds_ahead, "BLOCK", 32)


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


def test_one_env_equals_the_single_env_trajectory_by_trajectory() -> None:
    envs, env = native(num_envs=1, horizon=HORIZON), gym.make("NSBandit-Piecewise-v0", horizon=HORIZON)
    envs.reset(seed=7)
    env.reset(seed=7)
    np.testing.assert_array_equal(envs.means[0], env.unwrapped.means)
    for t in range(HORIZON):
        obs, reward, terminated, truncated, _ = env.step(t % 10)
        many_obs, rewards, terminations, truncations, infos = envs.step(np.array([t % 10]))
        last = infos["final_obs"][0] if truncated else many_obs[0]
        np.testing.assert_array_equal(last, obs)
        assert (rewards[0], terminations[0], truncations[0]) == (reward, terminated, truncated)


def test_the_size_of_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    played = []
    for block, most in ((1, 1 << 26), (128, 1 << 26), (128, 3 * 12 * 8 * 7)):  # of 1 step, 50 steps, and 7
        monkeypatch.setattr(rounds_ahead, "BLOCK", block)
        monkeypatch.setattr(rounds_ahead, "BLOCK_BYTES", most)
        envs = native(reward="gaussian", horizon=50)
        envs.reset(seed=0)
        played.append([envs.step(np.zeros(3, int))[1] for _ in range(120)])
    np.testing.assert_array_equal(played[0], played[1])
    np.testing.assert_array_equal(played[0], played[2])


VARIANCES: dict[str, Callable[[FloatArray], FloatArray]] = {  # of a reward with this mean, from the textbook
    "bernoulli": lambda mean: mean * (1 - mean),
    "gaussian": lambda mean: np.full_like(mean, 0.5**2),
    "beta": lambda mean: mean * (1 - mean) / (10 + 1),
}


@pytest.mark.parametrize("law", VARIANCES)
def test_rewards_have_the_means_and_the_variances_of_the_instances_within_4_standard_errors(law: str) -> None:
    """The standard error of the summed squares is estimated from the 20 000 squares themselves."""
    n, horizon = 500, 40
    envs = native(num_envs=n, n_arms=4, horizon=horizon, reward=law)
    envs.reset(seed=0)
    arms = np.random.default_rng(0).integers(4, size=(horizon, n))
    rewards = np.array([envs.step(arms[t])[1] for t in range(horizon - 1)])  # the last step begins another episode
    mean = np.take_along_axis(envs.means.transpose(1, 0, 2), arms[..., None], axis=2)[:-1, :, 0]
    excess, variance = rewards - mean, VARIANCES[law](mean)
    assert abs(excess.sum()) < 4 * np.sqrt(variance.sum())
    surplus = excess**2 - variance
    assert abs(surplus.sum()) < 4 * np.sqrt(surplus.size) * surplus.std()


def test_random_worlds_give_each_env_its_own_instance_and_a_new_one_each_episode() -> None:
    envs = native(num_envs=4, horizon=10)
    envs.reset(seed=3)
    first = envs.means
    assert len({means.tobytes() for means in first}) == 4
    for _ in range(10):
        envs.step(np.zeros(4, int))
    assert not any(np.array_equal(a, b) for a, b in zip(first, envs.means, strict=True))


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


def test_rendering_gives_what_the_single_envs_render() -> None:
    for mode in ("ansi", "rgb_array"):
        kwargs = {"horizon": 6, "render_mode": mode}
        envs, single = native(num_envs=2, **kwargs), gym.make("NSBandit-Piecewise-v0", **kwargs)
        envs.reset(seed=0)
        single.reset(seed=1)
        np.testing.assert_array_equal(envs.render()[1], single.render())
        envs.step(np.array([0, 3]))
        single.step(3)
        np.testing.assert_array_equal(envs.render()[1], single.render())


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
