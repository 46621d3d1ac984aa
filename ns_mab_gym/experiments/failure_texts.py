"""How it is told that units of work have failed: in a few lines, and in a file with everything.

Errors and tracebacks are texts of strangers: characters that cannot be shown are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..files import written_atomically
from ..plain_texts import escaped
from .runner import Failure
from .unit_blocks import runs_in_words

__all__ = ["FILE", "Gap", "failures_in_words", "write_failures"]

FILE = "failures.txt"
MOST = 8  # pairs of agent and world that are named in the few lines
LONGEST = 200  # letters of an error that are shown there


@dataclass(frozen=True)
class Gap:
    """Runs of an agent on a world that are missing.

    Attributes:
        agent: the label of the agent.
        world: the label of the world.
        failures: the units that have no result.
    """

    agent: str
    world: str
    failures: tuple[Failure, ...]

    def __str__(self) -> str:
        runs, error = runs_in_words(each.unit for each in self.failures), escaped(self.failures[0].error)
        shown = error if len(error) <= LONGEST else f"{error[:LONGEST]}…"
        return f"{escaped(self.agent)} on {escaped(self.world)}, runs {runs} ({shown})"


def failures_in_words(failures: Sequence[Failure], gaps: Sequence[Gap], units: int) -> list[str]:
    """Which runs are missing, and why, in a few lines; none if nothing failed.

    Args:
        failures: the units that have no result.
        gaps: what is missing of which agent on which world.
        units: how many units there are.
    """
    if not failures:
        return []
    more = len(gaps) - MOST
    return [
        f"{len(failures):,} of {units:,} units failed; {FILE} has every error in full.",
        *(f"Failed: {gap}." for gap in gaps[:MOST]),
        *([f"And {more:,} more pairs of agent and world."] if more > 0 else []),
    ]


def write_failures(folder: Path, failures: Sequence[Failure]) -> None:
    """Write every failed unit, its errors in full, into a file of the folder; no file if nothing failed."""
    if not failures:
        (folder / FILE).unlink(missing_ok=True)
        return
    with written_atomically(folder / FILE) as handle:
        for line in _lines(failures):
            handle.write(f"{escaped(line)}\n".encode())


def _lines(failures: Iterable[Failure]) -> Iterator[str]:
    for failure in failures:
        unit, where = failure.unit, f"by {failure.worker}" if failure.worker else "here"
        yield f"{unit.agent.words} on {unit.world.words}, runs {runs_in_words([unit])}, seed {unit.seed}"
        yield f"    tried {failure.attempts} times, the last time {where}"
        yield f"    {failure.error}"
        yield from (f"    | {line}" for line in failure.traceback.splitlines())
        yield ""
