"""Choices against the best of a full grid: the parameters of `tune`, and the agent and parameters of `recommend`.

Every best of a grid is judged on further runs, which chose nothing: the least mean of many would flatter its owner on
the runs that chose it.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from benchmarks._common import Outcome

import ns_mab_gym as nsb
from ns_mab_gym.means import Floats
from ns_mab_gym.specs import as_env
from ns_mab_gym.theory.theorems import LEARNERS
from ns_mab_gym.tuning.race import Candidate
from ns_mab_gym.tuning.search import ADVISED, advised_space, coarse_grid

CHOOSING, JUDGING = 1_001, 2_002  # seeds of the runs that choose and that judge; `tune` and `recommend` take 0
RUNS, SECONDS = 200, 20.0
PAPER = {
    "Abrupt": nsb.worlds.Abrupt(),
    "General": nsb.worlds.GeneralAbrupt(),
    "Smooth": nsb.worlds.Smooth(sigma=1e-4),
    "Fast": nsb.worlds.Smooth(sigma=1e-3),
}
WINDOWS, SHORTEST = 41, 20
FEW, HOPELESS = 20, 1.3  # runs, after which windows with more than 1.3 times the least regret are left out
LOSS = 0.03  # the most that `tune` may lose


def relative_loss(mine: Floats, best: Floats) -> tuple[float, float]:
    """The loss of final regrets against the best ones on the same runs, and its standard error."""
    loss = float(mine.mean() / best.mean() - 1)
    return loss, float((mine - (1 + loss) * best).std(ddof=1) / math.sqrt(len(mine)) / best.mean())


def finals(world: nsb.worlds.World, agent: str, window: int, seed: int, runs: int = RUNS) -> Floats:
    """The final regrets of one window."""
    return nsb.simulate(world, agent, runs=runs, seed=seed, agent_kwargs={"window": window}, rounds=()).final


def best_of_grid(world: nsb.worlds.World, agent: str) -> int:
    """The window of the grid with the least mean regret."""
    grid = np.unique(np.geomspace(SHORTEST, world.horizon, WINDOWS).round()).astype(int).tolist()
    first = {window: float(finals(world, agent, window, CHOOSING, FEW).mean()) for window in grid}
    close = [window for window in grid if first[window] <= HOPELESS * min(first.values())]
    return min(close, key=lambda window: float(finals(world, agent, window, CHOOSING).mean()))


def tuning() -> Outcome:
    """Print the loss of `tune` against the best of 41 windows, on the paper's worlds, for both of its samplers.

    The best of the grid is chosen by 200 runs of each window; windows that the first 20 of them put 30 % behind the
    best are not played to the end.
    """
    figures: dict[str, Any] = {}
    for agent in LEARNERS:
        for name, world in PAPER.items():
            nsb.tune(world, agent, runs=200)  # compiles and loads what is needed
            began = time.perf_counter()
            window = nsb.tune(world, agent, budget=SECONDS)["window"]
            seconds, best = time.perf_counter() - began, best_of_grid(world, agent)
            loss, error = relative_loss(*(finals(world, agent, each, JUDGING) for each in (window, best)))
            print(f"tuning: {agent}, {name}: window {window:,}, best of the grid {best:,}, ", end="")
            print(f"loss {loss:+.1%} ± {error:.1%}, {seconds:.1f} s", flush=True)
            found = {"window": window, "best": best, "loss": loss, "error": error, "seconds": seconds}
            figures[f"{agent}, {name}"] = found
    worst, slowest = (max(each[key] for each in figures.values()) for key in ("loss", "seconds"))
    print(f"tuning: worst loss {worst:+.1%} (at most {LOSS:.0%}), longest {slowest:.1f} s (at most {SECONDS:g} s)")
    return Outcome(worst <= LOSS and slowest <= SECONDS, figures)


SEEDS = (101, 102, 103)
HORIZON, LONG = 20_000, 200_000  # the latter for click rates
FIRST, SECOND, BEST = 6, 150, 10  # runs of the two rounds that choose, and the candidates in the second
ADVICE_LOSS = 0.15  # the most that `recommend` may lose
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
        size = {"horizon": HORIZON, "n_arms": int(rng.integers(3, 12))}
        yield f"periodic, {seed}", nsb.worlds.Periodic(**size, period=period, amplitude=amplitude).means()
    for seed in SEEDS:
        clicks = nsb.worlds.Piecewise(horizon=LONG, n_arms=6, changes=6)
        yield f"click rates of 1 to 8 %, {seed}", 0.01 + 0.07 * clicks.means(rng=seed)


def finals_of(env: Any, candidates: list[Candidate], runs: int, seed: int) -> dict[Candidate, Floats]:
    """The final regrets of candidates, on common luck."""

    def play(candidate: Candidate) -> Floats:
        given = {"agent_kwargs": candidate.kwargs, "runs": runs, "seed": seed}
        return nsb.simulate(env, candidate.agent, **given, rounds=(), n_jobs=1).final

    with ThreadPoolExecutor() as pool:
        return dict(zip(candidates, pool.map(play, candidates), strict=True))


def best_of(env: Any, candidates: list[Candidate]) -> Candidate:
    """The candidate with the least mean regret."""
    short = finals_of(env, candidates, FIRST, CHOOSING)
    best = sorted(candidates, key=lambda each: float(short[each].mean()))[:BEST]
    long = finals_of(env, best, SECOND, CHOOSING)
    return min(best, key=lambda each: float(long[each].mean()))


def advice() -> Outcome:
    """Print the losses of `recommend` against the best of a full grid, on 24 instances that it was not made on.

    The full grid holds every agent that `recommend` considers, with twice as fine a grid of parameters as its first
    one. Its best is chosen in two rounds, all with few runs and the best ten with many. Beside it stand the window of
    theory for Beta-SWTS and the one that `recommend` found, against the best window of the same grid.
    """
    lost: dict[str, list[float]] = {"advice": [], "window": [], "theory": []}
    for name, means in instances():
        answer = nsb.recommend(means, seconds=SECONDS)
        env = as_env(nsb.worlds.Table(rows=means), {})
        spaces = {name: advised_space(name, *means.shape) for name in ADVISED}  # on a grid twice as fine as the first
        grid = [Candidate.of(name, point) for name in ADVISED for point in coarse_grid(spaces[name], 2.0)[0]]
        best, window = best_of(env, grid), best_of(env, [each for each in grid if each.agent == MINE])
        chosen = Candidate.of(answer.agent, answer.parameters)
        found = Candidate.of(MINE, answer.windows[MINE].parameters)
        theory = Candidate.of(MINE, {"window": nsb.theory.recommend_window(means, MINE).window})
        judged = finals_of(env, list(dict.fromkeys([best, window, chosen, found, theory])), RUNS, JUDGING)
        loss, error = relative_loss(judged[chosen], judged[best])
        lost["advice"].append(loss)
        lost["window"].append(relative_loss(judged[found], judged[window])[0])
        lost["theory"].append(relative_loss(judged[theory], judged[window])[0])
        print(f"advice: {name}: {answer.agent} ({chosen.settings}), best {best.name} ({best.settings}): ", end="")
        print(f"loss {loss:+.1%} ± {error:.1%}; window {lost['window'][-1]:+.1%}, ", end="")
        print(f"theory's {lost['theory'][-1]:+.1%}; {answer.spent.seconds:.0f} s", flush=True)
    figures = {what: {"median": statistics.median(each), "worst": max(each)} for what, each in lost.items()}
    for what, each in figures.items():
        print(f"advice: {what}: {each['median']:+.1%} (median), {each['worst']:+.1%} (worst)")
    return Outcome(figures["advice"]["worst"] <= ADVICE_LOSS, figures)
