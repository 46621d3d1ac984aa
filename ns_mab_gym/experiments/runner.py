"""The runner: computes the units of a study that the store lacks, and keeps each as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from .blocks import Block, Runs
from .spec import Study
from .store import Store
from .units import Unit, units_of

__all__ = ["Outcome", "Progress", "Simulate", "run"]

Simulate = Callable[..., Runs]


class Progress(AbstractContextManager["Progress"], Protocol):
    """Who is told how far a run is."""

    def start(self, done: int, total: int) -> None:
        """There are ``total`` units, of which ``done`` are stored already."""

    def advance(self, unit: Unit, block: Block) -> None:
        """A unit is computed and stored."""


@dataclass(frozen=True)
class Outcome:
    """What a run left.

    Attributes:
        blocks: the runs of every unit.
        computed: the units that were not in the store before.
    """

    blocks: dict[Unit, Block]
    computed: tuple[Unit, ...] = field(default=())

    @property
    def engine_seconds(self) -> float:
        """The engine's own time for what was computed now."""
        return sum(self.blocks[unit].seconds for unit in self.computed)

    @property
    def computed_steps(self) -> int:
        """Agent steps that were computed now."""
        return sum(self.blocks[unit].steps for unit in self.computed)


def run(
    study: Study,
    store: Store,
    simulate: Simulate,
    progress: Progress,
    *,
    n_jobs: int | None = None,
    executor: Executor | None = None,
) -> Outcome:
    """Compute what the store lacks of a study.

    Args:
        study: what is asked.
        store: where results are and go.
        simulate: the engine, ``nsb.simulate`` or a function that answers as it does.
        progress: who is told.
        n_jobs: the engine's threads; by default all cores.
        executor: computes units elsewhere (a process pool, ``dask.distributed.Client.get_executor()``, MPI); by
            default they are computed here, one after the other, each on ``n_jobs`` threads.
    """
    units = units_of(study)
    store.tidy(units)
    blocks = {unit: block for unit in units if (block := store.load(unit)) is not None}
    missing = [unit for unit in units if unit not in blocks]
    with progress:
        progress.start(len(blocks), len(units))
        for unit, block in _computed(missing, simulate, n_jobs, executor):
            store.save(unit, block)
            blocks[unit] = block
            progress.advance(unit, block)
    return Outcome(blocks, tuple(missing))


def compute(unit: Unit, simulate: Simulate, n_jobs: int | None) -> Block:
    """The runs of one unit."""
    return Block.of(
        simulate(
            unit.world.name,
            unit.agent.name,
            runs=unit.runs,
            seed=unit.seed,
            env_kwargs=unit.world.kwargs,
            agent_kwargs=unit.agent.kwargs,
            n_jobs=n_jobs,
            first_run=unit.first_run,
        )
    )


def _computed(
    units: list[Unit], simulate: Simulate, n_jobs: int | None, executor: Executor | None
) -> Iterator[tuple[Unit, Block]]:
    if executor is None:
        for unit in units:
            yield unit, compute(unit, simulate, n_jobs)
        return
    waiting = {executor.submit(compute, unit, simulate, n_jobs): unit for unit in units}
    try:
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    finally:
        for future in waiting:
            future.cancel()
