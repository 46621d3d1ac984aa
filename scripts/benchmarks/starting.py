"""The agent to start with: ahead of others, judged on families kept aside, and what its parts are worth."""

from __future__ import annotations

import csv
import itertools
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._common import Outcome
from benchmarks._families import ASIDE, SEEN, T
from benchmarks.choosing import JUDGING, best_of, finals_of, relative_loss

import ns_mab_gym as nsb
from ns_mab_gym.agents.changepoint_ucb import ChangepointUCB
from ns_mab_gym.agents.core.knowledge import Knowledge
from ns_mab_gym.agents.core.protocol import UnsuitableRewardsError
from ns_mab_gym.leaderboard.plan import FURTHER, NAMED, WORLDS, BoardWorld
from ns_mab_gym.means import Floats
from ns_mab_gym.specs import as_env
from ns_mab_gym.tuning.race import Candidate
from ns_mab_gym.tuning.search import ADVISED, START, advised_space, coarse_grid, default_space, grid

SEEDS, RUNS = (11, 12, 13), 200
MEAN_RATIO, WORST_RATIO = 1.05, 1.5  # to the best that was tuned on the true means
AHEAD, BEHIND, UNSAFE = 0.85, 1.3, 2.0  # to the best other blind agent: mean, worst world, 95th percentile
FORMS = {label: (agent, given) for agent, (given, label) in (NAMED | FURTHER).items()}
CLOSE = 1.4  # rivals have at most this many times the least regret in the table of the leaderboard
DOCS = Path(__file__).parents[2] / "docs"


def others() -> dict[str, dict[str, float]]:
    """Regrets of the other blind agents on each world, from the table of the leaderboard."""
    found: dict[str, dict[str, float]] = {}
    with (DOCS / "leaderboard" / "leaderboard.csv").open() as file:
        for row in csv.DictReader(file):
            if row["division"] == "blind" and row["agent"] != START:
                found.setdefault(row["world"], {})[row["agent"]] = float(row["regret"])
    return found


def blind(world: BoardWorld, name: str) -> Floats:
    """The final regrets of a blind agent, by its name on the leaderboard, on 200 runs."""
    agent, given = FORMS.get(name, (name, {}))
    asked = {"runs": RUNS, "seed": JUDGING, "rounds": ()}
    try:
        return nsb.simulate(world.entry.env(), agent, **asked, agent_kwargs={**given, "blind": True}).final
    except UnsuitableRewardsError:  # as on the leaderboard
        told = {**given, "blind": True, "binarize": True}
        return nsb.simulate(world.entry.env(), agent, **asked, agent_kwargs=told).final


def ahead() -> Outcome:
    """Print the regret of the agent to start with over that of the best other blind agent, on the leaderboard's worlds.

    Rivals of a world are those with at most 1.4 times the least regret in the table; all play the same 200 runs. The
    95th percentile of runs stands beside the least one of these rivals.
    """
    rows, table = {}, others()
    for world in WORLDS:
        least = min(table[world.label].values())
        rivals = {name: blind(world, name) for name, each in table[world.label].items() if each <= CLOSE * least}
        mine, best = blind(world, START), min(rivals, key=lambda name: float(rivals[name].mean()))
        loss, error = relative_loss(mine, rivals[best])
        tail = float(np.quantile(mine, 0.95) / min(np.quantile(each, 0.95) for each in rivals.values()))
        most = float(mine.max() / min(each.max() for each in rivals.values()))
        rows[world.label] = {"ratio": 1 + loss, "error": error, "tail": tail, "most": most, "best": best}
        print(f"ahead: {world.label}: {1 + loss:.2f} ± {error:.2f} of {best}; of the safest rivals, ", end="")
        print(f"95th percentile {tail:.2f}, worst run {most:.2f}", flush=True)
    mean = statistics.geometric_mean(each["ratio"] for each in rows.values())
    worst, tail = (max(each[key] for each in rows.values()) for key in ("ratio", "tail"))
    print(f"ahead: geometric mean {mean:.3f} (at most {AHEAD}), worst {worst:.2f} (at most {BEHIND}); ", end="")
    print(f"95th percentile {tail:.2f} (at most {UNSAFE})")
    figures = {"worlds": rows, "mean": mean, "worst": worst, "tail": tail, "runs": RUNS}
    return Outcome(mean <= AHEAD and worst <= BEHIND and tail <= UNSAFE, figures)


def judged() -> Outcome:
    """Print the regret of the agent to start with over that of the best of a full grid, chosen on the true means.

    The grid has every agent that `recommend` considers, with parameters twice as fine as its first grid; `faded-index`,
    on a grid of 60 points, is a rival by itself. The best of each is chosen in two rounds on runs of their own; all are
    judged on 200 others.
    """
    mine = Candidate.of(START, {"blind": True})
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for name, seed in itertools.product({**SEEN, **ASIDE}, SEEDS):
        means = {**SEEN, **ASIDE}[name](np.random.default_rng(seed))
        env = as_env(nsb.worlds.Table(rows=means), {})
        spaces = {each: advised_space(each, *means.shape) for each in ADVISED if each != START}
        tried = [Candidate.of(each, point) for each, space in spaces.items() for point in coarse_grid(space, 2.0)[0]]
        faded = [Candidate.of("faded-index", point) for point in grid(default_space("faded-index", *means.shape))[0]]
        best, index = best_of(env, tried), best_of(env, faded)
        played = finals_of(env, [mine, best, index], RUNS, JUDGING)
        (loss, error), (faster, _) = (relative_loss(played[mine], played[each]) for each in (best, index))
        tails = [float(np.quantile(played[each], 0.95)) for each in (mine, best)]
        found = {"ratio": 1 + loss, "index": 1 + faster, "tail": tails[0] / tails[1], "best": best.name}
        rows[name, seed] = {**found, "grid": len(tried)}
        print(f"judged: {name}, {seed}: {1 + loss:.2f} ± {error:.2f} of {best.name} ({best.settings}), ", end="")
        print(f"95th percentiles {tails[0]:.0f} and {tails[1]:.0f}; {1 + faster:.2f} of {index.settings}", flush=True)

    def means_of(names: Iterable[str]) -> dict[str, Any]:
        """Geometric means and the largest ratio over the matrices of some families."""
        those = [each for (name, _), each in rows.items() if name in set(names)]
        means = {key: statistics.geometric_mean(each[key] for each in those) for key in ("ratio", "tail", "index")}
        best = ", ".join(sorted({f"`{each['best']}`" for each in those}))
        return {**means, "worst": max(each["ratio"] for each in those), "best": best}

    seen, aside = means_of(SEEN), means_of(ASIDE)
    for group, each in (("seen while it was made", seen), ("kept aside", aside)):
        print(f"judged: families {group}: geometric mean {each['ratio']:.3f} (at most {MEAN_RATIO}), ", end="")
        print(f"worst {each['worst']:.2f} (at most {WORST_RATIO}); of the tuned faded-index {each['index']:.2f}")
    figures = {
        "families": {name: means_of([name]) for name in (*ASIDE, *SEEN)},
        "seen": {**seen, "families": len(SEEN)},
        "aside": {**aside, "families": len(ASIDE)},
        "grid": max(each["grid"] for each in rows.values()),
        "runs": RUNS,
    }
    return Outcome(aside["ratio"] <= MEAN_RATIO and aside["worst"] <= WORST_RATIO, figures)


class LowerHazards(ChangepointUCB):
    """With hazards from 0.01/T on, which needs T."""

    hazards = tuple(np.geomspace(0.01 / T, 0.1, 8))


class UntoldHorizon(ChangepointUCB):
    """Without T."""

    @classmethod
    def tune(cls, knowledge: Knowledge, given: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing is used."""
        return {}


VARIANTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "as it is": (ChangepointUCB, {}),
    "T unknown": (UntoldHorizon, {}),
    "c = 0.4": (ChangepointUCB, {"width": 0.4}),
    "c = 1.5": (ChangepointUCB, {"width": 1.5}),
    "g = 0": (ChangepointUCB, {"growth": 0.0}),
    "g = 1.4": (ChangepointUCB, {"growth": 1.4}),
    "p = 0: arms change together": (ChangepointUCB, {"single": 0.0}),
    "p = 0.7": (ChangepointUCB, {"single": 0.7}),
    "r = 0: single means never drift": (ChangepointUCB, {"drift": 0.0}),
    "p = 0 and r = 0": (ChangepointUCB, {"single": 0.0, "drift": 0.0}),
    "M = 20": (ChangepointUCB, {"hypotheses": 20}),
    "M = 120": (ChangepointUCB, {"hypotheses": 120}),
    "h = 0.001, not learnt": (ChangepointUCB, {"rate": 1e-3}),
    "hazards from 0.01/T on": (LowerHazards, {}),
    "prior Beta(1, 1), not learnt": (ChangepointUCB, {"prior": 0.5}),
    "a draw instead of the index": ("switching-ts", {"hazard": "learnt"}),
    "h = Υ/T, informed": ("changepoint-ucb", {}),
}
SHORT_RUNS, LONG_RUNS = 50, 16
UNIT = ("Beta rewards", "Gaussian rewards")


def ablation() -> Outcome:
    """Print what each part of the agent to start with is worth on the worlds on which it was made, and draw it."""
    best = {world: min(found.values()) for world, found in others().items()}
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
