"""How long the first call of an agent takes on a machine that has never compiled it: at most ten seconds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks._outcome import Outcome
from benchmarks.loading import FIRST_CALL

from ns_mab_gym import agents

LIMIT = 10.0
ATTEMPTS = 3  # at most; other work on the machine can only add to a time, so that the smallest is the nearest


def seconds(agent: str) -> float:
    """The duration of the first call of simulate in a new process with an empty cache, without imports."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", FIRST_CALL, agent]
        said = subprocess.check_output(command, text=True, env=environment, stderr=subprocess.DEVNULL)
    return float(said)


def run() -> Outcome:
    """Print the time of every agent; one above the limit is measured again, in case the core was not idle."""
    times = {}
    for agent in agents.names():
        times[agent] = seconds(agent)
        for _ in range(ATTEMPTS - 1):
            if times[agent] > LIMIT:
                times[agent] = min(times[agent], seconds(agent))
        print(
            f"compiling: {agent:<20} {times[agent]:5.1f} s to the end of the first call (at most {LIMIT:g})", flush=True
        )
    return Outcome(max(times.values()) <= LIMIT, {"seconds": times})
