"""The same job on public libraries: Thompson sampling on ten arms that stand still, T = 50 000."""

from __future__ import annotations

import random
from time import perf_counter

import numpy as np
import pymab
from pymab.policies import SlidingWindowBernoulliThompsonSamplingPolicy
from river import bandit, proba

import ns_mab_gym as nsb

WORLD = nsb.worlds.Stationary()
WINDOW, MARK = 2942, 20.0


def ours(agent: str, **parameters: int) -> float:
    """Seconds a step, everything included."""
    nsb.simulate(WORLD, agent, runs=1, agent_kwargs=parameters)
    began = perf_counter()
    nsb.simulate(WORLD, agent, runs=10, n_jobs=1, agent_kwargs=parameters)
    return (perf_counter() - began) / (10 * WORLD.horizon)


def of_pymab() -> float:
    """Seconds a step of its sliding-window Thompson sampling, on its compiled backend."""
    experiment = pymab.Experiment(
        environment=pymab.BanditEnvironment(np.array(WORLD.mu), pymab.BernoulliReward()),
        policies={"sw-ts": SlidingWindowBernoulliThompsonSamplingPolicy(n_arms=WORLD.n_arms, window_size=WINDOW)},
        config=pymab.ExperimentConfig(horizon=WORLD.horizon, n_replicates=1, seed=0),
    )
    began = perf_counter()
    experiment.run()
    return (perf_counter() - began) / WORLD.horizon


def of_river(rounds: int = 5_000) -> float:
    """Seconds a step of its Thompson sampling, which has no window."""
    policy = bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=0)
    luck = random.Random(0)
    arms = range(WORLD.n_arms)
    began = perf_counter()
    for _ in range(rounds):
        arm = policy.pull(arms)
        policy.update(arm, luck.random() < WORLD.mu[arm])
    return (perf_counter() - began) / rounds


def run() -> bool:
    """Print the three times and how much faster ours is."""
    windowed, plain = ours("beta-swts", window=WINDOW), ours("ts")
    times = {"pymab": (of_pymab(), windowed), "river": (of_river(), plain)}
    print(f"  ours: beta-swts {windowed * 1e6:.2f}, ts {plain * 1e6:.2f} µs a step, all included")
    for name, (theirs, mine) in times.items():
        print(f"  {name}: {theirs * 1e6:.1f} µs a step, {theirs / mine:.0f} × ours (at least {MARK:g})")
    return all(theirs / mine >= MARK for theirs, mine in times.values())
