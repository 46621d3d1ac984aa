"""The table behind everything that a leaderboard says: the final regret of every run, by division, agent and world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...runs import Runs
from ..results import Results
from ..run_totals import Totals
from .board_plan import BoardPlan
from .board_worlds import BoardWorld
from .contestants import DIVISIONS, Contestant

__all__ = ["Division", "divisions_of"]

Floats = npt.NDArray[np.float64]
ORACLE = "oracle-restart"
REFERENCES = "references"  # beside the divisions
LEAST = 1.0  # regret below one lost round counts as one, so that no ratio is infinite


@dataclass(frozen=True, eq=False)
class Division:
    """Agents that were told as much, on the worlds of the leaderboard.

    Attributes:
        name: "informed" or "blind".
        worlds: the W worlds, on each of which somebody competes.
        labels: the A agents.
        competes: (A,) whether an agent can have a place: it is no further form of another one.
        finals: by the labels of agent and world, the final regret of each run; missing where an agent cannot play, or
            failed.
        references: the same of the agents that belong to no division.
        phased: the labels of the worlds that consist of phases, where oracle-restart starts over at the breakpoints.
    """

    name: str
    worlds: Sequence[BoardWorld]
    labels: Sequence[str]
    competes: Sequence[bool]
    finals: dict[tuple[str, str], Floats]
    references: dict[tuple[str, str], Floats]
    phased: frozenset[str]

    @cached_property
    def counting(self) -> list[int]:
        """The numbers of the worlds that count for ranks; all if none of them does."""
        found = [number for number, world in enumerate(self.worlds) if world.counts]
        return found or list(range(len(self.worlds)))

    @cached_property
    def families(self) -> list[str]:
        """The families of the worlds that count."""
        return [self.worlds[number].family for number in self.counting]

    @cached_property
    def ranked(self) -> list[str]:
        """The agents that have a place: those that compete and play every world that counts."""
        worlds = [self.worlds[number].label for number in self.counting]
        return [
            label
            for label, competes in zip(self.labels, self.competes, strict=True)
            if competes and all((label, world) in self.finals for world in worlds)
        ]

    def means(self, labels: Sequence[str], worlds: Sequence[BoardWorld]) -> Floats:
        """(A, W) the mean final regret; NaN where an agent does not play."""
        means = [self._mean(self.finals, label, world.label) for label in labels for world in worlds]
        return np.array(means, dtype=np.float64).reshape(len(labels), len(worlds))

    def of_reference(self, label: str) -> Floats:
        """(W,) the mean final regret of a reference; NaN where it does not play."""
        return np.array([self._mean(self.references, label, world.label) for world in self.worlds])

    @cached_property
    def to_best(self) -> Floats:
        """(A, W) mean regret, divided by the least of the agents that compete on that world."""
        means = self.means(self.labels, self.worlds)
        return np.asarray(means / np.nanmin(means[list(self.competes)], axis=0))

    @cached_property
    def to_oracle(self) -> Floats:
        """(A, W) mean regret, divided by that of oracle-restart; NaN where that one means nothing."""
        phased = np.array([world.label in self.phased for world in self.worlds])
        return np.asarray(self.means(self.labels, self.worlds) / np.where(phased, self.of_reference(ORACLE), np.nan))

    def with_runs(self, first: bool) -> Division:
        """The same division with the first, or the second, half of the runs of every world."""
        halved = {pair: _half(runs, first) for pair, runs in self.finals.items()}
        return replace(
            self, finals=halved, references={key: _half(each, first) for key, each in self.references.items()}
        )

    def on(self, worlds: Sequence[BoardWorld]) -> Division:
        """The same division on some of its worlds."""
        return replace(self, worlds=worlds)

    @staticmethod
    def _mean(finals: dict[tuple[str, str], Floats], label: str, world: str) -> float:
        runs = finals.get((label, world))
        return float("nan") if runs is None else max(float(runs.mean()), LEAST)


def _half(runs: Floats, first: bool) -> Floats:
    middle = len(runs) // 2
    return runs[:middle] if first else runs[middle:]


def divisions_of(plan: BoardPlan, results: Results) -> tuple[list[Division], Totals]:
    """The divisions in which somebody competes, and what all runs amount to, from one pass over the worlds.

    Of the runs, the final regrets alone are held. Where runs of an agent are missing, it is as if it could not play.
    """
    totals, phased = Totals(), set()
    finals: dict[str, dict[tuple[str, str], Floats]] = {name: {} for name in (*DIVISIONS, REFERENCES)}
    for world in plan.worlds:
        if world.entry in results.study.worlds:
            totals.add(results, world.entry)
        for each in plan.contestants:
            for name, runs in _played(plan, results, world, each):
                finals[REFERENCES if each.reference else name][each.label, world.label] = runs.final.copy()
                if each.label == ORACLE and all(told.get("at") == "breakpoints" for told in runs.parameters):
                    phased.add(world.label)
    references = finals.pop(REFERENCES)
    found = [_division(plan, name, there, references, frozenset(phased)) for name, there in finals.items()]
    return [division for division in found if any(division.competes)], totals


def _played(plan: BoardPlan, results: Results, world: BoardWorld, contestant: Contestant) -> Iterator[tuple[str, Runs]]:
    """The divisions in which a contestant plays a world, with its runs."""
    played = results.agents.get(world.label, {})
    for name, form in plan.forms[world.label, contestant.label].items():
        if form.label in played:
            yield name, results.curves[world.label][form.label]


def _division(
    plan: BoardPlan,
    name: str,
    finals: dict[tuple[str, str], Floats],
    references: dict[tuple[str, str], Floats],
    phased: frozenset[str],
) -> Division:
    """A division with those who have runs, on the worlds on which somebody has who competes."""
    playing = {label for label, _ in finals}
    there = [each for each in plan.contestants if each.label in playing]
    competing = {each.label for each in there if each.competes}
    compared = {world for label, world in finals if label in competing}
    worlds = [world for world in plan.worlds if world.label in compared]
    labels, competes = [each.label for each in there], [each.competes for each in there]
    return Division(name, worlds, labels, competes, finals, references, phased)
