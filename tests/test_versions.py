"""What versions the project file declares, and that ``.ci/versions`` tries the lowest of those and no others."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = set(PROJECT["optional-dependencies"]) - {"lint"}  # its tools are pinned, and no user installs them
TOY = {
    "name": "toy",
    "dependencies": ["numpy>=2.0"],
    "optional-dependencies": {
        "fast": ["dask[distributed]>=2024.8,<2030", "scipy>=1.15"],
        "test": ["toy[fast]", "pytest>=8", "scipy>=1.15"],
        "loose": ["tqdm"],
        "other": ["scipy>=1.13"],
    },
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that reads the lowest versions."""
    spec = importlib.util.spec_from_file_location("minimums", ROOT / ".ci" / "versions.d" / "minimums.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lowest_versions_are_those_that_are_declared(script):
    assert script.minimums(TOY, []) == {"numpy": "2.0"}
    assert script.minimums(TOY, ["fast", "test"]) == {
        "numpy": "2.0",
        "dask": "2024.8",
        "scipy": "1.15",
        "pytest": "8",
    }


def test_a_dependency_without_a_lowest_version_is_refused(script):
    with pytest.raises(ValueError, match="'tqdm' states no least version; write it as name>=version"):
        script.minimums(TOY, ["loose"])


def test_two_lowest_versions_of_one_dependency_are_refused(script):
    with pytest.raises(ValueError, match=r"scipy has two least versions, 1\.15 and 1\.13"):
        script.minimums(TOY, ["fast", "other"])


def test_every_dependency_of_the_house_has_one_lowest_version(script):
    least = script.minimums(PROJECT, sorted(EXTRAS))
    assert {"numpy", "gymnasium", "numba", "matplotlib", "stable-baselines3", "dask", "pytest", "river"} <= set(least)


def test_the_lowest_python_is_the_same_everywhere():
    """In the requirement, in the classifiers, and where the continuous integration looks for Pythons."""
    lowest = PROJECT["requires-python"].removeprefix(">=")
    pythons = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in PROJECT["classifiers"]]
    named = [found[1] for found in pythons if found]
    assert named[0] == lowest
    assert named == [f"3.{minor}" for minor in range(int(lowest[2:]), int(lowest[2:]) + len(named))]
    searched = (ROOT / ".ci" / "versions").read_text()
    assert f"sys.version_info >= ({lowest.replace('.', ', ')})" in searched
