"""What the answer of `recommend` loses against the best of a full grid, on 24 instances that it was not made on.

The full grid holds every agent that `recommend` considers, with twice as fine a grid of parameters as its first one.
The best of it is chosen in two rounds, all with few runs and the best ten with many, and judged together with the
answer of `recommend` on further runs, which chose neither. Beside it stands the window of theory (`recommend_window`)
for Beta-SWTS, against the best window of the same grid, and the window for Beta-SWTS that `recommend` found.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from benchmarks._outcome import Outcome

import ns_mab_gym as nsb
from ns_mab_gym.choosing.advice import ADVISED, full_grid
from ns_mab_gym.choosing.racing import Candidate
from ns_mab_gym.means import Floats
from ns_mab_gym.play.resolving import as_env

SEEDS = (101, 102, 103)
HORIZON, LONG = 20_000, 200_000  # the latter for click rates
FEW, MANY, BEST = 6, 150, 10  # runs of the two rounds, and how many go into the second
FRESH = 200  # runs that judge
CHOOSING, JUDGING = 1_001, 2_002  # seeds; `recommend` takes 0
LIMIT = 0.15  # the most that `recommend` may lose
SECONDS = 20.0
MINE = "beta-swts"


def instances() -> Iterator[tuple[str, Floats]]:
    """The names and the means of the 24 instances."""
    drawn: dict[str, Any] = {
        "piecewise, 3 changes": nsb.worlds.Piecewise(horizon=HORIZON, n_arms=8, changes=3),
        "piecewise, 40 changes": nsb.worlds.Piecewise(horizon=HORIZON, n_arms=5, changes=40),
        "random walk, slow": nsb.worlds.RandomWalk(horizon=HORIZON, n_arms=6, step=0.001),
        "random walk, fast": nsb.worlds.RandomWalk(horizon=HORIZON, n_arms=6, step=0.01),
        "rising": nsb.worlds.Rising(horizon=HORIZON, n_arms=10),
        "rotting": nsb.worlds.Rotting(horizon=HORIZON, n_arms=10),
    }
    for name, world in drawn.items():
        yield from ((f"{name}, {seed}", world.means(rng=seed)) for seed in SEEDS)
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        period, amplitude = int(rng.integers(500, 10_000)), float(rng.uniform(0.05, 0.4))
        periodic = nsb.worlds.Periodic(
            horizon=HORIZON, n_arms=int(rng.integers(3, 12)), period=period, amplitude=amplitude
        )
        yield f"periodic, {seed}", periodic.means()
    for seed in SEEDS:
        clicks = nsb.worlds.Piecewise(horizon=LONG, n_arms=6, changes=6)
        yield f"click rates of 1 to 8 %, {seed}", 0.01 + 0.07 * clicks.means(rng=seed)


class Losses(NamedTuple):
    """What the answers lose, each against the best of the same grid: all agents, or the windows of Beta-SWTS."""

    advice: float
    error: float  # standard error of the loss of the advice
    window: float
    theory: float
    agent: str
    best: str
    seconds: float


def finals(env: Any, candidates: list[Candidate], runs: int, seed: int) -> dict[Candidate, Floats]:
    """The final regrets of candidates, on common luck."""

    def play(candidate: Candidate) -> Floats:
        played = nsb.simulate(
            env, candidate.agent, agent_kwargs=candidate.kwargs, runs=runs, seed=seed, rounds=(), n_jobs=1
        )
        return played.final

    with ThreadPoolExecutor() as pool:
        return dict(zip(candidates, pool.map(play, candidates), strict=True))


def best_of(env: Any, candidates: list[Candidate]) -> Candidate:
    """The candidate with the least mean regret."""
    short = finals(env, candidates, FEW, CHOOSING)
    best = sorted(candidates, key=lambda each: float(short[each].mean()))[:BEST]
    long = finals(env, best, MANY, CHOOSING)
    return min(best, key=lambda each: float(long[each].mean()))


def losses(means: Floats) -> Losses:
    """Ask for advice on an instance, and compare it with the full grid."""
    advice = nsb.recommend(means, seconds=SECONDS)
    env = as_env(nsb.worlds.Table(rows=means), {})
    grid = full_grid(ADVISED, *means.shape)
    best, window = best_of(env, grid), best_of(env, [each for each in grid if each.agent == MINE])
    chosen = Candidate.of(advice.agent, advice.parameters)
    found = Candidate.of(MINE, advice.windows[MINE].parameters)
    theory = Candidate.of(MINE, {"window": nsb.theory.recommend_window(means, MINE).window})
    judged = finals(env, list(dict.fromkeys([best, window, chosen, found, theory])), FRESH, JUDGING)
    regret = {each: float(its.mean()) for each, its in judged.items()}
    return Losses(
        loss := regret[chosen] / regret[best] - 1,
        float((judged[chosen] - (1 + loss) * judged[best]).std() / math.sqrt(FRESH) / regret[best]),
        regret[found] / regret[window] - 1,
        regret[theory] / regret[window] - 1,
        f"{advice.agent} ({chosen.settings})",
        f"{best.name} ({best.settings})",
        advice.spent.seconds,
    )


def run() -> Outcome:
    """Print the losses on every instance, their median and the worst."""
    found: dict[str, Losses] = {}
    for name, means in instances():
        found[name] = one = losses(means)
        print(f"advice: {name}: {one.agent}, best {one.best}: loss {one.advice:+.1%} ± {one.error:.1%}; ", end="")
        print(f"window {one.window:+.1%}, theory's {one.theory:+.1%}; {one.seconds:.0f} s", flush=True)
    figures: dict[str, Any] = {}
    for what in ("advice", "window", "theory"):
        lost = [getattr(each, what) for each in found.values()]
        figures[what] = {"median": statistics.median(lost), "worst": max(lost)}
        print(f"advice: {what}: {figures[what]['median']:+.1%} (median), {figures[what]['worst']:+.1%} (worst)")
    return Outcome(figures["advice"]["worst"] <= LIMIT, figures)
