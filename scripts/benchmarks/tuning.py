"""What `tune` loses against the best of a grid of 41 windows, on the paper's worlds, for both of its samplers.

The best of the grid is chosen by 200 runs of each window, with seeds of its own; windows that the first 20 of them put
30 % behind the best are not played to the end. Both choices are then judged on the
same 200 further runs, which chose neither: the least mean of many would flatter its owner on the runs that chose it.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from benchmarks._outcome import Outcome

import ns_mab_gym as nsb
from ns_mab_gym.means import Floats
from ns_mab_gym.theory.learners import LEARNERS

PAPER = {
    "Abrupt": nsb.worlds.Abrupt(),
    "General": nsb.worlds.GeneralAbrupt(),
    "Smooth": nsb.worlds.Smooth(sigma=1e-4),
    "Fast": nsb.worlds.Smooth(sigma=1e-3),
}
WINDOWS, SHORTEST, RUNS = 41, 20, 200
FEW, HOPELESS = 20, 1.3  # runs after which windows with so many times the least regret are left out
CHOOSING, JUDGING = 1_001, 2_002  # seeds; `tune` takes 0
LOSS, SECONDS = 0.03, 20.0  # the most that `tune` may lose and take


class Judged(NamedTuple):
    """What `tune` chose, its loss against the best of the grid with its standard error, and the seconds it took."""

    window: int
    best: int
    loss: float
    error: float
    seconds: float


def finals(world: nsb.worlds.World, agent: str, window: int, seed: int, runs: int = RUNS) -> Floats:
    """The final regrets of one window."""
    return nsb.simulate(world, agent, runs=runs, seed=seed, agent_kwargs={"window": window}, rounds=()).final


def best_of_grid(world: nsb.worlds.World, agent: str) -> int:
    """The window of the grid with the least mean regret."""
    grid = np.unique(np.geomspace(SHORTEST, world.horizon, WINDOWS).round()).astype(int).tolist()
    first = {window: float(finals(world, agent, window, CHOOSING, FEW).mean()) for window in grid}
    close = [window for window in grid if first[window] <= HOPELESS * min(first.values())]
    return min(close, key=lambda window: float(finals(world, agent, window, CHOOSING).mean()))


def judged(world: nsb.worlds.World, agent: str) -> Judged:
    """Tune an agent, and compare the choice with the best of the grid."""
    nsb.tune(world, agent, runs=200)  # compiles and loads what is needed
    began = time.perf_counter()
    window = nsb.tune(world, agent, budget=SECONDS)["window"]
    seconds = time.perf_counter() - began
    best = best_of_grid(world, agent)
    mine, its = (finals(world, agent, each, JUDGING) for each in (window, best))
    loss = float(mine.mean() / its.mean() - 1)
    error = float((mine - (1 + loss) * its).std(ddof=1) / math.sqrt(RUNS) / its.mean())
    return Judged(window, best, loss, error, seconds)


def run() -> Outcome:
    """Print the loss of `tune` and the seconds that it takes."""
    figures: dict[str, Any] = {}
    for agent in LEARNERS:
        for name, world in PAPER.items():
            one = judged(world, agent)
            print(f"tuning: {agent}, {name}: window {one.window:,}, best of the grid {one.best:,}, ", end="")
            print(f"loss {one.loss:+.1%} ± {one.error:.1%}, {one.seconds:.1f} s", flush=True)
            figures[f"{agent}, {name}"] = one._asdict()
    worst = max(each["loss"] for each in figures.values())
    slowest = max(each["seconds"] for each in figures.values())
    print(f"tuning: worst loss {worst:+.1%} (at most {LOSS:.0%}), longest {slowest:.1f} s (at most {SECONDS:g} s)")
    return Outcome(worst <= LOSS and slowest <= SECONDS, figures)
