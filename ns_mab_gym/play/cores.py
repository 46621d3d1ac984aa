"""How many cores there are, and how many of them a user's ``n_jobs`` asks for."""

from __future__ import annotations

import os

from ..agents.core.arguments import as_integer, positive_int

__all__ = ["job_count", "usable_cores"]


def usable_cores() -> int:
    """How many cores this process may use; batch systems and containers often grant it less than the machine has."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def job_count(n_jobs: object, what: str = "n_jobs") -> int:
    """The number of jobs to do at once: all cores for None and -1, else the given positive integer.

    Args:
        n_jobs: what the user gave.
        what: what error messages call it.

    >>> job_count(3), job_count(None) == job_count(-1) == usable_cores()
    (3, True)
    >>> job_count(-2, "--jobs")
    Traceback (most recent call last):
        ...
    ValueError: --jobs must be a positive integer, got -2; -1 means all cores
    """
    if n_jobs is None or _is_minus_one(n_jobs):
        return usable_cores()
    return positive_int(what, n_jobs, hint="-1 means all cores")


def _is_minus_one(given: object) -> bool:
    try:
        return as_integer(given) == -1
    except TypeError:
        return False
