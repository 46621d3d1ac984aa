"""What a step costs: every agent against a floor of draws, and two threads against one.

The floor is the time that NumPy's vectorised ``Generator.beta`` takes for T × K draws from the posteriors that
Beta-SWTS meets in the same world: the time of a sampler that does nothing but draw.
"""

from __future__ import annotations

import math
import statistics
from time import perf_counter

import numpy as np
import numpy.typing as npt
from benchmarks._outcome import Outcome

import ns_mab_gym as nsb

WORLD = "NSBandit-Abrupt-v0"
HORIZON, ARMS, REPEATS = 50_000, 10, 9
# agent, as it is written on the command line: the largest ratio to the floor; infinite where none is set
MARKS = {
    "beta-swts": 1.0,
    "ts": 1.0,
    "gamma-swgts": 0.25,
    "sw-ucb": 0.25,
    "kl-ucb": 1.0,
    "sw-kl-ucb": 1.8,
    "rexp3": 0.4,
    "ser4": 0.4,
    "ucb1": 1.0,
    "exp3": 0.4,
    "exp3s": 1.5,
    "d-ucb": 1.5,
    "d-ts": 1.5,
    "ds-ts": 1.5,
    "cusum-ucb": 1.5,
    "glr-klucb": 10.0,
    "glr-klucb:restart=global": 10.0,
    "m-ucb": 1.5,
    "pht-ucb": 1.5,
    "br-mab": math.inf,
    "r-less-ucb": math.inf,
    "raw-ucb:grid=geometric": 4.0,
    "fewa:grid=geometric": 4.0,
    "oracle-restart": math.inf,
    "predictive-sampling": math.inf,
    "switching-ts": 10.0,
    "active-ptw": 10.0,
    "dsw-ts": 1.5,
    "sw-lb-sda": math.inf,
    "glr-ts": 10.0,
    "adr-ts": math.inf,
    "master": math.inf,
    "bandit-over-windows": math.inf,
}
THREADS_MARK = 1.7


def posteriors() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The parameters of every Beta posterior of one run of Beta-SWTS, (T, K) each."""
    run = nsb.simulate(WORLD, "beta-swts", runs=1, record="all")
    assert run.arms is not None
    assert run.rewards is not None
    played = np.zeros((2, HORIZON + 1, ARMS))
    played[0, np.arange(1, HORIZON + 1), run.arms[0]] = 1
    played[1, np.arange(1, HORIZON + 1), run.arms[0]] = run.rewards[0]
    total = played.cumsum(axis=1)
    left = np.maximum(np.arange(HORIZON) - run.parameters[0]["window"], 0)
    pulls, successes = total[:, :HORIZON] - total[:, left]
    return successes + 1, pulls - successes + 1


def play(words: str, seed: int = 0) -> nsb.Runs:
    """One run of an agent that is written as on the command line."""
    name, _, settings = words.partition(":")
    parameters = dict(each.split("=") for each in settings.split(",") if each)
    return nsb.simulate(WORLD, name, runs=1, seed=seed, n_jobs=1, agent_kwargs=parameters)


def marks() -> Outcome:
    """Measure and print the microseconds per step of every agent, and the ratio to the floor measured in turns."""
    a, b = posteriors()
    rng = np.random.default_rng(0)
    for name in MARKS:
        play(name)
    steps: dict[str, list[float]] = {name: [] for name in MARKS}
    ratios: dict[str, list[float]] = {name: [] for name in MARKS}
    for repeat in range(REPEATS):
        for name in MARKS:
            began = perf_counter()
            rng.beta(a, b)
            floor = perf_counter() - began
            seconds = play(name, repeat).seconds
            steps[name].append(seconds / HORIZON)
            ratios[name].append(seconds / floor)
    medians = {
        name: {"microseconds": statistics.median(steps[name]) * 1e6, "ratio": statistics.median(ratios[name])}
        for name in MARKS
    }
    print(f"agents: {WORLD}, K = {ARMS}, T = {HORIZON:,}, medians of {REPEATS}")
    print(f"  {'agent':<24} {'µs per step':>11} {'ratio to the floor':>19} {'at most':>8}")
    for name, each in medians.items():
        mark = "" if math.isinf(MARKS[name]) else MARKS[name]
        print(f"  {name:<24} {each['microseconds']:>11.3f} {each['ratio']:>19.3f} {mark:>8}")
    return Outcome(all(each["ratio"] <= MARKS[name] for name, each in medians.items()), {"agents": medians})


def threads() -> Outcome:
    """Measure and print how much faster two threads are than one."""

    def seconds(n_jobs: int) -> float:
        began = perf_counter()
        nsb.simulate(WORLD, "beta-swts", runs=40, n_jobs=n_jobs)
        return perf_counter() - began

    ratio = statistics.median(seconds(1) / seconds(2) for _ in range(5))
    print(f"  two threads are {ratio:.2f} × as fast as one (at least {THREADS_MARK})")
    return Outcome(ratio >= THREADS_MARK, {"two_threads": ratio})


def run() -> Outcome:
    """Run both parts."""
    single, both = marks(), threads()
    return Outcome(single.within and both.within, single.figures | both.figures)
