"""Killed with SIGKILL at random moments, a run ends with the results of an uninterrupted one."""

import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

from stored_runs import stored_in

# The engine notes every unit when it begins, and takes its time, so that kills find it and the writer at work.
PROGRAM = """
import os, sys, time
import numpy as np
from ns_mab_gym.studies import AgentSpec, Experiment, Store, Study, WorldSpec, run
from ns_mab_gym.play.progress import Lines
from ns_mab_gym.runs import Runs, seed_pair

study = Study("killed", (Experiment(
    worlds=(WorldSpec.of("NSBandit-Abrupt-v0", horizon=400), WorldSpec.of("NSBandit-Smooth-v0", horizon=400)),
    agents=tuple(AgentSpec.of("ts", window=w) for w in range(1, 11)), runs=75),))

def engine(env, agent, *, runs, seed, env_kwargs, agent_kwargs, n_jobs, first_run, rounds=None):
    with open(sys.argv[2], "a") as log:
        log.write(f"{env} {agent_kwargs['window']} {first_run}\\n")
    time.sleep(0.01)
    numbers = range(first_run, first_run + runs)
    rng = [np.random.default_rng((seed, len(env), agent_kwargs["window"], run)) for run in numbers]
    regret = np.array([np.cumsum(each.random(400)) for each in rng])
    return Runs(rounds=np.arange(1, 401), regret=regret, pulls=np.full((runs, 10), 40),
        suboptimal_pulls=np.full((runs, 10), 20), seeds=[seed_pair(seed, run) for run in numbers],
        parameters=[{}] * runs, seconds=0.01)

print("ready", flush=True)
with Store(sys.argv[1], lambda unit: "v1") as store, open(os.devnull, "w") as quiet:
    run(study, store, engine, Lines(quiet), n_jobs=3)
"""
UNITS = 60


def begun(folder):
    """A process that has imported everything and begins to compute."""
    command = [sys.executable, "-c", PROGRAM, str(folder), f"{folder}.log"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def units_in(folder, scratch):
    """The units that are stored in a folder, as the engine notes them; read from a copy, which leaves it as it is."""
    if not (folder / "results.sqlite").exists():
        return set()
    shutil.copytree(folder, scratch)
    with closing(sqlite3.connect(scratch / "results.sqlite")) as db:
        if not db.execute("SELECT 1 FROM sqlite_master").fetchall():
            return set()
        rows = db.execute("SELECT world, agent, first_run FROM units").fetchall()
    return {f"{world.partition(':')[0]} {agent.removeprefix('ts:window=')} {first}" for world, agent, first in rows}


def test_kills_cost_nothing_that_was_stored(tmp_path):
    with begun(tmp_path / "whole") as process:
        began = time.perf_counter()
        assert process.wait(60) == 0
    seconds = time.perf_counter() - began

    folder, log = tmp_path / "killed", tmp_path / "killed.log"
    dice, stored = random.Random(4), set()
    for number in range(6):
        with begun(folder) as process:
            time.sleep(dice.uniform(0, 0.4) * seconds)
            process.kill()
        computed = set(log.read_text().splitlines()) if log.exists() else set()
        assert not stored & computed  # nothing is computed again
        now = units_in(folder, tmp_path / f"copy-{number}")
        assert now >= stored  # nor lost
        stored = now
        log.unlink(missing_ok=True)
    assert stored
    with begun(folder) as process:
        assert process.wait(60) == 0
    assert len(stored_in(folder)) == UNITS
    assert stored_in(folder) == stored_in(tmp_path / "whole")
