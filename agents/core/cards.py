"""Cards: descriptions of agents, worlds and reward laws, read from the docstrings of their classes."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import textwrap
from dataclasses import dataclass
from typing import Any

SECTIONS = ("Source", "Rule", "Tuning", "Knowledge", "Deviations")
REWARDS = {"binary": "0 or 1 (others with binarize=True)", "unit": "in [0, 1]", "real": "any real number"}
UNSTATED = "not stated"
WIDTH = 100
WITHOUT_DOCSTRINGS = "cards are read from docstrings, which python -OO drops: start Python without -OO to see them"


@dataclass(frozen=True)
class Card:
    """A description: a name, one sentence, labelled facts, and what each parameter means.

    Facts can be read as attributes: ``card.rule`` is ``card.facts["rule"]``.
    """

    name: str
    summary: str
    facts: dict[str, str]
    parameters: dict[str, str]

    def __getattr__(self, fact: str) -> str:
        facts: dict[str, str] = self.__dict__.get("facts", {})
        if fact not in facts:
            raise AttributeError(f"this card has no fact {fact!r}; it has {', '.join(facts)}")
        return facts[fact]

    def __str__(self) -> str:
        entries = [*self.facts.items(), *(("parameter", f"{name}: {text}") for name, text in self.parameters.items())]
        lines = _wrapped(f"{self.name}: {self.summary}", "", "  ")
        for label, text in entries:
            lines += _wrapped(text, f"  {label:<11}  ", " " * 15)
        return "\n".join(lines)


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def card_of(name: str, kind: type[Any], facts: dict[str, str]) -> Card:
    """The card of a class, from the first sentence and the attributes of its docstring, with the given facts."""
    if sys.flags.optimize > 1:
        return Card(name, WITHOUT_DOCSTRINGS, facts, {})
    return Card(name, _one_line(docstring_of(kind).split("\n\n")[0]) or UNSTATED, facts, _parameters(kind))


def agent_card(name: str, kind: type[Any]) -> Card:
    """The card of an agent, from the sections of its docstring."""
    doc = docstring_of(kind)
    facts = (
        {}
        if sys.flags.optimize > 1
        else {section.lower(): _one_line(_raw(doc, section)) or UNSTATED for section in SECTIONS}
    )
    rewards = REWARDS.get(getattr(kind, "accepts", ""), UNSTATED)
    return card_of(name, kind, facts | {"rewards": rewards})


def docstring_of(documented: Any) -> str:
    """The docstring without its indentation; nothing under ``python -OO``, where dataclasses make up one."""
    return "" if sys.flags.optimize > 1 else inspect.cleandoc(documented.__doc__ or "")


def _parameters(kind: type[Any]) -> dict[str, str]:
    """The meaning of each parameter, by the docstrings of a class and of its base classes, and its default."""
    meanings: dict[str, str] = {}
    for each in reversed(kind.__mro__[:-1]):
        doc = inspect.cleandoc(vars(each).get("__doc__") or "")
        described = _raw(doc, "Attributes") or _raw(doc, "Args")
        meanings |= dict(re.findall(r"^    (\w+): (.+?)(?=^    \w+: |\Z|^\S)", described, re.S | re.M))
    if not dataclasses.is_dataclass(kind):
        return {name: _one_line(meaning) for name, meaning in meanings.items()}
    fields = [f for f in dataclasses.fields(kind) if f.init and f.name in meanings]
    found = {}
    for f in fields:
        default = f.metadata.get("default", f.default)  # a formula, where the default depends on other parameters
        shown = "" if default is dataclasses.MISSING or default is None else f" (default {default})"
        found[f.name] = _one_line(meanings[f.name]) + shown
    return found


def _raw(doc: str, name: str) -> str:
    found = re.search(rf"^{name}:\n((?:    .*\n?|\n)*)", doc, re.M)
    return found.group(1) if found else ""


def _one_line(text: str) -> str:
    return " ".join(text.replace("``", "").split())
