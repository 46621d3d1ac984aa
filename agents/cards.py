"""What an agent is, on one page: read off its class."""

from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import dataclass

from .base import Agent

__all__ = ["SECTIONS", "Card", "card_of"]

SECTIONS = ("Source", "Rule", "Tuning", "Knowledge", "Deviations")
REWARDS = {"binary": "0 or 1 (others with binarize=True)", "unit": "in [0, 1]", "real": "any real number"}


@dataclass(frozen=True)
class Card:
    """The source of an agent, its rule, its parameters and where it deviates."""

    name: str
    summary: str
    source: str
    rule: str
    parameters: dict[str, str]
    tuning: str
    knowledge: str
    rewards: str
    deviations: str

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.summary}"]
        labels = ("source", "rule", "tuning", "knowledge", "rewards", "deviations")
        lines += [f"  {label:<11} {getattr(self, label)}" for label in labels]
        lines += [f"  {'parameter':<11} {name}: {meaning}" for name, meaning in self.parameters.items()]
        return "\n".join(lines)


def card_of(kind: type[Agent]) -> Card:
    """The card of an agent class, from the sections of its docstring and its parameters."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    sections = {name: _section(doc, name) for name in SECTIONS}
    meanings = dict(re.findall(r"^    (\w+): (.+?)(?=^    \w+: |\Z|^\S)", _raw(doc, "Attributes"), re.S | re.M))
    parameters = {
        f.name: _one_line(meanings[f.name]) + _default(f) for f in dataclasses.fields(kind) if f.name in meanings
    }
    return Card(
        name=kind.name,
        summary=doc.split("\n\n")[0].replace("\n", " "),
        source=sections["Source"],
        rule=sections["Rule"],
        parameters=parameters,
        tuning=sections["Tuning"],
        knowledge=sections["Knowledge"],
        rewards=REWARDS[kind.accepts],
        deviations=sections["Deviations"],
    )


def _default(f: dataclasses.Field[object]) -> str:
    return "" if f.default is dataclasses.MISSING else f" (default {f.default})"


def _raw(doc: str, name: str) -> str:
    found = re.search(rf"^{name}:\n((?:    .*\n?|\n)*)", doc, re.M)
    return found.group(1) if found else ""


def _section(doc: str, name: str) -> str:
    return _one_line(_raw(doc, name))


def _one_line(text: str) -> str:
    return " ".join(text.split())
