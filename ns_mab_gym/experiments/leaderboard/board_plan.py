"""The plan of a leaderboard: which agent plays which world in which form, and the study that computes it.

There is one experiment for each agent on each world. The first of the next agent comes before the rest of this one, so
that one thread compiles a loop while others play.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from ..study import AgentEntry, Experiment, Study
from .board_worlds import BoardWorld
from .contestants import DIVISIONS, Contestant, forms_on

__all__ = ["BoardPlan", "plan_of"]

ROUNDS = (1,)  # after which the regret is kept, beside the last: nothing is said about the rounds between


@dataclass(frozen=True)
class BoardPlan:
    """Who plays what.

    Attributes:
        worlds: the worlds.
        contestants: the agents.
        forms: the entries by the labels of world and agent, then by division; empty if it cannot play the world.
        seed: the number from which the seeds of all runs are derived.
    """

    worlds: Sequence[BoardWorld]
    contestants: Sequence[Contestant]
    forms: dict[tuple[str, str], dict[str, AgentEntry]]
    seed: int = 0

    def study(self) -> Study:
        """The experiments, in the order in which they are best computed."""
        rows = [row for each in self.contestants if (row := self._experiments(each))]
        nexts = [*(row[:1] for row in rows[1:]), []]
        ordered = rows[:1] and [rows[0][:1], *chain.from_iterable(zip(nexts, (row[1:] for row in rows), strict=True))]
        return Study("Leaderboard", tuple(chain.from_iterable(ordered)))

    def _experiments(self, contestant: Contestant) -> list[Experiment]:
        found = []
        for world in self.worlds:
            if forms := self.forms[world.label, contestant.label]:
                entries = tuple(dict.fromkeys(forms.values()))
                found.append(
                    Experiment(worlds=(world.entry,), agents=entries, runs=world.runs, seed=self.seed, rounds=ROUNDS)
                )
        return found


def plan_of(
    worlds: Sequence[BoardWorld],
    contestants: Sequence[Contestant],
    divisions: Sequence[str] = DIVISIONS,
    seed: int = 0,
) -> BoardPlan:
    """The plan for these worlds and agents; references play in any case."""
    forms = {}
    for world in worlds:
        for each in contestants:
            found = forms_on(world.entry, each)
            kept = found if each.reference else {name: form for name, form in found.items() if name in divisions}
            forms[world.label, each.label] = kept
    return BoardPlan(worlds, contestants, forms, seed)
