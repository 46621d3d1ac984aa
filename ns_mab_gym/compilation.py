"""Functions compiled by numba and kept on disk, if there is a place for them; what is damaged there is never used.

numba fails where it finds no folder that it can write to, already when a function is defined, and where a file of its
cache cannot be read. Here a cache is a help and never a condition: without one, functions are compiled for this process
alone, and one line says so.

Several processes that need the same function at once, as workers do that start together, leave it to the first of them:
the others wait, and load what it has compiled. If it ends or fails meanwhile, the next one compiles.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import logging
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from .process_locks import ProcessLock

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., Any])

PATIENCE = 120.0  # seconds to wait for another process that compiles, which takes it ten: it may have been stopped
EVERY = 0.05  # seconds between two looks whether it is done
REMEDY = "this process compiles for itself; to keep what is compiled, let NUMBA_CACHE_DIR name a folder with free space"
_told: list[str] = []  # what was said already: one line is enough


def compiled(function: F, *, kept: bool = True, called: str = "", older: str = "") -> F:
    """The function as machine code that runs without Python's lock, compiled on its first call.

    Args:
        function: one that numba can compile.
        kept: whether it is kept on disk for other processes.
        called: what people call it, if it takes seconds to compile: they are told so when that begins.
        older: how the names of its earlier versions begin, if it has a new name in each: when it is compiled, their
            files are removed.
    """
    made: Any = njit(nogil=True)(function)
    if kept:
        try:
            made._cache = SealedCache(function, called, older)
            made.compile = _in_turn(made.compile, made._cache)
        except Exception as error:  # numba's RuntimeError where no folder can be written to, or whatever else is amiss
            _tell("compiled code cannot be kept on disk", error)
    return made  # type: ignore[no-any-return]


def _in_turn(usual: Callable[[Any], Any], cache: SealedCache) -> Callable[[Any], Any]:
    """How numba compiles for given types; the turn that the cache takes meanwhile ends with that, also if it fails."""

    def compile_(signature: Any) -> Any:
        with global_compiler_lock:  # which numba takes anyway: one thread of a process compiles at a time
            try:
                return usual(signature)
            finally:
                cache.turn.release()

    return compile_


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
    """numba's cache of one function, which never stands in the way.

    Args:
        function: the function.
        called: what people call it; see :func:`compiled`.
        older: how the names of its earlier versions begin.

    Attributes:
        turn: the lock that a process has while it compiles the function.
    """

    _impl_class = SealedCode

    def __init__(self, function: Callable[..., Any], called: str = "", older: str = "") -> None:
        super().__init__(function)
        self._called, self._older = called, older
        self.turn = ProcessLock(Path(self.cache_path) / f"{self._impl.filename_base}.lock")

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled code for these types; None if there is none that is whole, and it is our turn to compile it."""
        found = self._kept(signature, context)
        if found is None and self._enabled:
            found = self._awaited(signature, context)
        if found is None:
            self._begin()
        return found

    def _awaited(self, signature: Any, context: Any) -> Any:
        """What another process is compiling, as soon as it is there; None if there is no other, or it takes long."""
        said, deadline = False, time.monotonic() + PATIENCE
        while not self.turn.acquire() and time.monotonic() < deadline:
            if not said:
                self._say("waiting for another process, which is compiling %s")
                said = True
            time.sleep(EVERY)
            if (found := self._kept(signature, context)) is not None:
                return found
        return self._kept(signature, context)  # it may have been done between the first look and our turn

    def _begin(self) -> None:
        """Say that compiling takes a while, and make room."""
        self._say("compiling %s: some seconds, once on this machine")
        name, folder = self._py_func.__name__, Path(self.cache_path)
        for file in folder.glob(f"*.{glob.escape(self._older)}*") if self._older else ():
            if f".{name}-" not in file.name:
                with contextlib.suppress(OSError):  # a folder in its place, or somebody else's file
                    file.unlink()

    def _say(self, what: str) -> None:
        if self._called:
            logging.getLogger("ns_mab_gym").warning(what, self._called)

    def _kept(self, signature: Any, context: Any) -> Any:
        """The compiled code for these types on disk; None if there is none, or none that is whole."""
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
