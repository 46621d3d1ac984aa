"""Processes of this machine, each with its own Python: for work that does not release Python's lock.

Every process is a pool of its own, so that one that dies takes only its own task along, and can be replaced.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from typing import Any

from ..play.child_processes import become_child, ctrl_c_ignored
from .crew import Crew, WorkforceError

__all__ = ["ProcessCrew"]

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows the latter does it
LOOK = 0.5  # seconds between two looks at processes that may have died


class ProcessCrew(Crew):
    """Processes of this machine.

    Args:
        number: how many.
    """

    name = "processes"

    def __init__(self, number: int) -> None:
        try:
            import loky  # type: ignore[import-untyped]  # noqa: F401
        except ImportError:
            raise ImportError("processes need loky: pip install 'ns-mab-gym[experiments]'") from None
        self._pools: list[Any] = [None] * number
        self._tasks: list[Future[Any] | None] = [None] * number  # the task of each process
        self._looked, self._seen_dead = 0.0, set[int]()  # when processes were looked at, and which were dead then

    @property
    def slots(self) -> int:
        """The number of processes."""
        self._look_for_the_dead()
        return len(self._pools)

    def _look_for_the_dead(self) -> None:
        """Let pools know of a process that died while it sent a result: they wait for the rest of it, for ever.

        One that loky replaces by another is no such process, and is there again at the next look.
        """
        if time.monotonic() - self._looked < LOOK:
            return
        self._looked = time.monotonic()
        dead = {number for number, pool in enumerate(self._pools) if pool is not None and self._is_dead(number)}
        for number in dead & self._seen_dead:
            _hang_up(self._pools[number]._result_queue)
        self._seen_dead = dead

    def _is_dead(self, number: int) -> bool:
        task, processes = self._tasks[number], list((self._pools[number]._processes or {}).values())
        return task is not None and not task.done() and not any(process.is_alive() for process in processes)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by a process that has nothing to do; it is started if need be."""
        number = next(number for number, task in enumerate(self._tasks) if task is None or task.done())
        last = self._tasks[number]
        if last is not None and not last.cancelled() and self.deaths(last.exception()):
            self._end(number)
        try:
            task: Future[Any] = self._pool(number).submit(function, *arguments)
        except BrokenExecutor:  # it died while it had nothing to do
            self._end(number)
            task = self._pool(number).submit(function, *arguments)
        self._tasks[number] = task
        return task

    def abandon(self, task: Future[Any]) -> None:
        """End the process that does the task: it may stand still, and another one is started soon."""
        if not task.cancel() and not task.done():
            self._end(self._tasks.index(task))

    def _pool(self, number: int) -> Any:
        import loky

        if self._pools[number] is None:
            try:
                with ctrl_c_ignored():
                    self._pools[number] = loky.ProcessPoolExecutor(1, initializer=become_child, initargs=(os.getpid(),))
            except (OSError, NotImplementedError) as error:  # the system grants no processes, or no semaphores
                raise WorkforceError(f"no process could be started ({error}); use --executor threads") from error
        return self._pools[number]

    def _end(self, number: int) -> None:
        """End a process, also one that stands still."""
        _end_pool(self._pools[number])
        self._pools[number] = self._tasks[number] = None

    def close(self, at_once: bool) -> None:
        """End the processes; also one that is stopped, and one in which somebody's code left threads behind."""
        for pool in self._pools:
            if pool is not None:
                _end_pool(pool)


def _end_pool(pool: Any) -> None:
    """End a pool and its process, whatever that is doing."""
    manager, results = pool._executor_manager_thread, pool._result_queue
    for process in list((pool._processes or {}).values()):
        if process.is_alive():  # else its number may be another's by now
            with suppress(OSError):
                os.kill(process.pid, KILL)
    pool.shutdown(wait=False, kill_workers=True)
    if manager is not None:
        manager.join(LOOK)
        if manager.is_alive():
            _hang_up(results)
            manager.join()


def _hang_up(results: Any) -> None:
    """Close this side's copy of the end from which results come: who waits for the rest of one then learns of it."""
    with suppress(OSError):  # it is closed already
        results._writer.close()
