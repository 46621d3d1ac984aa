"""Argument checks whose messages say what was given, what is allowed and what to do.

**Ranges.** Every number that a rule computes with is 0 or lies, in size, between ``SMALLEST`` and ``LARGEST``. Rewards
are at most ``LARGEST_REWARD`` in size, and counts (rounds, arms, windows) at most ``MOST``. Rules form squares of
parameters, products of two or three of them, products with counts, and quotients of such: within these ranges all of
that stays finite and apart from 0, so that no comparison meets a NaN. Rewards fit single precision, in which
environments show them; counts are exact as floats, and a thousand times a count fits a 64-bit integer.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

__all__ = [
    "LARGEST",
    "LARGEST_REWARD",
    "MOST",
    "SMALLEST",
    "as_integer",
    "by_name",
    "choice",
    "fraction",
    "known_keywords",
    "known_parameters",
    "nearest",
    "number",
    "positive",
    "positive_int",
    "seed_number",
    "shown",
]

SMALLEST, LARGEST = 1e-100, 1e30  # numbers other than 0, in size
LARGEST_REWARD = 1e36
MOST = 2**53  # rounds, arms, windows and other counts

FEW = 8  # words that are all named even where one of them is close
LONG = 200  # characters, at which the text of a given value is cut


def shown(given: object) -> str:
    """What was given, as error messages show it: its ``repr`` in one line, cut if it is long.

    >>> shown("a"), shown(10**5000), shown(np.zeros((2, 1)))
    ("'a'", 'an integer of 16610 bits', 'array([[0.], [0.]])')
    """
    try:
        text = repr(given)
        text = " ".join(text.split()) if "\n" in text else text
    except Exception:  # whatever somebody's own class may raise; and Python does not spell integers of 4 300 digits
        return f"an integer of {given.bit_length()} bits" if isinstance(given, int) else f"a {type(given).__name__}"
    return text if len(text) <= LONG else f"{text[:LONG]}…"


def nearest(given: object, allowed: Iterable[str]) -> str:
    """A sentence that names the closest allowed word, and all of them if none is close or if they are few.

    >>> nearest("widow", ["window", "xi"])
    "did you mean 'window'? choose one of 'window', 'xi'"
    """
    words = list(allowed)
    close = difflib.get_close_matches(given, words, n=1, cutoff=0.5) if isinstance(given, str) else []
    guess = [f"did you mean {close[0]!r}?"] if close else []
    every = [f"choose one of {', '.join(map(repr, words))}"] if not close or 1 < len(words) <= FEW else []
    return " ".join([*guess, *every])


def choice(what: str, given: object, allowed: Collection[str]) -> str:
    """The given word, if it is one of those allowed."""
    if isinstance(given, str) and given in allowed:
        return given
    raise ValueError(f"unknown {what} {shown(given)}; {nearest(given, allowed)}")


def known_parameters(owner: str, given: Iterable[str], allowed: Collection[str]) -> None:
    """Raise a TypeError that names the nearest parameter if a given name is not allowed."""
    for name in given:
        if name not in allowed:
            raise TypeError(_unknown(owner, name, allowed))


def known_keywords(owner: str, given: Iterable[str], allowed: Collection[str]) -> None:
    """Like :func:`known_parameters`, and in Python's own words too, by which others recognise an unknown keyword.

    ``torchrl`` makes every environment with ``frameskip=`` first, and without it if the error has these words.
    """
    for name in given:
        if name not in allowed:
            raise TypeError(f"{_unknown(owner, name, allowed)} (unexpected keyword argument {name!r})")


def _unknown(owner: str, name: str, allowed: Collection[str]) -> str:
    takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
    close = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{owner} has no parameter {name!r}; {hint}{takes}"


def seed_number(given: object, what: str = "seed") -> int | None:
    """The given seed, an integer of at least 0 of any size; None stands for a fresh one."""
    return None if given is None else positive_int(what, given, least=0, most=None)


def by_name(what: str, given: object) -> dict[str, Any]:
    """The given values by their names; none if None is given.

    >>> by_name("env_kwargs", {"horizon": 100}), by_name("env_kwargs", None)
    ({'horizon': 100}, {})
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise TypeError(f"{what} must be a dictionary of values by their names, got {shown(given)}")
    return dict(given)


def as_integer(given: object) -> int:
    """The given value as a Python int; a TypeError if it is no integer, as NumPy's truth values are not."""
    if isinstance(given, np.bool_):  # which NumPy itself takes for an integer until 2.3
        raise TypeError
    return operator.index(given)  # type: ignore[arg-type]


def positive_int(what: str, given: object, *, least: int = 1, most: int | None = MOST, hint: str = "") -> int:
    """The given value as a Python int, if it is an integer from ``least`` to ``most``, which is None for seeds."""
    kind = "a positive integer" if least == 1 else f"an integer of at least {least}"
    try:
        if isinstance(given, bool):
            raise TypeError
        value = as_integer(given)
    except TypeError:
        whole = isinstance(given, float) and given.is_integer() and least <= given <= MOST
        hint = f"write {int(given)}" if whole else hint  # type: ignore[call-overload]
        raise TypeError(f"{what} must be {kind}, got {shown(given)}{hint and '; ' + hint}") from None
    if value < least:
        raise ValueError(f"{what} must be {kind}, got {shown(value)}{hint and '; ' + hint}")
    if most is not None and value > most:
        raise ValueError(f"{what} must be at most {most:,}, got {shown(value)}{hint and '; ' + hint}")
    return value


def number(what: str, given: object, *, kind: str = "a finite number", hint: str = "", any_size: bool = False) -> float:
    """The given value as a float, if it is a finite number, and 0 or in size between ``SMALLEST`` and ``LARGEST``.

    Args:
        what: what error messages call it.
        given: the value.
        kind: what error messages call numbers that are allowed.
        hint: what to do if it is not allowed.
        any_size: whether all finite numbers will do, as in theory, where no rule computes with them.
    """
    given_and_hint = f"got {shown(given)}{hint and '; ' + hint}"
    if isinstance(given, bool | np.bool_ | str | bytes) or (isinstance(given, np.ndarray) and given.ndim > 0):
        raise TypeError(f"{what} must be {kind}, {given_and_hint}")
    try:
        value = float(given)  # type: ignore[arg-type]
    except OverflowError:  # an integer beyond all floats
        value = math.inf
    except Exception:  # whatever somebody's own class may raise
        raise TypeError(f"{what} must be {kind}, {given_and_hint}") from None
    if not math.isfinite(value):
        raise ValueError(f"{what} must be {kind}, {given_and_hint}")
    if value and not any_size and not SMALLEST <= abs(value) <= LARGEST:
        raise ValueError(f"{what} must lie between {SMALLEST:g} and {LARGEST:g} in size, {given_and_hint}")
    return value


def positive(what: str, given: object, *, allow_zero: bool = False, hint: str = "", any_size: bool = False) -> float:
    """The given value as a float, if it is a :func:`number` above zero (or zero, with ``allow_zero``)."""
    kind = "a finite number of at least 0" if allow_zero else "a finite number above 0"
    value = number(what, given, kind=kind, hint=hint, any_size=any_size)
    if value < 0 or (value == 0 and not allow_zero):
        raise ValueError(f"{what} must be {kind}, got {shown(given)}{hint and '; ' + hint}")
    return value


def fraction(what: str, given: object, *, hint: str = "") -> float:
    """The given value as a float, if it lies in [0, 1]."""
    value = positive(what, given, allow_zero=True, hint=hint)
    if value > 1:
        raise ValueError(f"{what} must lie in [0, 1], got {shown(given)}{hint and '; ' + hint}")
    return value
