"""What the tests of experiments and commands share: a small study, a store, other processes."""

import json
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


# Plays agents on a world as the commands do; prints their regrets, which of them were computed, and what was said.
RUN = """
import json, sys, warnings
warnings.simplefilter("ignore")
from functools import partial
from ns_mab_gym import parallel, simulate
from ns_mab_gym.code_version import CodeVersions
from ns_mab_gym.play.progress import Lines
from ns_mab_gym.studies import Store, Study, collect, load, run
from ns_mab_gym.studies.study import experiment

if __name__ == "__main__":
    world, fresh, kind, *agents = sys.argv[1:]
    told, study = [], Study("", (experiment([world], agents, runs=4),))
    with Store("store", CodeVersions(told.append), told.append, fresh=fresh == "True") as store:
        with parallel.executor(kind, 2) as pool:
            outcome = run(study, store, simulate, Lines(sys.stderr), pool=pool)
        [curves] = map(dict, collect(study, partial(load, store)).curves.values())
    print(json.dumps({
        "computed": sorted(unit.agent.name for unit in outcome.computed),
        "regret": {label: float(curve.final.mean()) for label, curve in curves.items()},
        "told": told,
    }))
"""


@pytest.fixture
def play(python, tmp_path):
    """A function that plays agents on a world in a new process, and gives what the process printed."""
    (tmp_path / "run.py").write_text(RUN)

    def played(*agents, world="abrupt:horizon=20", fresh=False, kind="threads", fails=False):
        ended = python("run.py", world, fresh, kind, *agents)
        assert (ended.returncode != 0) == fails, ended.stderr
        return ended.stderr if fails else json.loads(ended.stdout)

    return played


def own_agent(body="return 0", head="", name="Mine"):
    """The text of a module with an agent of a user's."""
    return f"""{head}
class {name}:
    def __init__(self, n_arms):
        pass

    def reset(self, seed=None):
        pass

    def act(self, observation=None):
        {body}

    def observe(self, arm, reward):
        pass
"""
