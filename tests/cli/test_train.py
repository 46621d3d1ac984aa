"""``ns-mab-gym train`` checks everything first, goes on where it stopped, and compares on held-out instances."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("stable_baselines3")

import torch

from ns_mab_gym import files, rl
from ns_mab_gym.cli import train as train_command
from ns_mab_gym.cli.train import main
from ns_mab_gym.deep import folder as training_folder
from ns_mab_gym.deep.comparison import SEED
from ns_mab_gym.rl import agent, training

PPO = "ppo:n_envs=2,n_steps=16,batch_size=32,n_epochs=1"
SMALL = ["--algo", PPO, "--windows", "8", "--timesteps", "100", "--runs", "5", "--no-tuning", "--agents", "random"]
WORLD = ["--env", "piecewise:n_arms=3,horizon=20"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that was not interrupted."""
    folder = tmp_path_factory.mktemp("train") / "whole"
    assert main([*WORLD, *SMALL, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    shutil.copytree(whole, tmp_path / "out")
    return tmp_path / "out"


def numbers(folder: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((folder / "numbers.json").read_text())
    return read


def test_it_trains_saves_compares_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["--env", "NSBandit-Piecewise-v0:n_arms=10,horizon=20", "--seed", "3", "5", *SMALL]
    assert main([*words, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "seed 3: 128 steps in " in said  # 100 were asked for, and a rollout has 32
    assert "held-out instances: regret after 20 rounds, mean ± standard error of 5 runs" in said
    assert "the paper's abrupt world: regret after 20 rounds" in said
    assert "95 % intervals over 2 training seeds and 5 runs" in said
    assert "sb3-ppo by training seed: " in said
    files = {"model.zip", "model.pt", "learning.png", "regret.png", "regret-abrupt.png", "numbers.json", "README.txt"}
    assert files <= {file.name for file in out.iterdir()}
    rows = numbers(out)["results"]["held-out instances"]
    assert [row["agent"] for row in rows] == ["sb3-ppo", "random"]
    assert rows[0]["steps"] == [128, 128]
    for place, seed in enumerate((3, 5)):
        agent = rl.SB3Agent.load(out / f"seed-{seed}" / "model.zip", trust=True)
        assert rl.SB3Agent.load(out / f"seed-{seed}" / "model.pt").recipe == agent.recipe
        world = {"n_arms": 10, "horizon": 20}
        played = rl.simulate("NSBandit-Piecewise-v0", agent, runs=5, seed=SEED, env_kwargs=world)
        assert played.final.mean() == pytest.approx(rows[0]["by_seed"][place])
    assert (out / "model.zip").read_bytes() == (out / "seed-3" / "model.zip").read_bytes()


def test_the_same_command_trains_nothing_again_and_further_seeds_are_added(
    out: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, table, real = [*WORLD, *SMALL, "--out", str(out)], numbers(out)["results"], training_folder.train
    trained: list[int] = []
    monkeypatch.setattr(training_folder, "train", lambda what, **more: trained.append(what.seed) or real(what, **more))
    assert main(words) == 0
    assert "trained before" in capsys.readouterr().out
    assert numbers(out)["results"] == table
    assert main([*words, "--seed", "0", "1"]) == 0
    assert trained == [1]
    assert len(numbers(out)["results"]["held-out instances"][0]["by_seed"]) == 2


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_saves_and_the_same_command_goes_on(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, end = [*WORLD, *SMALL, "--out", str(tmp_path / "out")], training.BetweenRollouts._on_rollout_end

    def pressed(self: Any) -> None:
        end(self)
        if self.model.num_timesteps == 64:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(training.BetweenRollouts, "_on_rollout_end", pressed)
    assert main(words) == 130
    said = capsys.readouterr().err
    assert "train: stopped; what was trained until the last checkpoint is saved, and the same command goes on" in said
    assert (tmp_path / "out" / "seed-0" / "checkpoint").is_file()
    monkeypatch.undo()
    assert main(words) == 0
    assert not (tmp_path / "out" / "seed-0" / "checkpoint").exists()
    one, other = (
        rl.SB3Agent.load(folder / "model.pt").model.policy.state_dict() for folder in (tmp_path / "out", whole)
    )
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    one, other = (numbers(folder)["results"]["held-out instances"] for folder in (tmp_path / "out", whole))
    assert one[0]["by_seed"] == other[0]["by_seed"]


@pytest.mark.filterwarnings("ignore:.*none of the candidates learns this world")
def test_rivals_are_tuned_on_training_instances(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [*WORLD, *SMALL[:-3], "--agents", "sw-ucb", "sw-ucb:window=9", "--tuning-runs", "40"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    rows = {row["agent"]: row for row in numbers(tmp_path / "out")["results"]["held-out instances"]}
    assert rows.keys() == {"sb3-ppo", "sw-ucb", "sw-ucb, tuned", "sw-ucb:window=9"}
    assert rows["sw-ucb, tuned"]["steps"] > 0
    assert rows["sw-ucb, tuned"]["steps"] % 20 == 0  # whole runs
    assert rows["sw-ucb"]["steps"] == 0
    assert "about this one model" in capsys.readouterr().out


@pytest.mark.filterwarnings("always")
def test_a_fixed_world_is_called_the_training_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--env", "periodic:n_arms=3,horizon=20", *SMALL, "--out", str(tmp_path / "out")]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "warning: periodic:horizon=20,n_arms=3 has the same means in every episode" in said.err
    assert list(numbers(tmp_path / "out")["results"]) == ["held-out instances", "the training instance"]
    assert "with the arms in another order, begun at another round" in said.out
    assert "the model has seen these very means" in said.out


def test_a_file_describes_a_training_and_options_have_the_last_word(whole: Path, tmp_path: Path) -> None:
    """An id in place of the world's name, the same numbers in the file, and one option: the same model."""
    (tmp_path / "training.toml").write_text(
        'algo = "ppo"\nenv = "NSBandit-Piecewise-v0:n_arms=3,horizon=20"\ntimesteps = 1e2\nwindows = [8]\nseed = 0\n'
        'runs = 99\nagents = ["random"]\ntuning = false\n'
        "settings = {n_envs = 2, n_steps = 16, batch_size = 32, n_epochs = 1}\n"
    )
    assert main([str(tmp_path / "training.toml"), "--runs", "5", "--out", str(tmp_path / "one")]) == 0
    assert numbers(tmp_path / "one")["tuning_runs"] is None
    one, other = (numbers(folder)["results"]["held-out instances"] for folder in (tmp_path / "one", whole))
    assert [row["regret"] for row in one] == [row["regret"] for row in other]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--algo", "ppo:gama=0.9"], "algorithm 'ppo' has no parameter 'gama'; did you mean 'gamma'?"),
        (["--algo", "ppo:label=mine"], "an algorithm has hyperparameters alone, no label, note or group"),
        (["--timesteps", "0"], "argument --timesteps: must be a positive integer, got '0'"),
        (["--threads", "0"], "argument --threads: must be a positive integer, got '0'"),
        (["--checkpoint-every", "0"], "argument --checkpoint-every: must be a positive integer, got '0'"),
        (["--windows", "5", "-1"], "argument --windows: must be a positive integer, got '-1'"),
        (["--seed", "1", "1"], "the seeds of training must differ, got 1 1"),
        (["--seed", "2**32"], "argument --seed: must be an integer of at least 0"),
        (["--device", "nowhere"], "torch cannot compute on device 'nowhere'"),
        (["--env", "CartPole-v1"], "'CartPole-v1' is no environment of this package"),
        (["--env", "NSBandit-Piecewise-v0:arms=3"], "world 'piecewise' has no parameter 'arms'"),
        (["--agents", "random", "nobody"], "unknown agent 'nobody'"),
        (["--agents", "random", "random"], "agent"),
        (["--agents", "ts", "--env", "piecewise:n_arms=3,horizon=20,reward=gaussian"], "agent 'ts' on "),
        (["nowhere.toml"], "cannot read the description 'nowhere.toml'"),
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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("timestep = 3", "has no parameter 'timestep'; did you mean 'timesteps'?"),
        ("timesteps = true", "--timesteps: must be a positive integer, got 'True'"),
        ("seed = [0, -1]", "--seed: must be an integer of at least 0, got '-1'"),
        ("algo = 3", "algo must be a text, got 3"),
        ("settings = 3", "settings must be a dictionary of values by their names, got 3"),
        ("stagger = 1", "stagger must be true or false, got 1"),
        ("agents = []", "--agents: expected at least one argument"),
        ("learn_from = true", "learn_from must be a text, got True"),
    ],
)
def test_mistakes_in_a_file_name_the_file(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.toml").write_text(content)
    assert main([str(tmp_path / "mine.toml"), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "mine.toml" in error
    assert said in error
    assert not (tmp_path / "out").exists()


def test_a_folder_with_another_training_is_left_as_it_is(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, file = (out / "model.zip").read_bytes(), tmp_path / "mine.toml"
    file.write_text("stagger = true")
    for others, said in (
        (["--timesteps", "200"], "with timesteps = 100 instead of 200; choose another folder with --out"),
        (["--learn-from", "reward"], "with learn_from = 'regret' instead of 'reward'"),
        (["--stagger"], "with stagger = False instead of True"),
    ):
        assert main([*WORLD, *SMALL, *others, "--out", str(out)]) == 2
        assert f"holds another training, {said}" in capsys.readouterr().err
    assert main([str(file), *WORLD, *SMALL, "--out", str(out)]) == 2
    assert "with stagger = False instead of True" in capsys.readouterr().err
    assert main([str(file), "--no-stagger", *WORLD, *SMALL, "--out", str(out)]) == 0
    assert "trained before" in capsys.readouterr().out
    described = json.loads((out / "training.json").read_text())
    del described["stagger"]  # as in folders that were written before there was the choice
    (out / "training.json").write_text(json.dumps(described))
    assert main([*WORLD, *SMALL, "--stagger", "--out", str(out)]) == 2
    assert "with stagger = False instead of True" in capsys.readouterr().err
    assert (out / "model.zip").read_bytes() == model
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.zip").write_text("mine")
    for place, said in ((tmp_path / "mine", "holds other things"), (file, "is no folder")):
        assert main([*WORLD, *SMALL, "--out", str(place)]) == 2
        assert f"{said}; choose another folder with --out" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["model.zip"]


@pytest.mark.parametrize("written", ["checkpoint", "learning.json", "model.pt", "numbers.json"])
def test_a_full_disk_is_told_with_the_folder_and_the_same_command_goes_on(
    written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, real = [*WORLD, *SMALL, "--checkpoint-every", "32", "--out", str(tmp_path / "out")], files.write_atomically

    def full(path: Path, content: bytes) -> None:
        if path.name == written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, content)

    for module in (training, agent, training_folder, train_command):
        monkeypatch.setattr(module, "write_atomically", full)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert f"train: error: cannot write to '{tmp_path / 'out'}" in said
    assert "No space left on device; what is stored there is intact, the same command continues" in said
    monkeypatch.undo()
    assert main(words) == 0


@pytest.mark.filterwarnings("always")
def test_a_training_of_less_than_an_episode_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for horizon, warned in (("64", False), ("65", True)):  # 100 steps are 128 in whole rollouts, of 2 environments
        words = ["--env", f"piecewise:n_arms=3,horizon={horizon}", *SMALL, "--out", str(tmp_path / horizon)]
        assert main(words) == 0
        assert (tmp_path / horizon / "learning.png").exists() is not warned
        said = capsys.readouterr().err
        assert (
            "each of the 2 environments plays 64 rounds, and an episode has 65: none is played whole" in said
        ) is warned
        assert ("130 --timesteps play one in each" in said) is warned


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("training.json", "{"),
        ("training.json", "[]"),
        ("seed-0/learning.json", "3"),
        ("seed-0/learning.json", '{"curve": 3}'),
    ],
)
def test_damaged_files_are_named(name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    (out / "seed-0").mkdir(parents=True)
    (out / "README.txt").write_text(training_folder.README)
    (out / "seed-0" / "model.pt").write_bytes(b"")
    (out / name).write_text(content)
    assert main([*WORLD, *SMALL, "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert name in said or "holds another training" in said
    assert "choose another folder with --out" in said
    assert said.count("\n") == 1


def test_too_few_runs_for_intervals_are_told_and_a_saved_model_is_loaded_where_there_is_no_export(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (out / "seed-0" / "model.pt").unlink()
    assert main([*WORLD, *SMALL, "--runs", "1", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "trained before" in said
    assert "no intervals: they need 5 runs or more" in said
    assert "in brackets" not in said
