"""Functions compiled by numba and cached on disk under the hash of all sources they may be made of.

numba's own cache does not notice an edit in another file, fails where no folder can be written to, and where a file of
it cannot be read. Here the files lie in a folder named by :func:`ns_mab_gym.sources.code_digest`, inside of
``NUMBA_CACHE_DIR`` or of numba's usual place, and the cache is a help and never a condition: without one, or with a
damaged one, functions are compiled for this process, and one line says so. Processes that need the same function at
once each compile it. Folders of older sources stay where they are; they can be deleted at any time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

from .sources import code_digest, edited_while_running

F = TypeVar("F", bound=Callable[..., Any])

REMEDY = "this process compiles for itself; to keep what is compiled, let NUMBA_CACHE_DIR name a folder with free space"
_told: list[str] = []  # one line is enough
_announced: list[str] = []  # what this process has said that it compiles


def compiled(function: F, *, kept: bool = True, called: str = "", modules: Iterable[str] = ()) -> F:
    """The function as machine code that runs without Python's lock, compiled on its first call.

    Args:
        function: one that numba can compile.
        kept: whether it is cached on disk for other processes.
        called: its name in the message that it is being compiled, if that takes seconds.
        modules: the modules of the user's that its code comes from.
    """
    made: Any = njit(nogil=True)(function)
    if kept:
        try:
            made._cache = SourceCache(function, called, ["ns_mab_gym.agents", *modules])
        except Exception as error:  # numba's RuntimeError where no folder can be written to, or whatever else is amiss
            _tell("compiled code cannot be kept on disk", error)
    return made  # type: ignore[no-any-return]


def is_compiled(function: Any) -> bool:
    """Return True if this process has machine code of a function of :func:`compiled`, or a folder on disk has."""
    kept = getattr(function._cache, "_cache_file", None)
    return bool(function.signatures) or (kept is not None and Path(kept._index_path).exists())


def _tell(what: str, error: Exception) -> None:
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    if not _told:
        _told.append(what)
        logging.getLogger("ns_mab_gym").warning("%s (%.200s): %s", what, reason, REMEDY)


class SourceCache(FunctionCache):
    """numba's cache of one function, in a folder named by the hash of the sources.

    Args:
        function: the function.
        called: its name in messages; see :func:`compiled`.
        modules: the modules that its code comes from, beside the engine.
    """

    def __init__(self, function: Callable[..., Any], called: str, modules: list[str]) -> None:
        super().__init__(function)
        self._called = called
        if edited := edited_while_running(modules):
            raise RuntimeError(f"{edited[0]} was edited after it may have been imported")
        if (digest := code_digest(modules)) is None:
            raise RuntimeError("a source cannot be read")
        folder = Path(self._cache_path, f"ns_mab_gym-{digest[:16]}")
        folder.mkdir(exist_ok=True)
        self._cache_path = str(folder)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled code for these types; None if there is none that can be read."""
        found = None
        try:
            found = super().load_overload(signature, context)
        except Exception as error:
            _tell("a file of compiled code is damaged", error)
            try:
                self.flush()  # an empty index, so that what is compiled now replaces what was damaged
            except OSError:
                self.disable()
        if found is None and self._called and self._called not in _announced:
            explained = "" if _announced else ": some seconds for each agent, once on this machine"
            logging.getLogger("ns_mab_gym").warning("compiling %s%s", self._called, explained)
            _announced.append(self._called)
        return found

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep compiled code, if that is possible."""
        try:
            super().save_overload(signature, result)
        except Exception as error:
            _tell("compiled code cannot be kept on disk", error)
            self.disable()
