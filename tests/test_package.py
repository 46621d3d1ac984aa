"""The house: what an import costs and what a wheel holds."""

import importlib.metadata
import subprocess
import sys
import tomllib
from pathlib import Path

import gymnasium as gym
import pytest

import ns_mab_gym

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
HEAVY = {"torch", "stable_baselines3", "sb3_contrib", "matplotlib", "pandas", "pyarrow", "plotly", "scipy", "numba"}


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_and_stepping_loads_nothing_heavy():
    code = (
        "import sys, gymnasium, ns_mab_gym, ns_mab_gym.wrappers, ns_mab_gym.agents\n"
        "env = gymnasium.make('NSBandit-Abrupt-v0'); env.reset(seed=0); env.step(0)\n"
        "gymnasium.make_vec('NSBandit-Abrupt-v0', num_envs=2).reset()\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    assert run(code) == "[]\n"


def test_every_public_name_can_be_had():
    for name in ns_mab_gym.__all__:
        assert getattr(ns_mab_gym, name) is not None
        assert name in dir(ns_mab_gym)
    with pytest.raises(AttributeError, match="module 'ns_mab_gym' has no attribute 'simulat'"):
        _ = ns_mab_gym.simulat


def test_the_package_lists_what_is_meant_for_users_alone():
    assert dir(ns_mab_gym) == sorted([*ns_mab_gym.__all__, "__version__"])


def test_versions_agree():
    assert ns_mab_gym.__version__ == PROJECT["project"]["version"] == importlib.metadata.version("ns-mab-gym")
    assert f"## [{ns_mab_gym.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {ns_mab_gym.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_package_folder_is_listed_in_the_project_file():
    """Setuptools ships what is listed, and nothing tells when a folder is forgotten but a broken wheel."""
    folders = {init.parent.relative_to(ROOT) for init in (ROOT / "ns_mab_gym").rglob("__init__.py")}
    packages = {".".join(folder.parts) for folder in folders} | {"ns_mab_gym.agents"}
    packages |= {
        f"ns_mab_gym.{'.'.join(i.parent.relative_to(ROOT).parts)}" for i in (ROOT / "agents").rglob("__init__.py")
    }
    assert packages == set(PROJECT["tool"]["setuptools"]["packages"])


def test_registering_twice_keeps_what_is_there():
    before = gym.registry["NSBandit-Abrupt-v0"]
    ns_mab_gym.envs.register()
    gym.register_envs(ns_mab_gym)
    assert gym.registry["NSBandit-Abrupt-v0"] is before
