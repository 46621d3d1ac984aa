"""What came of running a study, in figures and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .claims import Claim, Judged
from .failure_texts import Gap, failures_in_words
from .progress import speed
from .remaining_study import Remains
from .results import Results
from .runner import Failure, Outcome
from .units import Unit

__all__ = ["RanStudy", "work_in_words"]

SHORTER = "Further runs count up to the first that some agent concerned lacks."


@dataclass(frozen=True)
class RanStudy:
    """What came of running a study, and then further runs of it.

    Attributes:
        results: the runs of what is left of the study.
        first: what came of the study's own runs.
        remains: what is left of the study.
        judged: the claims that could be judged.
        more: what came of further runs.
        later: which of these are missing.
    """

    results: Results
    first: Outcome
    remains: Remains
    judged: Sequence[Judged] = ()
    more: Outcome = field(default_factory=lambda: Outcome((), ()))
    later: Sequence[Gap] = ()

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The units that have no result."""
        return (*self.first.failures, *self.more.failures)

    @cached_property
    def units(self) -> frozenset[Unit]:
        """All units that were asked for."""
        return frozenset((*self.first.units, *self.more.units))

    def missing_in_words(self, claims: Mapping[str, Sequence[Claim]]) -> list[str]:
        """Which runs are missing and what follows from it, in a few lines; none if none is.

        Args:
            claims: those that were to be judged, by the label of the world.
        """
        if not self.failures:
            return []
        judged = {(each.world, each.claim.key) for each in self.judged}
        asked = [(world, claim.key) for world, about in claims.items() for claim in about]
        open_ = [f"{key} ({world})" for world, key in asked if (world, key) not in judged]
        return [
            *failures_in_words(self.failures, [*self.remains.gaps, *self.later], len(self.units)),
            *self.remains.in_words(),
            *([f"No verdict, for want of these runs, on {len(open_)} sentences: {'; '.join(open_)}."] if open_ else []),
            *([SHORTER] if self.later else []),
        ]

    def work_in_words(self, seconds: float) -> str:
        """How much was computed in so many seconds."""
        computed = len(self.first.computed) + len(self.more.computed)
        work = f"{computed} of {len(self.units)} units computed in {seconds:.1f} s"
        if not computed:
            return work
        steps = self.first.computed_steps + self.more.computed_steps
        engine = self.first.engine_seconds + self.more.engine_seconds
        return f"{work} ({steps:.3g} steps, {speed(steps, seconds)}; engine {engine:.1f} s over all threads)"


def work_in_words(outcome: Outcome) -> str:
    """How many units there are, how many of them were computed now, and how many failed."""
    failed = f", and {len(outcome.failures):,} failed" if outcome.failures else ""
    return f"{len(outcome.units):,}, of which {len(outcome.computed):,} were computed now{failed}"
