"""A lock among the processes of one machine, for work that one of them does for all.

It is a POSIX lock on a file: the system releases it when its owner ends, however that ends, and forked processes do not
inherit it. The threads of a process share it. There is no such lock on Windows, nor where the file cannot be opened:
then nobody waits for anybody.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

__all__ = ["ProcessLock"]


class ProcessLock:
    """A lock that at most one process has.

    Args:
        path: its file, which stays where it is, empty.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Returns whether this process may go on: False while another one has the lock; does not wait."""
        if sys.platform == "win32" or self._handle is not None:
            return True
        import fcntl

        try:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except OSError:  # the folder is gone, or somebody else's
            return True
        try:
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:  # also of file systems without locks
            self.release()
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        return True

    def release(self) -> None:
        """Let another process have the lock; does nothing if this one has it not."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
