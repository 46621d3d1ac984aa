"""Argument checks whose messages say what was given, what is allowed and what to do."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Collection, Iterable

import numpy as np

__all__ = ["as_integer", "choice", "fraction", "known_parameters", "nearest", "positive", "positive_int"]


FEW = 8  # words that are all named even where one of them is close


def nearest(given: object, allowed: Iterable[str]) -> str:
    """A sentence that names the closest allowed word, and all of them if none is close or if they are few.

    >>> nearest("widow", ["window", "xi"])
    "did you mean 'window'? choose one of 'window', 'xi'"
    """
    words = list(allowed)
    close = difflib.get_close_matches(str(given), words, n=1, cutoff=0.5)
    guess = [f"did you mean {close[0]!r}?"] if close else []
    every = [f"choose one of {', '.join(map(repr, words))}"] if not close or 1 < len(words) <= FEW else []
    return " ".join([*guess, *every])


def choice(what: str, given: object, allowed: Collection[str]) -> str:
    """The given word, if it is one of those allowed."""
    if isinstance(given, str) and given in allowed:
        return given
    raise ValueError(f"unknown {what} {given!r}; {nearest(given, allowed)}")


def known_parameters(owner: str, given: Iterable[str], allowed: Collection[str]) -> None:
    """Raise a TypeError that names the nearest parameter if a given name is not allowed."""
    for name in given:
        if name not in allowed:
            takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
            close = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise TypeError(f"{owner} has no parameter {name!r}; {hint}{takes}")


def as_integer(given: object) -> int:
    """The given value as a Python int; a TypeError if it is no integer, as NumPy's truth values are not."""
    if isinstance(given, np.bool_):  # which NumPy itself takes for an integer until 2.3
        raise TypeError
    return operator.index(given)  # type: ignore[arg-type]


def positive_int(what: str, given: object, *, least: int = 1, hint: str = "") -> int:
    """The given value as a Python int, if it is an integer of at least ``least``."""
    kind = "a positive integer" if least == 1 else f"an integer of at least {least}"
    try:
        if isinstance(given, bool):
            raise TypeError
        value = as_integer(given)
    except TypeError:
        whole = isinstance(given, float) and given.is_integer() and given >= least
        hint = f"write {int(given)}" if whole else hint  # type: ignore[call-overload]
        raise TypeError(f"{what} must be {kind}, got {given!r}{hint and '; ' + hint}") from None
    if value < least:
        raise ValueError(f"{what} must be {kind}, got {value}{hint and '; ' + hint}")
    return value


def positive(what: str, given: object, *, allow_zero: bool = False, hint: str = "") -> float:
    """The given value as a float, if it is finite and above zero (or zero, with ``allow_zero``)."""
    kind = "a finite number of at least 0" if allow_zero else "a finite number above 0"
    if isinstance(given, bool) or (not isinstance(given, int | float) and not hasattr(given, "__float__")):
        raise TypeError(f"{what} must be {kind}, got {given!r}{hint and '; ' + hint}")
    value = float(given)
    if not math.isfinite(value) or value < 0 or (value == 0 and not allow_zero):
        raise ValueError(f"{what} must be {kind}, got {given!r}{hint and '; ' + hint}")
    return value


def fraction(what: str, given: object, *, hint: str = "") -> float:
    """The given value as a float, if it lies in [0, 1]."""
    value = positive(what, given, allow_zero=True, hint=hint)
    if value > 1:
        raise ValueError(f"{what} must lie in [0, 1], got {given!r}{hint and '; ' + hint}")
    return value
