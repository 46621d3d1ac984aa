"""The switches of the page: one for each thing that the paper leaves open, with its readings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ..claims import Judged
from ..readings import Choice

__all__ = ["Switch", "switches_of"]


@dataclass(frozen=True)
class Switch:
    """A choice that the reader of the page can make.

    Attributes:
        anchor: the id of the place where its readings are explained.
        choice: what is left open.
    """

    anchor: str
    choice: Choice

    @property
    def about_agents(self) -> bool:
        """Whether it says who is compared or how somebody is tuned, and not what a sentence means."""
        return bool(self.choice.agent) or self.choice.compares

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
            "shown": [reading.value for reading in choice.readings] if choice.compares else [],
        }


def switches_of(judged: Sequence[Judged]) -> list[Switch]:
    """A switch for each choice of the claims, those about agents first."""
    choices = dict.fromkeys(choice for each in judged for choice in each.claim.choices)
    ordered = sorted(choices, key=lambda choice: not (choice.agent or choice.compares))
    return [Switch(f"choice-{place}", choice) for place, choice in enumerate(ordered)]
