"""Small tables in plain text, for records that print themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float | None) -> str:
    """A number as text: with thousands separators, four digits if it is small and not whole, – for None."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return "∞" if value > 0 else str(value)
    if abs(value) >= 100 or float(value).is_integer():
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.3g}"
    return f"{value:.4g}"


def signed(share: float, digits: int = 0) -> str:
    """A share in per cent with its sign, which is a true minus rather than a hyphen."""
    rounded = round(share, 2 + digits) + 0.0  # no "−0%"
    return f"{rounded:+.{digits}%}".replace("-", "−")


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of text in columns: the first flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join("  ".join(cells).rstrip() for cells in lines)
