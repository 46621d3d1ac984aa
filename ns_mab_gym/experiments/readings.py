"""Readings: where a text leaves something open, the fair ways to take it, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Choice", "Chosen", "Reading"]


@dataclass(frozen=True, eq=False)
class Reading:
    """One fair way to take what a text leaves open.

    Attributes:
        name: the reading in a few words.
        why: what speaks for it.
        value: what a deciding test gets to know of it.
    """

    name: str
    why: str
    value: Any = None


@dataclass(frozen=True, eq=False)
class Choice:
    """Something that a text leaves open.

    Attributes:
        key: a short name.
        question: what is left open, as a question.
        readings: the fair answers; the first is taken where a single answer is needed.
        agent: the label of the agent whose parameters the choice sets, also where it plays with other windows; empty if
            the choice is about the meaning of a sentence.
        compares: whether the values of its readings are the labels of the agents that are compared.
    """

    key: str
    question: str
    readings: tuple[Reading, ...]
    agent: str = ""
    compares: bool = False

    def concerns(self, label: str) -> bool:
        """Whether the choice sets parameters of the agent with this label: "A", or "A (…)" with another window."""
        return bool(self.agent) and (label == self.agent or label.startswith(f"{self.agent} ("))

    def label(self, reading: Reading, label: str = "") -> str:
        """The label under which the runs of the agent with this reading are kept.

        Args:
            reading: one of the choice's readings.
            label: the label of the agent under the first reading, if it is not the choice's own.
        """
        shown = label or self.agent
        return shown if reading is self.readings[0] else f"{shown} ({reading.name})"


Chosen = Mapping[Choice, Reading]
