"""Choices against the best of a full grid: the parameters of `tune`, and the agent and parameters of `recommend`.

Every best of a grid is judged on further runs, which had no part in choosing it: the least mean of many would flatter
its owner on the runs that chose it. `answers` asks something else: whether what an answer says holds together.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from benchmarks._common import Outcome
from scipy import stats

import ns_mab_gym as nsb
from ns_mab_gym.means import Floats
from ns_mab_gym.specs import as_env
from ns_mab_gym.theory.theorems import LEARNERS
from ns_mab_gym.tuning.race import Candidate, held_out_seed
from ns_mab_gym.tuning.search import ADVISED, START, advised_space, coarse_grid
from ns_mab_gym.tuning.tune import Advice

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
            window = nsb.tune(world, agent, seconds=SECONDS)["window"]
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
        grid.append(Candidate.of(START, {"blind": True}))
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


CALLS = {3.0: 24, 10.0: 12, 60.0: 4}  # seconds asked for: how many calls
LATE = 1.3  # the most that a call may take, as a share of the seconds that were asked for or said beforehand


class Asked(NamedTuple):
    """What a call of `recommend` took, said and contradicted."""

    took: float
    said: float  # the seconds asked for, or those that it said to need instead, and those of compiling
    answer: str
    wrong: list[str]


def asked_worlds() -> dict[str, Any]:
    """The eight worlds of `answers`: arguments of `recommend`, by name."""
    drawn = nsb.worlds.Piecewise
    prices = 70 + 90 * drawn(horizon=10_000, n_arms=8, changes=5).means(rng=11)
    return {
        "still": {"world": nsb.worlds.Stationary(mu=(0.5, 0.45, 0.4, 0.35), horizon=20_000)},
        "few changes": {"world": drawn(horizon=20_000, n_arms=8, changes=3).means(rng=11)},
        "many changes": {"world": drawn(horizon=20_000, n_arms=5, changes=40).means(rng=11)},
        "random walks, every run others": {"world": nsb.worlds.RandomWalk(horizon=20_000, n_arms=6, step=0.005)},
        "click rates": {"world": 0.01 + 0.07 * drawn(horizon=200_000, n_arms=6, changes=6).means(rng=11)},
        "Gaussian, sd 60": {"world": prices, "reward": nsb.rewards.make("gaussian", scale=60.0)},
        "50 arms": {"world": drawn(horizon=20_000, n_arms=50, changes=5).means(rng=11)},
        "the paper's abrupt world": {"world": nsb.worlds.Abrupt()},
    }


def contradictions(found: Advice, question: dict[str, Any], seed: int, level: float = 0.05) -> list[str]:
    """Return what is wrong in an answer, beside its own held-out runs, played again and judged with SciPy alone."""
    wrong: list[str] = []

    def check(holds: bool, otherwise: str) -> None:
        wrong.extend([] if holds else [otherwise])

    env = as_env(question["world"], {"reward": question["reward"]} if "reward" in question else {})
    chosen = Candidate.of(found.agent, found.parameters)
    others = {Candidate.of(each.agent, each.parameters): each for each in found.judged}
    finals = finals_of(env, [chosen, *others], found.regret.runs, held_out_seed(seed))

    def interval(samples: Floats, families: int) -> tuple[float, float, float]:
        reach = stats.t.ppf(1 - level / families / 2, len(samples) - 1) * stats.sem(samples)
        return float(samples.mean()), float(samples.mean() - reach), float(samples.mean() + reach)

    def lowest(one: Candidate) -> float:
        """The largest lower end of the differences to another one."""
        return max(
            (interval(finals[one] - finals[each], len(others))[1] for each in finals if each != one), default=0.0
        )

    for each, shown in ((chosen, found), *others.items()):
        check(np.allclose(shown.regret[:3], interval(finals[each], len(finals))), f"regret of {each}")
        check(shown.regret.runs == found.regret.runs >= 5, f"runs of {each}")
    for each, shown in others.items():
        expected = interval(finals[each] - finals[chosen], len(others))
        check(np.allclose(shown.difference[:3], expected, atol=1e-6), f"difference of {each}")
        check(shown.difference.high >= 0, f"{each} beats the answer beyond doubt")
        check(shown.unbeaten == (lowest(each) <= 1e-9), f"{each}: unbeaten={shown.unbeaten}")
    check(lowest(chosen) <= 1e-9, "the answer is beaten beyond doubt")
    check(found.alike == [each for each in found.judged if each.unbeaten], "alike")
    check(chosen not in others, "the answer is judged beside itself")
    means = [each.regret.mean for each in found.judged]
    check(means == sorted(means), "judged is not in order")
    least = min((interval(finals[each] - finals[chosen], len(others))[1] for each in others), default=0.0)
    check(math.isclose(found.within, max(-least, 0) / found.regret.mean, abs_tol=1e-6), "within")
    check((found.start is None) == chosen.blind and (chosen.blind or found.start in found.judged), "start")
    first = next((each for each in found.judged if each.agent != found.agent), None)
    check(found.runner_up == first, "runner-up")
    for each in (*found.windows.values(), found.theory):
        check(each is None or each in found.judged or Candidate.of(each.agent, each.parameters) == chosen, "windows")
    lines = str(found).splitlines()
    check(
        lines[0].startswith(f"play {chosen}: regret ") and f"{found.regret.runs:,} held-out runs" in lines[0], lines[0]
    )
    check(found.alike or ("beyond doubt" if others else "no other candidate was judged") in lines[1], lines[1])
    check(not found.alike or f"these {1 + len(found.alike)} cannot be told apart" in lines[1], lines[1])
    check(not found.alike or (lines[1].startswith("nothing beats") == chosen.blind), lines[1])
    for line in lines[2:]:
        if line.startswith(("runner-up", "the agent to start with", "best window", "theory's window")):
            text = line.partition(": ")[2]
            shown = [each for each in found.judged if str(each) == text]
            check(text == "the same" or bool(shown), line)
            better = re.search(r"\(−", text)  # in these runs, by luck or not
            check(not better or "not told apart" in text, line)
    return wrong


def ask(name: str, seconds: float, seed: int) -> Asked:
    """Ask about one of the worlds, in a process that has asked nothing yet."""
    told: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("ns_mab_gym").addHandler(handler)
    question = asked_worlds()[name]
    began = time.perf_counter()
    found = nsb.recommend(**question, seconds=seconds, seed=seed)
    took = time.perf_counter() - began
    # There may be two estimates, of the same work: one beforehand, and one on this machine.
    compiling = max(map(float, re.findall(r"takes about ([\d.]+) s", " ".join(told))), default=0.0)
    needed = [float(each) for each in re.findall(r"about ([\d.]+) s in all", " ".join(found.warnings))]
    return Asked(took, max([seconds, *needed]) + compiling, str(found), contradictions(found, question, seed))


def answers() -> Outcome:
    """Print whether 40 answers of `recommend` on eight worlds contradict their own runs, and how long they took.

    Each is asked for in a new process, the first one with an empty folder for compiled code.
    """
    plan = [(name, seconds) for seconds, calls in CALLS.items() for name in (list(asked_worlds()) * calls)[:calls]]
    late, wrong, slowest, loads = 0, 0, 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        for seed, (name, seconds) in enumerate(plan):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                asked = pool.submit(ask, name, seconds, seed).result()
            loads.append(os.getloadavg()[0])
            late += asked.took > LATE * asked.said
            wrong += bool(asked.wrong)
            slowest = max(slowest, asked.took / asked.said)
            print(f"answers: {name}, {seconds:g} s: {asked.took:.1f} s, {asked.said:.0f} s said beforehand", end="")
            print("; " + "; ".join(asked.wrong or ["no contradiction"]), flush=True)
            print("    " + asked.answer.replace("\n", "\n    "), flush=True)
    load = statistics.mean(loads)  # how many processes wanted a core, those of the calls among them
    figures = {"calls": len(plan), "wrong": wrong, "late": late, "longest": slowest, "load": load}
    print(
        f"answers: {wrong} of {len(plan)} contradict themselves, {late} are late; the longest took {slowest:.2f} times "
        f"what was said; load {load:.1f}"
    )
    return Outcome(not wrong and not late, figures)
