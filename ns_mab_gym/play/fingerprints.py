"""Fingerprints of compiled loops: hashes of functions and of everything that they use.

A loop is kept on disk under this hash, so that it is compiled again exactly when one of its own functions changes: its
bytecode, its constants, or the functions, arrays and numbers that it uses, directly or not: through global names,
through modules, as default arguments, or from the function around it.
Docstrings, comments and other code in the same files do not count.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from types import CodeType, ModuleType
from typing import Any

import numpy as np

__all__ = ["fingerprint"]


def fingerprint(functions: Iterable[Callable[..., Any]], classes: Iterable[type]) -> str:
    """The hash of these functions, of all that they use, and of the fields of these named tuples."""
    found: list[Any] = []
    digest = hashlib.sha256()
    for value in (*functions, *classes):
        _text(value, found)
    for value in found:  # which grows while it is read, by what each function uses
        digest.update(f"{_described(value, found)}\n".encode())
    return digest.hexdigest()


def _described(value: Any, found: list[Any]) -> str:
    """One function or class as text; what it uses is added to ``found``."""
    title = f"{value.__module__}:{value.__qualname__}"
    if isinstance(value, type):
        members = [(each.name, each.value) for each in value] if issubclass(value, Enum) else ""
        return f"{title} {getattr(value, '_fields', '')} {members}"
    code = value.__code__
    cells = (cell.cell_contents for cell in value.__closure__ or ())
    used = [(name, _text(each, found)) for name, each in _used(value.__globals__, _names(code))]
    given = _text((value.__defaults__, *cells), found)
    return f"{title} {_bytes_of(code, value.__doc__)} {given} {used}"


def _used(scope: Mapping[str, Any], names: set[str], modules: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """What code with these names finds in a scope, and in the modules that it finds there."""
    for name in sorted(names & scope.keys()):
        value = scope[name]
        if not isinstance(value, ModuleType):
            yield name, value
        elif value not in modules and not _is_built_in(value.__name__):
            inner = _used(vars(value), names, (*modules, value))
            yield from ((f"{name}.{attribute}", each) for attribute, each in inner)


def _text(value: Any, found: list[Any]) -> str:
    """A value as text: a function or class as its place in ``found``, a constant as itself."""
    if isinstance(value, tuple):
        return f"{type(value).__qualname__}({', '.join(_text(each, found) for each in value)})"
    plain = getattr(value, "py_func", value)  # the Python function, if numba has compiled it already
    if not (isinstance(plain, type) or hasattr(plain, "__code__")):
        return _constant(value)
    if _is_built_in(plain.__module__):
        return f"{plain.__module__}:{plain.__qualname__}"
    if not any(each is plain for each in found):
        found.append(plain)
    place = next(place for place, each in enumerate(found) if each is plain)
    return f"#{place} {sorted(map(str, getattr(value, 'targetoptions', {}).items()))}"


def _is_built_in(module: str) -> bool:
    """Whether numba has its own versions of what is in this module, and does not read its code."""
    top = module.partition(".")[0]
    return top in {"numpy", "numba"} or (top in sys.stdlib_module_names and top != "__main__")


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
    if isinstance(value, tuple):
        return str([_constant(each) for each in value])
    return repr(value) if isinstance(value, int | float | complex | str | np.generic) else ""
