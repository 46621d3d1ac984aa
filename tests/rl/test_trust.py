"""A model that this machine did not save is not loaded unless its user says so: loading it can run any code."""

from __future__ import annotations

import base64
import json
import os
import pickle
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from quiet_progress import Quiet

import ns_mab_gym as nsb
from ns_mab_gym import rl
from ns_mab_gym.cli.evaluate_command import main as evaluate
from ns_mab_gym.experiments import AgentEntry, Store, Study, code_versions, read_toml, run
from ns_mab_gym.experiments.parsing import agents_of, experiment, parse
from ns_mab_gym.experiments.pinned_files import pinned
from ns_mab_gym.experiments.runner import load
from ns_mab_gym.kept_files import KeptFile
from ns_mab_gym.rl import own_models

from .conftest import WORLD

Models = Callable[[str], Any]
ID = "NSBandit-Piecewise-v0"
WORDS = f"{ID}:" + ",".join(f"{key}={value}" for key, value in WORLD.items())


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return os.makedirs, (str(self.mark), 0o777, True)


@pytest.fixture
def foreign(model: Models, tmp_path: Path) -> tuple[Path, Path]:
    """A model that somebody else saved, with code in it; and the mark that the code leaves."""
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


def evaluated(path: Path, out: Path, *more: str) -> int:
    return evaluate(["--env", WORDS, "--agents", f"sb3:path={path}", "--runs", "1", "--out", str(out), *more])


DOORS: dict[str, Callable[[Path], Any]] = {
    "load": lambda path: rl.SB3Agent.load(path),
    "load with algo": lambda path: rl.SB3Agent.load(path, algo="ppo"),
    "load a kept file": lambda path: rl.SB3Agent.load(KeptFile(path)),
    "simulate": lambda path: nsb.simulate(ID, "sb3", agent_kwargs={"path": path}, env_kwargs=WORLD, runs=1),
    "compare": lambda path: nsb.compare((ID, WORLD), ("sb3", {"path": str(path)}), runs=1),
    "compare in words": lambda path: nsb.compare((ID, WORLD), f"sb3:path={path}", runs=1),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_a_foreign_model_before_anything_in_it_runs(foreign: Any, door: str) -> None:
    path, mark = foreign
    with pytest.raises(
        ValueError, match=r"not saved on this machine, .* run any code .* trust=True, or --trust-models"
    ):
        DOORS[door](path)
    assert not mark.exists()


def test_a_study_refuses_it_too_and_its_description_cannot_trust(
    foreign: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, mark = foreign
    assert evaluated(path, tmp_path / "out") == 2
    assert "pass trust=True, or --trust-models" in capsys.readouterr().err
    study = Study("", (experiment([WORDS], [f"sb3:path={path}"], runs=1),))
    with Store(tmp_path / "store", code_versions(print)) as store:
        [failure] = run(study, store, nsb.simulate, Quiet()).failures  # type: ignore[arg-type]
    assert "not saved on this" in failure.error
    (tmp_path / "mine.toml").write_text(f'worlds = ["{WORDS}"]\nagents = [{{agent="sb3", path="{path}", trust=true}}]')
    for described in (
        lambda: read_toml(tmp_path / "mine.toml"),
        lambda: parse(AgentEntry, f"sb3:path={path},trust=yes"),
        lambda: agents_of(f"sb3:path={path},trust=true"),
        lambda: AgentEntry.of("sb3", path=str(path), trust=True),
    ):
        with pytest.raises(ValueError, match="trust is not part of a description"):
            described()
    assert not mark.exists()


def test_who_trusts_it_can_play_it(foreign: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, mark = foreign
    kwargs = {"path": path, "trust": True}
    nsb.simulate(ID, "sb3", agent_kwargs=kwargs, env_kwargs=WORLD, runs=1)
    assert mark.exists()  # so the trap works, and the tests above prove something
    mark.rmdir()
    assert evaluated(path, tmp_path / "out", "--trust-models") == 0
    assert mark.exists()
    mark.rmdir()
    study = pinned(Study("", (experiment([WORDS], [f"sb3:path={path}"], runs=1),)), trust_models=True)
    with Store(tmp_path / "store", code_versions(print)) as store:
        assert len(run(study, store, nsb.simulate, Quiet()).computed) == 1  # type: ignore[arg-type]
    for odd in ("yes", 1, None):
        with pytest.raises(TypeError, match="trust must be True or False"):
            rl.SB3Agent.load(path, trust=odd)  # type: ignore[arg-type]
    capsys.readouterr()


def test_trust_is_no_part_of_what_a_result_is_stored_under(foreign: Any, tmp_path: Path) -> None:
    path, _ = foreign
    study = Study("", (experiment([WORDS], [f"sb3:path={path}"], runs=1),))
    from ns_mab_gym.experiments.units import units_of

    identities = {units_of(pinned(study, trust_models=trust))[0].identity("v") for trust in (False, True)}
    assert len(identities) == 1


def test_own_models_are_known_by_their_content_and_to_this_user_only(
    model: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rl.SB3Agent(model("ppo")).save(tmp_path / "model")
    path = tmp_path / "model.zip"
    (tmp_path / "elsewhere.zip").write_bytes(path.read_bytes())
    monkeypatch.setattr(own_models, "_saved_now", set())  # as in another process
    rl.SB3Agent.load(path)
    rl.SB3Agent.load(tmp_path / "model")
    rl.SB3Agent.load(tmp_path / "elsewhere.zip")
    record = tmp_path / "state" / "ns_mab_gym" / "models"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert len(record.read_text().splitlines()) == 1
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ValueError, match="not saved on this machine"):
        rl.SB3Agent.load(path)
    record.write_bytes(b"\xff\0nonsense\n")
    with pytest.raises(ValueError, match="not saved on this machine"):
        rl.SB3Agent.load(tmp_path / "elsewhere.zip")


@pytest.mark.parametrize("home", ["", "relative", "/proc/none", "{tmp}/file"])
def test_without_a_folder_to_write_to_a_model_is_known_to_its_process(
    model: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", home.format(tmp=tmp_path))
    monkeypatch.setenv("HOME", "/proc/none")
    rl.SB3Agent(model("a2c")).save(tmp_path / "model.zip")
    rl.SB3Agent.load(tmp_path / "model.zip")
    monkeypatch.setattr(own_models, "_saved_now", set())
    with pytest.raises(ValueError, match="not saved on this machine"):
        rl.SB3Agent.load(tmp_path / "model.zip")


def test_what_is_no_model_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(ValueError, match="is no model"):
        rl.SB3Agent.load(tmp_path / "text.zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("data", "{}")
    with pytest.raises(ValueError, match="not saved on this machine"):
        rl.SB3Agent.load(tmp_path / "other.zip")
    with pytest.raises(ValueError, match="does not say of which algorithm"):
        rl.SB3Agent.load(tmp_path / "other.zip", trust=True)
    with pytest.raises(ValueError, match="cannot be read as a model of Stable-Baselines3"):
        rl.SB3Agent.load(tmp_path / "other.zip", algo="ppo", trust=True)
    with pytest.raises(FileNotFoundError, match="there is no file at"):
        rl.SB3Agent.load(tmp_path / "none.zip")


@pytest.mark.parametrize("ending", [".zip", ".npz"])
def test_a_model_that_is_replaced_during_a_run_is_played_as_it_was(model: Models, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"model{ending}"

    def write(algo: str) -> None:
        agent = rl.SB3Agent(model(algo))
        agent.save(path) if ending == ".zip" else agent.export(path)

    def replacing(*arguments: Any, **options: Any) -> Any:
        write("a2c")
        return nsb.simulate(*arguments, **options)

    def played(simulate: Callable[..., Any]) -> tuple[int, Any]:
        study = Study("", (experiment([WORDS], [f"sb3:path={path}"], runs=2),))
        with Store(tmp_path / "store", code_versions(print)) as store:
            outcome = run(study, store, simulate, Quiet())  # type: ignore[arg-type]
            return len(outcome.computed), load(store, outcome.units[0]).regret

    alone = {
        algo: nsb.simulate(ID, rl.SB3Agent(model(algo)), env_kwargs=WORLD, runs=2).regret for algo in ("ppo", "a2c")
    }
    write("ppo")
    old = path.read_bytes()
    computed, regret = played(replacing)
    assert computed == 1
    np.testing.assert_array_equal(regret, alone["ppo"])
    computed, regret = played(nsb.simulate)
    assert computed == 1
    np.testing.assert_array_equal(regret, alone["a2c"])
    path.write_bytes(old)
    computed, regret = played(nsb.simulate)
    assert computed == 0
    np.testing.assert_array_equal(regret, alone["ppo"])
