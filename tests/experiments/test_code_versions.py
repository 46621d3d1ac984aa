"""An edit of the engine, of the environment or of what both stand on makes every stored result an old one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ns_mab_gym

# What plays every run, whichever agent and world it is of.
EVERYWHERE = [
    *(f"play/{name}.py" for name in ("engine", "episode", "fingerprints", "loop", "match", "resolving")),
    *(f"envs/{name}.py" for name in ("bandit", "render")),
    *(f"agents/core/{name}.py" for name in ("kernel", "knowledge", "protocol")),
    *("means.py", "quantile.py", "rewards.py", "runs.py", "worlds/world.py"),
]
MODELS = {"abrupt sb3", "table sb3"}
# What plays some: the file, and the units that depend on it.
SOME = {
    "agents/ser4.py": {"abrupt ser4", "table ser4"},
    "agents/parts/races.py": {"abrupt ts", "table ts"},
    "worlds/paper.py": {"abrupt random", "abrupt sb3", "abrupt ser4", "abrupt ts"},
    "worlds/table.py": {"table random", "table sb3", "table ser4", "table ts"},
    **{f"rl/{name}.py": MODELS for name in ("sb3_agent", "policy_export", "policy_shapes", "own_models", "recipe")},
    **{f"wrappers/{name}.py": MODELS for name in ("delay", "memory", "last_rounds", "windowed_statistics")},
    "rl/training.py": set(),
    "envs/vector.py": MODELS,  # all runs of a model at once
    "experiments/identity.py": set(),
    "figures/style.py": set(),
}
# Prints the version of every unit as the code stands, and after an edit of each file, which is undone.
PROGRAM = """
import json, sys
from pathlib import Path
import ns_mab_gym
from ns_mab_gym.experiments import AgentEntry, WorldEntry
from ns_mab_gym.experiments.identity import modules_of
from ns_mab_gym.sources import digest_of

house = Path(ns_mab_gym.__file__).parent
worlds = {"abrupt": WorldEntry.of("abrupt"), "table": WorldEntry.of("table", path="means.csv")}
units = {f"{world} {agent}": modules_of(worlds[world], AgentEntry.of(agent))
         for world in worlds for agent in ("random", "sb3", "ser4", "ts")}

def versions():
    return {name: digest_of(modules) for name, modules in units.items()}

found = {"": versions()}
for name in sys.argv[1:]:
    file = house / name
    source = file.read_text()
    file.write_text(source + "\\n_EDITED = 1\\n")
    found[name] = versions()
    file.write_text(source)
found["undone"] = versions()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """The version of each unit, by the file that was edited, in a copy of the package."""
    folder = tmp_path_factory.mktemp("house")
    ours = Path(ns_mab_gym.__file__).parent
    shutil.copytree(ours, folder / "ns_mab_gym", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "means.csv").write_text("0.1,0.9\n")
    command = [sys.executable, "-c", PROGRAM, *EVERYWHERE, *SOME]
    env = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def changed(versions, file: str) -> set[str]:
    return {unit for unit, version in versions[file].items() if version != versions[""][unit]}


@pytest.mark.parametrize("file", EVERYWHERE)
def test_an_edit_of_what_plays_every_run_changes_the_version_of_every_unit(versions, file):
    assert changed(versions, file) == versions[""].keys()


@pytest.mark.parametrize("file", SOME)
def test_an_edit_of_an_agent_or_a_world_changes_the_versions_of_its_own_units(versions, file):
    assert changed(versions, file) == SOME[file]


def test_an_edit_that_is_undone_brings_the_versions_back(versions):
    assert changed(versions, "undone") == set()
    assert len(set(versions[""].values())) == len(versions[""])
