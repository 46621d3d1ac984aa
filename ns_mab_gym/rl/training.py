"""Training of models: algorithm, worlds and duration, with settings that work on random piecewise worlds."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecMonitor

from ..agents.core.arguments import choice, positive_int
from ..wrappers import VectorWindowedStatistics
from ..wrappers.memory import VectorWrapper
from .algorithm_table import algorithm
from .sb3_agent import SB3Agent
from .vec_env import SB3VecEnv

__all__ = ["SETTINGS", "LearningCurve", "RegretMeter", "Training", "train"]

ON_POLICY: dict[str, Any] = {"gamma": 0.95, "gae_lambda": 0.9, "ent_coef": 0.005}
# name: how many environments, and the arguments of the algorithm.
SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {
    "ppo": (128, {"policy": "MlpPolicy", "n_steps": 128, "batch_size": 2048, "n_epochs": 6, **ON_POLICY}),
    "a2c": (128, {"policy": "MlpPolicy", "n_steps": 16, **ON_POLICY}),
    "recurrent-ppo": (
        64,
        {
            "policy": "MlpLstmPolicy", "n_steps": 128, "batch_size": 2048, "n_epochs": 4, **ON_POLICY,
            "policy_kwargs": {"lstm_hidden_size": 64},
        },
    ),
    "dqn": (
        32,
        {
            "policy": "MlpPolicy", "buffer_size": 200_000, "learning_starts": 10_000, "batch_size": 512, "gamma": 0.9,
            "train_freq": 4, "gradient_steps": 2, "target_update_interval": 2_000, "exploration_final_eps": 0.02,
        },
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Training:
    """Describes what to train, and on what.

    Attributes:
        algo: ``"ppo"``, ``"a2c"``, ``"recurrent-ppo"`` or ``"dqn"``.
        env: the id of an environment whose instances are random.
        env_kwargs: its arguments.
        windows: the windows of the statistics in the observation; empty for the bare observation.
        timesteps: environment steps, all environments together.
        seed: the seed of the networks, the instances and the luck.
    """

    algo: str = "ppo"
    env: str = "NSBandit-Piecewise-v0"
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    windows: tuple[int, ...] = (30, 150)
    timesteps: int = 3_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check what can be checked before anything is built."""
        choice("algorithm", self.algo, SETTINGS)
        positive_int("timesteps", self.timesteps)

    def vector_env(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        """The environments to learn from."""
        envs: Any = gym.make_vec(
            self.env, num_envs=num_envs, vectorization_mode="vector_entry_point", **self.env_kwargs
        )
        for window in self.windows:
            envs = VectorWindowedStatistics(envs, window=window)
        return envs  # type: ignore[no-any-return]


@dataclass(frozen=True)
class LearningCurve:
    """The mean regret of finished episodes, and the number of steps taken until then."""

    steps: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]


class RegretMeter(VectorWrapper):
    """Adds up the regret of episodes while a learner is trained."""

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self._sum = np.zeros(self.num_envs)
        self._steps = 0
        self._points: list[tuple[int, float]] = []

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Pull arms and add their regret."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        over = terminations | truncations
        self._steps += self.num_envs
        self._sum += (infos["final_info"] if over.any() else infos)["regret"]  # the native envs end together
        if over.any():
            self._points.append((self._steps, float(self._sum.mean())))
            self._sum[:] = 0
        return observations, rewards, terminations, truncations, infos

    @property
    def curve(self) -> LearningCurve:
        """The learning curve so far."""
        steps, regret = zip(*self._points, strict=True) if self._points else ((), ())
        return LearningCurve(np.array(steps, np.int64), np.array(regret))


def train(training: Training, *, logs: Path | None = None, verbose: int = 0) -> tuple[SB3Agent, LearningCurve]:
    """Train a model; with Stable-Baselines3's progress bar and TensorBoard logs if what they need is installed.

    Args:
        training: what to train.
        logs: a folder for TensorBoard.
        verbose: Stable-Baselines3's own tables, if 1.
    """
    num_envs, settings = SETTINGS[training.algo]
    meter = RegretMeter(training.vector_env(num_envs))
    model = algorithm(training.algo)(
        env=VecMonitor(SB3VecEnv(meter)),
        learning_rate=LinearSchedule(1e-3, 1e-4, 1.0),
        seed=training.seed,
        device="cpu",
        verbose=verbose,
        tensorboard_log=str(logs) if logs is not None and _installed("tensorboard") else None,
        **settings,
    )
    model.learn(training.timesteps, progress_bar=_installed("tqdm") and _installed("rich"))
    return SB3Agent(model), meter.curve


def _installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
