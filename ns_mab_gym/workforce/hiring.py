"""Finds the workers that a user names."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from ..agents.core.arguments import choice
from ..play.cores import job_count, usable_cores
from . import dask_crew
from .crew import Crew, ExecutorCrew
from .process_crew import ProcessCrew
from .thread_crew import ThreadCrew

__all__ = ["EXECUTORS", "hired"]

EXECUTORS = ("threads", "processes", "dask")


def hired(executor: Any = "threads", n_jobs: int | None = None, scheduler: str | None = None) -> Crew:
    """The workers that a user names, still to be entered as a ``with`` block.

    Args:
        executor: "threads", "processes" or "dask"; or an executor, or a Dask client, of the user's own.
        n_jobs: how many; as many as there are cores for None or -1. A running cluster and an executor of the user's
            have as many as they have.
        scheduler: the address of a running Dask cluster; without one, "dask" starts one on this machine.
    """
    if scheduler is not None and executor != "dask":
        raise ValueError(f"a scheduler is for executor='dask', got executor={executor!r}")
    if not isinstance(executor, str):
        return _own(executor, n_jobs)
    choice("executor", executor, EXECUTORS)
    if scheduler is not None:
        return dask_crew.connected(scheduler)
    makers = {"threads": ThreadCrew, "processes": ProcessCrew, "dask": dask_crew.started_here}
    return makers[executor](job_count(n_jobs))


def _own(executor: Any, n_jobs: int | None) -> Crew:
    if isinstance(executor, Crew):
        return executor
    if type(executor).__module__.partition(".")[0] == "distributed":
        return dask_crew.DaskCrew(getattr(executor, "_client", executor))  # of client.get_executor(), or the client
    if not isinstance(executor, Executor):
        raise TypeError(f"executor must be one of {', '.join(EXECUTORS)}, or an Executor or a Dask client of yours")
    slots = getattr(executor, "_max_workers", None) if n_jobs is None else job_count(n_jobs)
    return ExecutorCrew(executor, slots or usable_cores(), elsewhere=not isinstance(executor, ThreadPoolExecutor))
