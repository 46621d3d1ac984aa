"""Environments in processes that are spawned, which import nothing that the parent did: most need the prefix."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from spawned import refusal_of_a_bare_id
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

pytestmark = pytest.mark.slow
ID, ENVS, ROUNDS = "ns_mab_gym:NSBandit-Piecewise-v0", 2, 12
WORLD = {"n_arms": 3, "horizon": 5}
ARMS = np.array([[t % 3, (t + 1) % 3] for t in range(ROUNDS)])
SAME_STEP = {"autoreset_mode": AutoresetMode.SAME_STEP}
SPAWN = {"context": "spawn", **SAME_STEP}


def rewards_of(envs: gym.vector.VectorEnv[Any, Any, Any]) -> Any:
    envs.reset(seed=3)
    rewards = [envs.step(arms)[1] for arms in ARMS]
    envs.close()
    return rewards


@pytest.fixture(scope="module")
def native() -> Any:
    """The rewards of the native vector environment, those of single environments with seeds 3 and 4."""
    return rewards_of(gym.make_vec(ID, num_envs=ENVS, **WORLD))


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("vector_entry_point", {}),
        ("sync", {"vector_kwargs": SAME_STEP}),
        ("async", {"vector_kwargs": SPAWN}),
    ],
)
@pytest.mark.parametrize("name", [ID, ID.partition(":")[2]])
def test_make_vec_in_every_mode(name: str, mode: str, options: dict[str, Any], native: Any) -> None:
    envs = gym.make_vec(name, num_envs=ENVS, vectorization_mode=mode, **options, **WORLD)
    np.testing.assert_array_equal(rewards_of(envs), native)


def test_async_vector_env(native: Any) -> None:
    np.testing.assert_array_equal(rewards_of(AsyncVectorEnv([partial(gym.make, ID, **WORLD)] * ENVS, **SPAWN)), native)


def test_subproc_vec_env_of_stable_baselines3(native: Any) -> None:
    envs = make_vec_env(
        ID, n_envs=ENVS, seed=3, env_kwargs=WORLD, vec_env_cls=SubprocVecEnv, vec_env_kwargs={"start_method": "spawn"}
    )
    envs.reset()
    rewards = [envs.step(arms)[1] for arms in ARMS]
    envs.close()
    np.testing.assert_array_equal(rewards, native)


@pytest.mark.parametrize(
    "lines",
    [
        "from gymnasium.vector import AsyncVectorEnv; AsyncVectorEnv([make], context='spawn').reset()",
        "from stable_baselines3.common.vec_env import SubprocVecEnv as V; V([make], start_method='spawn').reset()",
    ],
    ids=["AsyncVectorEnv", "SubprocVecEnv"],
)
def test_without_the_prefix_the_id_is_unknown_there(lines: str) -> None:
    assert "Environment `NSBandit-Piecewise` doesn't exist" in refusal_of_a_bare_id(lines)
