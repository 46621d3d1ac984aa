"""Small models, trained once for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

import ns_mab_gym as nsb
from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl.algorithm_settings import policy_name

torch.set_num_threads(1)

Models: TypeAlias = Callable[[str], Any]  # from the name of an algorithm to a trained model
ID = "NSBandit-Piecewise-v0"
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


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.makedirs, (str(self.mark), 0o777, True)


class OwnPPO(PPO):
    """An algorithm of the user's own."""


def make(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make(ID, **(WORLD | kwargs))


def vector_env(num_envs: int = 2, window: int | None = 10, **kwargs: Any) -> rl.SB3VecEnv:
    envs = gym.make_vec(ID, num_envs=num_envs, **(WORLD | kwargs))
    return rl.SB3VecEnv(envs if window is None else wrappers.VectorWindowedStatistics(envs, window=window))


def assert_same_arms(one: rl.SB3Agent, other: rl.SB3Agent) -> None:
    played = [nsb.run_episode(agent.wrap(make()), agent, seed=(1, 2)).arms for agent in (one, other)]
    np.testing.assert_array_equal(*played)


@cache
def trained(algo: str) -> Any:
    model = rl.algorithm(algo)(policy_name(algo), vector_env(), device="cpu", seed=0, **SMALL[algo])
    return model.learn(128, **({"use_masking": False} if algo == "maskable-ppo" else {}))


@pytest.fixture(scope="session")
def model() -> Models:
    """Models that are trained for a few rounds on windowed statistics."""
    return trained
