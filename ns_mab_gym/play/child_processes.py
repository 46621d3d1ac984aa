"""Processes that work for this one: they leave Ctrl-C to it, and end when it does."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["become_child", "ctrl_c_held_back", "ctrl_c_ignored", "end_with", "hear_from_parent_alone"]

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


@contextmanager
def ctrl_c_held_back() -> Iterator[None]:
    """Have Ctrl-C wait for a moment; the processes that are started meanwhile inherit that, and find it waiting."""
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def hear_from_parent_alone(parent: int) -> None:
    """Make this process one that its parent interrupts, not the terminal, which tells a whole group; it ends with it.

    A process that is started while Ctrl-C is held back raises a KeyboardInterrupt here if there was one since.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_with(parent)
    if os.name == "posix":
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def become_child(parent: int) -> None:
    """Make this process one that works for its parent: Ctrl-C is left to the parent, with which it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


def end_with(parent: int) -> None:
    """From now on, end this process when its parent is gone, even if that was killed and could not say so."""
    if os.name == "posix":  # elsewhere a process does not learn that its parent is gone
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)
