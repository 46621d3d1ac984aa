"""The adapter returns what ``DummyVecEnv`` over single environments returns, to the bit."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from alike import assert_alike
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from stable_baselines3.common.vec_env import DummyVecEnv

from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl.vec_env import LazyInfos, split_infos

N, WORLD = 3, {"n_arms": 4, "horizon": 15}


@pytest.mark.parametrize("wrapped", [False, True])
def test_steps_equal_those_of_dummy_vec_env_over_episodes(wrapped: bool) -> None:
    def single() -> gym.Env[Any, Any]:
        env = gym.make("NSBandit-Piecewise-v0", **WORLD)
        return wrappers.WindowedStatistics(env, window=5) if wrapped else env

    envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=N, **WORLD)
    ours = rl.SB3VecEnv(wrappers.VectorWindowedStatistics(envs, window=5) if wrapped else envs)
    theirs = DummyVecEnv([single] * N)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    ours.seed(9)
    theirs.seed(9)
    assert_alike(ours.reset(), theirs.reset())
    for actions in np.random.default_rng(0).integers(4, size=(40, N)):
        (*arrays, infos), (*their_arrays, their_infos) = ours.step(actions), theirs.step(actions)
        for one, other in zip(arrays, their_arrays, strict=True):
            assert_alike(one, other)
        for one, other in zip(infos, their_infos, strict=True):
            assert_alike(one, other)
        for one, other in zip(ours.reset_infos, theirs.reset_infos, strict=True):
            assert_alike(one, other)


def test_infos_are_built_once_and_only_if_looked_at() -> None:
    envs = rl.SB3VecEnv(gym.make_vec("NSBandit-Abrupt-v0", num_envs=N))
    envs.reset()
    *_, infos = envs.step(np.zeros(N, int))
    assert isinstance(infos, LazyInfos)
    assert len(infos) == N
    assert "_list" not in vars(infos)
    infos[1]["mine"] = 1
    assert infos[1]["mine"] == 1
    assert infos[:] == list(infos)
    assert set(infos[0]) == {"mu", "optimal_arm", "regret", "total_regret", "round", "TimeLimit.truncated"}


def test_infos_that_only_some_have_stay_with_those() -> None:
    infos = {"a": np.array([1, 0]), "_a": np.array([True, False]), "b": {"c": np.array([3, 4])}}
    assert split_infos(infos, 2) == [{"a": 1, "b": {"c": 3}}, {"b": {"c": 4}}]
    assert split_infos({}, 2) == [{}, {}]


def test_the_return_of_an_episode_reaches_stable_baselines() -> None:
    envs = rl.SB3VecEnv(RecordEpisodeStatistics(gym.make_vec("NSBandit-Piecewise-v0", num_envs=N, **WORLD)))
    envs.reset()
    total = np.zeros(N)
    for _ in range(15):
        _, rewards, dones, infos = envs.step(np.zeros(N, int))
        total += rewards
    assert dones.all()
    assert [info["episode"]["r"] for info in infos] == total.tolist()
    assert [info["round"] for info in infos] == [15] * N


def test_attributes_are_found_on_the_env_and_on_its_wrappers() -> None:
    envs = rl.SB3VecEnv(wrappers.VectorStandardizeReward(gym.make_vec("NSBandit-Piecewise-v0", num_envs=N, **WORLD)))
    envs.seed(4)
    envs.reset()
    assert envs.get_attr("np_random_seed") == [4, 5, 6]
    assert envs.get_attr("np_random_seed", [0, 2]) == [4, 6]
    assert envs.get_attr("means")[1].shape == (15, 4)
    assert envs.get_attr("standard", 0)[0].frozen is False
    assert not envs.has_attr("action_masks")
    assert envs.env_is_wrapped(gym.Wrapper) == [False] * N
    for call in (lambda: envs.set_attr("x", 1), lambda: envs.env_method("render")):
        with pytest.raises(NotImplementedError, match=r"rows of arrays, not objects; use .*make_vec_env"):
            call()


def test_options_are_used_once_and_for_all() -> None:
    envs = rl.SB3VecEnv(gym.make_vec("NSBandit-Piecewise-v0", num_envs=N, **WORLD))
    means = np.random.default_rng(0).random((N, 15, 4))
    envs.set_options({"means": means})
    envs.reset()
    np.testing.assert_array_equal(envs.get_attr("means"), means)
    envs.reset()
    assert not np.array_equal(envs.get_attr("means"), means)
    envs.set_options([{"means": matrix} for matrix in means])
    envs.reset()
    np.testing.assert_array_equal(envs.get_attr("means"), means)
    envs.set_options([{}, {"means": means[0]}, {}])
    with pytest.raises(ValueError, match="the same options for all"):
        envs.reset()


def test_pictures_are_tiled() -> None:
    envs = rl.SB3VecEnv(gym.make_vec("NSBandit-Piecewise-v0", num_envs=2, render_mode="rgb_array", **WORLD))
    envs.reset()
    envs.step(np.zeros(2, int))
    picture = envs.render()
    assert picture is not None
    assert picture.shape == (2 * 640, 960, 3)
    envs.close()


def test_other_envs_are_refused_with_the_way_out() -> None:
    with pytest.raises(TypeError, match=r"make one with gym\.make_vec"):
        rl.SB3VecEnv(gym.make("NSBandit-Abrupt-v0"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"NEXT_STEP.*expects SAME_STEP"):
        rl.SB3VecEnv(gym.make_vec("NSBandit-Abrupt-v0", 2, vectorization_mode="sync"))


def test_staggered_episodes_end_one_by_one() -> None:
    envs = rl.SB3VecEnv(gym.make_vec("NSBandit-Piecewise-v0", num_envs=N, stagger=True, **WORLD))
    envs.reset()
    assert [info["round"] for info in envs.reset_infos] == [0, 5, 10]
    ends: list[list[int]] = []
    for _ in range(30):
        observations, _, dones, infos = envs.step(np.zeros(N, int))
        ends.append(np.flatnonzero(dones).tolist())
        for i, info in enumerate(infos):
            assert ("terminal_observation" in info) == info["TimeLimit.truncated"] == dones[i]
            assert (info["round"] == 15) == dones[i]
            assert observations[i, -1] == np.float32(0 if dones[i] else info["round"] / 15)
            if dones[i]:
                assert info["terminal_observation"][-1] == 1.0
                assert envs.reset_infos[i]["round"] == 0
    assert {t: who for t, who in enumerate(ends, start=1) if who} == {
        5: [2], 10: [1], 15: [0], 20: [2], 25: [1], 30: [0],
    }  # fmt: skip
