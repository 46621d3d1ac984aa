"""Stable-Baselines3 logs the regret of finished episodes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.vec_env import VecEnvWrapper

from ns_mab_gym import rl
from ns_mab_gym.rl.algorithm_settings import policy_name

from .conftest import ID, SMALL, WORLD, vector_env

HORIZON = WORLD["horizon"]


class Counting(VecEnvWrapper):  # type: ignore[misc, unused-ignore]
    """Notes the regret of every round, as an independent account."""

    def __init__(self, envs: Any) -> None:
        super().__init__(envs)
        self.regrets: list[list[float]] = []

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        *arrays, infos = self.venv.step_wait()
        self.regrets.append([info["regret"] for info in infos])
        return (*arrays, infos)

    def of_episodes(self) -> Any:
        """(episodes, N): all sub-environments end together."""
        finished = len(self.regrets) // HORIZON * HORIZON
        return np.array(self.regrets[:finished]).reshape(-1, HORIZON, self.num_envs).sum(axis=1)


@pytest.mark.parametrize(("algo", "native"), [("ppo", False), *((algo, True) for algo in SMALL if algo != "ars")])
def test_every_algorithm_logs_the_mean_regret_of_finished_episodes(algo: str, native: bool, tmp_path: Path) -> None:
    envs = Counting(vector_env() if native else make_vec_env(ID, n_envs=2, seed=0, env_kwargs=WORLD))
    model = rl.algorithm(algo)(policy_name(algo), envs, device="cpu", seed=0, **SMALL[algo])
    model.set_logger(configure(str(tmp_path), ["csv"]))
    callback = rl.RegretCallback(window=3)
    more: dict[str, Any] = {"use_masking": False} if algo == "maskable-ppo" else {}
    model.learn(256, callback=callback, log_interval=1, **more)
    model.logger.close()
    last = envs.of_episodes().ravel()[-3:]
    np.testing.assert_allclose(callback.regrets, last, rtol=1e-12)
    assert callback.curve.steps.tolist() == [160, 240]  # the third and the sixth episode of 2 environments end there
    np.testing.assert_allclose(callback.curve.regret, envs.of_episodes().reshape(2, 3).mean(axis=1), rtol=1e-12)
    logged = pd.read_csv(tmp_path / "progress.csv")["rollout/regret"].dropna()
    assert logged.iloc[-1] == pytest.approx(last.mean(), rel=1e-9)


FIRST_ROUNDS = (0, 10, 20, 30)  # of 4 staggered environments with 40 rounds


def whole_episodes(regrets: list[list[float]]) -> list[tuple[int, float]]:
    """The steps until the end of each episode that was played from round 1 on, and its regret, in the order of ends."""
    found = []
    for i, first in enumerate(FIRST_ROUNDS):
        for start in range((HORIZON - first) % HORIZON, len(regrets) - HORIZON + 1, HORIZON):
            end = start + HORIZON
            found.append((4 * end, i, sum(row[i] for row in regrets[start:end])))
    return [(steps, regret) for steps, _, regret in sorted(found)]


def test_first_episodes_that_begin_late_do_not_count_also_for_a_copy_that_goes_on() -> None:
    """After 64 steps, which are 16 rounds, two of the environments are still in the episode that began late."""
    envs = Counting(vector_env(4, stagger=True))
    model = rl.algorithm("a2c")("MlpPolicy", envs, device="cpu", seed=0, **SMALL["a2c"])
    first, later = rl.RegretCallback(window=3), rl.RegretCallback(window=100)
    model.learn(64, callback=first)
    copy = pickle.loads(pickle.dumps(first))
    model.learn(576, callback=[copy, later], reset_num_timesteps=False)
    whole = whole_episodes(envs.regrets)
    np.testing.assert_allclose(later.regrets, [regret for _, regret in whole], rtol=1e-12)
    assert copy.curve.steps.tolist() == [steps for steps, _ in whole[2::3]]
    threes = np.array([regret for _, regret in whole])[: len(whole) // 3 * 3].reshape(-1, 3)
    np.testing.assert_allclose(copy.curve.regret, threes.mean(axis=1), rtol=1e-12)
    assert not first.regrets


def test_a_training_that_starts_anew_is_recorded_anew() -> None:
    model = rl.algorithm("a2c")("MlpPolicy", vector_env(), device="cpu", seed=0, **SMALL["a2c"])
    callback = rl.RegretCallback(window=2)
    for _ in range(2):
        model.learn(160, callback=callback)
        assert callback.curve.steps.tolist() == [80, 160]


@pytest.mark.parametrize(
    ("algo", "policy", "env", "said"),
    [
        ("a2c", "MlpPolicy", lambda: gym.make("CartPole-v1"), r'needs info\["total_regret"\].*RecordRegret adds it'),
        ("ars", "LinearPolicy", vector_env, r"ARS does not tell callbacks .* wrap its environment in .*RecordRegret"),
    ],
)
def test_trainings_without_regret_are_named_with_the_way_out(algo: str, policy: str, env: Any, said: str) -> None:
    model = rl.algorithm(algo)(policy, env(), device="cpu", seed=0, **SMALL[algo])
    with pytest.raises(ValueError, match=said):
        model.learn(200, callback=rl.RegretCallback())
    with pytest.raises(ValueError, match="window must be a positive integer, got 0"):
        rl.RegretCallback(window=0)
