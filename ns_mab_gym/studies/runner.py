"""The runner: has the units of a study computed that are not in the store, and stores them as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import gymnasium as gym

from .. import parallel
from ..agents.core.arguments import job_count, nearest
from ..agents.core.knowledge import Knowledge
from ..agents.core.registry import AGENTS, check_parameters, kind, looks_like_path, make
from ..code_version import CodeVersions, classes_of, means_digest, modules_of, users_modules
from ..envs.bandit import CHANGING, NSBanditEnv
from ..files import KeptFile
from ..means import Floats
from ..play.loop import check_match
from ..play.progress import Progress
from ..play.simulate import known_of
from ..play.simulate import simulate as engine
from ..runs import Runs, seed_pair
from ..specs import MODELS, AgentSpec, WorldSpec, as_agent, said
from .results import Labelled
from .store import Row, Store, encode
from .study import Study, Unit, pinned, units_of

KEPT = 4  # worlds whose means are kept

Simulate = Callable[..., Runs]


class Computed(NamedTuple):
    """The result of a unit as a worker sends it.

    Attributes:
        row: the runs as they can be stored.
        steps: the agents' steps.
        seconds: the engine's own time.
        modules: the user's modules behind it, with those that were imported while it was played.
        means: the hash of the means of a world of the user's.
    """

    row: Row
    steps: int
    seconds: float
    modules: tuple[str, ...]
    means: str


def _computed(simulate: Simulate, n_jobs: int, unit: Unit) -> Computed:
    runs = compute(unit, simulate, n_jobs)
    modules, means = users_modules(unit.world, unit.agent), means_digest(unit.world)
    return Computed(encode(unit, runs), runs.steps, runs.seconds, modules, means)


def compute(unit: Unit, simulate: Simulate, n_jobs: int | None) -> Runs:
    """The runs of one unit."""
    (world, env_kwargs), (agent, agent_kwargs) = unit.world.source, unit.agent.source
    return simulate(
        world,
        agent,
        runs=unit.runs,
        seed=unit.seed,
        env_kwargs=env_kwargs,
        agent_kwargs=agent_kwargs,
        n_jobs=n_jobs,
        first_run=unit.first_run,
        rounds=unit.rounds or None,
    )


def needs_of_units(units: Iterable[Unit]) -> parallel.Needs:
    """Return what a worker must have to compute these units."""
    entries = dict.fromkeys((unit.world, unit.agent) for unit in units)
    files = [file for pair in entries for entry in pair for file in entry.files.values()]
    code = [tuple(each for each in modules_of(*pair) if each not in SENT_ALONG) for pair in entries]
    return parallel.Needs.of(code, [file for file in files if isinstance(file, KeptFile)])


SENT_ALONG = ("__main__", "__mp_main__")  # modules of a script or a notebook, whose classes travel with the task


class ChangingWorldError(ValueError):
    """A world of the user's gives other means each time it is asked."""


@dataclass(frozen=True)
class Failure:
    """A unit that has no result.

    Attributes:
        unit: the unit.
        attempts: how often it was tried.
        error: what went wrong the last time, in one line.
        traceback: where.
        worker: the worker that tried it; empty if this process did.
    """

    unit: Unit
    attempts: int
    error: str
    traceback: str
    worker: str = ""

    def __str__(self) -> str:
        return f"{self.unit}: {self.error} ({self.attempts} attempts)"


@dataclass(frozen=True)
class Outcome:
    """The outcome of the units of a study; their runs are in the store.

    Attributes:
        units: all of them.
        computed: those that were not in the store before, and are now.
        failures: those that have no result.
        computed_steps: the number of agent steps that were computed now.
        engine_seconds: the engine's own time for what was computed now, summed over all workers.
    """

    units: tuple[Unit, ...]
    computed: tuple[Unit, ...] = ()
    failures: tuple[Failure, ...] = ()
    computed_steps: int = 0
    engine_seconds: float = 0.0


def run(
    study: Study,
    store: Store,
    simulate: Simulate,
    progress: Progress,
    *,
    n_jobs: int | None = None,
    pool: parallel.Pool | None = None,
    retries: int = parallel.RETRIES,
) -> Outcome:
    """Compute the units of a study that are not in the store.

    Args:
        study: the study to run.
        store: where results are read and written.
        simulate: the engine, ``nsb.simulate`` or a function with the same arguments and result.
        progress: receives progress updates.
        n_jobs: the number of threads if there is no pool; as many as there are cores for None or -1.
        pool: the workers, such as ``ns_mab_gym.parallel.executor("dask")``; threads of this process by default.
        retries: how often a unit is tried again that raised an error.
    """
    threads = job_count(n_jobs)
    units = units_of(pinned(study))
    for pair in dict.fromkeys((unit.world, unit.agent) for unit in units):
        classes_of(*pair)  # loads all modules before the first is looked at
    missing = store.missing(units)
    own = parallel.executor("threads", min(threads, max(1, len(missing))))
    with progress, own if pool is None else nullcontext(pool) as pool:
        progress.start(len(units) - len(missing), len(units))
        progress.say(f"{len(missing)} of {len(units)} units to compute, {len(units) - len(missing)} stored already")
        if missing and pool.about:
            progress.say(pool.about)
        job = partial(_computed, simulate, 1 if pool.remote else max(1, threads // max(1, pool.workers)))
        needs = needs_of_units(missing) if pool.remote else None
        means: dict[WorldSpec, str] = {}
        computed: list[Unit] = []
        failures: list[Failure] = []
        steps, seconds = 0, 0.0
        try:
            for each in parallel.map_unordered(pool, job, missing, needs=needs, retries=retries, say=progress.say):
                if isinstance(each, parallel.Failed):
                    error = each.error
                    failures.append(Failure(each.item, each.attempts, error.text, error.traceback, error.worker))
                    progress.fail()
                    continue
                for unit, result in zip(each.items, each.results, strict=True):
                    if unit.world not in means:
                        means[unit.world] = means_digest(unit.world)
                    if result.means != means[unit.world]:
                        raise ChangingWorldError(CHANGING.format(unit.world.text))
                    if isinstance(store.code, CodeVersions):
                        store.code.add(unit, set(result.modules) - {*SENT_ALONG})
                store.save(each.items, [result.row for result in each.results])
                computed += each.items
                steps += sum(result.steps for result in each.results)
                seconds += sum(result.seconds for result in each.results)
                progress.advance(len(each.items), sum(result.steps for result in each.results))
        except parallel.ExecutorLostError as error:
            raise parallel.ExecutorLostError(
                f"{error}; what is computed is stored: the same command goes on"
            ) from error
    return Outcome(tuple(units), tuple(computed), tuple(failures), steps, seconds)


def load(store: Store, unit: Unit, simulate: Simulate = engine) -> Runs:
    """The stored result of a unit; it is computed again, here, if there is none that is whole.

    Results are not read when a run begins, but when they are needed: damage shows then.
    """
    if (block := store.load(unit)) is None:
        block = compute(unit, simulate, None)
        store.save([unit], [encode(unit, block)])
    return block


def check_study(study: Study) -> None:
    """Raise a ValueError if a world or an agent of a study cannot be made, or if one cannot play the other."""
    for world in study.worlds:
        env = world.env()
        for each in study.experiments:
            for agent in each.agents if world in each.worlds else ():
                check_pair(agent, world, env)


def check_pair(agent: AgentSpec, world: WorldSpec, env: gym.Env[Any, Any]) -> None:
    """Raise a ValueError that names both if an agent cannot be made, or cannot play a world."""
    if agent.given is None and agent.name not in (*MODELS, *AGENTS) and not looks_like_path(agent.name):
        raise ValueError(f"unknown agent {agent.name!r}; {nearest(agent.name, [*AGENTS, *MODELS])}")
    try:
        kept = isinstance(agent.kwargs.get("path"), KeptFile)
        if agent.name in MODELS and not kept and not (agent.file and agent.file.is_file()):
            raise ValueError(f"no saved model at {str(agent.file)!r}; write {agent.name}:path=model.pt or model.zip")
        player, parameters = as_agent(*agent.source)
        if isinstance(player, str | type):
            if not isinstance(env.unwrapped, NSBanditEnv):
                return  # played through the generic loop, which checks it
            check_parameters(f"agent {player!r}", kind(player) if isinstance(player, str) else player, parameters)
            player = make(player, knowledge=first_known(env), **parameters)
        check_match(player.wrap(env) if hasattr(player, "wrap") else env, player)
    except (Exception, SystemExit) as error:  # whatever a constructor raises, the reader needs its name
        lists = [key for key, value in agent.parameters if isinstance(value, tuple)]
        hint = f"; several values to compare are written {lists[0]}=100|1000" if lists else ""
        raise ValueError(f"agent {agent.label!r} on {world.label!r}: {said(error)}{hint}") from error


@lru_cache(maxsize=1)  # all agents are checked on one world after the other
def first_known(env: gym.Env[Any, Any], seed: int = 0) -> Knowledge:
    """The facts about the instance of the first run from a seed; the number of arms if its means are not known."""
    bandit = env.unwrapped
    if not isinstance(bandit, NSBanditEnv):
        return Knowledge(n_arms=int(env.action_space.n))  # type: ignore[attr-defined]
    if bandit.world.random:
        env.reset(seed=seed_pair(seed)[0])
    return known_of(bandit.means, bandit.world, bandit.law)


class Instances(Labelled[Floats | None]):
    """The means of the first run on every world, by label; None if an environment does not provide them.

    They are made when they are asked for, and those of the last few worlds are kept.
    """

    def __init__(self, study: Study) -> None:
        worlds: dict[str, tuple[WorldSpec, int]] = {}
        for each in study.experiments:
            for world in each.worlds:
                worlds.setdefault(world.label, (world, each.seed))

        @lru_cache(maxsize=KEPT)
        def means(label: str) -> Floats | None:
            world, seed = worlds[label]
            return first_known(world.env(), seed).means

        super().__init__(worlds, means)
