"""Computing units of work, wherever that is done: what a worker is sent, and what it sends back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

from ..kept_files import KeptFile
from ..runs import Runs
from ..sources import digest_of
from ..workforce.fitness import Needs, check_fitness, needs_of
from .footers import TooLargeError
from .identity import modules_of
from .parquet import checked, to_parquet
from .pinned_files import files_of
from .units import Unit

__all__ = ["CodedUnit", "CodedUnits", "Simulate", "UnitFile", "UnitJob", "compute", "needs_of_units"]

Simulate = Callable[..., Runs]


class CodedUnit(NamedTuple):
    """A unit, and the code that is to compute it.

    Attributes:
        unit: the unit.
        code: the version of the code, under which the result is stored.
        digest: the hash of the code; None if it cannot be read, and so cannot be compared with that of a worker.
    """

    unit: Unit
    code: str
    digest: str | None


class CodedUnits(Sequence[CodedUnit]):
    """Units with their code, which is looked up when they are asked for.

    Args:
        units: the units.
        code: gives the version of the code of a unit.
        digested: whether the hashes of the code are needed.
    """

    def __init__(self, units: Sequence[Unit], code: Callable[[Unit], str], digested: bool) -> None:
        self._units, self._code, self._digested = units, code, digested
        self._digests: dict[tuple[str, ...], str | None] = {}

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
        return CodedUnit(unit, self._code(unit), self._digest_for(unit) if self._digested else None)

    def _digest_for(self, unit: Unit) -> str | None:
        modules = modules_of(unit.world, unit.agent)
        if modules not in self._digests:
            self._digests[modules] = digest_of(modules)
        return self._digests[modules]


class UnitFile(NamedTuple):
    """What a worker sends back: a file with the results of some units, and what they took."""

    units: int
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
            check_fitness(lambda: needs_of_units(items))

    def one(self, item: CodedUnit) -> Runs:
        """The runs of a unit, as they can be stored."""
        return checked(item.unit, compute(item.unit, self.simulate, self.n_jobs))

    def weight(self, result: Runs) -> int:
        """The bytes of its curves and pulls."""
        return result.regret.nbytes + 2 * result.pulls.nbytes

    def packed(self, items: Sequence[CodedUnit], results: Sequence[Runs]) -> list[UnitFile]:
        """The file that holds the results of all these units; several where one would be too large."""
        rows = [(item.unit, item.code, runs) for item, runs in zip(items, results, strict=True)]
        try:
            content = to_parquet(rows)
        except TooLargeError:
            if len(items) == 1:
                raise
            half = len(items) // 2
            return [*self.packed(items[:half], results[:half]), *self.packed(items[half:], results[half:])]
        return [
            UnitFile(len(items), content, sum(runs.steps for runs in results), sum(runs.seconds for runs in results))
        ]


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
    """What a worker must have to compute these units."""
    code = {modules_of(unit.world, unit.agent): digest for unit, _, digest in items if digest is not None}
    entries = dict.fromkeys(entry for unit, _, _ in items for entry in (unit.world, unit.agent))
    files = (file for entry in entries for file in files_of(entry).values())
    return needs_of(code, [file for file in files if isinstance(file, KeptFile)])
