"""Long runs: the time of a step and the peak of the memory up to 10^8 rounds, and how exact sums are after them.

Takes about ten minutes and 10 GB of memory.
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter
from typing import Any

from benchmarks import _exactness
from benchmarks._outcome import Outcome

import ns_mab_gym as nsb
from ns_mab_gym.envs import NSBanditEnv

AGENT, ARMS = "beta-swts", 10
HORIZONS = tuple(10**power for power in range(4, 9))
COMPILED, INTERPRETED = 10**8, 10**7
BESIDE, OTHERS = 3, 16e6  # numbers for each round beside its means, and bytes that may be taken for anything else
REGRET_LIMIT = 1e-8  # of the relative error of a regret: half a unit in the last place for each of 10^8 terms
LONG_RUN = f"""
import resource, sys
import ns_mab_gym as nsb
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
nsb.simulate(nsb.worlds.Abrupt(horizon=100), "{AGENT}", runs=1, n_jobs=1)  # loads the compiled loop
before = peak()
run = nsb.simulate(nsb.worlds.Abrupt(horizon=int(sys.argv[1])), "{AGENT}", runs=1, n_jobs=1)
print(run.seconds / run.steps, peak() - before)
"""


def long_run(horizon: int) -> dict[str, float]:
    """Microseconds per step, and the bytes that a run adds to the memory of a new process."""
    said = subprocess.check_output([sys.executable, "-c", LONG_RUN, str(horizon)], text=True)
    seconds, added = map(float, said.split())
    return {"microseconds": seconds * 1e6, "megabytes": added / 1e6, "means": 8e-6 * horizon * ARMS}


def exactness(agent: str, horizon: int) -> dict[str, Any]:
    """The errors after a compiled run; the regret's is that of a world where every addition is rounded."""
    played = _exactness.play(agent, horizon, _exactness.ROUNDED)
    return {
        "regret": _exactness.regret(played),
        "rounds_lost": _exactness.counts(played),
        "memory": _exactness.memory(played),
        "draws": _exactness.draws(played),
    }


def interpreted(horizon: int) -> bool:
    """Whether a run in Python is the compiled one, to the last bit of its regret and of its generator."""
    compiled = _exactness.play("ts", horizon, _exactness.ROUNDED)
    env = NSBanditEnv(nsb.worlds.Stationary(horizon=horizon, mu=_exactness.ROUNDED))
    episode = nsb.run_episode(env, nsb.agents.TS(2), compiled.runs.seeds[0])
    assert episode.regret is not None
    same = episode.regret[-1] == compiled.runs.final[0] and (episode.pulls == compiled.runs.pulls[0]).all()
    return bool(same and env._luck.bit_generator.state == compiled.luck.bit_generator.state)


def run() -> Outcome:
    """Print both tables."""
    print(f"endurance: {AGENT}, Abrupt world, K = {ARMS}; memory beyond that of a process that has played 100 rounds")
    table = {}
    for horizon in HORIZONS:
        table[str(horizon)] = row = long_run(horizon)
        print(f"    T = {horizon:>11,}  {row['microseconds']:.2f} µs per step  ", end="")
        print(f"{row['megabytes']:8,.1f} MB  8TK = {row['means']:8,.1f} MB", flush=True)
    fits = all(row["megabytes"] * 1e6 <= 8 * int(t) * (ARMS + BESIDE) + OTHERS for t, row in table.items())
    print(f"  after {COMPILED:,} compiled rounds: relative error of the regret, errors of windows and sums in bounds")
    errors = {}
    for agent in _exactness.AGENTS:
        began = perf_counter()
        errors[agent] = found = exactness(agent, COMPILED)
        print(f"    {agent:<12} regret {found['regret']:.1e}  memory {found['memory']:.1e} of its bound  ", end="")
        print(f"rounds lost {found['rounds_lost']}  draws {found['draws']}  {perf_counter() - began:.0f} s", flush=True)
    same = interpreted(INTERPRETED)
    print(f"  {INTERPRETED:,} rounds in Python equal the compiled ones: {same}")
    exact = all(
        found["regret"] <= REGRET_LIMIT and found["memory"] <= 1 and found["draws"] and not found["rounds_lost"]
        for found in errors.values()
    )
    return Outcome(fits and exact and same, {"table": table, "errors": errors, "interpreted": same})
