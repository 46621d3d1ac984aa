"""The agent to start with: judged on worlds on which nothing about it was chosen, and what its parts are worth."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._common import Outcome
from benchmarks.choosing import JUDGING, best_of, finals_of, relative_loss

import ns_mab_gym as nsb
from ns_mab_gym.agents.changepoint_ucb import ChangepointUCB
from ns_mab_gym.leaderboard.plan import WORLDS
from ns_mab_gym.means import Floats
from ns_mab_gym.specs import as_env
from ns_mab_gym.tuning.race import Candidate
from ns_mab_gym.tuning.search import ADVISED, START, advised_space, coarse_grid, default_space, grid

T, SEEDS, RUNS = 10_000, (11, 12, 13), 200
MEAN_RATIO, WORST_RATIO = 1.05, 1.5  # to the best that was tuned on the true means
DOCS = Path(__file__).parents[2] / "docs"
Family = Callable[[np.random.Generator], Floats]


def one_at_a_time(rng: np.random.Generator) -> Floats:
    """Five arms; at each of eight times one of them, any, gets a new mean, and the others notice nothing."""
    means = np.tile(rng.random(5), (T, 1))
    for t in rng.integers(T, size=8):
        means[t:, rng.integers(5)] = rng.random()
    return means


def swaps(rng: np.random.Generator) -> Floats:
    """Eight arms, of which the two best change places at six times."""
    start = np.sort(0.8 * rng.random(8))
    start[-1] += 0.15
    means = np.tile(start, (T, 1))
    for t in rng.integers(T, size=6):
        means[t:, [6, 7]] = means[t:, [7, 6]]
    return means[:, rng.permutation(8)]


def outages(rng: np.random.Generator) -> Floats:
    """Six arms that stand still; each of the two best fails four times for 100 to 400 rounds."""
    means = np.tile(0.2 + 0.7 * rng.random(6), (T, 1))
    for arm in np.argsort(means[0])[-2:]:
        for t in rng.integers(T, size=4):
            means[t : t + rng.integers(100, 400), arm] = 0.02
    return means


def bursts(rng: np.random.Generator) -> Floats:
    """Ten arms of 0.2 to 0.5; at twelve times one of them pays 0.9 for 200 to 600 rounds."""
    means = np.tile(0.2 + 0.3 * rng.random(10), (T, 1))
    for t in rng.integers(T, size=12):
        means[t : t + rng.integers(200, 600), rng.integers(10)] = 0.9
    return means


def novelty(rng: np.random.Generator) -> Floats:
    """Six click rates of 1 to 5 %, each of which jumps once to three times as much, which wears off."""
    means = np.tile(0.01 + 0.04 * rng.random(6), (T, 1))
    for arm in range(6):
        t = int(rng.integers(T))
        means[t:, arm] *= 1 + 2 * np.exp(-np.arange(T - t) / rng.integers(500, 2_500))
    return means


def tides(rng: np.random.Generator) -> Floats:
    """Four arms with a trend each and a common season of 1 440 rounds that touches them by different amounts."""
    t = np.arange(T)
    season = np.sin(2 * np.pi * t / 1_440)[:, None] * rng.uniform(0, 0.15, 4)
    trend = np.outer(t / T - 0.5, rng.uniform(-0.6, 0.6, 4))
    return np.clip(0.5 + season + trend, 0.01, 0.99)


def returning(rng: np.random.Generator) -> Floats:
    """Seven arms; logits are Ornstein-Uhlenbeck processes, each with a speed of its own."""
    speed = rng.uniform(1e-4, 5e-3, 7)
    logits, level = np.empty((T, 7)), rng.normal(size=7)
    shocks = rng.normal(size=(T, 7)) * np.sqrt(2 * speed)
    for t in range(T):
        level = level * (1 - speed) + shocks[t]
        logits[t] = level
    return 1 / (1 + np.exp(-logits))


def ramps(rng: np.random.Generator) -> Floats:
    """Twenty arms on straight lines from one uniform mean to another."""
    start, end = rng.random(20), rng.random(20)
    return start + np.linspace(0, 1, T)[:, None] * (end - start)


FAMILIES: dict[str, Family] = {
    "one arm at a time": one_at_a_time, "the two best swap": swaps, "outages": outages, "bursts": bursts,
    "clicks that wear off": novelty, "trends and a season": tides, "processes that return": returning,
    "twenty ramps": ramps,
}  # fmt: skip


def instances() -> Iterator[tuple[str, Floats]]:
    """Names and means of three instances of each family."""
    for name, family in FAMILIES.items():
        yield from ((f"{name}, {seed}", family(np.random.default_rng(seed))) for seed in SEEDS)


def judged() -> Outcome:
    """Print the regret of the agent to start with over that of the best of a full grid, chosen on the true means.

    The grid has every agent that `recommend` considers, with parameters twice as fine as its first grid; `faded-index`,
    on a grid of 60 points, is a rival by itself. The best of each is chosen in two rounds on runs of their own; all are
    judged on 200 others.
    """
    mine = Candidate.of(START, {"blind": True})
    rows: dict[str, dict[str, Any]] = {}
    for name, means in instances():
        env = as_env(nsb.worlds.Table(rows=means), {})
        spaces = {each: advised_space(each, *means.shape) for each in ADVISED if each != START}
        tried = [Candidate.of(each, point) for each, space in spaces.items() for point in coarse_grid(space, 2.0)[0]]
        faded = [Candidate.of("faded-index", point) for point in grid(default_space("faded-index", *means.shape))[0]]
        best, index = best_of(env, tried), best_of(env, faded)
        played = finals_of(env, [mine, best, index], RUNS, JUDGING)
        (loss, error), (faster, _) = (relative_loss(played[mine], played[each]) for each in (best, index))
        tails = [float(np.quantile(played[each], 0.95)) for each in (mine, best)]
        rows[name] = {"ratio": 1 + loss, "index": 1 + faster, "tail": tails[0] / tails[1], "best": best.name}
        print(f"judged: {name}: {1 + loss:.2f} ± {error:.2f} of {best.name} ({best.settings}), ", end="")
        print(f"95th percentiles {tails[0]:.0f} and {tails[1]:.0f}; {1 + faster:.2f} of {index.settings}", flush=True)
    mean, worst = (f([each["ratio"] for each in rows.values()]) for f in (statistics.geometric_mean, max))
    index_mean = statistics.geometric_mean(each["index"] for each in rows.values())
    print(
        f"judged: geometric mean {mean:.3f} (at most {MEAN_RATIO}), worst {worst:.2f} (at most {WORST_RATIO}); ", end=""
    )
    print(f"of the tuned faded-index {index_mean:.2f}")
    by_family = {}
    for name in FAMILIES:
        found = [each for key, each in rows.items() if key.rpartition(", ")[0] == name]
        means_of = {key: statistics.geometric_mean(each[key] for each in found) for key in ("ratio", "tail", "index")}
        names = ", ".join(sorted({f"`{each['best']}`" for each in found}))
        by_family[name] = {**means_of, "worst": max(each["ratio"] for each in found), "best": names}
    figures = {"families": by_family, "mean": mean, "worst": worst, "index": index_mean, "grid": len(tried)}
    return Outcome(mean <= MEAN_RATIO and worst <= WORST_RATIO, {**figures, "runs": RUNS})


class LowerHazards(ChangepointUCB):
    """With hazards from 0.01/T on, which needs T."""

    hazards = tuple(np.geomspace(0.01 / T, 0.1, 8))


VARIANTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "as it is": (ChangepointUCB, {}),
    "c = 1.2": (ChangepointUCB, {"width": 1.2}),
    "c = 2": (ChangepointUCB, {"width": 2.0}),
    "g = 0": (ChangepointUCB, {"growth": 0.0}),
    "g = 0.7": (ChangepointUCB, {"growth": 0.7}),
    "g = 3": (ChangepointUCB, {"growth": 3.0}),
    "r = 0: single means never drift": (ChangepointUCB, {"drift": 0.0}),
    "r = 0.00015, not learnt": (ChangepointUCB, {"drift": 1.5e-4}),
    "M = 20": (ChangepointUCB, {"hypotheses": 20}),
    "M = 120": (ChangepointUCB, {"hypotheses": 120}),
    "h = 0.001, not learnt": (ChangepointUCB, {"rate": 1e-3}),
    "hazards from 0.01/T on": (LowerHazards, {}),
    "prior Beta(1, 1), not learnt": (ChangepointUCB, {"prior": 0.5}),
    "a draw instead of the index": ("switching-ts", {"hazard": "learnt"}),
    "h = Υ/T, informed": ("changepoint-ucb", {}),
}
SHORT_RUNS, LONG_RUNS = 16, 8
UNIT = ("Beta rewards", "Gaussian rewards")


def ablation() -> Outcome:
    """Print what each part of the agent to start with is worth on the worlds on which it was made, and draw it."""
    best: dict[str, float] = {}
    with (DOCS / "leaderboard" / "leaderboard.csv").open() as file:
        for row in csv.DictReader(file):
            if row["division"] == "blind" and row["agent"] != START:
                best[row["world"]] = min(float(row["regret"]), best.get(row["world"], math.inf))
    worlds = [world for world in WORLDS if world.family not in UNIT]
    figures: dict[str, Any] = {}
    for name, (agent, given) in VARIANTS.items():
        ratios, tails = {}, {}
        for world in worlds:
            runs = LONG_RUNS if world.entry.kwargs["horizon"] > T else SHORT_RUNS
            told = given if name.endswith(("informed", "index")) else {**given, "blind": True}
            finals = nsb.simulate(world.entry.env(), agent, runs=runs, agent_kwargs=told, rounds=()).final
            ratios[world.label] = float(finals.mean()) / best[world.label]
            tails[world.label] = float(finals.max()) / best[world.label]
        mean, worst = statistics.geometric_mean(ratios.values()), max(ratios, key=lambda each: ratios[each])
        figures[name] = {"mean": mean, "worst": ratios[worst], "where": worst, "tail": max(tails.values())}
        print(f"ablation: {name}: {mean:.2f}, worst {ratios[worst]:.2f} ({worst}), ", end="")
        print(f"worst run {max(tails.values()):.1f}", flush=True)
    _draw(figures)
    return Outcome(True, {"variants": figures})


def _draw(figures: dict[str, Any]) -> None:
    """Draw the mean and the worst ratio of every variant."""
    import matplotlib.pyplot as plt

    names = list(figures)[::-1]
    figure, axes = plt.subplots(figsize=(8, 0.32 * len(names) + 1), layout="constrained")
    for key, marker, label in (("mean", "o", "geometric mean over worlds"), ("worst", "|", "worst world")):
        axes.plot([figures[name][key] for name in names], range(len(names)), marker, label=label, markersize=8)
    axes.axvline(1, color="0.6", linewidth=1)
    axes.set(xscale="log", xlabel="regret over that of the best other blind agent of each world")
    axes.set_xticks([0.8, 1, 1.5, 2, 3, 5], ["0.8", "1", "1.5", "2", "3", "5"])
    axes.minorticks_off()
    axes.set_yticks(range(len(names)), names)
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(DOCS / "changepoint-ucb.png", dpi=150)


SIZES = (1_000, 10_000, 100_000)
CHANGES = (0, 4, 16, 64)


def scaling() -> Outcome:
    """Print the regret of the agent to start with by T and by the number of changes, and how it grows."""
    figures = {}
    for changes in CHANGES:
        found = {}
        for horizon in SIZES:
            world = nsb.worlds.Piecewise(horizon=horizon, n_arms=10, changes=min(changes, horizon // 50), min_gap=0.1)
            runs = nsb.simulate(world, START, runs=40, agent_kwargs={"blind": True}, rounds=())
            found[str(horizon)] = float(runs.final.mean())
        figures[str(changes)] = found
        print(f"scaling: {changes} changes: " + ", ".join(f"T = {t}: {r:.0f}" for t, r in found.items()), flush=True)
    return Outcome(True, figures)
