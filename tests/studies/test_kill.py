"""Killed with SIGKILL at ten random moments, a run ends with the results of an uninterrupted one."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress

import pytest
from stored_runs import stored_in

# A server that has imported everything and forks a runner for each line it reads: ten restarts cost no imports.
# The engine notes every unit when it begins, and takes its time, so that kills find it and the writer at work.
SERVER = """
import os, sys, time
import numpy as np
from ns_mab_gym.studies import AgentSpec, Experiment, Store, Study, WorldSpec, run
from ns_mab_gym.play.progress import Lines
from ns_mab_gym.runs import seed_pair
from ns_mab_gym.runs import Runs

study = Study("killed", (Experiment(
    worlds=(WorldSpec.of("NSBandit-Abrupt-v0"), WorldSpec.of("NSBandit-Smooth-v0")),
    agents=tuple(AgentSpec.of("ts", window=w) for w in range(1, 11)), runs=75),))

def engine(env, agent, *, runs, seed, env_kwargs, agent_kwargs, n_jobs, first_run, rounds=None):
    with open(sys.argv[2], "a") as log:
        log.write(f"{env} {agent_kwargs['window']} {first_run}\\n")
    time.sleep(0.01)
    numbers = range(first_run, first_run + runs)
    rng = [np.random.default_rng((seed, len(env), agent_kwargs["window"], run)) for run in numbers]
    regret = np.array([np.cumsum(each.random(400)) for each in rng])
    return Runs(rounds=np.arange(1, 401), regret=regret, pulls=np.full((runs, 2), 200),
        suboptimal_pulls=np.full((runs, 2), 100), seeds=[seed_pair(seed, run) for run in numbers],
        parameters=[{}] * runs, seconds=0.01)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        with Store(sys.argv[1], lambda unit: "v1") as store, open(os.devnull, "w") as quiet:
            run(study, store, engine, Lines(quiet), n_jobs=3)
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""
UNITS = 60


class Server:
    """Forks runners on demand."""

    def __init__(self, folder, log):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(folder), str(log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def finish(self):
        return int(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=30)


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(name):
        servers.append(Server(tmp_path / name, tmp_path / f"{name}.log"))
        return servers[-1], tmp_path / name, tmp_path / f"{name}.log"

    yield start
    for server in servers:
        server.stop()


def units_in(folder, scratch):
    """The units that are stored in a folder, as the engine notes them; read from a copy, which leaves it as it is."""
    if not (folder / "results.sqlite").exists():
        return set()
    shutil.copytree(folder, scratch)
    with closing(sqlite3.connect(scratch / "results.sqlite")) as db:
        if not db.execute("SELECT 1 FROM sqlite_master").fetchall():
            return set()
        rows = db.execute("SELECT world, agent, first_run FROM units").fetchall()
    return {f"{world} {agent.removeprefix('ts:window=')} {first}" for world, agent, first in rows}


def test_ten_kills_cost_nothing_that_was_stored(serve, tmp_path):
    whole, whole_folder, _ = serve("whole")
    began = time.perf_counter()
    whole.start()
    assert whole.finish() == 0
    seconds = time.perf_counter() - began

    killed, folder, log = serve("killed")
    dice = random.Random(4)
    stored = set()
    for number in range(10):
        child = killed.start()
        time.sleep(dice.uniform(0, 0.4) * seconds)
        with suppress(ProcessLookupError):  # it has ended
            os.kill(child, signal.SIGKILL)
        killed.finish()
        begun = set(log.read_text().splitlines()) if log.exists() else set()
        assert not stored & begun  # nothing is computed again
        now = units_in(folder, tmp_path / f"copy-{number}")
        assert now >= stored  # nor lost
        stored = now
        log.unlink(missing_ok=True)
    assert stored
    killed.start()
    assert killed.finish() == 0
    assert len(stored_in(folder)) == UNITS
    assert stored_in(folder) == stored_in(whole_folder)
