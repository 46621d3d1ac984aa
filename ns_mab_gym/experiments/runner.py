"""The runner: has the units of a study computed that are not in the store, and stores them as they arrive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeVar

from ..play.cores import job_count
from ..runs import Runs
from ..workforce import Arrived, Crew, Failed, WorkforceLostError, dispatch
from ..workforce.dispatching import RETRIES
from ..workforce.fitness import ensure_all_fit
from ..workforce.thread_crew import ThreadCrew
from .pinned_files import pinned
from .result_folders import LostResultError
from .store import Store, StoreError
from .study import Study
from .unit_jobs import CodedUnit, CodedUnits, Simulate, UnitJob, needs_of_units
from .units import Unit, units_of

__all__ = ["Failure", "Outcome", "Progress", "Simulate", "load", "run", "until_whole"]

W = TypeVar("W")
REPAIRS = 3  # times that broken results are computed again before the user is asked to look at the disk


class Progress(AbstractContextManager["Progress"], Protocol):
    """Receives progress updates."""

    def start(self, done: int, total: int) -> None:
        """Called once at the beginning: there are ``total`` units, of which ``done`` are stored already."""

    def say(self, line: str) -> None:
        """Called with what the user should know meanwhile."""

    def advance(self, units: int, steps: int) -> None:
        """Called whenever so many units, which took the agents so many steps, were computed and stored."""

    def fail(self) -> None:
        """Called whenever a unit has failed for good."""


@dataclass(frozen=True)
class Failure:
    """A unit that has no result.

    Attributes:
        unit: the unit.
        attempts: how often it was tried.
        error: what went wrong the last time, in one line.
        traceback: where.
        worker: who tried it; empty if this process did.
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
    """What became of the units of a study; their runs are in the store.

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
    crew: Crew | None = None,
    ready: Callable[[Unit], None] = lambda unit: None,
    beside: Sequence[Unit] = (),
    retries: int = RETRIES,
) -> Outcome:
    """Compute the units of a study that are not in the store.

    Args:
        study: the study to run.
        store: where results are read and written.
        simulate: the engine, ``nsb.simulate`` or a function with the same arguments and result.
        progress: receives progress updates.
        n_jobs: how many threads, if they are to compute; as many as there are cores for None or -1.
        crew: those who compute, such as ``ns_mab_gym.workforce.hired("dask")``; threads of this process by default.
        ready: called with every unit as soon as its runs are in the store, also with those stored before.
        beside: stored units that stay where they are although the study does not ask for them.
        retries: how often a unit is tried again that raised an error.
    """
    threads = job_count(n_jobs)
    units = units_of(pinned(study))
    store.tidy([*units, *beside])
    missing = store.missing(units)
    absent = set(map(id, missing))
    for unit in units:
        if id(unit) not in absent:
            ready(unit)
    with progress, _at_work(crew, min(threads, max(1, len(missing)))) as workers:
        progress.start(len(units) - len(missing), len(units))
        job = UnitJob(simulate, 1 if workers.elsewhere else max(1, threads // max(1, len(missing))), workers.elsewhere)
        coded = CodedUnits(missing, store.code, workers.elsewhere)
        if workers.elsewhere and missing:
            if workers.about:
                progress.say(workers.about)
            ensure_all_fit(workers, needs_of_units(coded))
        return _stored(_arriving(workers, job, coded, retries, progress), units, store, progress, ready)


def load(store: Store, unit: Unit) -> Runs:
    """The stored result of a unit; raises a :class:`LostResultError` if there is none that is whole."""
    if (block := store.load(unit)) is None:
        raise LostResultError(f"there is no result of {unit} any more; the same command computes it again")
    return block


def until_whole(work: Callable[[], W], say: Callable[[str], None] = print) -> W:
    """Do work that computes and then reads results; once more if some of these turn out to be broken.

    Files are not read when a run begins, but when their results are needed. What is broken is set aside by then.
    """
    for _ in range(REPAIRS):
        try:
            return work()
        except LostResultError as error:
            say(f"{str(error).partition(';')[0]}; computing it again")
    return work()


@contextmanager
def _at_work(crew: Crew | None, threads: int) -> Iterator[Crew]:
    """The crew of the caller, who also sends it home; or else threads."""
    if crew is not None:
        yield crew
        return
    with ThreadCrew(threads) as own:
        yield own


def _arriving(
    crew: Crew, job: UnitJob, units: CodedUnits, retries: int, progress: Progress
) -> Iterator[Arrived[CodedUnit] | Failed[CodedUnit]]:
    """What the crew sends; if all of it is gone, the error says that nothing is lost."""
    try:
        yield from dispatch(crew, job, units, retries=retries, waiting=Waiting(progress.say))
    except WorkforceLostError as error:
        raise WorkforceLostError(f"{error}; what is computed is stored: the same command goes on") from error


def _stored(
    arriving: Iterator[Arrived[CodedUnit] | Failed[CodedUnit]],
    units: Sequence[Unit],
    store: Store,
    progress: Progress,
    ready: Callable[[Unit], None],
) -> Outcome:
    """Store what arrives, and count it; this process alone writes."""
    computed: list[Unit] = []
    failures: list[Failure] = []
    steps, seconds = 0, 0.0
    for each in arriving:
        if isinstance(each, Failed):
            failures.append(Failure(each.item.unit, each.attempts, *each.trouble))
            progress.fail()
            continue
        done = iter([coded.unit for coded in each.items])
        for file in each.content:
            units_in = list(islice(done, file.units))
            store.take(units_in, file.content)
            steps, seconds = steps + file.steps, seconds + file.seconds
            computed += units_in
            progress.advance(file.units, file.steps)
            for unit in units_in:
                ready(unit)
        if (lost := next(done, None)) is not None:
            raise StoreError(f"a worker sent no result of {lost}; give every worker the same code, and start again")
    return Outcome(tuple(units), tuple(computed), tuple(failures), steps, seconds)


class Waiting:
    """Tells once in a while that there is nobody to do the work."""

    def __init__(self, say: Callable[[str], None], every: float = 30.0) -> None:
        self._say, self._every, self._told = say, every, -every

    def __call__(self) -> None:
        """Tell it, unless it was told a moment ago."""
        if time.monotonic() - self._told >= self._every:
            self._told = time.monotonic()
            self._say("no worker is there; the work goes on when one comes")
