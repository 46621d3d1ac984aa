"""What the test of a claim can use: the runs on a world, under one reading of what the paper leaves open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...runs import Runs
from ..readings import Choice, Chosen, Reading
from .rules import Floats

if TYPE_CHECKING:
    from .judging import Judgement

__all__ = ["Consulted", "Evidence"]


class Consulted(Mapping[str, Runs]):
    """The runs of each agent under a reading, by its label; remembers which runs were asked for.

    Args:
        curves: the runs by label, those of other readings included.
        stand_ins: the labels whose runs take the place of others'.
        log: where the pairs of world and label that were asked for are noted.
        world: the label of the world.
    """

    def __init__(
        self, curves: Mapping[str, Runs], stand_ins: Mapping[str, str], log: set[tuple[str, str]], world: str
    ) -> None:
        self.curves, self.stand_ins, self.log, self.world = curves, stand_ins, log, world

    def __getitem__(self, label: str) -> Runs:
        shown = self.stand_ins.get(label, label)
        self.log.add((self.world, shown))
        return self.curves[shown]

    def __iter__(self) -> Iterator[str]:
        return iter(self.curves)

    def __len__(self) -> int:
        return len(self.curves)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the test of a claim about one world can use.

    Attributes:
        curves: the runs of each agent, by its label.
        means: (T, K)
        notes: what must be said wherever an agent's result is shown, by its label.
        elsewhere: the evidence of every world, by its label.
        world: the label of this one.
        chosen: the reading of everything that the paper leaves open.
        judged: the claims that were judged before by the same runs, by the label of the world and the claim's key.
        kept: what was computed once, for this evidence under every reading.
    """

    curves: Mapping[str, Runs]
    means: Floats
    notes: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, Evidence] = field(default_factory=dict)
    world: str = ""
    chosen: Chosen = field(default_factory=dict)
    judged: Mapping[tuple[str, str], Judgement] = field(default_factory=dict)
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def horizon(self) -> int:
        """T."""
        return len(self.means)

    def name(self, label: str) -> str:
        """The label, with a star if something must be said wherever the agent's result is shown."""
        shown = self.curves.stand_ins.get(label, label) if isinstance(self.curves, Consulted) else label
        return f"{label}*" if self.notes.get(shown) else label

    def round(self, paper: float) -> float:
        """The round that corresponds to one of the paper's, whose horizon is 50,000."""
        return paper * self.horizon / 50_000

    def read(self, choice: Choice) -> Any:
        """The value of the reading of a choice; of the first one if none was made."""
        return self.chosen.get(choice, choice.readings[0]).value

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What a function computes, computed once for this evidence: readings change neither means nor labels."""
        if key not in self.kept:
            self.kept[key] = compute()
        return self.kept[key]

    def note(self, consulted: Iterable[tuple[str, str]]) -> None:
        """Note runs that a test has looked at by way of an earlier judgement."""
        if isinstance(self.curves, Consulted):
            self.curves.log.update(consulted)

    def under(self, chosen: Chosen, log: set[tuple[str, str]]) -> Evidence:
        """The same evidence under other readings: where a reading sets an agent's parameters, those runs count.

        Args:
            chosen: the readings.
            log: where the runs that a test asks for are noted, as pairs of world and label.
        """
        there = {world: each._alone(chosen, log) for world, each in self.elsewhere.items()}
        return replace(self._alone(chosen, log), elsewhere=there)

    def _alone(self, chosen: Chosen, log: set[tuple[str, str]]) -> Evidence:
        curves = Consulted(self.curves, self.stand_ins(chosen), log, self.world)
        return replace(self, curves=curves, chosen=chosen, elsewhere={})

    def stand_ins(self, chosen: Chosen) -> dict[str, str]:
        """The labels that take the place of others' under these readings; without those that change nothing here."""
        found: dict[str, str] = {}
        for choice, reading in chosen.items():
            if choice.agent and reading is not choice.readings[0]:
                found |= self.once((choice, reading), partial(self._others, choice, reading))
        return found

    def _others(self, choice: Choice, reading: Reading) -> dict[str, str]:
        """The labels of which there are runs under this reading, and the labels of these runs."""
        labels = {label: choice.label(reading, label) for label in self.curves if choice.concerns(label)}
        return {label: other for label, other in labels.items() if other in self.curves}
