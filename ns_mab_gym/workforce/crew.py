"""What the dispatcher knows of those who do the work: how many tasks they take at once, and how they fail."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from types import TracebackType
from typing import Any, Self

__all__ = ["Crew", "ExecutorCrew", "WorkforceError", "WorkforceLostError"]


class WorkforceError(ValueError):
    """The workers cannot be had; the message says why and what to do."""


class WorkforceLostError(WorkforceError):
    """The workers are gone, all at once: no task can be done any more."""


class Crew(ABC):
    """Those who do the work, from the beginning of a ``with`` block to its end.

    Attributes:
        name: what users call this kind of workers.
        elsewhere: whether they are other processes than this one.
        queued: how many tasks each worker is given at once, the one it does included; more than one where a task takes
            a while to get there.
        shared: whether a worker that dies takes tasks along that had no part in it: those that wait in its queue, or
            that it did at the same time.
    """

    name: str
    elsewhere: bool = True
    queued: int = 1
    shared: bool = False

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many tasks can be done at the same time at present; 0 if nobody is there yet."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by a worker; raises a :class:`WorkforceLostError` if there are none any more."""

    @abstractmethod
    def close(self, at_once: bool) -> None:
        """Send the workers home; ``at_once`` if nobody waits for what they do."""

    def deaths(self, error: BaseException | None) -> int:
        """How many workers died with the task that ended in this error; 0 if it is an error of another kind."""
        return int(isinstance(error, BrokenExecutor))

    def abandon(self, task: Future[Any]) -> None:
        """Let go of a task that was submitted, and whose result nobody needs any more."""
        task.cancel()

    def everywhere(self, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
        """Have a function called by every worker that is there, and return the answers by the names of the workers."""
        return {}

    @property
    def about(self) -> str:
        """What to tell the user about these workers at the beginning; empty if there is nothing to tell."""
        return ""

    @property
    def gone(self) -> str:
        """What to say if all of them are gone."""
        return f"those who did the work are gone: {self.name}"

    def __enter__(self) -> Self:
        """The crew, which is sent home at the end of the block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close(at_once=error is not None)


class ExecutorCrew(Crew):
    """An executor of the user's (MPI, a pool of processes, …), which stays the user's to close.

    Args:
        executor: any :class:`concurrent.futures.Executor`.
        slots: how many tasks it does at once.
        elsewhere: whether in other processes.
    """

    name = "executor"
    queued = 2

    def __init__(self, executor: Executor, slots: int, *, elsewhere: bool = True) -> None:
        self.executor, self.elsewhere, self._slots = executor, elsewhere, slots

    @property
    def slots(self) -> int:
        """How many tasks it does at once."""
        return self._slots

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Have a function called by the executor."""
        try:
            return self.executor.submit(function, *arguments)
        except RuntimeError as error:  # it is shut down, or broken
            raise WorkforceLostError(f"the executor takes no more work ({error}); give another one") from error

    def deaths(self, error: BaseException | None) -> int:
        """None: what is broken here cannot be mended from here."""
        return 0

    def close(self, at_once: bool) -> None:
        """Do nothing."""
