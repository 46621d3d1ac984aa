"""Lists of agents, worlds or laws: one row for each, with its summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..agents.core.cards import Card

__all__ = ["rows"]


def rows(names: Sequence[str], card: Callable[[str], Card], indent: str = "") -> list[str]:
    """One line for each name; if what a package offers cannot be loaded, its line says why."""
    width = max(map(len, names)) + 2
    return [f"{indent}{name:<{width}}{_summary(name, card)}" for name in names]


def _summary(name: str, card: Callable[[str], Card]) -> str:
    try:
        return card(name).summary
    except (TypeError, ValueError) as error:
        return f"cannot be loaded: {error}"
