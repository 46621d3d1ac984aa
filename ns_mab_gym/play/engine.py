"""Many runs at once, compiled and on all cores; each equals the episode of the generic loop with the same seeds."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from ..agents.core.arguments import choice, positive_int
from ..runs import Runs
from ..worlds.world import World
from .episode import first_action, seed_pair
from .match import Match, note_alarms
from .resolving import as_agent, as_env

__all__ = ["evenly_spaced", "simulate"]

POINTS = 500  # points of a regret curve
NO_LOG = np.zeros(0, np.void)  # stands for the alarms of an agent that has no log of them


def simulate(
    env: str | World | type[World] | gym.Env[Any, Any],
    agent: Any,
    *,
    runs: int = 50,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    agent_kwargs: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    record: Literal["curve", "all"] = "curve",
    rounds: Sequence[int] | None = None,
    first_run: int = 0,
) -> Runs:
    """Play an agent on an environment many times.

    Run r has its own pair of seeds, which depends on ``seed`` and r alone: agents that share a seed get the same
    instances and the same luck, and 50 runs are the first half of 100. An agent given by name is tuned by its own
    paper's formula from the true facts about the world (about each instance, if the world is random).

    Args:
        env: an id, a world or its name, a ``"package.module:Class"`` of your own, or an environment.
        agent: a name, a ``"package.module:Class"`` of your own, an agent, a class, or ``"sb3"`` for a saved model. An
            agent without a compiled form, or a wrapped environment, is played in the generic loop, with a warning.
        runs: how many runs.
        seed: the number from which all seeds are derived.
        env_kwargs: arguments of the environment.
        agent_kwargs: parameters of the agent, if it is given by name or as a class.
        n_jobs: how many threads; as many as there are cores if not given.
        record: "curve" keeps the regret at about 500 rounds; "all" keeps every arm and reward too.
        rounds: the rounds, counted from 1, after which the regret is kept, besides the last; at most 500 evenly spaced
            ones if not given.
        first_run: the number of the first run, to compute runs in blocks.
    """
    positive_int("runs", runs)
    positive_int("seed", seed, least=0)
    positive_int("first_run", first_run, least=0)
    choice("record", record, ("curve", "all"))
    threads = positive_int("n_jobs", n_jobs) if n_jobs is not None else os.cpu_count() or 1
    seeds = [seed_pair(seed, r) for r in range(first_run, first_run + runs)]
    player, parameters = as_agent(agent, agent_kwargs or {})
    made = as_env(env, env_kwargs or {})
    if hasattr(player, "wrap"):  # a learner needs the environment wrapped as in training
        made = player.wrap(made)
    first_action(made)
    match = Match(made, player, parameters)
    if reason := match.why_generic():
        if not getattr(player, "only_generic", False):
            warnings.warn(f"{reason}: playing through the generic Python loop, which is slower", stacklevel=2)
        return _generic(match, seeds, record == "all", rounds)
    return _compiled(match, seeds, record == "all", rounds, threads)


def _compiled(
    match: Match, seeds: list[tuple[int, int]], everything: bool, rounds: Sequence[int] | None, threads: int
) -> Runs:
    assert match.bandit is not None
    played = _blank(match.bandit.world.horizon, match.bandit.world.n_arms, seeds, everything, rounds)
    if threads == 1 or len(seeds) == 1:
        seconds: Iterable[float] = [match.play_compiled(played, run) for run in range(len(seeds))]
    else:
        with ThreadPoolExecutor(threads) as pool:
            seconds = list(pool.map(lambda run: match.play_compiled(played, run), range(len(seeds))))
    return replace(played, seconds=sum(seconds), alarms=_logged(played))


def _generic(match: Match, seeds: list[tuple[int, int]], everything: bool, rounds: Sequence[int] | None) -> Runs:
    began = time.perf_counter()
    played: Runs | None = None
    for run, pair in enumerate(seeds):
        episode, parameters = match.play_generic(pair)
        assert episode.regret is not None
        assert episode.suboptimal_pulls is not None
        if played is None:
            played = _blank(len(episode.arms), len(episode.pulls), seeds, everything, rounds)
        if played.horizon != len(episode.arms):
            raise ValueError(
                f"one episode took {played.horizon} rounds, another {len(episode.arms)}; simulate compares episodes "
                f"of one length"
            )
        played.regret[run] = episode.regret[played.rounds - 1]
        played.pulls[run], played.suboptimal_pulls[run] = episode.pulls, episode.suboptimal_pulls
        note_alarms(played, run, episode.alarms)
        played.parameters[run] = parameters
        if played.arms is not None and played.rewards is not None:
            played.arms[run], played.rewards[run] = episode.arms, episode.rewards
    assert played is not None
    return replace(played, seconds=time.perf_counter() - began, alarms=_logged(played))


def _blank(
    horizon: int, n_arms: int, seeds: list[tuple[int, int]], everything: bool, rounds: Sequence[int] | None
) -> Runs:
    """A record of zeros, to be filled run by run."""
    runs, noted = len(seeds), evenly_spaced(horizon) if rounds is None else _noted(rounds, horizon)
    return Runs(
        rounds=noted,
        regret=np.zeros((runs, len(noted))),
        pulls=np.zeros((runs, n_arms), np.int64),
        suboptimal_pulls=np.zeros((runs, n_arms), np.int64),
        seeds=seeds,
        parameters=[{} for _ in seeds],
        seconds=0.0,
        arms=np.zeros((runs, horizon), np.int64) if everything else None,
        rewards=np.zeros((runs, horizon)) if everything else None,
        alarms=[NO_LOG] * runs,
    )


def _logged(played: Runs) -> list[npt.NDArray[np.void]] | None:
    """The alarms of the runs; None if the agent logs none."""
    return None if played.alarms is None or played.alarms[0] is NO_LOG else played.alarms


def evenly_spaced(horizon: int) -> npt.NDArray[np.int64]:
    """At most 500 rounds, evenly spaced, the last of them T."""
    points = min(POINTS, horizon)
    return np.arange(1, points + 1) * horizon // points


def _noted(rounds: Sequence[int], horizon: int) -> npt.NDArray[np.int64]:
    """The given rounds and the last one, each once, in ascending order; raises a ValueError if one is not 1 to T."""
    wanted = sorted({positive_int("each of rounds", round_) for round_ in rounds} | {horizon})
    if wanted[-1] > horizon:
        raise ValueError(f"rounds must be between 1 and the horizon, {horizon:,}; got {wanted[-1]:,}")
    return np.array(wanted, np.int64)
