"""Which figures wait for units that are not stored yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .pictures import Planned
from .study import Experiment
from .unit_blocks import is_block_of, played
from .units import BLOCK, Unit, blocks_of

__all__ = ["WaitingFigures"]


class WaitingFigures:
    """Figures, each of which waits for the units that it shows.

    Units may be millions and are not held: it is counted how many of them each figure misses.

    Args:
        figures: the figures.
    """

    def __init__(self, figures: Sequence[Planned]) -> None:
        self._figures = dict(enumerate(figures))
        self._missing = [0] * len(figures)
        self._shown_in: dict[Any, list[tuple[int, int]]] = {}  # by what is played: how many runs in which figure
        for number, figure in self._figures.items():
            if figure.experiment is not None:
                self._expect(number, figure.experiment.on(figure.world).without_other_readings())

    def _expect(self, number: int, shown: Experiment) -> None:
        [world], single = shown.worlds, replace(shown, runs=1)
        agents = {played(unit) for agent in shown.agents for unit in blocks_of(single, world, agent)}
        for each in agents:
            self._shown_in.setdefault(each, []).append((shown.runs, number))
        self._missing[number] = len(agents) * -(-shown.runs // BLOCK)

    def take(self, unit: Unit) -> list[Planned]:
        """Note that a unit is stored, once for each; returns the figures that miss nothing any more."""
        complete = []
        for runs, number in self._shown_in.get(played(unit), ()):
            if is_block_of(unit, runs):
                self._missing[number] -= 1
                if not self._missing[number]:
                    complete.append(self._figures.pop(number))
        return complete

    def of_nothing(self) -> list[Planned]:
        """The figures that show no runs, and need not wait; each is returned once."""
        return [self._figures.pop(number) for number, missing in enumerate(self._missing) if not missing]

    @property
    def figures(self) -> list[Planned]:
        """The figures that still wait."""
        return list(self._figures.values())
