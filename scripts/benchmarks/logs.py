"""Logs: p-values where nothing moves, power where something does, and the cost of five million decisions."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._common import Outcome
from scipy import stats

from ns_mab_gym.logs import examples
from ns_mab_gym.logs.drift import Drift
from ns_mab_gym.logs.log import Log
from ns_mab_gym.means import Floats

LOGS, DEALS, LEVEL = 200, 199, 0.05
BEYOND = 0.05 + 3 * (0.05 * 0.95 / LOGS) ** 0.5  # three standard errors above the level
HOURS, TRIALS, DAY = 720, 170, 86_400.0
RATES = np.array([0.035, 0.030, 0.030, 0.025])
TESTS = ("moves", "switches", "variation", "gain")
SIZES = {"small": 0.2, "medium": 0.4, "large": 0.6, "largest": 0.8}  # of a move, in percentage points
ROWS, SECONDS, MEGABYTES = 5_000_000, 60.0, 2_500.0


def rates_log(rng: np.random.Generator, means: Floats) -> Log:
    """720 hours of rates at 170 trials."""
    return Log.from_counts(rng.binomial(TRIALS, means), TRIALS)


def decisions(rng: np.random.Generator, revenue: bool) -> Log:
    """Three thousand decisions among three arms in a month, for conversions or revenues."""
    n = 3_000
    arms = rng.integers(3, size=n)
    rewards = (rng.random(n) < np.array([0.10, 0.12, 0.15])[arms]) * (rng.lognormal(3, 1, n) if revenue else 1.0)
    return Log(np.sort(rng.uniform(0, 30 * DAY, n)), arms, rewards, ("a", "b", "c"), dated=True)


def sampled(rng: np.random.Generator) -> Log:
    """Three thousand decisions of Thompson sampling, whose choices follow the rewards."""
    n, wins, losses = 3_000, np.ones(3), np.ones(3)
    arms, rewards = np.empty(n, np.intp), np.empty(n)
    for row in range(n):
        arms[row] = rng.beta(wins, losses).argmax()
        rewards[row] = rng.random() < (0.10, 0.12, 0.15)[arms[row]]
        wins[arms[row]] += rewards[row]
        losses[arms[row]] += 1 - rewards[row]
    return Log(np.arange(1.0, n + 1), arms, rewards, ("a", "b", "c"))


STILL: dict[str, Callable[[np.random.Generator], Log]] = {
    "720 hours of 4 rates at 170 trials": lambda rng: rates_log(rng, np.tile(RATES, (HOURS, 1))),
    "3,000 conversions": lambda rng: decisions(rng, revenue=False),
    "3,000 revenues": lambda rng: decisions(rng, revenue=True),
    "3,000 choices of Thompson sampling": sampled,
}


def p_values(drift: Drift) -> list[float]:
    """Of the four tests of a log, and the least of its arms."""
    return [*(getattr(drift, test).p_value for test in TESTS), float(drift.p_values.min())]


def still() -> Outcome:
    """Print how often each test finds drift where nothing moves: 200 logs of each kind."""
    figures: dict[str, Any] = {}
    for kind, made in STILL.items():
        found = np.array([p_values(made(np.random.default_rng(n)).drift(DEALS, seed=n)) for n in range(LOGS)])
        spread = found[:, 0] - np.random.default_rng(0).random(LOGS) / (DEALS + 1)  # p-values are multiples of that
        figures[kind] = {
            **{test: float((found[:, k] <= LEVEL).mean()) for k, test in enumerate((*TESTS, "any"))},
            "uniform": float(stats.kstest(spread, "uniform").pvalue),
            "quantiles": [
                float(share) for share in (found[:, 0] <= np.array([[0.1], [0.25], [0.5], [0.75]])).mean(axis=1)
            ],
        }
        print(
            f"still: {kind}: drift found in", ", ".join(f"{test} {figures[kind][test]:.1%}" for test in TESTS), end=""
        )
        print(f"; any arm {figures[kind]['any']:.1%}; p of uniformity {figures[kind]['uniform']:.2f}", end="")
        print(f"; p at most 0.1, 0.25, 0.5, 0.75: {figures[kind]['quantiles']}")
    worst = max(each[test] for each in figures.values() for test in TESTS)
    return Outcome(worst <= BEYOND, figures)


def drifting(kind: str, size: float) -> Floats:
    """Rates of which the second moves: a step after 300 hours, a line, or a wave of a week."""
    means, hours = np.tile(RATES, (HOURS, 1)), np.arange(HOURS)
    shapes = {
        "step": np.where(hours < 300, 0.5, -0.5),
        "trend": 0.5 - hours / HOURS,
        "season": 0.5 * np.sin(2 * np.pi * hours / 168),
        "day": 0.5 * np.sin(2 * np.pi * hours / 24),
    }
    means[:, 1] += size * shapes[kind]
    return means


def power() -> Outcome:
    """Print how often the test of each arm finds one that moves, by the size of its move; none of the others moves."""
    figures: dict[str, dict[str, float]] = {}
    for kind in ("step", "trend", "season", "day"):
        figures[kind] = {}
        for size, points in SIZES.items():
            rngs = map(np.random.default_rng, range(LOGS // 4))
            found = (
                np.array([rates_log(rng, drifting(kind, points / 100)).drift(DEALS).p_values for rng in rngs]) <= LEVEL
            )
            figures[kind][size] = float(found[:, 1].mean())
        print(
            f"power: {kind}:", ", ".join(f"{SIZES[size]} points {share:.0%}" for size, share in figures[kind].items())
        )
    return Outcome(min(max(each.values()) for each in figures.values()) >= 0.6, figures)


def installed() -> Outcome:
    """Print the drift of the logs of installed packages, over time and over the hours of the day."""
    figures: dict[str, Any] = {}
    for name, read in examples.EXAMPLES.items():
        try:
            log = read()
        except FileNotFoundError as error:
            print(f"installed: {name}: {error}")
            continue
        for over, each in (("the time", log), ("the hours of the day", log.folded("day"))):
            drift = each.drift()
            figures[f"`{name}`, {over}"] = row = {
                "arms": log.n_arms,
                "decisions": log.decisions,
                "moving": int((drift.p_values <= LEVEL).sum()),
                "switches": drift.switches.value,
                "best": log.names[drift.best_fixed],
                "mean": drift.in_units(
                    float(drift.curves[:, drift.best_fixed] @ drift.counts.sum(axis=1) / log.decisions)
                ),
                "gain": drift.in_points(drift.gain.value),
                "chance": drift.in_points(drift.gain.by_chance),
                "p": drift.gain.p_value,
            }
            print(f"installed: {name}, {over}: {row}")
    return Outcome(True, figures)


# In a process of its own. The kernel's count of the most memory, unlike getrusage's, begins with the program.
LARGE = """
import sys, time
import pyarrow.csv
from ns_mab_gym.logs.log import Log
from ns_mab_gym.logs import drift, reading

def most():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))

before, began = most(), time.perf_counter()
log = Log.read(sys.argv[1])
read = time.perf_counter() - began, most()
log.drift()
print(before, *read, time.perf_counter() - began - read[0], most())
"""


def large_log() -> Outcome:
    """Print the time and the memory of a CSV file of five million decisions: of reading it, and of its drift."""
    rng = np.random.default_rng(0)
    times = np.datetime_as_string(
        np.datetime64("2026-01-01") + np.sort(rng.integers(30 * 86_400, size=ROWS)).astype("m8[s]")
    )
    arms = rng.integers(4, size=ROWS)
    clicked = (rng.random(ROWS) < RATES[arms]).astype(int)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        with path.open("w") as file:
            file.write("timestamp,variant,clicked\n")
            names = ("blue", "green", "red", "gold")
            file.writelines(f"{at},{names[arm]},{won}\n" for at, arm, won in zip(times, arms, clicked, strict=True))
        size = path.stat().st_size / 2**20
        done = subprocess.run([sys.executable, "-c", LARGE, str(path)], capture_output=True, text=True, check=True)
    before, seconds, memory, drift_seconds, most = map(float, done.stdout.split())
    print(
        f"large_log: {ROWS:,} decisions, a file of {size:.0f} MB: read in {seconds:.1f} s, at most {memory:.0f} MB ",
        end="",
    )
    print(f"({before:.0f} before); drift {drift_seconds:.1f} s, at most {most:.0f} MB")
    figures = {"seconds": seconds, "megabytes": memory, "seconds_of_drift": drift_seconds, "megabytes_of_drift": most,
               "megabytes_of_file": size}  # fmt: skip
    return Outcome(seconds + drift_seconds <= SECONDS and most <= MEGABYTES, figures)
