"""Values of an entry's parameters: plain ones only, which can be compared, hashed and written down."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..plain_texts import plain_text, shortened
from .values import DEEPEST

__all__ = ["Settings", "frozen_value"]

LONGEST_TEXT = 10_000
WIDEST = 2**63  # integers beyond it fit into no register
ALLOWED = "a number, a truth value, a text, or a list or a table of these"


class Settings(dict[str, Any]):
    """A parameter that has parameters of its own, such as a reward law; hashable, since it is never changed."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items())))


def frozen_value(owner: str, place: str, value: Any, depth: int = 0) -> Any:
    """The value of a parameter, with tuples for lists and :class:`Settings` for tables.

    Raises an error that names the place if the value is none that can be written down: an object, a date, a number
    that is none.

    >>> frozen_value("beta-swts", "mu", [0.1, {"name": "beta"}])
    (0.1, {'name': 'beta'})

    Args:
        owner: whose parameter it is.
        place: the parameter, or where in it the value is, such as ``mu[2]``, counted from 1.
        value: what was given.
        depth: how many lists and tables are around it.
    """
    what = f"{place} of {owner!r}"
    if depth > DEEPEST:
        raise ValueError(f"{what} is a list or a table within others, more than {DEEPEST} deep; write it flatter")
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(what, value)
    if isinstance(value, str):
        return plain_text(what, value, longest=LONGEST_TEXT) if value.strip() else value
    if isinstance(value, Mapping):
        keys = sorted(plain_text(f"a name in {what}", key) for key in value)
        return Settings({key: frozen_value(owner, f"{place}.{key}", value[key], depth + 1) for key in keys})
    if isinstance(value, list | tuple):
        return tuple(frozen_value(owner, f"{place}[{n}]", each, depth + 1) for n, each in enumerate(value, start=1))
    raise TypeError(f"{what} must be {ALLOWED}, got {shortened(value)} of type {type(value).__name__}")


def _number(what: str, value: float) -> float:
    if isinstance(value, int):
        if not -WIDEST <= value < WIDEST:
            raise ValueError(f"{what} must be below 2**63 in size, got an integer of {value.bit_length()} bits")
    elif math.isnan(value):
        raise ValueError(f"{what} must be a number, got nan")
    return value
