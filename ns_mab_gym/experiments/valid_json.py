"""JSON that every reader takes: what is no finite number is null, as JSON knows neither NaN nor infinities."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["json_text"]


def json_text(content: Any, **options: Any) -> str:
    """The content as JSON text, with letters of any script as they are.

    >>> json_text({"regret": [1.5, math.nan], "σ": -math.inf})
    '{"regret": [1.5, null], "σ": null}'

    Args:
        content: what to write.
        options: those of ``json.dumps``.
    """
    options = {"ensure_ascii": False, "allow_nan": False, **options}
    try:
        return json.dumps(content, **options)
    except ValueError:  # seldom: looking for it takes longer than writing
        return json.dumps(_finite(content), **options)


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    return [_finite(each) for each in content] if isinstance(content, list | tuple) else content
