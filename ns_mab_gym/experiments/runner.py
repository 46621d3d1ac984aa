"""The runner: computes the units of a study that are not in the store, and stores each as soon as it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from ..play.cores import job_count
from ..runs import Runs
from .pinned_files import pinned
from .store import Store, StoreError
from .study import Study
from .units import Unit, units_of
from .valid_runs import unlike

__all__ = ["Outcome", "Progress", "Simulate", "load_all", "run"]

Simulate = Callable[..., Runs]


class Progress(AbstractContextManager["Progress"], Protocol):
    """Receives progress updates."""

    def start(self, done: int, total: int) -> None:
        """Called once at the beginning: there are ``total`` units, of which ``done`` are stored already."""

    def advance(self, unit: Unit, block: Runs) -> None:
        """Called whenever a unit was computed and stored."""


@dataclass(frozen=True)
class Outcome:
    """The results of running a study.

    Attributes:
        blocks: the runs of every unit.
        computed: the units that were not in the store before.
    """

    blocks: dict[Unit, Runs]
    computed: tuple[Unit, ...] = field(default=())

    @property
    def engine_seconds(self) -> float:
        """The engine's own time for what was computed now."""
        return sum(self.blocks[unit].seconds for unit in self.computed)

    @property
    def computed_steps(self) -> int:
        """The number of agent steps that were computed now."""
        return sum(self.blocks[unit].steps for unit in self.computed)


def run(
    study: Study,
    store: Store,
    simulate: Simulate,
    progress: Progress,
    *,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    ready: Callable[[Unit, Runs], None] = lambda unit, runs: None,
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
        ready: called with every unit as soon as its runs are available, also with those stored before.
        beside: stored units that stay where they are although the study does not ask for them.
    """
    threads = job_count(n_jobs)
    units = units_of(pinned(study))
    store.tidy([*units, *beside])
    blocks = load_all(units, store)
    missing = [unit for unit in units if unit not in blocks]
    for unit, block in blocks.items():
        ready(unit, block)
    with progress:
        progress.start(len(blocks), len(units))
        if executor is None:
            computed = _computed_here(missing, store, simulate, threads)
        else:
            computed = _computed_by(executor, missing, store, simulate, n_jobs)
        for unit, block in computed:
            blocks[unit] = block
            ready(unit, block)
            progress.advance(unit, block)
    _ensure_alike(blocks)
    return Outcome(blocks, tuple(missing))


def load_all(units: Sequence[Unit], store: Store, beside: Mapping[Unit, Runs] | None = None) -> dict[Unit, Runs]:
    """The stored results of units; those that cannot be joined with each other, or with those beside, are set aside."""
    blocks = {unit: block for unit in units if (block := store.load(unit)) is not None}
    for unit in unlike({**(beside or {}), **blocks}):
        if blocks.pop(unit, None) is not None:
            store.reject(unit, "does not fit the other runs of this agent on this world")
    return blocks


def _ensure_alike(blocks: Mapping[Unit, Runs]) -> None:
    if units := unlike(blocks):
        raise StoreError(
            f"what is stored of {units[0].agent.words} on {units[0].world.words} does not fit what was computed now, "
            f"which has other rounds or arms; the same command computes all of it again"
        )


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


def _computed_here(units: list[Unit], store: Store, simulate: Simulate, threads: int) -> Iterator[tuple[Unit, Runs]]:
    """Units computed on threads; each is stored at once, so that a kill loses only the units being computed."""
    threads_of_each = max(1, threads // max(1, len(units)))

    def computed(unit: Unit) -> Runs:
        block = compute(unit, simulate, threads_of_each)
        store.save(unit, block)
        return block

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
) -> Iterator[tuple[Unit, Runs]]:
    """Units computed elsewhere, and stored here when they arrive."""
    for unit, block in _as_completed(executor, partial(compute, simulate=simulate, n_jobs=n_jobs), units):
        store.save(unit, block)
        yield unit, block


def _as_completed(executor: Executor, work: Callable[[Unit], Runs], units: list[Unit]) -> Iterator[tuple[Unit, Runs]]:
    waiting = {executor.submit(work, unit): unit for unit in units}
    try:
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    finally:
        for future in waiting:
            future.cancel()
