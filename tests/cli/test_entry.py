"""One table of commands, help that is fast and correct, and scripts that run the same commands."""

import importlib
import re
import shlex
import sys
from pathlib import Path

import pytest

import ns_mab_gym
from ns_mab_gym.cli import entry

from .conftest import ROOT

DOORS = {"paper": "paper", "evaluate": "evaluate", "diagnose": "diagnose", "plot_worlds": "plot", "train_sb3": "train"}


def parser_of(command, monkeypatch):
    found = []
    module = importlib.import_module(f"ns_mab_gym.cli.{entry.COMMANDS[command][0].partition(':')[0]}")
    monkeypatch.setattr(module, "closing", lambda parser, *_, **__: found.append(parser) or 0)
    assert entry.main([command]) == 0
    return found[0]


@pytest.mark.parametrize("command", entry.COMMANDS)
def test_every_command_explains_itself_with_examples_that_can_be_read(command, capsys, monkeypatch):
    with pytest.raises(SystemExit) as ended:
        entry.main([command, "--help"])
    said = capsys.readouterr()
    assert (ended.value.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: ns-mab-gym {command} ")
    assert "--debug" in said.out
    assert not any(len(line) > 140 for line in said.out.splitlines())
    examples = said.out.split("\nexamples:\n")[1].strip().splitlines()
    assert len(examples) >= 2
    parser = parser_of(command, monkeypatch)
    for example in examples:
        words = shlex.split(example.partition(">")[0])
        assert words[:2] == ["ns-mab-gym", command]
        parser.parse_args(words[2:])  # an error would be raised


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_the_first_help_names_every_command(arguments, capsys):
    assert entry.main(arguments) == 0
    said = capsys.readouterr().out
    for command, (_, what) in entry.COMMANDS.items():
        assert re.search(rf"^  {command} +{re.escape(what)}$", said, re.MULTILINE)
    assert entry.main(["--version"]) == 0
    assert capsys.readouterr().out == f"ns-mab-gym {ns_mab_gym.__version__}\n"


def test_the_first_help_loads_nothing_heavy(python):
    heavy = ("numba", "matplotlib", "torch", "pyarrow", "pandas", "plotly", "stable_baselines3", "tqdm")
    code = (
        f"import sys; from ns_mab_gym.cli.entry import main; main(['--help']); print(set({heavy}) & set(sys.modules))"
    )
    assert python("-c", code).stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    ("given", "nearest"),
    [("papr", "did you mean 'paper'?"), ("evalute", "did you mean 'evaluate'?"), ("x", "choose one")],
)
def test_an_unknown_command_is_answered_by_the_nearest(given, nearest, one_error):
    assert entry.main([given, "--runs", "3"]) == 2
    said = one_error("ns-mab-gym")
    assert said.startswith(f"unknown command {given!r}; {nearest}")


def test_python_m_and_the_installed_command_are_the_same(python):
    installed = Path(sys.executable).with_name("ns-mab-gym")
    runs = [python("-m", "ns_mab_gym", "worlds", "nowhere"), python(installed, "worlds", "nowhere")]
    for run in runs:
        assert (run.returncode, run.stdout) == (2, "")
        assert run.stderr.startswith("ns-mab-gym worlds: error: unknown world, id or law 'nowhere'; ")
        assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("door", DOORS)
def test_scripts_run_the_commands(door, python, monkeypatch):
    helped, refused = (python(ROOT / "scripts" / f"{door}.py", option) for option in ("--help", "--no-such-option"))
    assert helped.returncode == 0, helped.stderr
    assert helped.stdout.startswith(f"usage: {door}.py ")
    assert parser_of(DOORS[door], monkeypatch).description in helped.stdout
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr.startswith(f"{door}.py: error: ")
