"""How the cost of a step grows with K, T and τ, and how much memory the longest run takes."""

from __future__ import annotations

import subprocess
import sys

from benchmarks._outcome import Outcome

import ns_mab_gym as nsb

AGENTS = ("beta-swts", "gamma-swgts", "sw-ucb", "kl-ucb")
ARMS, HORIZONS, WINDOWS = (2, 10, 100, 1_000), (10_000, 100_000, 1_000_000), (500, 5_000, 50_000)
LONGEST = 10_000_000
MEMORY_MARK, FLAT_MARK = 1.5, 2.0
LONG_RUN = f"""
import resource, ns_mab_gym as nsb
world = nsb.worlds.Abrupt(horizon={LONGEST})
run = nsb.simulate(world, "beta-swts", runs=1, n_jobs=1)
print(run.seconds / {LONGEST}, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def nanoseconds(world: nsb.worlds.World, agent: str, **parameters: float | str) -> float:
    """The least time per step of three runs, after one that loads the compiled loop."""
    times = [nsb.simulate(world, agent, runs=1, n_jobs=1, agent_kwargs=parameters).seconds for _ in range(4)]
    return min(times[1:]) / world.horizon * 1e9


def by_arms(agent: str) -> dict[str, float]:
    """Nanoseconds per step for several numbers of arms."""
    return {str(k): nanoseconds(nsb.worlds.Smooth(horizon=20_000, n_arms=k), agent) for k in ARMS}


def line(symbol: str, costs: dict[str, float]) -> str:
    """The costs in one line."""
    return "  ".join(f"{symbol}={int(value):,}: {cost:,.0f}" for value, cost in costs.items())


def run() -> Outcome:
    """Print the three tables."""
    arms = {agent: by_arms(agent) for agent in AGENTS}
    print("growth: ns per step, Smooth world, T = 20,000, by number of arms")
    for agent, costs in arms.items():
        print(f"    {agent:<12} {line('K', costs)}")
    horizons = {str(t): nanoseconds(nsb.worlds.Abrupt(horizon=t), "beta-swts") for t in HORIZONS}
    per_step, gigabytes = map(float, subprocess.check_output([sys.executable, "-c", LONG_RUN], text=True).split())
    horizons[str(LONGEST)] = per_step * 1e9
    world = nsb.worlds.Abrupt(horizon=100_000)
    windows = {str(w): nanoseconds(world, "beta-swts", window=w) for w in WINDOWS}
    print("  ns per step of beta-swts, Abrupt world, by horizon (window 4√(T ln T)) and by window (T = 100,000)")
    print(f"    {line('T', horizons)}\n    {line('τ', windows)}")
    print(f"  peak memory at T = 10^7: {gigabytes:.2f} GB (below {MEMORY_MARK})")
    flat = horizons[str(LONGEST)] <= FLAT_MARK * horizons["100000"]
    figures = {"by_arms": arms, "by_horizon": horizons, "by_window": windows, "gigabytes": gigabytes}
    return Outcome(gigabytes < MEMORY_MARK and flat, figures)
