"""``evaluate`` takes a saved model beside the zoo, refuses one that does not fit, and notices a retrained one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ns_mab_gym import rl
from ns_mab_gym.cli.evaluate_command import main as evaluate

from .conftest import WORLD

SETTINGS = ",".join(f"{key}={value}" for key, value in WORLD.items())


def command(model: Path, out: Path, world: str = f"NSBandit-Piecewise-v0:{SETTINGS}") -> list[str]:
    return ["--env", world, "--agents", f"sb3:path={model}", "ts", "--runs", "2", "--out", str(out)]


def test_a_model_is_an_agent_like_any_other(
    model: Callable[[str], Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "model.zip"
    rl.SB3Agent(model("ppo")).save(saved)
    assert evaluate(command(saved, tmp_path / "out")) == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "sb3:path=" in page
    units = {path.name for path in (tmp_path / "out" / "units").iterdir()}
    rl.SB3Agent(model("a2c")).save(saved)  # another model under the same name
    assert evaluate(command(saved, tmp_path / "out")) == 0
    assert len(units - {path.name for path in (tmp_path / "out" / "units").iterdir()}) == 1
    capsys.readouterr()


@pytest.mark.parametrize(
    ("world", "words"), [("NSBandit-Abrupt-v0", "sb3:path="), ("NSBandit-Piecewise-v0", "sb3:path=")]
)
def test_a_model_that_does_not_fit_is_refused_before_anything_runs(
    model: Callable[[str], Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], world: str, words: str
) -> None:
    saved = tmp_path / "model.zip"
    rl.SB3Agent(model("ppo")).save(saved)
    assert evaluate(command(saved, tmp_path / "out", world)) != 0
    assert words in capsys.readouterr().err
    assert evaluate(command(tmp_path / "none.zip", tmp_path / "out")) != 0
    assert "no saved model at" in capsys.readouterr().err
