"""What the tests of experiments and commands share: a small study, a store, other processes."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from fake_engine import HORIZON
from quiet_progress import Quiet
from stored_runs import v1

from ns_mab_gym import parallel
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.runner import compute
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import Experiment, Study, units_of


@pytest.fixture
def study():
    """Two worlds, three agents, 60 runs: blocks of 25, 25 and 10."""
    return Study(
        "test",
        (
            Experiment(
                worlds=(
                    WorldSpec.of("NSBandit-Abrupt-v0", label="abrupt", horizon=HORIZON),
                    WorldSpec.of("NSBandit-Smooth-v0", horizon=HORIZON),
                ),
                agents=(
                    AgentSpec.of("ts"),
                    AgentSpec.of("beta-swts", label="short", window=50),
                    AgentSpec.of("ucb1"),
                ),
                runs=60,
            ),
        ),
    )


@pytest.fixture
def small_study(study):
    """One world, two agents, one unit each."""
    [experiment] = study.experiments
    return Study("small", (replace(experiment, worlds=experiment.worlds[:1], agents=experiment.agents[:2], runs=5),))


@pytest.fixture
def one_by_one(monkeypatch):
    """Every unit is a task of its own, and so has a file of its own."""
    monkeypatch.setattr(parallel, "MOST_ITEMS", 1)


@pytest.fixture
def told():
    """What the store has told."""
    return []


@pytest.fixture
def store(tmp_path, told):
    with Store(tmp_path / "out", v1, told.append) as opened:
        yield opened


@pytest.fixture
def unit(study):
    return units_of(study)[1]


@pytest.fixture
def block(unit, engine):
    return compute(unit, engine, None)


@pytest.fixture
def progress():
    return Quiet()


@pytest.fixture
def python(tmp_path):
    """A function that runs Python with arguments, in a process and a folder of its own; ``path`` can be imported."""

    def run(*arguments, path=None):
        environment = os.environ | ({} if path is None else {"PYTHONPATH": str(path)})
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    return run
