"""Values of parameters as people write them: on a command line as text, in a description as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["DEEPEST", "is_number", "plain", "split_outside", "value_of"]

OPENING, CLOSING = "([{", ")]}"
DEEPEST = 8  # lists in lists in lists
EXACT = 2**53  # floats above it are not exact as integers


def split_outside(text: str, sign: str) -> list[str]:
    """The pieces of a text between the signs that are not within brackets; none if the text is empty.

    >>> split_outside("a=[1,2],b=f(x=1, y=2)", ",")
    ['a=[1,2]', 'b=f(x=1, y=2)']
    """
    pieces, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth = max(0, depth + (letter in OPENING) - (letter in CLOSING))
        if letter == sign and depth == 0:
            pieces.append(text[start:place])
            start = place + 1
    return [*pieces, text[start:]] if text else []


def value_of(text: str, depth: int = 0) -> Any:
    """The value that a text on a command line means: a number, a truth value, a list in brackets, or the text.

    >>> [value_of(text) for text in ("500", "0.6", "1e4", "true", "[0.1, 0.5]", "gaussian")]
    [500, 0.6, 10000, True, [0.1, 0.5], 'gaussian']
    """
    if text.startswith("[") and text.endswith("]"):
        if depth > DEEPEST:
            raise ValueError(f"lists within lists, more than {DEEPEST} deep; write fewer brackets")
        return [value_of(each.strip(), depth + 1) for each in split_outside(text[1:-1], ",")]
    for read in (int, float):
        try:
            return plain(read(text))
        except ValueError:
            pass
    return {"true": True, "false": False}.get(text.lower(), text)


def plain(value: Any) -> Any:
    """A value in which numbers that are whole are integers, however they are written, as 1e4 is in TOML."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return int(value)
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def is_number(value: Any) -> bool:
    """Whether a value is a number, which truth values are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
