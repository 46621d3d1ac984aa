"""Threads of this process: compiled loops run without Python's lock, so that they keep all cores busy."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .crew import Crew

__all__ = ["ThreadCrew"]


class ThreadCrew(Crew):
    """Threads of this process.

    Args:
        number: how many.
    """

    name = "threads"
    elsewhere = False

    def __init__(self, number: int) -> None:
        self._slots = number
        self._pool = ThreadPoolExecutor(number, thread_name_prefix="units")

    @property
    def slots(self) -> int:
        """The number of threads."""
        return self._slots

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by a thread."""
        return self._pool.submit(function, *arguments)

    def close(self, at_once: bool) -> None:
        """End the threads; those at work end by themselves."""
        self._pool.shutdown(wait=not at_once, cancel_futures=True)
