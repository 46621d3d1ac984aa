"""Many runs at once: compiled, on all cores, each equal to the episode that the generic loop plays with its seeds."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from .agents import AgentProtocol
from .agents.checks import choice, positive_int
from .episode import first_action, seed_pair
from .job import Job, Run
from .worlds import World

__all__ = ["Runs", "simulate"]


@dataclass(frozen=True)
class Runs:
    """R runs of one agent on one environment.

    Attributes:
        rounds: (C,) the rounds, counted from 1, after which the regret was noted; the last is T.
        regret: (R, C) the cumulative dynamic pseudo-regret there.
        pulls: (R, K) how often each arm was played.
        suboptimal_pulls: (R, K) N_{i,T}, how often each arm was played while its mean was below the best.
        seeds: R pairs of the environment's and the agent's seed; ``run_episode`` with such a pair plays that run again.
        parameters: R times what the agent's parameters were, but for arrays (the oracle's means).
        seconds: the time spent in the loop, summed over the threads.
        arms: (R, T) every arm, if ``record="all"``.
        rewards: (R, T) every reward, if ``record="all"``.
    """

    rounds: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]
    pulls: npt.NDArray[np.int64]
    suboptimal_pulls: npt.NDArray[np.int64]
    seeds: list[tuple[int, int]]
    parameters: list[dict[str, Any]]
    seconds: float
    arms: npt.NDArray[np.int64] | None = None
    rewards: npt.NDArray[np.float64] | None = None


def simulate(
    env: str | World | gym.Env[Any, Any],
    agent: str | AgentProtocol,
    *,
    runs: int = 50,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    agent_kwargs: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    record: Literal["curve", "all"] = "curve",
    first_run: int = 0,
) -> Runs:
    """Play an agent on an environment many times.

    Run r has its own pair of seeds, which depends on ``seed`` and r alone: agents that share a seed meet the same
    instances and the same luck, and 50 runs are the first half of 100. An agent given by name is tuned by its own
    paper's formula from what is true of the world (of each instance, if the world is random).

    Args:
        env: an id, a world, or an environment.
        agent: a name, an agent of the zoo, or any object with ``reset``, ``act`` and ``observe``. One without a
            compiled form, or an environment that is wrapped, goes through the generic loop, with a warning.
        runs: how many runs.
        seed: from which all seeds are derived.
        env_kwargs: arguments of the environment.
        agent_kwargs: parameters of the agent, if it is given by name.
        n_jobs: how many threads; as many as there are cores if not given.
        record: "curve" keeps the regret at about 500 rounds; "all" keeps every arm and reward too.
        first_run: the number of the first run, to compute runs in blocks.
    """
    positive_int("runs", runs)
    positive_int("seed", seed, least=0)
    positive_int("first_run", first_run, least=0)
    choice("record", record, ("curve", "all"))
    threads = positive_int("n_jobs", n_jobs) if n_jobs is not None else os.cpu_count() or 1
    seeds = [seed_pair(seed, r) for r in range(first_run, first_run + runs)]
    made = _make_env(env, dict(env_kwargs or {}))
    first_action(made)
    job = Job(made, agent, dict(agent_kwargs or {}), record == "all")
    if reason := job.why_generic():
        warnings.warn(f"{reason}: playing through the generic Python loop, which is slower", stacklevel=2)
        results = list(map(job.play_generic, seeds))
    else:
        first = job.play_compiled(seeds[0])  # compiles, or loads what was compiled
        results = [first, *_threaded(job.play_compiled, seeds[1:], threads)]
    return _collect(job.rounds, seeds, results, record == "all")


def _make_env(env: Any, kwargs: dict[str, Any]) -> gym.Env[Any, Any]:
    if isinstance(env, str):
        return gym.make(env, **kwargs)
    if isinstance(env, World):
        return gym.make("NSBandit-v0", world=env, **kwargs)
    if kwargs:
        raise TypeError("env_kwargs go with an id or a world; this environment is already made")
    if not isinstance(env, gym.Env):
        raise TypeError(f"env must be an id, a world or an environment, got {env!r}")
    return env


def _threaded(play: Callable[[tuple[int, int]], Run], seeds: list[tuple[int, int]], threads: int) -> Iterator[Run]:
    if threads == 1:
        yield from map(play, seeds)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(play, seeds)


def _collect(rounds: npt.NDArray[np.int64], seeds: list[tuple[int, int]], results: list[Run], everything: bool) -> Runs:
    return Runs(
        rounds=rounds,
        regret=np.stack([run.regret for run in results]),
        pulls=np.stack([run.pulls for run in results]),
        suboptimal_pulls=np.stack([run.suboptimal for run in results]),
        seeds=seeds,
        parameters=[run.parameters for run in results],
        seconds=sum(run.seconds for run in results),
        arms=np.stack([run.arms for run in results]) if everything else None,
        rewards=np.stack([run.rewards for run in results]) if everything else None,
    )
