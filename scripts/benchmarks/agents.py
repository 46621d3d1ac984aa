"""Costs of a step: every agent against a floor of draws, and by the size of a run."""

from __future__ import annotations

import math
import statistics
from functools import partial

import numpy as np
import numpy.typing as npt
from benchmarks._common import Outcome, seconds_of
from benchmarks.endurance import long_run

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
    "faded-index": 1.5,
    "aff-ucb": math.inf,
    "aff-ts": math.inf,
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
    "kalman-ucb": math.inf,
    "kalman-ts": math.inf,
    "predictive-sampling": math.inf,
    "changepoint-ucb": 6.0,
    "switching-ts": 10.0,
    "active-ptw": 10.0,
    "dsw-ts": 1.5,
    "sw-lb-sda": math.inf,
    "glr-ts": 10.0,
    "adr-ts": math.inf,
    "master": math.inf,
    "bandit-over-windows": math.inf,
    "epsilon-greedy": 0.4,
    "softmax": 1.5,
    "gradient-bandit": 1.5,
    "explore-then-commit": 0.4,
    "exp3-ix": 1.5,
    "tsallis-inf": 1.5,
}
THREADS_MARK = 1.7
FLAT_MARK = 2.0  # times the cost of a step in a longer run


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


def agents() -> Outcome:
    """Print the microseconds per step of every agent, its ratio to a floor, and the gain of a second thread.

    The floor is the time that NumPy's vectorised ``Generator.beta`` takes for T × K draws from the posteriors that
    Beta-SWTS meets in the same world: the time of a sampler that does nothing but draw.
    """
    a, b = posteriors()
    rng = np.random.default_rng(0)
    for name in MARKS:
        play(name)
    steps: dict[str, list[float]] = {name: [] for name in MARKS}
    ratios: dict[str, list[float]] = {name: [] for name in MARKS}
    for repeat in range(REPEATS):
        for name in MARKS:
            floor = seconds_of(lambda: rng.beta(a, b))
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
    one, two = (partial(nsb.simulate, WORLD, "beta-swts", runs=40, n_jobs=n_jobs) for n_jobs in (1, 2))
    ratio = statistics.median(seconds_of(one) / seconds_of(two) for _ in range(5))
    print(f"  two threads are {ratio:.2f} × as fast as one (at least {THREADS_MARK})")
    within = ratio >= THREADS_MARK and all(each["ratio"] <= MARKS[name] for name, each in medians.items())
    return Outcome(within, {"agents": medians, "two_threads": ratio})


GROWING = ("beta-swts", "gamma-swgts", "sw-ucb", "kl-ucb")
LONGEST, MEMORY_MARK = 10_000_000, 1.5


def nanoseconds(world: nsb.worlds.World, agent: str, **parameters: float | str) -> float:
    """The least time per step of three runs, after one that loads the compiled loop."""
    times = [nsb.simulate(world, agent, runs=1, n_jobs=1, agent_kwargs=parameters).seconds for _ in range(4)]
    return min(times[1:]) / world.horizon * 1e9


def growth() -> Outcome:
    """Print the cost of a step by K, T and τ, and the memory of the longest run."""
    by_arms = {
        agent: {str(k): nanoseconds(nsb.worlds.Smooth(horizon=20_000, n_arms=k), agent) for k in (2, 10, 100, 1_000)}
        for agent in GROWING
    }
    sizes = (10_000, 100_000, 1_000_000)
    horizons = {str(t): nanoseconds(nsb.worlds.Abrupt(horizon=t), "beta-swts") for t in sizes}
    longest = long_run(LONGEST)
    horizons[str(LONGEST)], gigabytes = longest["microseconds"] * 1e3, longest["process"] * 1e6 / 2**30
    world = nsb.worlds.Abrupt(horizon=100_000)
    windows = {str(w): nanoseconds(world, "beta-swts", window=w) for w in (500, 5_000, 50_000)}
    tables = {f"{agent}, Smooth world, T = 20,000, by K": costs for agent, costs in by_arms.items()}
    tables |= {"beta-swts, Abrupt world, by T": horizons, "beta-swts, Abrupt world, T = 100,000, by τ": windows}
    print("growth: ns per step")
    for title, costs in tables.items():
        print(f"    {title}: " + "  ".join(f"{int(size):,}: {cost:,.0f}" for size, cost in costs.items()))
    print(f"  peak memory at T = 10^7: {gigabytes:.2f} GB (below {MEMORY_MARK})")
    flat = horizons[str(LONGEST)] <= FLAT_MARK * horizons["100000"]
    figures = {"by_arms": by_arms, "by_horizon": horizons, "by_window": windows, "gigabytes": gigabytes}
    return Outcome(gigabytes < MEMORY_MARK and flat, figures)


SHORT, LONG = 30_000, 300_000
# The exact forms, the defaults, look back at everything that an arm has paid; their cards say so.
EFFICIENT = {"raw-ucb": {"grid": "geometric"}, "fewa": {"grid": "geometric"}}


def flat() -> Outcome:
    """Print the cost of a step at two horizons for every agent, in its efficient form where it has one."""
    ratios = {}
    print(f"flat: ns per step, Abrupt world, T = {SHORT:,} and {LONG:,}")
    for name in nsb.agents.names():
        parameters = EFFICIENT.get(name, {})
        short, long = (nanoseconds(nsb.worlds.Abrupt(horizon=t), name, **parameters) for t in (SHORT, LONG))
        ratios[name] = long / short
        print(f"    {name:<20} {short:8,.0f} {long:8,.0f}  × {ratios[name]:.2f} (at most {FLAT_MARK:g})", flush=True)
    return Outcome(max(ratios.values()) <= FLAT_MARK, {"ratios": ratios})
