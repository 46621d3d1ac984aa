"""Lists of agents, worlds or laws: one row for each, with its summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from ..agents.core.cards import WITHOUT_DOCSTRINGS, Card

__all__ = ["closing_note", "rows"]


def rows(names: Sequence[str], card: Callable[[str], Card], indent: str = "") -> list[str]:
    """One line for each name; if what a package offers cannot be loaded, its line says why."""
    width = max(map(len, names)) + 2
    return [f"{indent}{name:<{width}}{_summary(name, card)}".rstrip() for name in names]


def _summary(name: str, card: Callable[[str], Card]) -> str:
    try:
        return card(name).summary.replace(WITHOUT_DOCSTRINGS, "")
    except (TypeError, ValueError) as error:
        return f"cannot be loaded: {error}"


def closing_note() -> list[str]:
    """What a list ends with where there are no summaries."""
    return ["", WITHOUT_DOCSTRINGS] if sys.flags.optimize > 1 else []
