"""Processes that work for this one: they leave Ctrl-C to it, and end when it does."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["become_child", "ctrl_c_ignored"]

WATCH = 1.0  # seconds between two looks whether the process that started this one is alive


@contextmanager
def ctrl_c_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a moment; the processes that are started meanwhile inherit that, and leave it to this one."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():  # it cannot be set from here
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def become_child(parent: int) -> None:
    """Make this process one that works for its parent: Ctrl-C is left to the parent, with which it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":  # elsewhere a process does not learn that its parent is gone
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, even if that was killed and could not say so."""
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)
