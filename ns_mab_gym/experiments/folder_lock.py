"""The lock on a folder of results: one store at a time writes to it.

It is an ``flock``, which two stores in one process cannot share either, and which the system releases when the process
ends, however it ends. Forked processes would inherit it, keep it after the end of its owner, and lock out the next
store; so a forked process lets go of it before it does anything else. There is no lock on Windows.
"""

from __future__ import annotations

import os
import stat
import sys
import threading
import weakref
from pathlib import Path
from typing import IO

from .result_folders import StoreError

__all__ = ["FolderLock"]

_forking = (
    threading.RLock()
)  # held while a lock's file is opened: no process is forked between that and its entry below
_held: weakref.WeakSet[FolderLock] = weakref.WeakSet()


class FolderLock:
    """A lock that is held from here on until it is released, or the process ends.

    Args:
        folder: the folder; raises a :class:`StoreError` if another store holds its lock.
    """

    def __init__(self, folder: Path) -> None:
        self._handle: IO[str] | None = None
        if sys.platform != "win32":
            self._acquire(folder)

    def _acquire(self, folder: Path) -> None:
        import fcntl

        with _forking:
            self._handle = _opened(folder / ".lock")
            _held.add(self)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.leave()
            raise StoreError(
                f"another process is writing to {str(folder)!r}; wait for it, or choose another folder"
            ) from None
        except BaseException:
            self.leave()
            raise

    def release(self) -> None:
        """Let the next store have the folder, also if a process that is being forked has not left the lock yet."""
        if sys.platform != "win32" and self._handle is not None:
            import fcntl

            fcntl.flock(self._handle, fcntl.LOCK_UN)
        self.leave()

    def leave(self) -> None:
        """Close the lock's file; the lock lasts as long as another process holds it open."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None


def _opened(path: Path) -> IO[str]:
    """The lock's file; it is never written to. Raises an error for anything else of that name, such as a link."""
    if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
        raise StoreError(f"{str(path)!r} is a link or no file; remove it, or choose another folder")
    return open(path, "a", opener=_without_following)


def _without_following(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


def _let_go() -> None:
    """Close the locks in a process that was just forked: they stay with the process that opened them."""
    for lock in list(_held):
        lock.leave()
    _held.clear()
    _forking.release()


if sys.platform != "win32":
    os.register_at_fork(before=_forking.acquire, after_in_parent=_forking.release, after_in_child=_let_go)
