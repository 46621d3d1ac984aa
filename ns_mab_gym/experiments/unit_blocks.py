"""How units of work belong together: the blocks of one agent's runs on one world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .units import BLOCK, Unit

__all__ = ["is_block_of", "played", "runs_in_words"]


def played(unit: Unit) -> tuple[Any, ...]:
    """What a unit plays, whichever block of runs it is."""
    return unit.world, unit.agent, unit.seed, unit.rounds


def is_block_of(unit: Unit, runs: int) -> bool:
    """Whether a unit is one of the blocks that together hold so many runs."""
    return unit.first_run + unit.runs == min(unit.first_run + BLOCK, runs)


def runs_in_words(units: Iterable[Unit]) -> str:
    """The numbers of the runs of some units of one agent, as names of files have them; those that follow are joined."""
    spans: list[list[int]] = []
    for unit in sorted(units, key=lambda each: each.first_run):
        if spans and spans[-1][1] == unit.first_run - 1:
            spans[-1][1] += unit.runs
        else:
            spans.append([unit.first_run, unit.first_run + unit.runs - 1])
    return ", ".join(f"{first}-{last}" for first, last in spans)
