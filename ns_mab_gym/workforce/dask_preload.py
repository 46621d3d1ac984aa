"""Loaded by the workers of a cluster that was started for one command: they leave Ctrl-C to that command."""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(worker: Any) -> None:
    """Called by Dask in every worker when it starts, also in one that takes the place of another."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
