"""What the tests of experiments and commands share: a stand-in for the engine, a small study, a store, other processes.

The stand-in is fast, deterministic and paired, and keeps a record of what it was asked.
"""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from quiet_progress import Quiet
from single_version import v1

from ns_mab_gym import parallel
from ns_mab_gym.runs import Runs, seed_pair
from ns_mab_gym.specs import AgentSpec, WorldSpec
from ns_mab_gym.studies.runner import compute
from ns_mab_gym.studies.store import Store
from ns_mab_gym.studies.study import Experiment, Study
from ns_mab_gym.studies.units import units_of

HORIZON, ARMS, POINTS = 1_000, 10, 20


class FakeEngine:
    """Regret that grows by an agent's own slope (the number of letters of its name) plus shared and own luck."""

    def __init__(self):
        self.calls = []

    def __call__(self, env, agent, *, runs, seed, env_kwargs, agent_kwargs, n_jobs, first_run, rounds=None):
        self.calls.append((env, agent, tuple(sorted(agent_kwargs.items())), first_run, runs))
        grid = np.arange(1, POINTS + 1) * (HORIZON // POINTS)
        noted = grid if rounds is None else np.array(sorted({*rounds, HORIZON}))
        slope = len(agent) + len(str(sorted(agent_kwargs.items()))) / 100
        curves = []
        for run in range(first_run, first_run + runs):
            shared = np.random.default_rng((seed, run, 0)).random(POINTS)
            own = np.random.default_rng((seed, run, len(agent))).random(POINTS)
            curves.append(np.interp(noted, grid, np.cumsum(slope * 5 + shared + own)))
        return Runs(
            rounds=noted,
            regret=np.array(curves),
            pulls=np.full((runs, ARMS), HORIZON // ARMS),
            suboptimal_pulls=np.full((runs, ARMS), HORIZON // ARMS // 2),
            seeds=[seed_pair(seed, run) for run in range(first_run, first_run + runs)],
            parameters=[{"n_arms": ARMS, **agent_kwargs}] * runs,
            seconds=0.25,
        )


@pytest.fixture
def engine():
    return FakeEngine()


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
                    AgentSpec.of("ucb"),
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
