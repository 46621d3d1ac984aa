"""What a benchmark returns."""

from __future__ import annotations

from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """Whether all figures are within their limits, and the figures as plain values that JSON can hold."""

    within: bool
    figures: dict[str, Any]
