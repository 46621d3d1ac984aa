"""Figures as Markdown: tables, numbers that may be missing, and means with their standard errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["UNKNOWN", "Figures", "number", "table", "with_error"]

Figures = dict[str, Any]
UNKNOWN = "–"  # a figure that was not measured yet


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float | None, form: str) -> str:
    """The value in this format; a dash if it was not measured."""
    return UNKNOWN if value is None else format(value, form)


def with_error(pair: Sequence[float]) -> str:
    """A mean and its standard error."""
    mean, error = pair
    return f"{mean:,.0f} ± {error:,.0f}"
