"""The files of hyperparameters for rl_zoo3 say what ``ns-mab-gym train`` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ns_mab_gym.rl.algorithm_settings import hyperparameters
from ns_mab_gym.rl.training import Training

FOLDER = Path(__file__).parents[2] / "hyperparams"
NAMES = {"ppo": "ppo", "a2c": "a2c", "recurrent-ppo": "ppo_lstm", "dqn": "dqn"}  # ours, and those of rl_zoo3
STATISTICS = "ns_mab_gym.wrappers.WindowedStatistics"


def test_every_algorithm_has_a_file() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(NAMES.values())


@pytest.mark.parametrize("algo", NAMES)
def test_a_file_has_the_settings_of_the_command(algo: str) -> None:
    written: dict[str, Any] = yaml.safe_load((FOLDER / f"{NAMES[algo]}.yml").read_text())
    assert list(written) == ["default"]  # for every id
    settings = hyperparameters(algo, {})
    of_the_zoo = {
        "n_timesteps": Training().timesteps,
        "n_envs": settings.n_envs,
        "env_wrapper": [{STATISTICS: {"window": window}} for window in Training().windows],
        "monitor_kwargs": "dict(info_keywords=('total_regret',))",
        "learning_rate": "lin_0.001",
    }
    assert written["default"] == settings.arguments | of_the_zoo
