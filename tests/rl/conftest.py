"""Small models, trained once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import gymnasium as gym
import pytest
import torch

from ns_mab_gym import rl, wrappers

torch.set_num_threads(1)

WORLD = {"n_arms": 3, "horizon": 40}
SMALL: dict[str, dict[str, Any]] = {
    "ppo": {"n_steps": 32, "batch_size": 64, "n_epochs": 1},
    "a2c": {"n_steps": 8},
    "dqn": {"learning_starts": 32, "buffer_size": 500, "train_freq": 4},
    "recurrent-ppo": {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"lstm_hidden_size": 8}},
    "maskable-ppo": {"n_steps": 32, "batch_size": 64, "n_epochs": 1},
    "trpo": {"n_steps": 32, "batch_size": 64},
    "qr-dqn": {"learning_starts": 32, "buffer_size": 500, "train_freq": 4, "policy_kwargs": {"n_quantiles": 5}},
    "ars": {"n_delta": 2, "n_top": 1, "zero_policy": False},
}


def vector_env(num_envs: int = 2, window: int | None = 10, **kwargs: Any) -> rl.SB3VecEnv:
    envs = gym.make_vec("NSBandit-Piecewise-v0", num_envs=num_envs, **(WORLD | kwargs))
    return rl.SB3VecEnv(envs if window is None else wrappers.VectorWindowedStatistics(envs, window=window))


@cache
def trained(algo: str) -> Any:
    policy = "MlpLstmPolicy" if algo == "recurrent-ppo" else "MlpPolicy"
    model = rl.algorithm(algo)(policy, vector_env(), device="cpu", seed=0, **SMALL[algo])
    return model.learn(128, **({"use_masking": False} if algo == "maskable-ppo" else {}))


@pytest.fixture(scope="session")
def model() -> Callable[[str], Any]:
    """A function from an algorithm's name to a model of it, trained for a few rounds on windowed statistics."""
    return trained
