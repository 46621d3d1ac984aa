"""rl_zoo3: its command trains with our files of hyperparameters as ours does, and the model plays as an agent."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import gymnasium as gym
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from trainers_installed import needed

import ns_mab_gym as nsb
from ns_mab_gym import rl, wrappers
from ns_mab_gym.rl.algorithm_settings import SETTINGS, hyperparameters
from ns_mab_gym.rl.training import Training, untrained

zoo = needed("rl_zoo3")

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
ID, K, HORIZON = "NSBandit-Piecewise-v0", 3, 40
WORLD = {"n_arms": K, "horizon": HORIZON}
# What is changed of our files, so that a few hundred steps suffice.
CLIPPED = "n_envs:2 n_steps:80 batch_size:80 n_epochs:1"
REPLAYED = "n_envs:2 learning_starts:100 buffer_size:500 batch_size:32"
SMALL = {
    "ppo": CLIPPED,
    "a2c": "n_envs:2",
    "ppo_lstm": CLIPPED,
    "trpo": "n_envs:2 n_steps:80 batch_size:80",
    "dqn": REPLAYED,
    "qrdqn": REPLAYED,
}
OURS = {name: algo for algo in SETTINGS for name, kind in zoo.ALGOS.items() if kind is rl.algorithm(algo)}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function that trains as the page says, but for a few steps, and returns the folder that rl_zoo3 wrote."""

    @cache
    def train(algo: str) -> Path:
        folder = tmp_path_factory.mktemp(algo)
        command = [
            *f"-m rl_zoo3.train --algo {algo} --env {ID} --gym-packages ns_mab_gym".split(),
            *f"--conf-file {ROOT / 'hyperparams'}/{algo}.yml --env-kwargs n_arms:{K} horizon:{HORIZON}".split(),
            *f"--n-timesteps 320 --eval-freq 100 --eval-episodes 1 --seed 1 --device cpu --log-folder {folder}".split(),
            *f"--num-threads 1 --hyperparams {SMALL[algo]}".split(),
        ]
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stderr
        return folder / algo / f"{ID}_1"

    return train


def test_every_algorithm_of_ours_that_rl_zoo3_knows_is_tried() -> None:
    assert OURS.keys() == SMALL.keys()
    assert set(SETTINGS) - set(OURS.values()) == {"maskable-ppo"}


@pytest.mark.parametrize("algo", SMALL)
def test_the_command_trains_evaluates_and_logs_the_regret(algo: str, trained: Callable[[str], Path]) -> None:
    folder = trained(algo)
    assert {f"{ID}.zip", "evaluations.npz", "best_model.zip"} <= {file.name for file in folder.iterdir()}
    with (folder / "0.monitor.csv").open() as file:
        file.readline()  # about the environment
        episodes = list(csv.DictReader(file))
    assert [int(episode["l"]) for episode in episodes[:3]] == [HORIZON] * 3
    assert all(0 < float(episode["total_regret"]) < HORIZON for episode in episodes)
    assert all(float(episode["r"]).is_integer() for episode in episodes)  # as drawn; the wrapper is around it


@pytest.mark.parametrize("algo", SMALL)
def test_the_model_is_the_one_that_our_command_makes(algo: str, trained: Callable[[str], Path]) -> None:
    theirs = zoo.ALGOS[algo].load(trained(algo) / f"{ID}.zip", device="cpu")
    ours = untrained(Training(algo=OURS[algo], env=ID, env_kwargs=WORLD))
    arguments = hyperparameters(OURS[algo], {}).arguments
    for name, value in arguments.get("policy_kwargs", {}).items():
        assert theirs.policy_kwargs[name] == ours.policy_kwargs[name] == value
    small = {setting.partition(":")[0] for setting in SMALL[algo].split()}
    same = sorted(arguments.keys() - small - {"policy", "learning_rate", "policy_kwargs"})
    assert [(name, getattr(theirs, name)) for name in same] == [(name, getattr(ours, name)) for name in same]
    assert type(theirs.policy) is type(ours.policy)
    assert theirs.observation_space == ours.observation_space
    assert theirs.lr_schedule(1.0) == ours.lr_schedule(1.0)


def test_the_model_plays_as_an_agent(trained: Callable[[str], Path]) -> None:
    model = trained("ppo") / f"{ID}.zip"

    def wrapped(env: gym.Env) -> gym.Env:  # type: ignore[type-arg]
        return wrappers.WindowedStatistics(wrappers.WindowedStatistics(env, window=30), window=150)

    agent = rl.SB3Agent(PPO.load(model, env=make_vec_env(ID, env_kwargs=WORLD, wrapper_class=wrapped), device="cpu"))
    runs = nsb.simulate(ID, agent, runs=2, seed=0, env_kwargs=WORLD)
    assert runs.regret.shape == (2, HORIZON)
    assert agent.recipe == [("WindowedStatistics", {"window": 30}), ("WindowedStatistics", {"window": 150})]
