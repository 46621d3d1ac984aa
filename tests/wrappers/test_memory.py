"""Windowed statistics and history: equal to brute force, and the same for single and vector environments."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import pytest
from alike import assert_alike
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given
from hypothesis import strategies as st
from wrapping import PAIRS

from ns_mab_gym import wrappers

K, HORIZON = 3, 25


def make(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("NSBandit-Piecewise-v0", n_arms=K, horizon=HORIZON, **kwargs)


def brute_force(arms: list[int], rewards: list[float], window: int) -> npt.NDArray[np.float64]:
    """The 3K statistics, straight from their definition."""
    recent = list(zip(arms, rewards, strict=True))[-window:]
    of_arm = [[reward for arm, reward in recent if arm == i] for i in range(K)]
    shares = [len(mine) / window for mine in of_arm]
    means = [float(np.mean(mine)) if mine else 0.0 for mine in of_arm]
    since = [min(arms[::-1].index(i) if i in arms else window, window) / window for i in range(K)]
    return np.array(shares + means + since)


@given(
    st.lists(st.integers(0, K - 1), min_size=1, max_size=HORIZON),
    st.integers(1, 30),
    st.sampled_from(["bernoulli", "gaussian"]),
)
def test_statistics_equal_brute_force_on_any_history(arms: list[int], window: int, law: str) -> None:
    env = wrappers.WindowedStatistics(make(reward=law), window=window)
    env.reset(seed=1)
    rewards: list[float] = []
    for t, arm in enumerate(arms):
        observation, reward, *_ = env.step(arm)
        rewards.append(float(reward))
        np.testing.assert_allclose(observation[K + 2 :], brute_force(arms[: t + 1], rewards, window), atol=1e-6)


@given(st.lists(st.integers(0, K - 1), min_size=1, max_size=HORIZON), st.integers(1, 30))
def test_history_equals_brute_force_on_any_history(arms: list[int], n: int) -> None:
    env = wrappers.LastRounds(make(), n=n)
    observation, _ = env.reset(seed=1)
    assert not observation.any()
    newest_first: list[float] = []
    for arm in arms:
        observation, reward, *_ = env.step(arm)
        newest_first = [*np.eye(K)[arm], float(reward), *newest_first]
        shown = observation[K + 2 :].reshape(n, K + 1).ravel()
        np.testing.assert_array_equal(shown[: len(newest_first)], newest_first[: n * (K + 1)])
        assert not shown[len(newest_first) :].any()


def vectors(single: Any, vector: Any, arguments: dict[str, Any], kind: str, mode: AutoresetMode) -> tuple[Any, Any]:
    """A vector environment in the vector wrapper, and Gymnasium's own of single environments in the single one."""
    options: dict[str, Any] = {"autoreset_mode": mode}
    more = options if kind == "vector_entry_point" else {"vector_kwargs": options}
    ours = vector(gym.make_vec(make().spec, 3, vectorization_mode=kind, **more), **arguments)
    return ours, SyncVectorEnv([lambda: single(make(), **arguments)] * 3, autoreset_mode=mode)


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("kind", ["vector_entry_point", "sync"])
@pytest.mark.parametrize(("single", "vector", "arguments"), PAIRS)
def test_vector_wrappers_show_what_single_wrappers_show_over_episodes(
    single: Any, vector: Any, arguments: dict[str, Any], kind: str, mode: AutoresetMode
) -> None:
    """With ``NEXT_STEP``, a step that only resets is not remembered."""
    ours, theirs = vectors(single, vector, arguments, kind, mode)
    assert ours.single_observation_space == theirs.single_observation_space
    assert_alike(ours.reset(seed=5), theirs.reset(seed=5))
    for actions in np.random.default_rng(0).integers(K, size=(2 * HORIZON + 8, 3)):
        step = ours.step(actions)
        assert step[0] in ours.observation_space
        assert_alike(step, theirs.step(actions))


@pytest.mark.parametrize(("single", "vector", "arguments"), PAIRS)
def test_a_reset_of_some_forgets_only_what_those_have_seen(single: Any, vector: Any, arguments: dict[str, Any]) -> None:
    ours, theirs = vectors(single, vector, arguments, "vector_entry_point", AutoresetMode.DISABLED)
    for reset in ({"seed": 5}, {"options": {"reset_mask": np.array([True, False, True])}}):
        seen = [envs.reset(**copy.deepcopy(reset))[0] for envs in (ours, theirs)]
        np.testing.assert_array_equal(*seen)
        for actions in np.random.default_rng(0).integers(1, K, size=(8, 3)):
            np.testing.assert_array_equal(ours.step(actions)[0], theirs.step(actions)[0])


def test_statistics_credit_late_rewards_to_their_arms() -> None:
    env = wrappers.WindowedStatistics(wrappers.DelayedRewards(make(), delay=2), window=10)
    env.reset(seed=3)
    first = [env.step(arm)[0][K + 2 :] for arm in (0, 1)]
    assert not any(seen[: 2 * K].any() for seen in first)  # nothing has arrived
    np.testing.assert_allclose(first[1][2 * K :], [0.1, 0.0, 1.0])  # but it is known what was played
    observation, reward, *_ = env.step(2)
    np.testing.assert_allclose(observation[K + 2 :][: 2 * K], [0.1, 0, 0, reward, 0, 0])


def test_a_vector_of_late_rewards_is_refused_with_the_way_out() -> None:
    envs = SyncVectorEnv([lambda: wrappers.DelayedRewards(make())] * 2)
    with pytest.raises(TypeError, match="wrap each sub-environment"):
        wrappers.VectorWindowedStatistics(envs).reset(seed=0)
