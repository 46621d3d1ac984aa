"""Functions compiled by numba and kept on disk, if there is a place for them; what is damaged there is never used.

numba fails where it finds no folder that it can write to, already when a function is defined, and where a file of its
cache cannot be read. Here a cache is a help and never a condition: without one, functions are compiled for this process
alone, and one line says so.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])

REMEDY = "this process compiles for itself; to keep what is compiled, let NUMBA_CACHE_DIR name a folder with free space"
_told: list[str] = []  # what was said already: one line is enough


def compiled(function: F, *, kept: bool = True) -> F:
    """The function as machine code that runs without Python's lock, compiled on its first call.

    Args:
        function: one that numba can compile.
        kept: whether it is kept on disk for other processes.
    """
    made: Any = njit(nogil=True)(function)
    if kept:
        try:
            made._cache = SealedCache(function)
        except Exception as error:  # numba's RuntimeError where no folder can be written to, or whatever else is amiss
            _tell("compiled code cannot be kept on disk", error)
    return made  # type: ignore[no-any-return]


def _tell(what: str, error: Exception) -> None:
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    if not _told:
        _told.append(what)
        logging.getLogger("ns_mab_gym").warning("%s (%.200s): %s", what, reason, REMEDY)


class SealedCode(CompileResultCacheImpl):
    """Machine code as bytes with their hash, so that no damaged code is run, nor that of another function."""

    def reduce(self, result: Any) -> tuple[str, bytes]:
        """The bytes of compiled code, and their seal."""
        code: bytes = dumps(super().reduce(result))
        return self._seal(code), code

    def rebuild(self, context: Any, data: Any) -> Any:
        """The compiled code in these bytes; a ValueError if their seal is broken."""
        seal, code = data
        if not isinstance(code, bytes) or seal != self._seal(code):
            raise ValueError("the file is damaged, or holds another function")
        return super().rebuild(context, pickle.loads(code))

    def _seal(self, code: bytes) -> str:
        return hashlib.sha256(self.filename_base.encode() + code).hexdigest()


class SealedCache(FunctionCache):
    """numba's cache of one function, which never stands in the way."""

    _impl_class = SealedCode

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled code for these types; None if there is none, or none that is whole."""
        try:
            found = super().load_overload(signature, context)
            if found is not None and tuple(found.signature.args) != tuple(normalize_signature(signature)[0]):
                raise ValueError("the file holds the code for other types")
        except Exception as error:
            _tell("a file of compiled code is damaged", error)
            self._start_over()
            return None
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep compiled code, if that is possible."""
        try:
            super().save_overload(signature, result)
        except Exception as error:
            _tell("compiled code cannot be kept on disk", error)
            self.disable()

    def _start_over(self) -> None:
        """Empty the index, so that what is compiled now takes the place of what was damaged."""
        try:
            self.flush()
        except OSError:
            self.disable()
