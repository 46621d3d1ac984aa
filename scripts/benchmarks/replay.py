"""Logs made from known worlds: advice judged on these worlds, and estimates of replay beside the truth."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from benchmarks._common import Outcome
from benchmarks.choosing import JUDGING, RUNS, best_of, finals_of, relative_loss

import ns_mab_gym as nsb
from ns_mab_gym.logs.log import Log
from ns_mab_gym.means import Floats
from ns_mab_gym.rewards import Bernoulli, Empirical, Law
from ns_mab_gym.specs import as_env
from ns_mab_gym.tuning.race import Candidate
from ns_mab_gym.tuning.search import START, advised_space, coarse_grid
from ns_mab_gym.tuning.tune import WorldEvaluator, _entrants

SECONDS = 60.0
MEDIAN_LOSS, WORST_LOSS = 0.05, 0.25
HORIZON, SEED = 50_000, 41
PAID = tuple(np.random.default_rng(7).lognormal(2.0, 0.8, 400).tolist()) + (0.0,) * 600  # revenues: 40 % buy
SKEW = 0.7  # the share of the first arm in a skewed log
EVERY = 6.0  # seconds between decisions

LOGS, DECISIONS, TRUE_RUNS = 200, 8_000, 2_000
AGENTS = ("ts", "sw-ucb")
COVERED = 0.90, 0.98


def made_from(means: Floats, law: Law, chances: Floats, seed: int, *, told: bool) -> Log:
    """A log of a world, whose arms were drawn with these chances, (K,) or (T, K); told, if it has propensities."""
    rng = np.random.default_rng(seed)
    each = np.broadcast_to(chances, means.shape)
    arms = (rng.random(len(means))[:, None] > each.cumsum(axis=1)).sum(axis=1).clip(max=means.shape[1] - 1)
    row = np.arange(len(means))
    paid = np.array(
        [law.reward(mu, luck) for mu, luck in zip(means[row, arms], law.luck(rng, len(means)), strict=True)]
    )
    names = tuple("abcdefghij"[: means.shape[1]])
    return Log(row * EVERY, arms, paid, names, propensities=each[row, arms] if told else None)


def known_worlds() -> Iterator[tuple[str, Floats, Law]]:
    """The names, means and laws of the six worlds."""
    worlds = nsb.worlds
    still, jumps = (
        np.tile([0.05, 0.045, 0.04, 0.03], (HORIZON, 1)),
        worlds.Piecewise(horizon=HORIZON, n_arms=5, changes=5),
    )
    yield "click rates that stand still", still, Bernoulli()
    yield "click rates that jump", 0.01 + 0.07 * jumps.means(SEED), Bernoulli()
    yield "jumps", worlds.Piecewise(horizon=HORIZON, n_arms=4, changes=8).means(SEED), Bernoulli()
    yield "walks", worlds.RandomWalk(horizon=HORIZON, n_arms=5, step=0.002).means(SEED), Bernoulli()
    yield "periodic", worlds.Periodic(horizon=HORIZON, n_arms=4, amplitude=0.2).means(), Bernoulli()
    yield (
        "revenues that walk",
        5 * worlds.RandomWalk(horizon=HORIZON, n_arms=4, step=0.002).means(SEED + 1),
        Empirical(values=PAID),
    )


class Advised(NamedTuple):
    """The loss of an answer against the best of the grid, on the true world, and beside it that of START."""

    answer: str
    best: str
    loss: float
    error: float
    start: float
    clear: str


def advised(means: Floats, law: Law, *, skewed: bool, seconds: float = SECONDS) -> Advised:
    """Ask for advice on a log of a world, and play the answer on the world."""
    k = means.shape[1]
    chances = np.array([SKEW, *[(1 - SKEW) / (k - 1)] * (k - 1)]) if skewed else np.full(k, 1 / k)
    answer = nsb.recommend(made_from(means, law, chances, SEED, told=False), seconds=seconds)
    env = as_env(nsb.worlds.Table(rows=means), {"reward": law})
    names = _entrants(WorldEvaluator(env), None)[0]
    size = *means.shape, law.subgaussian
    grid = [Candidate.of(name, point) for name in names for point in coarse_grid(advised_space(name, *size), 2.0)[0]]
    start, chosen = Candidate.of(START, {"blind": True}), Candidate.of(answer.agent, answer.parameters)
    best = best_of(env, [*grid, start])
    judged = finals_of(env, list(dict.fromkeys([best, chosen, start])), RUNS, JUDGING)
    loss, error = relative_loss(judged[chosen], judged[best])
    gains = "; ".join(map(str, answer.gains))
    return Advised(str(chosen), str(best), loss, error, relative_loss(judged[start], judged[best])[0], gains)


def logged_advice() -> Outcome:
    """Print the losses of `recommend` on 12 logs of known worlds, with uniform and with skewed choices.

    The best of the grid is chosen and judged on the true world, of which the answer has seen one log alone. Both are
    played by the true means, whose facts no agent is told but those that the grid tunes for.
    """
    losses = {}
    for name, means, law in known_worlds():
        for skewed in (False, True):
            found = advised(means, law, skewed=skewed)
            title = f"{name}, {'skewed' if skewed else 'uniform'}"
            losses[title] = found.loss
            print(f"logged_advice: {title}: {found.answer}; best {found.best}: ", end="")
            print(f"loss {found.loss:+.1%} ± {found.error:.1%}; {START} {found.start:+.1%}; {found.clear}", flush=True)
    median, worst = statistics.median(losses.values()), max(losses.values())
    print(f"logged_advice: median {median:+.1%} (at most {MEDIAN_LOSS:.0%}), ", end="")
    print(f"worst {worst:+.1%} (at most {WORST_LOSS:.0%})")
    return Outcome(median <= MEDIAN_LOSS and worst <= WORST_LOSS, {"median": median, "worst": worst, "losses": losses})


def true_rewards(means: Floats, chances: Floats, share: float) -> dict[str, float]:
    """The mean rewards of fixed arms, and of agents that are given a share of the decisions."""
    truth = {f"always {'abcdefghij'[arm]}": float(mean) for arm, mean in enumerate(means.mean(axis=0))}
    truth["what the log did"] = float((means * chances).sum(axis=1).mean())
    rounds = round(share * len(means))
    thinned = means[((np.arange(rounds) + 0.5) * len(means) / rounds).astype(int)]
    for agent in AGENTS:
        runs = nsb.simulate(thinned, agent, runs=TRUE_RUNS, agent_kwargs={"blind": True}, rounds=(), seed=JUDGING)
        truth[agent] = float(thinned.max(axis=1).mean() - runs.final.mean() / rounds)
    return truth


def replay() -> Outcome:
    """Print how often the intervals of `log.replay` hold the truth, over 200 logs of each of two worlds.

    One world jumps and its arms were chosen uniformly, without propensities; the other walks, and its choices were
    skewed, more and more, with propensities. Refusals are counted too: those of logs that could be answered.
    """
    t = np.arange(DECISIONS)[:, None] / DECISIONS
    uniform, skewed = np.full((DECISIONS, 3), 1 / 3), np.array([1.0, 1.0, 1.0]) / 3 + t * np.array([0.3, -0.1, -0.2])
    worlds = {
        "jumps, uniform": (nsb.worlds.Piecewise(horizon=DECISIONS, n_arms=3, changes=3).means(SEED), uniform, False),
        "walks, skewed": (nsb.worlds.RandomWalk(horizon=DECISIONS, n_arms=3).means(SEED), skewed, True),
    }
    figures: dict[str, Any] = {}
    within = True
    for name, (means, chances, told) in worlds.items():
        truth, held, asked = true_rewards(means, chances, float(chances.min())), Counter[str](), Counter[str]()
        refused = 0
        for seed in range(LOGS):
            try:
                found = made_from(means, Bernoulli(), chances, seed, told=told).replay(AGENTS, seed=seed)
            except ValueError:
                refused += 1
                continue
            for row in found.rows:
                title = f"{row.policy} ({row.method})" if row.method == "rejection" else row.method
                held[title] += row.low <= truth[row.policy] <= row.high
                asked[title] += 1
        covered = {title: held[title] / asked[title] for title in asked}
        within &= all(COVERED[0] <= each <= COVERED[1] for each in covered.values()) and refused <= 0.02 * LOGS
        print(f"replay: {name}: {refused} of {LOGS} refused; ", end="")
        print("; ".join(f"{title} {each:.1%} of {asked[title]}" for title, each in covered.items()), flush=True)
        figures[name] = {"refused": refused, **covered}
    return Outcome(within, figures)
