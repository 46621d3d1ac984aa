"""Guests at a door: what they try, how many of them come, and what the house may answer.

A guest is let in or is told by an error of this package what is wrong. An error counts as this package's own if this
package raises it, in words: the innermost frame of its traceback is ours and stands at a ``raise``, and it is one of
the kinds that we raise on purpose, in one line. A library's error that slips through is a fault of the door, and so
is one by accident (an index, a division, an attribute, whatever Python raises by itself), and a guest who takes all the
memory.
"""

from __future__ import annotations

import dis
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import gymnasium as gym

OWN_KINDS = (ValueError, TypeError, FileNotFoundError, ImportError, gym.error.Error)
ACCIDENTS = (ArithmeticError, LookupError, AttributeError, MemoryError, UnicodeError, NameError, RecursionError)
MEMORY = 1 << 30  # bytes that one guest may make this process grow by


def is_own(error: BaseException) -> bool:
    """Whether the house itself raised this error, on purpose, and in words."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    kind = isinstance(error, OWN_KINDS) and not isinstance(error, ACCIDENTS)
    return kind and last is not None and _raises(last) and len(str(error)) > 10 and "\n" not in str(error)


def _raises(place: TracebackType) -> bool:
    """Whether this place is a ``raise`` of the house."""
    module, code = str(place.tb_frame.f_globals.get("__name__")), place.tb_frame.f_code.co_code
    on_purpose = dis.opname[code[place.tb_lasti]] == "RAISE_VARARGS"
    return module.partition(".")[0] == "ns_mab_gym" and on_purpose


@contextmanager
def guest() -> Iterator[None]:
    """What one guest does; fails unless it is let in or refused by an error of our own."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        yield
    except Exception as error:
        if not is_own(error):
            raise AssertionError(f"a foreign error got out: {type(error).__name__}: {error}") from error
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < MEMORY, f"one guest took {grown / 1e6:,.0f} MB"
