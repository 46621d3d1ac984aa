"""How long a new process waits for an agent's compiled loop that is already on disk: under a second."""

from __future__ import annotations

import subprocess
import sys

from benchmarks._outcome import Outcome

from ns_mab_gym import agents

LIMIT = 1.0
FIRST_CALL = """
import sys, time
import ns_mab_gym as nsb
from ns_mab_gym.play import engine, loop
nsb.agents.kind(sys.argv[1])
began = time.perf_counter()
nsb.simulate("NSBandit-Abrupt-v0", sys.argv[1], runs=1, env_kwargs={"horizon": 100})
print(time.perf_counter() - began)
"""


def seconds(agent: str) -> float:
    """The duration of the first call of simulate in a new process, without imports."""
    return float(subprocess.check_output([sys.executable, "-c", FIRST_CALL, agent], text=True))


def run() -> Outcome:
    """Print the time of every agent."""
    times = {}
    for agent in agents.names():
        seconds(agent)  # compiles the loop if it is not on disk
        times[agent] = min(seconds(agent) for _ in range(3))
        print(f"loading: {agent:<12} {times[agent]:.2f} s to the end of the first call (below {LIMIT:g})")
    return Outcome(max(times.values()) < LIMIT, {"seconds": times})
