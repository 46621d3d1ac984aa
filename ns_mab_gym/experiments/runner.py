"""The runner: computes the units of a study that are not in the store, and stores each as soon as it is computed."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from ..kept_files import ChangedFileError
from ..play.cores import job_count
from ..runs import Runs
from .identity import EditedCodeError
from .kept_runs import UNFIT
from .pinned_files import pinned
from .store import Store, StoreError
from .study import Study
from .units import Unit, units_of
from .valid_runs import InvalidRunsError, unlike

__all__ = ["Failure", "Outcome", "Progress", "Simulate", "load", "run"]

ATTEMPTS = 3

Simulate = Callable[..., Runs]


class Progress(AbstractContextManager["Progress"], Protocol):
    """Receives progress updates."""

    def start(self, done: int, total: int) -> None:
        """Called once at the beginning: there are ``total`` units, of which ``done`` are stored already."""

    def advance(self, unit: Unit, block: Runs) -> None:
        """Called whenever a unit was computed and stored."""


@dataclass(frozen=True)
class Failure:
    """A unit that has no result.

    Attributes:
        unit: the unit.
        attempts: how often it was tried.
        error: what went wrong the last time, in one line.
        traceback: the same in full.
        worker: where it was played last; "" if here.
    """

    unit: Unit
    attempts: int
    error: str
    traceback: str
    worker: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came of running a study; the runs are in the store.

    Attributes:
        units: all units of the study.
        computed: the units that were not in the store before and are now.
        failures: the units that have no result.
        computed_steps: the number of agent steps that were computed now.
        engine_seconds: the engine's own time for what was computed now.
    """

    units: tuple[Unit, ...]
    computed: tuple[Unit, ...]
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
    executor: Executor | None = None,
    ready: Callable[[Unit], None] = lambda unit: None,
    beside: Sequence[Unit] = (),
) -> Outcome:
    """Compute the units of a study that are not in the store.

    Args:
        study: the study to run.
        store: where results are read and written.
        simulate: the engine, ``nsb.simulate`` or a function with the same arguments and result.
        progress: receives progress updates.
        n_jobs: how many threads; as many as there are cores for None or -1.
        executor: computes units elsewhere (a process pool, ``dask.distributed.Client.get_executor()``, MPI); by
            default they are computed here, as many at once as there are threads.
        ready: called with every unit as soon as it is stored, also with those stored before.
        beside: stored units that stay where they are although the study does not ask for them.
    """
    threads = job_count(n_jobs)
    units = units_of(pinned(study))
    store.tidy([*units, *beside])
    stored = {unit for group in _groups(units) for unit in _sound(group, store)}
    missing = [unit for unit in units if unit not in stored]
    for unit in units:
        if unit in stored:
            ready(unit)
    computed: list[Unit] = []
    failures: list[Failure] = []
    steps, seconds = 0, 0.0
    with progress:
        progress.start(len(stored), len(units))
        if executor is None:
            results = _computed_here(missing, store, simulate, threads)
        else:
            results = _computed_by(executor, missing, store, simulate, n_jobs)
        for unit, block in results:
            if isinstance(block, Failure):
                failures.append(block)
                continue
            computed.append(unit)
            steps, seconds = steps + block.steps, seconds + block.seconds
            ready(unit)
            progress.advance(unit, block)
    _ensure_alike(units, stored, set(computed), store)
    return Outcome(tuple(units), tuple(computed), tuple(failures), steps, seconds)


def load(store: Store, unit: Unit) -> Runs:
    """The stored result of a unit; raises a :class:`StoreError` if there is none."""
    if (block := store.load(unit)) is None:
        raise StoreError(
            f"the result of {unit.agent.words} on {unit.world.words} (runs {unit.first_run} to "
            f"{unit.first_run + unit.runs - 1}) is not in the store any more; the same command computes it again"
        )
    return block


def _groups(units: Sequence[Unit]) -> list[list[Unit]]:
    """The units of one agent on one world together, as they are joined."""
    groups: dict[Any, list[Unit]] = {}
    for unit in units:
        groups.setdefault((unit.world, unit.agent, unit.seed, unit.rounds), []).append(unit)
    return list(groups.values())


def _sound(group: Sequence[Unit], store: Store) -> list[Unit]:
    """The stored units of a group; those that cannot be joined are set aside."""
    blocks = {unit: block for unit in group if (block := store.load(unit)) is not None}
    for unit in unlike(blocks):
        del blocks[unit]
        store.reject(unit, UNFIT)
    return list(blocks)


def _ensure_alike(units: Sequence[Unit], stored: set[Unit], computed: set[Unit], store: Store) -> None:
    for group in _groups(units):
        if not stored.isdisjoint(group) and not computed.isdisjoint(group):
            there = [unit for unit in group if unit in stored or unit in computed]
            if unlike({unit: load(store, unit) for unit in there}):
                raise StoreError(
                    f"what is stored of {group[0].agent.words} on {group[0].world.words} does not fit what was "
                    f"computed now, which has other rounds or arms; the same command computes all of it again"
                )


def _attempted(unit: Unit, simulate: Simulate, n_jobs: int | None) -> Runs | Failure:
    """The runs of one unit, or what went wrong the last time that it was tried."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return compute(unit, simulate, n_jobs)
        except (ChangedFileError, EditedCodeError):  # another attempt, or another unit, would not be better off
            raise
        except Exception as error:
            failure = failure_of(unit, attempt, error)
    return failure


def failure_of(unit: Unit, attempts: int, error: Exception) -> Failure:
    """An error as the reason why a unit has no result."""
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return Failure(unit, attempts, line, "".join(traceback.format_exception(error)))


def _saved(store: Store, unit: Unit, block: Runs | Failure) -> Runs | Failure:
    if isinstance(block, Failure):
        return block
    try:
        store.save(unit, block)
    except InvalidRunsError as error:
        return failure_of(unit, 1, error)
    return block


def compute(unit: Unit, simulate: Simulate, n_jobs: int | None) -> Runs:
    """The runs of one unit."""
    try:
        return simulate(
            unit.world.name,
            unit.agent.name,
            runs=unit.runs,
            seed=unit.seed,
            env_kwargs=unit.world.kwargs,
            agent_kwargs=unit.agent.kwargs,
            n_jobs=n_jobs,
            first_run=unit.first_run,
            rounds=unit.rounds or None,
        )
    except Exception as error:
        error.add_note(f"while {unit.agent.words} played {unit.world.words}")
        raise


def _computed_here(
    units: list[Unit], store: Store, simulate: Simulate, threads: int
) -> Iterator[tuple[Unit, Runs | Failure]]:
    """Units computed on threads; each is stored at once, so that a kill loses only the units being computed."""
    threads_of_each = max(1, threads // max(1, len(units)))

    def computed(unit: Unit) -> Runs | Failure:
        return _saved(store, unit, _attempted(unit, simulate, threads_of_each))

    pool = ThreadPoolExecutor(min(threads, max(1, len(units))))
    patient = True
    try:
        yield from _as_completed(pool, computed, units)
    except (KeyboardInterrupt, GeneratorExit):
        # The user who stops a run does not wait for the units being computed; they end, and are stored, by themselves.
        patient = False
        raise
    finally:
        pool.shutdown(wait=patient, cancel_futures=True)


def _computed_by(
    executor: Executor, units: list[Unit], store: Store, simulate: Simulate, n_jobs: int | None
) -> Iterator[tuple[Unit, Runs | Failure]]:
    """Units computed elsewhere, and stored here when they arrive."""
    for unit, block in _as_completed(executor, partial(_attempted, simulate=simulate, n_jobs=n_jobs), units):
        yield unit, _saved(store, unit, block)


def _as_completed(
    executor: Executor, work: Callable[[Unit], Runs | Failure], units: list[Unit]
) -> Iterator[tuple[Unit, Runs | Failure]]:
    waiting = {executor.submit(work, unit): unit for unit in units}
    try:
        for future in as_completed(waiting):
            yield waiting.pop(future), future.result()
    finally:
        for future in waiting:
            future.cancel()
