"""Keeps many texts that share most of their pieces in little room: each text and each piece once."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["KeptTexts", "pieces_of"]

ENDS = re.compile(
    r"(?<=[,;:.]) "
)  # where a piece of a list of figures ends; not inside of a number, which has no space


def pieces_of(text: str) -> list[str]:
    """The pieces of a text, which joined by spaces are the text again.

    >>> pieces_of("a 1,200 ± 3, b 2 ± 1; c")
    ['a 1,200 ± 3,', 'b 2 ± 1;', 'c']
    """
    return ENDS.split(text)


class KeptTexts:
    """Gives each text a number; :meth:`data` says what the numbers stand for."""

    def __init__(self) -> None:
        self._pieces: dict[str, int] = {}
        self._texts: dict[str, int] = {}

    def keep(self, text: str) -> int:
        """The number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    def data(self) -> dict[str, Any]:
        """The pieces, and for each text the numbers of its pieces."""
        numbers = [[self._number(piece) for piece in pieces_of(text)] for text in self._texts]
        return {"pieces": list(self._pieces), "texts": numbers}

    def _number(self, piece: str) -> int:
        return self._pieces.setdefault(piece, len(self._pieces))
