"""The script trains, saves, compares and draws; its parts do what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns_mab_gym import rl
from ns_mab_gym.cli.train_command import main
from ns_mab_gym.rl import training as module
from ns_mab_gym.rl.training import RegretMeter, Training, train

SMALL: dict[str, dict[str, Any]] = {
    "ppo": {"policy": "MlpPolicy", "n_steps": 16, "batch_size": 32, "n_epochs": 1},
    "recurrent-ppo": {"policy": "MlpLstmPolicy", "n_steps": 16, "batch_size": 32, "n_epochs": 1},
    "dqn": {"policy": "MlpPolicy", "learning_starts": 16, "buffer_size": 200},
    "a2c": {"policy": "MlpPolicy", "n_steps": 8},
}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTINGS", {algo: (2, settings) for algo, settings in SMALL.items()})


@pytest.mark.parametrize("algo", SMALL)
def test_every_algorithm_trains_on_windowed_statistics(algo: str) -> None:
    kwargs = {"n_arms": 3, "horizon": 20}
    agent, curve = train(Training(algo=algo, env_kwargs=kwargs, windows=(5, 10), timesteps=100))
    assert agent.recipe == [("WindowedStatistics", {"window": 5}), ("WindowedStatistics", {"window": 10})]
    assert curve.steps.tolist()[:2] == [40, 80]
    assert (curve.regret >= 0).all()


def test_the_meter_adds_up_the_regret_of_episodes() -> None:
    meter = RegretMeter(Training(env_kwargs={"n_arms": 3, "horizon": 20}, windows=()).vector_env(4))
    meter.reset(seed=0)
    means = meter.unwrapped.means  # type: ignore[attr-defined]
    for _ in range(20):
        meter.step(np.zeros(4, int))
    expected = (means.max(axis=2) - means[:, :, 0]).sum(axis=1).mean()
    np.testing.assert_allclose(meter.curve.regret, [expected])


def test_the_command_trains_saves_compares_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--env",
        "NSBandit-Piecewise-v0:n_arms=10,horizon=20",
        "--windows",
        "8",
        "--timesteps",
        "80",
        "--runs",
        "3",
    ]
    assert main([*words, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "held-out instances: 3 runs, regret in round 20" in said
    assert "the paper's abrupt world: 3 runs" in said
    assert {"model.zip", "learning.png", "regret.png", "regret-abrupt.png", "numbers.json"} <= {
        file.name for file in tmp_path.iterdir()
    }
    rows = json.loads((tmp_path / "numbers.json").read_text())["results"]["held-out instances"]
    assert [row["agent"] for row in rows] == ["sb3-ppo", "beta-swts", "ts", "random"]
    agent = rl.SB3Agent.load(tmp_path / "model.zip")  # saved here, so it needs no trust
    assert rl.SB3Agent.load(tmp_path / "model.npz").recipe == agent.recipe
    played = rl.simulate(
        "NSBandit-Piecewise-v0", agent, runs=3, seed=1_000_003, env_kwargs={"n_arms": 10, "horizon": 20}
    )
    assert played.regret[:, -1].mean() == pytest.approx(rows[0]["regret"])


def test_a_world_by_its_name_is_trained_on_as_by_its_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["--windows", "8", "--timesteps", "80", "--runs", "2"]
    for world in ("piecewise", "NSBandit-Piecewise-v0"):
        assert main(["--env", f"{world}:n_arms=3,horizon=20", *settings, "--out", str(tmp_path / world)]) == 0
    assert "10 arms, the model 3: not played" in capsys.readouterr().out
    one, other = (
        json.loads((tmp_path / world / "numbers.json").read_text())["results"]
        for world in ("piecewise", "NSBandit-Piecewise-v0")
    )
    assert one == other


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--algo", "popo"], "unknown algorithm 'popo'; did you mean 'ppo'?"),
        (["--timesteps", "0"], "argument --timesteps: must be a positive integer, got '0'"),
        (["--runs", "0"], "argument --runs: must be a positive integer, got '0'"),
        (["--threads", "0"], "argument --threads: must be a positive integer, got '0'"),
        (["--windows", "5", "-1"], "argument --windows: must be a positive integer, got '-1'"),
        (["--env", "NSBandit-Piecewise-v0:arms=3"], "world 'piecewise' has no parameter 'arms'"),
        (
            ["--env", "NSBandit-Picewise-v0"],
            "unknown world 'NSBandit-Picewise-v0'; did you mean 'NSBandit-Piecewise-v0'?",
        ),
    ],
)
def test_bad_words_end_with_a_line_before_anything_is_trained(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("train: error: ")
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["model.zip", "tensorboard"])
def test_a_link_in_the_folder_is_refused_before_anything_is_trained(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model would be saved through it, into a file of somebody else."""
    (tmp_path / "victim").write_text("of somebody else")
    (tmp_path / name).symlink_to(tmp_path / "victim")
    assert main(["--timesteps", "80", "--out", str(tmp_path)]) == 2
    assert f"{name}' is a link to another place; remove the link, or choose another folder" in capsys.readouterr().err
    assert (tmp_path / "victim").read_text() == "of somebody else"
