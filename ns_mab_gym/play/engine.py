"""Many runs at once, compiled and on all cores; each equals the episode of the generic loop with the same seeds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from os import PathLike
from typing import Any, Literal

import gymnasium as gym
import numpy.typing as npt

from ..agents.core.arguments import by_name, positive_int
from ..envs.bandit import NSBanditEnv
from ..runs import Runs
from ..worlds.world import World
from .batched_runs import play_batched_runs, runs_at_once
from .cores import job_count
from .counters import Progress, counting
from .episode import first_action, seed_pair
from .generic_runs import play_generic_runs
from .match import Match
from .recording import Recording, evenly_spaced, finished
from .resolving import as_agent, as_env

__all__ = ["evenly_spaced", "simulate"]


def simulate(
    env: str | PathLike[str] | npt.ArrayLike | World | type[World] | gym.Env[Any, Any],
    agent: Any,
    *,
    runs: int = 50,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    agent_kwargs: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    record: Literal["curve", "regret", "all"] = "curve",
    rounds: Sequence[int] | None = None,
    first_run: int = 0,
    progress: Progress = False,
) -> Runs:
    """Play an agent on an environment many times.

    Run r has its own pair of seeds, which depends on ``seed`` and r alone: agents that share a seed get the same
    instances and the same luck, and 50 runs are the first half of 100. An agent given by name is tuned by its own
    paper's formula from the true facts about the world (about each instance, if the world is random).

    An agent without a compiled form, or a wrapped environment, is played in the generic loop, with a warning; in
    several processes if that saves more than three seconds. The runs are the same to the last bit, but what the agent's
    code leaves behind elsewhere (a global list, say) stays in those processes: ``n_jobs=1`` plays all runs in this one.
    A model of Stable-Baselines3 plays all runs at once, in this process, as :class:`ns_mab_gym.rl.SB3Agent` describes.

    Args:
        env: an id, a world or its name, a ``"package.module:Class"`` of your own, an environment, a (T, K) array of
            means, or the file of one (``.csv``, ``.parquet``, ``.npz``).
        agent: a name, a ``"package.module:Class"`` of your own, an agent, a class, or ``"sb3"`` for a saved model.
        runs: how many runs.
        seed: the number from which all seeds are derived.
        env_kwargs: arguments of the environment.
        agent_kwargs: parameters of the agent, if it is given by name or as a class.
        n_jobs: how many threads, or processes, at once; as many as there are cores for None or -1. There are never more
            processes than cores.
        record: "curve" keeps the regret after about 500 rounds, "regret" after every round; "all" keeps about 500
            rounds of it, and every arm and reward.
        rounds: the rounds, counted from 1, after which the regret is kept, besides the last; at most 500 evenly spaced
            ones if not given.
        first_run: the number of the first run, to compute runs in blocks.
        progress: True shows how many runs are done, on the standard error stream; or a function of your own, called
            with that number and the number of all runs.
    """
    runs = positive_int("runs", runs)
    seed = positive_int("seed", seed, least=0, most=None)
    first_run = positive_int("first_run", first_run, least=0)
    recording = Recording(record, rounds)
    jobs = job_count(n_jobs)
    recording.ensure_room(runs)
    player, parameters = as_agent(agent, by_name("agent_kwargs", agent_kwargs))
    made = as_env(env, by_name("env_kwargs", env_kwargs))
    if hasattr(player, "wrap"):  # a learner needs the environment wrapped as in training
        made = player.wrap(made)
    first_action(made)
    match = Match(made, player, parameters)
    if match.bandit is not None:
        _ensure_room(match.bandit, recording, runs, jobs)
    seeds = [seed_pair(seed, r) for r in range(first_run, first_run + runs)]
    reason = match.why_generic()
    if reason and not getattr(player, "only_generic", False):
        warnings.warn(f"{reason}: playing through the generic Python loop, which is slower", stacklevel=2)
    with counting(progress, runs, "runs") as tick:
        if reason and (at_once := runs_at_once(match)):
            return play_batched_runs(match, seeds, recording, at_once, tick)
        if reason:
            return play_generic_runs(match, seeds, recording, jobs, tick)
        return _compiled(match, seeds, recording, jobs, tick)


def _ensure_room(bandit: NSBanditEnv, recording: Recording, runs: int, jobs: int) -> None:
    """Refuse what will not fit before the first run: the record of all, and the instances that are played at once."""
    recording.ensure_room(runs, bandit.world.horizon, bandit.world.n_arms)
    if bandit.world.random and (at_once := min(runs, jobs)) > 1:
        bandit.world.ensure_room(at_once, "choose a smaller horizon, or n_jobs=1 to play one run at a time")


def _compiled(
    match: Match, seeds: list[tuple[int, int]], recording: Recording, threads: int, tick: Callable[[int], None]
) -> Runs:
    assert match.bandit is not None
    played = recording.blank(match.bandit.world.horizon, match.bandit.world.n_arms, seeds)
    seconds = 0.0
    with closing(_in_order(lambda run: match.play_compiled(played, run), len(seeds), threads)) as spent:
        for each in spent:
            seconds += each
            tick(played.horizon)
    return finished(played, seconds)


def _in_order(play: Callable[[int], float], runs: int, threads: int) -> Generator[float, None, None]:
    """What ``play`` returns for each run, in their order; if it raises an error, no further run is begun."""
    if min(threads, runs) == 1:
        yield from map(play, range(runs))
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(play, range(runs))
