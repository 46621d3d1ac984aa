"""How the cost of a step grows with K, T and τ, and how much memory the longest run takes."""

from __future__ import annotations

import subprocess
import sys

import ns_mab_gym as nsb

AGENTS = ("beta-swts", "gamma-swgts", "sw-ucb", "kl-ucb")
MEMORY_MARK, FLAT_MARK = 1.5, 2.0
LONG_RUN = """
import resource, ns_mab_gym as nsb
world = nsb.worlds.Abrupt(horizon=10_000_000)
run = nsb.simulate(world, "beta-swts", runs=1, n_jobs=1)
print(run.seconds / 1e7, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def nanoseconds(world: nsb.worlds.World, agent: str, **parameters: float) -> float:
    """The least time of a step in three runs, after one that loads the loop."""
    times = [nsb.simulate(world, agent, runs=1, n_jobs=1, agent_kwargs=parameters).seconds for _ in range(4)]
    return min(times[1:]) / world.horizon * 1e9


def run() -> bool:
    """Print the three tables."""
    print("  ns a step, Smooth world, T = 20,000, by number of arms")
    for agent in AGENTS:
        costs = [nanoseconds(nsb.worlds.Smooth(horizon=20_000, n_arms=k), agent) for k in (2, 10, 100, 1_000)]
        print(
            f"    {agent:<12}"
            + "".join(f"  K={k:<5,}{c:>8,.0f}" for k, c in zip((2, 10, 100, 1_000), costs, strict=True))
        )

    print("  ns a step of beta-swts, Abrupt world, by horizon (window 4√(T ln T)) and by window (T = 100,000)")
    by_horizon = {t: nanoseconds(nsb.worlds.Abrupt(horizon=t), "beta-swts") for t in (10_000, 100_000, 1_000_000)}
    per_step, gigabytes = map(float, subprocess.check_output([sys.executable, "-c", LONG_RUN], text=True).split())
    by_horizon[10_000_000] = per_step * 1e9
    print("    " + "  ".join(f"T={t:,}: {c:,.0f}" for t, c in by_horizon.items()))
    windows = (500, 5_000, 50_000)
    by_window = {w: nanoseconds(nsb.worlds.Abrupt(horizon=100_000), "beta-swts", window=w) for w in windows}
    print("    " + "  ".join(f"τ={w:,}: {c:,.0f}" for w, c in by_window.items()))
    print(f"  peak memory at T = 10^7: {gigabytes:.2f} GB (below {MEMORY_MARK})")
    flat = by_horizon[10_000_000] <= FLAT_MARK * by_horizon[100_000]
    return gigabytes < MEMORY_MARK and flat
