"""Names of files made from words that people chose: safe on every file system, and never the same for two words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, count

__all__ = ["file_name", "told_apart"]

LONGEST = 60  # bytes: a file's name, with its endings and while it is being written, may have 255
RESERVED = re.compile(
    r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\.|$)", re.IGNORECASE
)  # devices of Windows, with any ending


def file_name(words: str, *, instead: str, keep: str = ".", gap: str = "-", longest: int = LONGEST) -> str:
    """Words as a file's name, or as the beginning of one: letters of any script, digits and ``_``.

    It begins with a letter or a digit, since files whose names begin with another sign are hidden from some readers,
    and ends with one too. Different words can give the same name: see :func:`told_apart`.

    >>> file_name("../Été: 1/2", instead="world"), file_name("?!", instead="world"), file_name("con", instead="world")
    ('Été-1-2', 'world', 'world-con')

    Args:
        words: what to call the file.
        instead: what to call it if nothing is left of the words, and before a name that Windows keeps for itself.
        keep: signs that are kept too.
        gap: what stands for everything else.
        longest: how many bytes it may have in UTF-8.
    """
    signs = re.escape(keep)
    kept = re.sub(rf"[^\w{signs}]+", gap, unicodedata.normalize("NFC", words))
    edges = re.compile(r"^[\W_]+|[\W_]+$")
    name = edges.sub("", edges.sub("", kept).encode()[:longest].decode(errors="ignore"))
    return f"{instead}{gap}{name}" if RESERVED.match(name) else name or instead


def told_apart(names: Iterable[str]) -> list[str]:
    """The names, with a number after each that an earlier one has, also where case and accents' forms do not count.

    >>> told_apart(["smooth", "Smooth", "smooth-2", "abrupt"])
    ['smooth', 'Smooth-2', 'smooth-2-2', 'abrupt']
    """
    taken: set[str] = set()
    result = []
    for name in names:
        tried = chain([name], (f"{name}-{number}" for number in count(2)))
        result.append(free := next(each for each in tried if _as_compared(each) not in taken))
        taken.add(_as_compared(free))
    return result


def _as_compared(name: str) -> str:
    """A name as file systems compare it that know neither case nor several forms of a letter."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).upper().casefold())
