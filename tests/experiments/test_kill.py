"""Killed with SIGKILL at ten random moments, a run ends with the table of an uninterrupted one."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pandas as pd
import pytest
from stored_tables import table_of

# A server that has imported everything and forks a runner for each line it reads: ten restarts cost no imports.
# The engine notes every unit when it begins, and takes its time, so that kills find it and the writer at work.
SERVER = """
import os, sys, threading, time
import numpy as np
from ns_mab_gym.experiments import AgentEntry, Experiment, Store, Study, WorldEntry, run
from ns_mab_gym.experiments.progress import Lines
from ns_mab_gym.play.episode import seed_pair
from ns_mab_gym.runs import Runs

study = Study("killed", (Experiment(
    worlds=(WorldEntry.of("NSBandit-Abrupt-v0"), WorldEntry.of("NSBandit-Smooth-v0")),
    agents=tuple(AgentEntry.of("ts", window=w) for w in range(1, 11)), runs=75),))

def engine(env, agent, *, runs, seed, env_kwargs, agent_kwargs, n_jobs, first_run, rounds=None):
    with open(sys.argv[2], "a") as log:
        log.write(f"{os.getpid()}/{threading.get_ident()} {env} {agent_kwargs['window']} {first_run}\\n")
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


def test_ten_kills_cost_nothing_but_what_was_in_flight(serve):
    whole, whole_folder, _ = serve("whole")
    whole.start()
    assert whole.finish() == 0

    killed, folder, log = serve("killed")
    dice = random.Random(4)
    kills = 0
    while kills < 10:
        child = killed.start()
        time.sleep(dice.uniform(0.02, 0.12))
        os.kill(child, signal.SIGKILL)  # until it is waited for, its number is its own
        kills += killed.finish() == signal.SIGKILL
    killed.start()
    assert killed.finish() == 0

    begun = [line.split(" ", 1) for line in log.read_text().splitlines()]
    last_of = dict(begun)  # what each thread of each process did when it ended
    for unit, times in Counter(unit for _, unit in begun).items():
        in_flight = sum(last == unit for last in last_of.values())
        assert times <= 1 + in_flight, f"{unit} was computed {times} times and was in flight {in_flight} times"
    assert len({unit for _, unit in begun}) == UNITS
    pd.testing.assert_frame_equal(table_of(folder), table_of(whole_folder))
