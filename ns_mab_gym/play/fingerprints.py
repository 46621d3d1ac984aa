"""Fingerprints of compiled loops: hashes of functions and of everything that they use.

A loop is kept on disk under this hash, so that it is compiled again exactly when one of its own functions changes: its
bytecode, its constants, or the functions, arrays and numbers that it uses through global names, directly or not.
Docstrings, comments and other code in the same files do not count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any

import numpy as np

__all__ = ["fingerprint"]


def fingerprint(functions: Iterable[Callable[..., Any]], classes: Iterable[type]) -> str:
    """The hash of these functions, of all that they use, and of the fields of these named tuples."""
    parts: dict[str, str] = {}
    waiting: list[Any] = [*functions, *classes]
    while waiting:
        _visit(waiting.pop(), parts, waiting)
    digest = hashlib.sha256("\n".join(f"{key} {parts[key]}" for key in sorted(parts)).encode())
    return digest.hexdigest()


def _visit(value: Any, parts: dict[str, str], waiting: list[Any]) -> None:
    """Add one function or class to ``parts``, and what it uses to ``waiting``."""
    value = getattr(value, "py_func", value)  # the Python function, if numba has compiled it already
    key = f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '')}"
    if key in parts:
        return
    if isinstance(value, type):
        parts[key] = str(getattr(value, "_fields", ""))
        return
    code = value.__code__
    parts[key] = _bytes_of(code, value.__doc__)
    for name in sorted(_names(code)):
        if name in value.__globals__:
            found = value.__globals__[name]
            if hasattr(getattr(found, "py_func", found), "__code__") or hasattr(found, "_fields"):
                waiting.append(found)
            else:
                parts[f"{key}.{name}"] = _constant(found)


def _bytes_of(code: CodeType, doc: str | None) -> str:
    constants = [_bytes_of(c, None) if isinstance(c, CodeType) else _constant(c) for c in code.co_consts if c != doc]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _constant(value: Any) -> str:
    """The text of a global value, if it is of a kind that compiled code can use."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()}"
    if isinstance(value, frozenset):
        return str(sorted(map(repr, value)))  # sorted, because the order of a set differs from process to process
    return repr(value) if isinstance(value, int | float | complex | str | tuple | np.generic) else ""
