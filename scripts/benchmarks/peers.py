"""The same work with public libraries: Thompson sampling on ten stationary arms, T = 50 000."""

from __future__ import annotations

import importlib.util
import random
from functools import partial
from time import perf_counter

import numpy as np
from benchmarks._common import Outcome, seconds_of

import ns_mab_gym as nsb

WORLD = nsb.worlds.Stationary()
WINDOW, MARK, REPEATS = 2942, 20.0, 3


def ours(agent: str, **parameters: int) -> float:
    """Seconds per step of our agent, everything included."""
    nsb.simulate(WORLD, agent, runs=1, agent_kwargs=parameters)
    runs = partial(nsb.simulate, WORLD, agent, runs=10, n_jobs=1, agent_kwargs=parameters)
    return seconds_of(runs) / (10 * WORLD.horizon)


def of_pymab() -> float:
    """Seconds per step of pymab's sliding-window Thompson sampling, on its compiled backend."""
    import pymab
    from pymab.policies import SlidingWindowBernoulliThompsonSamplingPolicy

    experiment = pymab.Experiment(
        environment=pymab.BanditEnvironment(np.array(WORLD.mu), pymab.BernoulliReward()),
        policies={"sw-ts": SlidingWindowBernoulliThompsonSamplingPolicy(n_arms=WORLD.n_arms, window_size=WINDOW)},
        config=pymab.ExperimentConfig(horizon=WORLD.horizon, n_replicates=1, seed=0),
    )
    return seconds_of(experiment.run) / WORLD.horizon


def of_river(rounds: int = 5_000) -> float:
    """Seconds per step of river's Thompson sampling, which has no window."""
    from river import bandit, proba

    policy = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=0)
    luck = random.Random(0)
    arms = range(WORLD.n_arms)
    began = perf_counter()
    for _ in range(rounds):
        arm = policy.pull(arms)
        policy.update(arm, luck.random() < WORLD.mu[arm])
    return (perf_counter() - began) / rounds


def peers() -> Outcome:
    """Print how many times as long the others take: the least and the most of three runs."""
    if missing := [name for name in ("pymab", "river") if importlib.util.find_spec(name) is None]:
        print(f"peers: not measured without {' and '.join(missing)}: pip install -e '.[bench]'")
        return Outcome(True, {})
    of_pymab()  # compiles
    times: dict[str, list[float]] = {"pymab": [], "river": []}
    for _ in range(REPEATS):
        times["pymab"].append(of_pymab() / ours("beta-swts", window=WINDOW))
        times["river"].append(of_river() / ours("ts"))
    spread = {name: [min(ratios), max(ratios)] for name, ratios in times.items()}
    for name, (least, most) in spread.items():
        print(f"peers: {name} takes {least:.0f} to {most:.0f} times as long per step as ours (at least {MARK:g})")
    return Outcome(all(least >= MARK for least, _ in spread.values()), {"times_as_long": spread})
