"""Run by the Python of an empty environment, outside the checkout: is the installed wheel whole, and nothing more?

Usage: ``python check_wheel.py WHEEL PYPROJECT``. The environment holds the wheel and what the wheel itself requires;
none of the extras is there.
"""

from __future__ import annotations

import email
import importlib.metadata
import importlib.util
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import gymnasium as gym

import ns_mab_gym
import ns_mab_gym.agents
from ns_mab_gym.cli.entry import COMMANDS
from ns_mab_gym.envs import ENV_IDS

REPORT = "ns_mab_gym/report/templates/"
LEADERBOARD = "ns_mab_gym/leaderboard/templates/"
LOG = "ns_mab_gym/logs/templates/"
# Commands that need no extra, with a word that they print; and arguments for those that need one.
WITHOUT_EXTRAS = {"agents": "beta-swts", "worlds": "abrupt", "cite": "@article{"}
WITH_EXTRAS = {
    "paper": ["--runs", "2", "--horizon", "100"],
    "evaluate": ["--env", "NSBandit-Abrupt-v0", "--agents", "random", "--runs", "2"],
    "leaderboard": ["--quick"],
    "tune": ["NSBandit-Abrupt-v0", "beta-swts", "--runs", "20"],
    "recommend": ["NSBandit-Abrupt-v0", "--seconds", "1"],
    "diagnose": ["NSBandit-Abrupt-v0"],
    "log": ["log.csv"],
    "serve": ["state.sqlite", "--arms", "blue", "green"],
    "train": ["--timesteps", "100"],
    "plot": [],
}


def check_files(files: list[str], packages: list[str]) -> None:
    """The wheel holds every listed package, the report's files and ``py.typed``, and nothing from elsewhere."""
    tops = {name.split("/")[0] for name in files}
    assert len(tops) == 2, f"the wheel installs more than ns_mab_gym and its metadata: {sorted(tops)}"
    wanted = ["ns_mab_gym/py.typed", *(f"{package.replace('.', '/')}/__init__.py" for package in packages)]
    assert not (missing := set(wanted) - set(files)), f"missing from the wheel: {sorted(missing)}"
    for ending in (".html", ".css", ".js"):
        assert any(name.startswith(REPORT) and name.endswith(ending) for name in files), f"no {ending} in {REPORT}"
    assert f"{LEADERBOARD}leaderboard.html" in files, f"no page in {LEADERBOARD}"
    assert f"{LOG}log.html" in files, f"no page in {LOG}"
    tests = [name for name in files if "tests/" in name or Path(name).name.startswith(("test_", "conftest"))]
    assert not tests, f"tests in the wheel: {tests}"


def check_metadata(wheel: zipfile.ZipFile, project: dict[str, Any]) -> None:
    """The metadata carry the project's links, and the licence and the citation lie beside them."""
    (place,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(place))
    links = {f"{name}, {address}" for name, address in project["urls"].items()}
    assert set(metadata.get_all("Project-URL", [])) == links, "the project's links are not in METADATA"
    assert metadata["Requires-Python"] == project["requires-python"], "another Requires-Python"
    for file in ("LICENSE", "CITATION.cff"):
        assert file in metadata.get_all("License-File", []), f"METADATA does not name {file}"
        assert place.replace("METADATA", f"licenses/{file}") in wheel.namelist(), f"{file} is missing from the wheel"


def check_import() -> None:
    """The package comes from the environment, takes no name beside its own, and its agents and ids can be had."""
    assert "site-packages" in ns_mab_gym.__file__, f"not the installed package: {ns_mab_gym.__file__}"
    assert importlib.util.find_spec("agents") is None, "a top-level package `agents` was installed"
    assert importlib.metadata.version("ns-mab-gym") == ns_mab_gym.__version__
    for name in ns_mab_gym.agents.names():
        ns_mab_gym.agents.kind(name)
    for env_id in ENV_IDS:
        env = gym.make(env_id, horizon=100)
        env.reset(seed=0)
        env.step(0)


def called(*arguments: str) -> subprocess.CompletedProcess[str]:
    """What the installed command ``ns-mab-gym`` says, and its exit code."""
    command = Path(sys.executable).parent / "ns-mab-gym"
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=False)


def check_commands() -> None:
    """Each command works, or says in one line which extra to install and exits with 2."""
    helped = called("--help")
    assert helped.returncode == 0, helped.stderr
    assert all(command in helped.stdout for command in COMMANDS), f"a command is not in the help:\n{helped.stdout}"
    assert {*WITHOUT_EXTRAS, *WITH_EXTRAS} == set(COMMANDS), "say above which commands need an extra"
    for command, word in WITHOUT_EXTRAS.items():
        done = called(command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert word in done.stdout, f"{command} does not print {word!r}:\n{done.stdout}"
    Path("log.csv").write_text("time,arm,reward\n1,a,0\n2,b,1\n", encoding="utf-8")
    for command, arguments in WITH_EXTRAS.items():
        done = called(command, *arguments)
        told = f"{command} exits with {done.returncode} and says:\n{done.stdout}{done.stderr}"
        assert done.returncode == 2, told
        assert done.stderr.count("\n") == 1, told
        assert "pip install 'ns-mab-gym[" in done.stderr, told


def main(wheel: str, pyproject: str) -> None:
    """All checks, and one line on what was found."""
    described = tomllib.loads(Path(pyproject).read_text(encoding="utf-8"))
    with zipfile.ZipFile(wheel) as opened:
        files = opened.namelist()
        check_files(files, described["tool"]["setuptools"]["packages"])
        check_metadata(opened, described["project"])
    check_import()
    check_commands()
    found = f"{len(ENV_IDS)} ids, {len(ns_mab_gym.agents.names())} agents, {len(COMMANDS)} commands"
    print(f"wheel: {len(files)} files, {found}, nothing but ns_mab_gym")


if __name__ == "__main__":
    main(*sys.argv[1:])
