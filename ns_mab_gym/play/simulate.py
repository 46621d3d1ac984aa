"""Many runs of an agent on an environment: in the compiled loop on all cores, or in the generic loop.

A run of the compiled loop equals the episode of the generic loop with the same seeds. Pairings without a compiled form
are played in several processes, or many runs at once by an agent that can. A process of its own may differ from this
one in ways that nobody declares: a module that was edited after it was imported, a global variable that was set by
hand. So the first run, which was played here, is played there again and compared.
"""

from __future__ import annotations

import math
import multiprocessing
import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import lru_cache, partial
from importlib.util import find_spec
from os import PathLike
from typing import Any, Literal, NamedTuple, Protocol

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from .. import parallel
from ..agents.core.arguments import by_name, job_count, positive_int, usable_cores
from ..runs import Runs, seed_pair
from ..specs import as_agent, as_env
from ..worlds.world import World
from .episode import first_action
from .pairing import Pairing, Recording, finished, note_alarms, without_arrays
from .progress import ProgressOption, counting

Tick = Callable[[int], None]  # called with the number of rounds whenever a run was played
SAVING = 3.0  # seconds that processes must save to be worth their start, which takes one or two
FIELDS = ("regret", "pulls", "suboptimal_pulls", "arms", "rewards")
OTHERWISE = (
    "the first run, played again in another process, went otherwise: the agent or the environment depends on more than "
    "its seeds, such as a global variable or generator, or a module that was edited after it was imported"
)
DIED = (
    "a process that played some of the runs has died: its memory may have run out, or the agent's or the environment's "
    "code ended it; fewer processes need less memory (n_jobs=2), and n_jobs=1 plays all runs in this process"
)


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
    progress: ProgressOption = False,
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
    pairing = Pairing(made, player, parameters)
    if pairing.bandit is not None:
        recording.ensure_room(runs, pairing.bandit.world.horizon, pairing.bandit.world.n_arms)
    seeds = [seed_pair(seed, r) for r in range(first_run, first_run + runs)]
    reason = pairing.why_generic()
    if reason and not getattr(player, "only_generic", False):
        warnings.warn(f"{reason}: playing through the generic Python loop, which is slower", stacklevel=2)
    with counting(progress, runs, "runs") as tick:
        if not reason:
            return _play_compiled_runs(pairing, seeds, recording, jobs, tick)
        can_batch = pairing.bandit is not None and not pairing.to_be_made and hasattr(player, "runs_at_once")
        if can_batch and (at_once := player.runs_at_once(made)):
            return _play_batched_runs(pairing, seeds, recording, at_once, tick)
        return _play_generic_runs(pairing, seeds, recording, jobs, tick)


def _play_compiled_runs(
    pairing: Pairing, seeds: list[tuple[int, int]], recording: Recording, threads: int, tick: Tick
) -> Runs:
    assert pairing.bandit is not None
    runs = recording.blank(pairing.bandit.world.horizon, pairing.bandit.world.n_arms, seeds)
    play = partial(pairing.play_compiled, runs)
    seconds = 0.0
    with ExitStack() as stack:
        spent: Iterator[float] = map(play, range(len(seeds)))
        if min(threads, len(seeds)) > 1:
            pool = ThreadPoolExecutor(threads)
            stack.callback(pool.shutdown, cancel_futures=True)  # after an error no further run is begun
            spent = pool.map(play, range(len(seeds)))
        for each in spent:
            seconds += each
            tick(runs.horizon)
    return finished(runs, seconds)


def _play_generic_runs(
    pairing: Pairing, seeds: list[tuple[int, int]], recording: Recording, jobs: int, tick: Tick
) -> Runs:
    """Play runs in the generic loop; a warning, to the caller's caller, says why only one core is used if so."""
    first = _played(pairing, recording, None, seeds[0])
    runs = recording.blank(first.horizon, first.pulls.shape[1], seeds)
    spent: list[float] = []

    def take(played: Runs) -> None:
        run = len(spent)
        for name in FIELDS:
            if (mine := getattr(runs, name)) is not None:
                mine[run] = getattr(played, name)[0]
        runs.parameters[run] = played.parameters[0]
        note_alarms(runs, run, None if played.alarms is None else played.alarms[0])
        spent.append(played.seconds)
        tick(runs.horizon)

    take(first)
    number = processes(pairing, jobs, len(seeds), first.seconds)
    why = _play_elsewhere(pairing, seeds, recording, number, first, take) if number > 1 else ""
    left = seeds[len(spent) :]
    if why and left:
        what = f"playing {len(left)} runs in this process, one after the other; n_jobs=1 does so without this warning"
        warnings.warn(f"{why}: {what}", stacklevel=3)
    for pair in left:
        take(_played(pairing, recording, runs.horizon, pair))
    return finished(runs, sum(spent))


def _played(pairing: Pairing, recording: Recording, horizon: int | None, seeds: tuple[int, int]) -> Runs:
    """Play one run in this process; raises an error if it has another length than the horizon."""
    began = time.perf_counter()
    episode, parameters = pairing.play_generic(seeds)
    length = len(episode.arms)
    if horizon not in (None, length):
        raise ValueError(
            f"one episode took {horizon} rounds, another {length}; simulate compares episodes of one length"
        )
    runs = recording.blank(length, len(episode.pulls), [seeds])
    assert episode.regret is not None
    assert episode.suboptimal_pulls is not None
    runs.regret[0] = episode.regret[runs.rounds - 1]
    runs.pulls[0], runs.suboptimal_pulls[0] = episode.pulls, episode.suboptimal_pulls
    note_alarms(runs, 0, episode.alarms)
    runs.parameters[0] = parameters
    if runs.arms is not None and runs.rewards is not None:
        runs.arms[0], runs.rewards[0] = episode.arms, episode.rewards
    return finished(runs, time.perf_counter() - began)


def processes(pairing: Pairing, jobs: int, runs: int, seconds: float) -> int:
    """Return the number of processes that are to play all runs but the first; 1 if this process is to play them.

    Args:
        pairing: the pairing.
        jobs: the number of jobs at once that the user allows.
        runs: the number of runs, with the first.
        seconds: the time that the first run took.
    """
    # A network stays here: torch uses several cores by itself, and with another number of threads its sums may differ
    # in the last bit; every process would load it anew. Pictures and windows belong to the process that shows them.
    stays = getattr(pairing.kind, "only_generic", False) or getattr(pairing.env, "render_mode", None) is not None
    # A process that was itself started to share work leaves the cores to its siblings.
    nested = multiprocessing.parent_process() is not None
    number = min(jobs, usable_cores(), runs - 1)
    if stays or nested or number < 2:
        return 1
    there = math.ceil(runs / number) * seconds  # the first run is played again
    return number if (runs - 1) * seconds - there > SAVING else 1


def _play(packed: bytes, seeds: tuple[int, int]) -> tuple[Runs, list[parallel.Caught]]:
    """Play one run in another process; returns it with the warnings that it issued.

    Args:
        packed: the pairing, what to keep and the horizon, pickled by value, so that classes of a script come along.
        seeds: the pair of seeds.
    """
    with parallel.recorded_warnings() as caught:
        runs = _played(*_unpacked(packed), seeds)
    return runs, caught


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> tuple[Pairing, Recording, int]:
    found: tuple[Pairing, Recording, int] = pickle.loads(packed)
    return found


def _play_elsewhere(
    pairing: Pairing,
    seeds: list[tuple[int, int]],
    recording: Recording,
    number: int,
    first: Runs,
    take: Callable[[Runs], None],
) -> str:
    """Play all runs but the first in other processes; returns the reason if some runs remain, else nothing."""
    if find_spec("loky") is None:
        return "several processes need loky, pip install 'ns-mab-gym[experiments]'"
    import cloudpickle  # type: ignore[import-untyped]

    try:
        play = partial(_play, cloudpickle.dumps((pairing.portable(), recording, first.horizon)))
    except Exception as error:  # whatever the user's objects raise
        return f"the agent or the environment cannot be pickled ({type(error).__name__}: {error})"
    arrived: dict[tuple[int, int], Any] = {}
    issued: set[parallel.Caught] = set()
    run = 0  # the next in order
    try:
        with parallel.executor("processes", number) as pool:
            for each in parallel.map_unordered(pool, play, seeds, retries=0):
                if isinstance(each, parallel.Failed):
                    arrived[each.item] = each.error
                else:
                    arrived.update(zip(each.items, each.results, strict=True))
                while run < len(seeds) and seeds[run] in arrived:
                    found = arrived.pop(seeds[run])
                    if isinstance(found, parallel.Error):
                        if found.died:
                            died = RuntimeError(DIED)
                            died.add_note(found.traceback)
                            raise died
                        if run == 0:
                            return f"the first run, played again in another process, failed there ({found.text})"
                        take(_played(pairing, recording, first.horizon, seeds[run]))  # raises the error as it is
                        return f"run {run + 1} failed in another process ({found.text}), but not in this one"
                    runs, caught = found
                    if run:
                        parallel.issue(caught, issued)
                        take(runs)
                    elif any(
                        (mine := getattr(first, name)) is not None
                        and not np.array_equal(mine, getattr(runs, name), equal_nan=True)
                        for name in FIELDS
                    ):
                        return OTHERWISE
                    issued.update(caught)
                    run += 1
    except parallel.ExecutorError as error:
        return str(error)
    return ""


class Round(NamedTuple):
    """One round of N runs.

    Attributes:
        arms: (N,) the arm that was played in each.
        rewards: (N,) its reward.
        gaps: (N,) μ* − μ_arm, what the arm adds to the regret.
    """

    arms: npt.NDArray[np.int64]
    rewards: npt.NDArray[np.float64]
    gaps: npt.NDArray[np.float64]


class PlaysTogether(Protocol):
    """An agent that can play many runs at once."""

    def runs_at_once(self, env: gym.Env[Any, Any]) -> int:
        """Return the number of runs that the memory has room for; 0 if they can be played only one by one."""

    def play_at_once(self, env: gym.Env[Any, Any], seeds: list[tuple[int, int]]) -> Iterator[Round]:
        """Yield the T rounds of runs with these pairs of seeds, of the environment and of the agent."""


def _play_batched_runs(
    pairing: Pairing, seeds: list[tuple[int, int]], recording: Recording, at_once: int, tick: Tick
) -> Runs:
    """Play runs in batches of at most ``at_once``, by an agent that plays together."""
    assert pairing.bandit is not None
    agent: PlaysTogether = pairing.agent
    world = pairing.bandit.world
    runs = recording.blank(world.horizon, world.n_arms, seeds)
    seconds = 0.0
    for first in range(0, len(seeds), at_once):
        batch = slice(first, first + at_once)
        began = time.perf_counter()
        regret, pulls, suboptimal = runs.regret[batch], runs.pulls[batch], runs.suboptimal_pulls[batch]
        total, row, noted = np.zeros(len(pulls)), np.arange(len(pulls)), 0
        for t, played in enumerate(agent.play_at_once(pairing.env, seeds[batch])):
            total += played.gaps
            pulls[row, played.arms] += 1
            suboptimal[row, played.arms] += played.gaps > 0
            if runs.rounds[noted] == t + 1:
                regret[:, noted] = total
                noted += 1
            if runs.arms is not None and runs.rewards is not None:
                runs.arms[batch, t], runs.rewards[batch, t] = played.arms, played.rewards
        seconds += time.perf_counter() - began
        for run in range(*batch.indices(len(seeds))):
            runs.parameters[run] = without_arrays(getattr(agent, "parameters", {}))
            tick(world.horizon)
    return finished(runs, seconds)
