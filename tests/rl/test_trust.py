"""A saved model is an agent of every comparison, and is loaded only if its user says so: loading can run any code."""

from __future__ import annotations

import base64
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ns_mab_gym as nsb
from ns_mab_gym import rl
from ns_mab_gym.cli.studies import evaluate
from ns_mab_gym.files import KeptFile
from ns_mab_gym.specs import AgentSpec, read_agents
from ns_mab_gym.studies.study import Study, experiment, pinned, read_study, units_of

from .conftest import ID, WORLD, Models, Trap

WORDS = f"{ID}:" + ",".join(f"{key}={value}" for key, value in WORLD.items())


@pytest.fixture
def foreign(model: Models, tmp_path: Path) -> tuple[Path, Path]:
    """A saved model with code in it; and the mark that the code leaves."""
    mark, path = tmp_path / "code-ran", tmp_path / "model.zip"
    own = tmp_path / "own.zip"
    rl.SB3Agent(model("ppo")).save(own)
    with zipfile.ZipFile(own) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "data":
                described = json.loads(content)
                trap = base64.b64encode(pickle.dumps(Trap(mark))).decode()
                described["trap"] = {":type:": "trap", ":serialized:": trap}
                content = json.dumps(described).encode()
            target.writestr(name, content)
    return path, mark


def evaluated(path: Path, out: Path, *more: str, world: str = WORDS) -> int:
    return evaluate(["--env", world, "--agents", f"sb3:path={path}", "ts", "--runs", "2", "--out", str(out), *more])


DOORS: dict[str, Callable[[Path], Any]] = {
    "load": lambda path: rl.SB3Agent.load(path),
    "load with algo": lambda path: rl.SB3Agent.load(path, algo="ppo"),
    "load a kept file": lambda path: rl.SB3Agent.load(KeptFile(path)),
    "simulate": lambda path: nsb.simulate(ID, "sb3", agent_kwargs={"path": path}, env_kwargs=WORLD, runs=1),
    "compare": lambda path: nsb.compare((ID, WORLD), ("sb3", {"path": str(path)}), runs=1),
    "compare in words": lambda path: nsb.compare((ID, WORLD), f"sb3:path={path}", runs=1),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_a_saved_model_before_anything_in_it_runs(foreign: Any, door: str) -> None:
    path, mark = foreign
    with pytest.raises(ValueError, match=r"is a saved model, .* run any code .* trust=True, or --trust-models"):
        DOORS[door](path)
    assert not mark.exists()


def test_a_study_refuses_it_too_and_its_description_cannot_trust(
    foreign: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, mark = foreign
    assert evaluated(path, tmp_path / "out") == 2
    assert "pass trust=True, or --trust-models" in capsys.readouterr().err
    (tmp_path / "mine.toml").write_text(f'worlds = ["{WORDS}"]\nagents = [{{agent="sb3", path="{path}", trust=true}}]')
    for described in (
        lambda: read_study(tmp_path / "mine.toml"),
        lambda: AgentSpec.read(f"sb3:path={path},trust=yes"),
        lambda: read_agents(f"sb3:path={path},trust=true"),
        lambda: AgentSpec.of("sb3", path=str(path), trust=True),
    ):
        with pytest.raises(ValueError, match="trust is not part of a description"):
            described()
    assert not mark.exists()


def test_who_trusts_it_can_play_it(foreign: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, mark = foreign
    nsb.simulate(ID, "sb3", agent_kwargs={"path": path, "trust": True}, env_kwargs=WORLD, runs=1)
    assert mark.exists()  # so the trap works, and the tests above prove something
    mark.rmdir()
    assert evaluated(path, tmp_path / "out", "--trust-models") == 0
    assert mark.exists()
    for odd in ("yes", 1, None):
        with pytest.raises(TypeError, match="trust must be True or False"):
            rl.SB3Agent.load(path, trust=odd)  # type: ignore[arg-type]
    capsys.readouterr()


def test_trust_is_no_part_of_what_a_result_is_stored_under(foreign: Any) -> None:
    study = Study("", (experiment([WORDS], [f"sb3:path={foreign[0]}"], runs=1),))
    assert len({units_of(pinned(study, trust_models=trust))[0].identity("v") for trust in (False, True)}) == 1


def test_what_is_no_model_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no archive")
    np.savez(tmp_path / "arrays.npz", description=np.zeros(3))  # as earlier versions exported
    for name in ("text.zip", "arrays.npz"):
        with pytest.raises(ValueError, match=r"is no model: neither saved by Stable-Baselines3 nor by SB3Agent.export"):
            rl.SB3Agent.load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("data", "{}")
    with pytest.raises(ValueError, match="cannot be read as a model of Stable-Baselines3"):
        rl.SB3Agent.load(tmp_path / "other.zip", algo="ppo", trust=True)
    with pytest.raises(FileNotFoundError, match="there is no file at"):
        rl.SB3Agent.load(tmp_path / "none.zip")


def test_a_model_is_an_agent_of_a_study_like_any_other_and_a_retrained_one_is_played_anew(
    model: Models, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "model.pt", tmp_path / "out"
    for algo, computed in (("ppo", 2), ("ppo", 0), ("a2c", 1)):
        rl.SB3Agent(model(algo)).export(path)
        assert evaluated(path, out) == 0
        assert f"{computed} of 2 units computed" in capsys.readouterr().out
    assert "sb3:path=" in (out / "report.html").read_text()


def test_a_model_that_does_not_fit_is_refused_before_anything_runs(
    model: Models, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.pt"
    rl.SB3Agent(model("ppo")).export(path)
    assert evaluated(path, tmp_path / "out", world="NSBandit-Abrupt-v0") != 0
    assert "sb3:path=" in capsys.readouterr().err


@pytest.mark.parametrize("ending", [".zip", ".pt"])
def test_a_model_that_is_replaced_during_a_run_is_played_as_it_was(model: Models, tmp_path: Path, ending: str) -> None:
    path, (first, second) = tmp_path / f"model{ending}", (rl.SB3Agent(model(algo)) for algo in ("ppo", "a2c"))
    first.save(path) if ending == ".zip" else first.export(path)
    asked = Study("", (experiment([WORDS], [f"sb3:path={path}"], runs=2),))
    [entry] = pinned(asked, trust_models=True).experiments[0].agents
    second.save(path) if ending == ".zip" else second.export(path)
    played = nsb.simulate(ID, "sb3", agent_kwargs=entry.kwargs, env_kwargs=WORLD, runs=2)
    np.testing.assert_array_equal(played.regret, nsb.simulate(ID, first, env_kwargs=WORLD, runs=2).regret)
