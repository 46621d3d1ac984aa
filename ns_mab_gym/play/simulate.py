"""Many runs of an agent on an environment: in the compiled loop on all cores, or in the generic loop.

A run of the compiled loop equals the episode of the generic loop with the same seeds. Pairings without a compiled form
are played in several processes, or many runs at once by an agent that can. A process of its own may differ from this
one in ways that nobody declares: a module that was edited after it was imported, a global variable that was set by
hand. So the first run, which was played here, is played there again and compared.
"""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import re
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.util import find_spec
from os import PathLike
from typing import Any, Literal, NamedTuple, Never

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker
from numba.core.errors import NumbaError

from .. import parallel
from ..agents.core.arguments import (
    UnplayableArmError,
    by_name,
    check_memory,
    choice,
    job_count,
    positive_int,
    shown,
    spelled_arm,
    usable_cores,
)
from ..agents.core.kernel import RULES, copied, states_in
from ..agents.core.knowledge import Knowledge
from ..agents.core.protocol import Agent, arrays_of, fixed_field, with_arrays
from ..agents.core.registry import check_parameters, current_folder_importable, kind, make
from ..agents.parts.alarms import alarms_in, log_in
from ..compilation import is_compiled
from ..envs.bandit import CHANGING, NSBanditEnv, drawn_means, streams
from ..means import Floats, Ints, knowledge
from ..rewards import Law
from ..runs import POINTS, Runs, seed_pair
from ..specs import as_agent, as_env
from ..worlds.world import World
from ..wrappers.feedback import DelayedRewards
from . import loop
from .progress import ProgressOption, counting

Tick = Callable[[int], None]  # called with the number of rounds whenever a run was played
RUN_BYTES = 400  # of the seeds and parameters of a run
LINES = 128  # bytes of two cache lines: arrays this far apart share none
LARGE = 1 << 14  # bytes of an array from which on its ends, which may share a line, are a small part of it
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
    **unknown: Never,
) -> Runs:
    """Play an agent on an environment many times.

    Run r has its own pair of seeds, which depends on ``seed`` and r alone: agents that share a seed get the same
    instances and the same luck, and 50 runs are the first half of 100. An agent given by name is tuned by its own
    paper's formula from the true facts about the world (about each instance, if the world is random).

    An agent without a compiled form, or an environment that is wrapped in more than
    :class:`ns_mab_gym.wrappers.DelayedRewards`, is played in the generic loop, with a warning; in
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
        unknown: nothing; the error says where arguments of the environment and of the agent belong.
    """
    for name in unknown:
        given = f"{{{name!r}: {shown(unknown[name])}}}"
        places = f"for the environment write env_kwargs={given}, for the agent agent_kwargs={given}"
        raise TypeError(f"simulate has no argument {name!r}; {places}")
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
    loop.first_action(made)
    pairing = Pairing(made, player, parameters)
    if pairing.bandit is not None:
        recording.ensure_room(runs, pairing.bandit.world.horizon, pairing.bandit.world.n_arms)
    seeds = [seed_pair(seed, r) for r in range(first_run, first_run + runs)]
    if first_run == 0:  # of several blocks the first
        pairing.check_repeatable(seeds[0][0])
    reason = pairing.why_generic()
    if reason and not getattr(player, "only_generic", False):
        warnings.warn(f"{reason}: playing through the generic Python loop, which is slower", stacklevel=2)
    with nullcontext(lambda steps: None) if progress is False else counting(progress, runs, "runs") as tick:
        if not reason:
            return _play_compiled_runs(pairing, seeds, recording, jobs, tick)
        can_batch = pairing.bandit is not None and not pairing.to_be_made and hasattr(player, "runs_at_once")
        if can_batch and (at_once := player.runs_at_once(made)):
            return _play_batched_runs(pairing, seeds, recording, at_once, tick)
        return _play_generic_runs(pairing, seeds, recording, jobs, tick)


@dataclass(frozen=True)
class Recording:
    """The part of each run that is kept.

    Attributes:
        what: "curve", "regret" or "all", see :func:`simulate`.
        rounds: the rounds, counted from 1, after which the regret is kept, besides the last; ``what`` chooses if None.
    """

    what: str
    rounds: Sequence[int] | None

    def __post_init__(self) -> None:
        """Check the arguments."""
        choice("record", self.what, ("curve", "regret", "all"))
        if self.rounds is None:
            return
        if not isinstance(self.rounds, Collection) or getattr(self.rounds, "ndim", 1) != 1:
            raise TypeError(
                f"rounds must be a list of numbers of rounds, such as [100, 1000], got {shown(self.rounds)}"
            )
        if self.what == "regret":
            raise ValueError(
                'record="regret" keeps the regret after every round, and rounds= chooses some of them; '
                'leave out one of the two (record="curve" goes with rounds=)'
            )

    def blank(self, horizon: int, n_arms: int, seeds: list[tuple[int, int]]) -> Runs:
        """Return a record of zeros for runs with these seeds."""
        self.ensure_room(len(seeds), horizon, n_arms)
        if self.what == "regret":
            rounds = np.arange(1, horizon + 1)
        elif self.rounds is None:
            rounds = evenly_spaced(horizon)
        else:
            rounds = np.array(sorted({positive_int("each of rounds", each) for each in self.rounds} | {horizon}))
            if rounds[-1] > horizon:
                raise ValueError(f"rounds must be between 1 and the horizon, {horizon:,}; got {rounds[-1]:,}")
        runs, singles = len(seeds), self.what == "all"
        return Runs(
            rounds=rounds,
            regret=np.zeros((runs, len(rounds))),
            pulls=np.zeros((runs, n_arms), np.int64),
            suboptimal_pulls=np.zeros((runs, n_arms), np.int64),
            seeds=seeds,
            parameters=[{} for _ in seeds],
            seconds=0.0,
            arms=np.zeros((runs, horizon), np.int64) if singles else None,
            rewards=np.zeros((runs, horizon)) if singles else None,
        )

    def ensure_room(self, runs: int, horizon: int | None = None, n_arms: int = 2) -> None:
        """Raise a ``ValueError`` if there is not enough memory for the record.

        Args:
            runs: the number of runs.
            horizon: their rounds; None if that is not known yet.
            n_arms: their arms; at least two.
        """
        rounds = horizon or 1
        asked = POINTS if self.rounds is None else len(self.rounds)
        noted = rounds if self.what == "regret" else min(rounds, asked)
        each = RUN_BYTES + 16 * n_arms + 8 * noted + (16 * rounds if self.what == "all" else 0)
        length = "" if horizon is None else f" of {horizon:,} rounds"
        instead = "play" if self.what == "curve" else 'use record="curve", or play'
        check_memory(
            runs * each,
            f'record="{self.what}" of {runs:,} runs{length}',
            f"{instead} fewer runs at once, which blocks with first_run= join to many",
        )


def evenly_spaced(horizon: int) -> Ints:
    """Return at most 500 rounds, evenly spaced, the last of them T."""
    points = min(POINTS, horizon)
    return np.arange(1, points + 1) * horizon // points


class Pairing:
    """An agent and an environment, and what all of their runs share.

    Args:
        env: the environment, wrapped as the agent needs it.
        agent: an agent, its class, or a name.
        agent_kwargs: parameters for an agent that is still to be made.
    """

    def __init__(self, env: gym.Env[Any, Any], agent: Any, agent_kwargs: dict[str, Any]) -> None:
        self.env, self.agent, self.agent_kwargs = env, agent, agent_kwargs
        self.to_be_made = isinstance(agent, str | type)
        self.fixed: tuple[Floats, Knowledge] | None = None
        self.best: Floats | None = None  # the largest mean of each round, if the world is fixed
        self.spare: list[Any] = []  # an agent that was made for a check, and has not played yet
        bandit = env.unwrapped
        layer: Any = env
        self.late: DelayedRewards | None = None
        while isinstance(layer, OrderEnforcing | PassiveEnvChecker) or (
            type(layer) is DelayedRewards and self.late is None
        ):
            self.late = layer if isinstance(layer, DelayedRewards) else self.late
            layer = layer.env
        self.wrapped = type(layer).__name__ if isinstance(layer, gym.Wrapper) else None  # in more than that
        self.bandit = bandit if isinstance(bandit, NSBanditEnv) else None
        if self.to_be_made:
            check_parameters(f"agent {agent!r}", self.kind, agent_kwargs)
        elif agent_kwargs:
            raise TypeError("agent_kwargs go with an agent given by name; set the parameters of the object instead")
        if self.bandit is not None and not self.bandit.world.random:
            world, law = self.bandit.world, self.bandit.law
            # Means that came with a reset's options are dropped by the next reset.
            means = drawn_means(world, law) if self.bandit._given else self.bandit.means
            self.fixed = means, known_of(means, world, law)
            made = self.agent_for(self.fixed[1])
            loop.check_match(env, made)
            self.spare += [made] if self._plays_a_rule else []
        elif not self.to_be_made:
            loop.check_match(env, agent)

    @property
    def kind(self) -> type:
        """The agent's class."""
        if isinstance(self.agent, str):
            return kind(self.agent)
        return self.agent if isinstance(self.agent, type) else type(self.agent)

    @property
    def _plays_a_rule(self) -> bool:
        """True if the agent does exactly what the rule of its state says; a subclass may override that."""
        found = self.kind
        return issubclass(found, Agent) and found.act is Agent.act and found.observe is Agent.observe

    def why_generic(self) -> str | None:
        """Return the reason why the compiled loop cannot play this pairing; None if it can."""
        if self.bandit is None or type(self.bandit) is not NSBanditEnv:
            return f"{self.env} is not one of the suite's own environments"
        if self.wrapped:
            return f"the environment is wrapped in {self.wrapped}"
        if loop.law_code(self.bandit.law) is None:
            return f"the reward law {self.bandit.law!r} has no compiled form"
        return None if self._plays_a_rule else f"{shown(self.agent)} has no compiled form"

    def instance(self, seed: int) -> tuple[Floats, Knowledge, np.random.Generator]:
        """Return the means after ``reset(seed=seed)``, their facts, and the luck's generator."""
        assert self.bandit is not None
        means_rng, luck = streams(seeding.np_random(seed)[0])
        if self.fixed is not None:
            return *self.fixed, luck
        world, law = self.bandit.world, self.bandit.law
        means = drawn_means(world, law, means_rng)
        return means, known_of(means, world, law), luck

    def check_repeatable(self, seed: int) -> None:
        """Raise a ``ValueError`` if code of the user's makes other means from the same seed."""
        if self.bandit is None or type(self.bandit.world).__module__.startswith("ns_mab_gym."):
            return
        world, law = self.bandit.world, self.bandit.law
        rngs = [streams(seeding.np_random(seed)[0])[0] if world.random else None for _ in range(2)]
        first, second = (drawn_means(world, law, rng) for rng in rngs)
        if not np.array_equal(first, second):
            raise ValueError(CHANGING.format(world.name))

    def agent_for(self, known: Knowledge) -> Any:
        """Return a new agent, tuned from the knowledge if it was given by name."""
        if self.to_be_made:
            return make(self.agent, knowledge=known, **self.agent_kwargs)
        return self.agent.clone() if hasattr(self.agent, "clone") else copy.deepcopy(self.agent)

    def is_compiled(self) -> bool:
        """Return True if the compiled loop need not be compiled first."""
        agent = self.agent_for(self.instance(0)[1])
        agent.reset(seed=0)
        return is_compiled(self._loop(agent))

    def _loop(self, agent: Any) -> Any:
        assert self.bandit is not None
        code = loop.law_code(self.bandit.law)
        assert code is not None
        kinds, late = tuple(type(state) for state in states_in(agent.state)), self._counts_pulls(agent)
        return loop.loop_for(kinds, agent.name, code[0], late=late)

    def _counts_pulls(self, agent: Any) -> bool:
        """Return whether pulls are under way that the rule of the agent counts."""
        return self.late is not None and "expect" in RULES[type(agent.state)]

    def play_compiled(self, runs: Runs, run: int) -> tuple[float, npt.NDArray[np.void] | None]:
        """Play one run in the compiled loop, into its rows of the record; returns the loop's seconds and the alarms."""
        assert self.bandit is not None
        env_seed, agent_seed = runs.seeds[run]
        means, known, luck = self.instance(env_seed)
        best = self.best
        if best is None:
            best = np.empty(len(means))
            loop.best_means(means, best)
            if self.fixed is not None:
                self.best = best
        try:
            agent = self.spare.pop()  # which one thread gets
        except IndexError:
            agent = self.agent_for(known)
        agent.check_rewards(self.bandit.law.support, self.bandit.law.binary)
        agent.reset(seed=agent_seed)
        agent.state = with_arrays(agent.state, {name: apart(each) for name, each in arrays_of(agent.state).items()})
        pulls, suboptimal = apart(runs.pulls[run]), apart(runs.suboptimal_pulls[run])
        runs.parameters[run] = without_arrays(agent.parameters)
        code = loop.law_code(self.bandit.law)
        assert code is not None
        mask, nothing = np.ones(means.shape[1], np.bool_), slice(0, 0)
        arms = runs.pulls[0, nothing] if runs.arms is None else runs.arms[run]
        rewards = runs.regret[0, nothing] if runs.rewards is None else runs.rewards[run]
        order = known_after = np.zeros(0, np.int64)
        if self.late is not None:
            arrival = self.late.arrivals(env_seed, len(means))
            order = np.argsort(arrival, kind="stable")
            known_after = np.searchsorted(arrival[order], np.arange(1, len(means) + 1), side="right")
            rewards = np.empty(len(means))  # kept until they arrive
            arms = np.empty(len(means), np.int64) if runs.arms is None else arms
        log = log_in(agent.state)
        view = copied(agent.state, mask.size, but_decided=True) if self._counts_pulls(agent) else agent.state
        play = self._loop(agent)
        began = time.perf_counter()
        try:
            rounds, chosen = play(
                agent.state, view, *code, agent.binarize, means, best, mask, luck, agent.rng, runs.rounds,
                runs.regret[run], agent.pending, pulls, suboptimal, arms, rewards, order, known_after,
                np.zeros((1, 3), np.int64) if log is None else log.rows,
            )  # fmt: skip
        except (NumbaError, NotImplementedError, AttributeError) as error:  # the last is of numba's own code
            raise _not_compiled(agent, error) from error
        seconds = time.perf_counter() - began
        if rounds < len(means):
            played, chosen = (-1 - rounds, None) if rounds < 0 else (rounds, chosen)
            raise UnplayableArmError(agent.name, spelled_arm(chosen), means.shape[1], played + 1)
        runs.pulls[run], runs.suboptimal_pulls[run] = pulls, suboptimal
        if self.late is not None and runs.rewards is not None:  # a step's reward is the sum of what arrives with it
            runs.rewards[run] = np.bincount(arrival[order], rewards[order], len(means) + 1)[1 : len(means) + 1]
        return seconds, alarms_in(agent.state)

    def play_generic(self, recording: Recording, horizon: int | None, seeds: tuple[int, int]) -> Runs:
        """Play one run in the generic loop; raises an error if it has another length than the horizon."""
        began = time.perf_counter()
        means = None if self.bandit is None else self.bandit._means  # shared, since nobody writes to them
        env: Any = copy.deepcopy(self.env, {} if means is None else {id(means): means})
        known = Knowledge(n_arms=int(env.action_space.n))
        if self.bandit is not None:
            env.reset(seed=seeds[0])
            known = known_of(env.unwrapped.means, self.bandit.world, self.bandit.law)
        agent = self.agent_for(known)
        episode = loop.run_episode(env, agent, seeds)
        if episode.regret is None or episode.suboptimal_pulls is None:
            raise ValueError(f"{env} does not tell its means: its info needs 'mu' for simulate to account regret")
        length = len(episode.arms)
        if horizon not in (None, length):
            raise ValueError(
                f"one episode took {horizon} rounds, another {length}; simulate compares episodes of one length"
            )
        runs = recording.blank(length, len(episode.pulls), [seeds])
        runs.regret[0] = episode.regret[runs.rounds - 1]
        runs.pulls[0], runs.suboptimal_pulls[0] = episode.pulls, episode.suboptimal_pulls
        runs.parameters[0] = without_arrays(getattr(agent, "parameters", {}))
        if runs.arms is not None and runs.rewards is not None:
            runs.arms[0], runs.rewards[0] = episode.arms, episode.rewards
        alarms = None if episode.alarms is None else [episode.alarms]
        return replace(runs, seconds=time.perf_counter() - began, alarms=alarms)


def apart(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy of a small array that shares no cache line with other data; a large array as it is.

    Threads that write to one line in every round wait for each other: their runs may take twice as long.
    """
    if array.nbytes > LARGE:
        return array
    own = np.empty(array.nbytes + 2 * LINES, np.uint8)[LINES:-LINES].view(array.dtype).reshape(array.shape)
    own[...] = array
    own.flags.writeable = array.flags.writeable
    return own


def _not_compiled(agent: Any, error: Exception) -> Exception:
    """Return the error of a rule that cannot be compiled: the choice is no number, or the reason that numba gives."""
    if field := re.search(r"lowering .*\.(\w+) = ", str(error)):
        return TypeError(fixed_field(agent.name, field[1]))
    try:
        agent.act()
    except UnplayableArmError as unplayable:
        return unplayable.in_round(1)
    reason = next((line for line in str(error).splitlines() if line and "pipeline" not in line), type(error).__name__)
    return TypeError(
        f"numba cannot compile the rule of {agent.name}: {reason}; write it with what numba knows, or override act() "
        f"and observe(), which are then played as they are"
    )


def known_of(means: Floats, world: World, law: Law) -> Knowledge:
    """Return the facts about an instance; σ as stated by the world's author, if it is stated."""
    known = knowledge(means)
    stated = world.lipschitz
    lipschitz = known.lipschitz if stated is None else stated
    return replace(known, lipschitz=lipschitz, subgaussian=law.subgaussian, support=law.support)


def without_arrays(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters without arrays, because one array per run would fill the memory."""
    return {name: value for name, value in parameters.items() if not isinstance(value, np.ndarray)}


def _play_compiled_runs(
    pairing: Pairing, seeds: list[tuple[int, int]], recording: Recording, threads: int, tick: Tick
) -> Runs:
    assert pairing.bandit is not None
    world = pairing.bandit.world
    runs = recording.blank(world.horizon, world.n_arms, seeds)
    seconds, logs = 0.0, []
    with ExitStack() as stack:
        over_runs: Any = map
        if min(threads, len(seeds)) > 1:
            pool = ThreadPoolExecutor(threads)
            stack.callback(pool.shutdown, cancel_futures=True)  # after an error no further run is begun
            over_runs = pool.map
        for spent, alarms in over_runs(partial(pairing.play_compiled, runs), range(len(seeds))):
            seconds += spent
            logs += [] if alarms is None else [alarms]
            tick(world.horizon)
    return replace(runs, seconds=seconds, alarms=logs or None)


def _play_generic_runs(
    pairing: Pairing, seeds: list[tuple[int, int]], recording: Recording, jobs: int, tick: Tick
) -> Runs:
    """Play runs in the generic loop; a warning, to the caller's caller, says why only one core is used if so."""
    first = pairing.play_generic(recording, None, seeds[0])
    runs = recording.blank(first.horizon, first.pulls.shape[1], seeds)
    spent: list[float] = []
    logs: list[npt.NDArray[np.void]] = []

    def take(played: Runs) -> None:
        run = len(spent)
        for name in FIELDS:
            if (mine := getattr(runs, name)) is not None:
                mine[run] = getattr(played, name)[0]
        runs.parameters[run] = played.parameters[0]
        logs.extend(played.alarms or ())
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
        take(pairing.play_generic(recording, runs.horizon, pair))
    return replace(runs, seconds=sum(spent), alarms=logs or None)


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
        pairing, recording, horizon = _unpacked(packed)
        runs = pairing.play_generic(recording, horizon, seeds)
    return runs, caught


@lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> tuple[Pairing, Recording, int]:
    with current_folder_importable():  # where the module of an agent or a world may be
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

    sent = copy.copy(pairing)
    sent.spare = []
    if sent.to_be_made:
        sent.agent = sent.kind  # its name may be unknown there
    try:
        play = partial(_play, cloudpickle.dumps((sent, recording, first.horizon)))
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
                        take(pairing.play_generic(recording, first.horizon, seeds[run]))  # raises the error as it is
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
    """One round of N runs: ``play_at_once(env, seeds)`` of an agent that can play many at once yields T of them.

    Such an agent also has ``runs_at_once(env)``, the number of runs that the memory has room for; 0 if they can be
    played only one by one.

    Attributes:
        arms: (N,) the arm that was played in each.
        rewards: (N,) its reward.
        gaps: (N,) μ* − μ_arm, what the arm adds to the regret.
    """

    arms: Ints
    rewards: Floats
    gaps: Floats


def _play_batched_runs(
    pairing: Pairing, seeds: list[tuple[int, int]], recording: Recording, at_once: int, tick: Tick
) -> Runs:
    """Play runs in batches of at most ``at_once``."""
    assert pairing.bandit is not None
    agent, world = pairing.agent, pairing.bandit.world
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
    return replace(runs, seconds=seconds)
