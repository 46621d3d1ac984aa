"""First calls of an agent in a new process, with its compiled loop on disk and without."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks._common import Outcome

from ns_mab_gym import agents

LOADING_LIMIT, COMPILING_LIMIT = 1.0, 10.0  # seconds
ATTEMPTS = 3  # at most; other work on the machine can only add to a time, so that the smallest is the nearest
FIRST_CALL = """
import sys, time
import ns_mab_gym as nsb
from ns_mab_gym.play import loop, simulate
nsb.agents.kind(sys.argv[1])
began = time.perf_counter()
nsb.simulate("NSBandit-Abrupt-v0", sys.argv[1], runs=1, env_kwargs={"horizon": 100})
print(time.perf_counter() - began)
"""


def seconds(agent: str, **environment: str) -> float:
    """The duration of the first call of simulate in a new process, without imports."""
    command, given = [sys.executable, "-c", FIRST_CALL, agent], os.environ | environment
    return float(subprocess.check_output(command, text=True, env=given, stderr=subprocess.DEVNULL))


def loading() -> Outcome:
    """Print how long every agent waits for a loop that is already on disk: under a second."""
    times = {}
    for agent in agents.names():
        seconds(agent)  # compiles the loop if it is not on disk
        times[agent] = min(seconds(agent) for _ in range(ATTEMPTS))
        print(f"loading: {agent:<20} {times[agent]:.2f} s to the end of the first call (below {LOADING_LIMIT:g})")
    return Outcome(max(times.values()) < LOADING_LIMIT, {"seconds": times})


def compiling() -> Outcome:
    """Print how long every agent compiles with an empty cache; above the limit it is measured again."""
    times = {}
    for agent in agents.names():
        for _ in range(ATTEMPTS):
            with tempfile.TemporaryDirectory() as cache:
                times[agent] = min(times.get(agent, float("inf")), seconds(agent, NUMBA_CACHE_DIR=cache))
            if times[agent] <= COMPILING_LIMIT:
                break
        print(f"compiling: {agent:<20} {times[agent]:5.1f} s to the end of the first call ", end="")
        print(f"(at most {COMPILING_LIMIT:g})", flush=True)
    return Outcome(max(times.values()) <= COMPILING_LIMIT, {"seconds": times})
