"""Computing units of work, wherever that is done: what a worker is sent, and what it sends back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from ..kept_files import KeptFile
from ..runs import Runs
from ..workforce.fitness import Needs, check_fitness, needs_of
from .identity import UNKNOWN, modules_of
from .parquet import checked, to_parquet
from .pinned_files import files_of
from .units import Unit

__all__ = ["CodedUnit", "CodedUnits", "Simulate", "UnitFile", "UnitJob", "compute", "needs_of_units"]

Simulate = Callable[..., Runs]


class CodedUnit(NamedTuple):
    """A unit, and the version of the code that is to compute it."""

    unit: Unit
    code: str


class CodedUnits(Sequence[CodedUnit]):
    """Units with the versions of their code, which are looked up when they are asked for."""

    def __init__(self, units: Sequence[Unit], code: Callable[[Unit], str]) -> None:
        self._units, self._code = units, code

    def __len__(self) -> int:
        return len(self._units)

    @overload
    def __getitem__(self, number: int) -> CodedUnit: ...
    @overload
    def __getitem__(self, number: slice) -> list[CodedUnit]: ...
    def __getitem__(self, number: int | slice) -> CodedUnit | list[CodedUnit]:
        """One of them, or several."""
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        unit = self._units[number]
        return CodedUnit(unit, self._code(unit))


class UnitFile(NamedTuple):
    """What a worker sends back: the file with the results of some units, and what they took."""

    content: bytes
    steps: int
    seconds: float


@dataclass(frozen=True)
class UnitJob:
    """Computes units.

    Attributes:
        simulate: the engine.
        n_jobs: how many threads each unit may use.
        shown: whether the worker must show that its code and files are those of the process that asks.
    """

    simulate: Simulate
    n_jobs: int
    shown: bool

    def begin(self, items: Sequence[CodedUnit]) -> None:
        """Check that the code and the files of this worker are those that are asked for."""
        if self.shown:
            check_fitness(needs_of_units(items))

    def one(self, item: CodedUnit) -> Runs:
        """The runs of a unit, as they can be stored."""
        return checked(item.unit, compute(item.unit, self.simulate, self.n_jobs))

    def weight(self, result: Runs) -> int:
        """The bytes of its curves and pulls."""
        return result.regret.nbytes + 2 * result.pulls.nbytes

    def packed(self, items: Sequence[CodedUnit], results: Sequence[Runs]) -> UnitFile:
        """The file that holds the results of all these units."""
        rows = [(*item, runs) for item, runs in zip(items, results, strict=True)]
        return UnitFile(to_parquet(rows), sum(runs.steps for runs in results), sum(runs.seconds for runs in results))


def compute(unit: Unit, simulate: Simulate, n_jobs: int | None) -> Runs:
    """The runs of one unit."""
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


def needs_of_units(items: Sequence[CodedUnit]) -> Needs:
    """What a worker must have to compute these units; code that nobody can read cannot be compared."""
    code = {modules_of(unit.world, unit.agent): version for unit, version in items if not version.startswith(UNKNOWN)}
    entries = dict.fromkeys(entry for unit, _ in items for entry in (unit.world, unit.agent))
    files = (file for entry in entries for file in files_of(entry).values())
    return needs_of(code, [file for file in files if isinstance(file, KeptFile)])
