"""Names with options, such as ``kl-ucb(c=0)``: parameters that hold a part with parameters of its own as plain text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from ..core.arguments import shown

__all__ = ["read_call", "spell_call"]


def read_call(what: str, text: object) -> tuple[str, dict[str, Any]]:
    """The name and the options of a call in words; they may be left out.

    Args:
        what: what error messages call it.
        text: for example ``"glr"`` or ``"cusum(threshold=5, epsilon=0.1)"``.

    >>> read_call("base", "kl-ucb(c=0)")
    ('kl-ucb', {'c': 0})
    """
    example = "cusum(threshold=5)" if what == "detector" else "kl-ucb(c=0)"
    advice = f"{what} must be a name, with options in brackets if it has any, as in {example!r}"
    if not isinstance(text, str):
        raise TypeError(f"{advice}, got {shown(text)}")
    parts = re.fullmatch(r"\s*([^\s()]+)\s*(\(.*\))?\s*", text, re.S)
    if parts is None:
        unclosed = "; a bracket is not closed" if text.count("(") > text.count(")") else ""
        raise ValueError(f"{advice}, got {text!r}{unclosed}")
    try:
        return parts[1], _options(parts[2] or "()")
    except (SyntaxError, ValueError, TypeError):
        raise ValueError(f"{advice}, got {text!r}; options are keywords with plain values") from None


def _options(brackets: str) -> dict[str, Any]:
    call = ast.parse(f"_{brackets}", mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise ValueError
    options: dict[str, Any] = {}
    for each in call.keywords:
        if each.arg is None or each.arg in options:  # **options, or one that is given twice
            raise ValueError
        options[each.arg] = ast.literal_eval(each.value)
    return options


def spell_call(name: str, options: Mapping[str, Any]) -> str:
    """The text that :func:`read_call` reads as this name and these options.

    >>> spell_call("kl-ucb", {"c": 0.5})
    'kl-ucb(c=0.5)'
    """
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})" if options else name
