"""The files of hyperparameters for rl_zoo3 are what ``ns-mab-gym train`` does.

They are written from the settings of the command: ``python tests/trainers/test_hyperparams.py`` writes them anew when
those change. ``test_rl_zoo3.py`` shows that rl_zoo3 reads in them what is meant.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ns_mab_gym.rl import algorithm
from ns_mab_gym.rl.algorithm_settings import SETTINGS, hyperparameters
from ns_mab_gym.rl.training import Training, untrained

FOLDER = Path(__file__).parents[2] / "hyperparams"
STATISTICS, REGRET = "ns_mab_gym.wrappers.WindowedStatistics", "ns_mab_gym.wrappers.RegretAsReward"
UNKNOWN = {"maskable-ppo"}  # rl_zoo3 has no such algorithm
OTHER_NAMES = {"recurrent-ppo": "ppo_lstm", "qr-dqn": "qrdqn"}  # those of rl_zoo3
NAMES = {algo: OTHER_NAMES.get(algo, algo) for algo in SETTINGS if algo not in UNKNOWN}
ABOUT = "# {kind} for rl_zoo3, on any id of the suite, as `ns-mab-gym train --algo {algo}` makes it{but}.\n{by}"
BUT = ",\n# but for the rate of learning, which falls to 0 here, and to {last:g} there"
BY = "# Written by `python tests/trainers/test_hyperparams.py`.\n"


def rates(algo: str) -> tuple[float, float]:
    """The rate of learning in the beginning and in the end of a training by the command."""
    schedule = untrained(Training(algo=algo)).lr_schedule
    return float(schedule(1.0)), float(schedule(0.0))


def zoo_settings(algo: str) -> dict[str, Any]:
    """Return the content of a file, with the rate of learning in rl_zoo3's own words."""
    made, (first, last) = hyperparameters(algo, {}), rates(algo)
    return {
        "n_timesteps": Training().timesteps,
        "n_envs": made.n_envs,
        "env_wrapper": [*({STATISTICS: {"window": window}} for window in Training().windows), REGRET],
        "monitor_kwargs": "dict(info_keywords=('total_regret',))",  # a column of monitor.csv
        **made.arguments,
        "learning_rate": first if first == last else f"lin_{first:g}",
    }


def text(algo: str) -> str:
    first, last = rates(algo)
    but = "" if first == last else BUT.format(last=last)
    about = ABOUT.format(kind=algorithm(algo).__name__, algo=algo, but=but, by=BY)
    return about + yaml.safe_dump({"default": zoo_settings(algo)}, sort_keys=False, width=120)


def test_every_algorithm_that_rl_zoo3_knows_has_a_file() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {f"{name}.yml" for name in NAMES.values()}


@pytest.mark.parametrize("algo", NAMES)
def test_a_file_has_the_settings_of_the_command(algo: str) -> None:
    written = (FOLDER / f"{NAMES[algo]}.yml").read_text()
    assert written == text(algo), "python tests/trainers/test_hyperparams.py writes it anew"


if __name__ == "__main__":
    for each, name in NAMES.items():
        (FOLDER / f"{name}.yml").write_text(text(each))
