"""The switches of the page: one for each thing that the paper leaves open, with its readings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..claims import Judged
from ..readings import Choice

__all__ = ["Switch", "shown_under", "switches_of"]


@dataclass(frozen=True)
class Switch:
    """A choice that the reader of the page can make.

    Attributes:
        anchor: the id of the place where its readings are explained.
        choice: what is left open.
        shown: the labels of the agents that are compared under each reading; empty if the choice is not about that.
    """

    anchor: str
    choice: Choice
    shown: tuple[tuple[str, ...], ...] = ()

    @property
    def about_agents(self) -> bool:
        """Whether it says who is compared or how somebody is tuned, and not what a sentence means."""
        return bool(self.choice.agent or self.shown)

    def data(self, labels: Collection[str]) -> dict[str, Any]:
        """What the script of the page needs to know: for each of the agents concerned, its label under each reading.

        Args:
            labels: the labels of all agents under their first readings.
        """
        choice, concerned = self.choice, [label for label in labels if self.choice.concerns(label)]
        return {
            "key": choice.key,
            "readings": [reading.name for reading in choice.readings],
            "labels": {label: [choice.label(reading, label) for reading in choice.readings] for label in concerned},
            "shown": self.shown,
        }


def switches_of(judged: Sequence[Judged], compared: Collection[str]) -> list[Switch]:
    """A switch for each choice of the claims, those about agents first.

    Args:
        judged: the claims.
        compared: the labels of all agents that are compared.
    """
    choices = dict.fromkeys(choice for each in judged for choice in each.claim.choices)
    found = [Switch("", choice, shown_under(choice, compared)) for choice in choices]
    ordered = sorted(found, key=lambda switch: not switch.about_agents)
    return [Switch(f"choice-{place}", each.choice, each.shown) for place, each in enumerate(ordered)]


def shown_under(choice: Choice, compared: Collection[str]) -> tuple[tuple[str, ...], ...]:
    """The agents that are compared under each reading, if that is what the choice is about: all values say labels."""
    values = [reading.value for reading in choice.readings]
    about = all(isinstance(value, tuple) and value and set(value) <= set(compared) for value in values)
    return tuple(values) if about and not choice.agent else ()
