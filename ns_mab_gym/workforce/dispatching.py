"""Hands work out and takes results in: a few tasks for each worker at a time, whatever becomes of the workers.

- Small items share a task: a task has as many as the last one did in its second, and then twice as many. With very many
  workers tasks take longer than a second, so that no more arrive than can be taken in and written.
- Few tasks are under way at once, and results are handed on as they arrive, so that nothing piles up here.
- An item that raises an error is tried again, alone; after some attempts it has failed, and the others go on.
- A task whose worker died is done again by another. An item with which several workers died is a suspect. Suspects are
  done one at a time, so that no other item is blamed for their deeds; one with which workers go on dying has failed.
  Where a worker takes other tasks along when it dies, suspects come last, and nothing else is under way meanwhile.
- In the end, when workers have nothing to do, they are given a second copy of tasks that take long: a worker that
  stands still holds nobody up. The first result counts; both are the same.
"""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, Generic, TypeVar

from .crew import Crew, WorkforceLostError
from .parcels import Caught, Job, Parcel, Trouble, UnfitWorkerError, carry_out

__all__ = ["RETRIES", "Arrived", "Failed", "dispatch"]

T = TypeVar("T")
RETRIES = 2  # how often an item is tried again that raised an error
DEATHS = 3  # workers that may die with an item in their hands
TASK_SECONDS = 1.0  # after which a task begins no further item: the most, about, that a crash can lose
CROWD = 50  # workers: with more, tasks take longer in proportion
MOST_ITEMS = 500  # in a task
PATIENCE = 10.0  # seconds that a task may take before others are given a copy of it,
SLOWNESS = 4.0  # if it is also so many times as slow as the slowest that has arrived
WHY_WORKERS_DIE = "its memory may have run out, or the code of the agent or the world ended it"
LOOK = 0.5  # seconds between two looks at the workers while nothing arrives


@dataclass(frozen=True)
class Arrived(Generic[T]):
    """Items that are done, and what the job made of their results."""

    items: tuple[T, ...]
    content: Any


@dataclass(frozen=True)
class Failed(Generic[T]):
    """An item that has no result, after so many attempts."""

    item: T
    attempts: int
    trouble: Trouble


@dataclass(eq=False)
class Task:
    """Items on their way, by their numbers, and the copies of the task that are under way."""

    numbers: list[int]
    suspect: bool = False
    began: float = field(default_factory=time.monotonic)
    copies: list[Future[Any]] = field(default_factory=list)


def dispatch(
    crew: Crew,
    job: Job[T],
    items: Sequence[T],
    *,
    retries: int = RETRIES,
    waiting: Callable[[], None] = lambda: None,
) -> Iterator[Arrived[T] | Failed[T]]:
    """Have a job done with all items; yields what is done, and what has failed, in the order of arrival.

    Args:
        crew: those who do it.
        job: what is to be done.
        items: with what.
        retries: how often an item is tried again that raised an error.
        waiting: called from time to time while there is no worker at all.
    """
    desk = Desk(crew, job, items, retries, waiting)
    with _noted_ctrl_c() as pressed:
        try:
            while desk.open:
                if pressed:
                    raise KeyboardInterrupt
                desk.hand_out()
                yield from desk.take_in()
        finally:
            desk.cancel()


@contextmanager
def _noted_ctrl_c() -> Iterator[list[int]]:
    """Note Ctrl-C as well as raise its KeyboardInterrupt, which Python drops if it comes while an object is deleted."""
    pressed: list[int] = []
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield pressed
        return

    def note(number: int, frame: FrameType | None) -> None:
        pressed.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class Desk(Generic[T]):
    """Keeps the books of :func:`dispatch`: what is still to be done, what is under way, and what went wrong."""

    def __init__(self, crew: Crew, job: Job[T], items: Sequence[T], retries: int, waiting: Callable[[], None]) -> None:
        self.crew, self.job, self.items, self.retries, self.waiting = crew, job, items, retries, waiting
        self.open = len(items)  # how many have neither arrived nor failed
        self._next = 0  # the first item that was never handed out
        self._again: deque[int] = deque()  # items to be handed out again, with others
        self._alone: deque[int] = deque()  # those that raised an error, each by itself
        self._suspects: deque[int] = deque()  # those with which workers died, one at a time
        self._errors: Counter[int] = Counter()
        self._deaths: Counter[int] = Counter()
        self._under_way: dict[Future[Any], Task] = {}
        self._arrived: SimpleQueue[Future[Any]] = SimpleQueue()
        self._size, self._slowest = 1, 0.0
        self._told: set[Caught] = set()

    def hand_out(self) -> None:
        """Give tasks to all workers that can take some, as long as there are any."""
        room = self.crew.slots * self.crew.queued - len(self._under_way)
        while room > 0 and (task := self._next_task()) is not None:
            self._submit(task)
            room -= 1
        for _ in range(room):
            if (late := self._late()) is None:
                break
            self._submit(late)

    def _next_task(self) -> Task | None:
        """The next task; None if everything is done or under way, or must wait for a suspect."""
        if self._alone:
            return Task([self._alone.popleft()])
        if self._suspects and not self.crew.shared and not any(task.suspect for task in self._under_way.values()):
            return Task([self._suspects.popleft()], suspect=True)
        if numbers := self._next_numbers():
            return Task(numbers)
        if self._suspects and not self._under_way:
            return Task([self._suspects.popleft()], suspect=True)
        return None

    def _next_numbers(self) -> list[int]:
        share = -(-(len(self.items) - self._next + len(self._again)) // max(1, 2 * self.crew.slots))
        size = min(self._size, share, MOST_ITEMS)
        again = [self._again.popleft() for _ in range(min(size, len(self._again)))]
        fresh = range(self._next, min(self._next + size - len(again), len(self.items)))
        self._next = fresh.stop
        return [*again, *fresh]

    def _submit(self, task: Task) -> None:
        items = [self.items[number] for number in task.numbers]
        seconds = TASK_SECONDS * max(1.0, self.crew.slots / CROWD)
        future = self.crew.submit(carry_out, self.job, items, seconds, self.crew.elsewhere)
        task.copies.append(future)
        self._under_way[future] = task
        future.add_done_callback(self._arrived.put)

    def _late(self) -> Task | None:
        """A task that takes much longer than the others did, and of which there is one copy only."""
        limit = max(PATIENCE, SLOWNESS * self._slowest)
        began = time.monotonic() - limit
        return next((task for task in self._under_way.values() if task.began < began and len(task.copies) == 1), None)

    def take_in(self) -> Iterator[Arrived[T] | Failed[T]]:
        """Wait until something arrives, or for a moment, and yield what it brings."""
        try:
            future = self._arrived.get(timeout=LOOK)
        except Empty:
            if self.crew.slots == 0:
                self.waiting()
            return
        if (task := self._under_way.pop(future, None)) is None:
            return
        if future.cancelled():
            raise WorkforceLostError(self.crew.gone)
        error = future.exception()
        if error is None:
            yield from self._unpacked(task, future.result())
        elif deaths := self.crew.deaths(error):
            yield from self._mourned(task, error, deaths)
        elif isinstance(error, BrokenExecutor):
            raise WorkforceLostError(f"{self.crew.gone} ({error})") from error
        else:
            raise error

    def _unpacked(self, task: Task, parcel: Parcel) -> Iterator[Arrived[T] | Failed[T]]:
        """What a task brings; raises an :class:`UnfitWorkerError` if it does not account for all of its items."""
        self._forget_copies(task)
        if not isinstance(parcel, Parcel) or not parcel.accounts_for(len(task.numbers)):
            raise UnfitWorkerError(
                "a worker sent something else than the results of its task; give all workers the same packages and "
                "code, and start again"
            )
        for caught in dict.fromkeys(parcel.caught):
            self._warn(caught)
        begun = len(task.numbers) - parcel.left
        self._size = max(1, begun if parcel.left else 2 * begun)
        self._slowest = max(self._slowest, time.monotonic() - task.began)
        self._again.extend(task.numbers[begun:])
        if parcel.well:
            yield self._arrival([task.numbers[each] for each in parcel.well], parcel.content)
        for each, trouble in parcel.troubles:
            number = task.numbers[each]
            self._errors[number] += 1
            if self._errors[number] > self.retries:
                yield self._failure(number, self._errors[number] + self._deaths[number], trouble)
            else:
                self._alone.append(number)

    def _forget_copies(self, task: Task) -> None:
        for copy in task.copies:
            if self._under_way.pop(copy, None) is not None:
                self.crew.abandon(copy)

    def _warn(self, caught: Caught) -> None:
        if caught not in self._told:
            self._told.add(caught)
            warnings.warn(caught.text, caught.category, stacklevel=2)

    def _mourned(self, task: Task, error: BaseException, deaths: int) -> Iterator[Failed[T]]:
        """What becomes of a task whose worker died: its items are done again, the suspicious ones alone."""
        self._forget_copies(task)
        for number in task.numbers:
            self._deaths[number] += deaths
            if task.suspect and self._deaths[number] > DEATHS:
                said = f"the worker died {self._deaths[number]} times with it: {WHY_WORKERS_DIE}"
                yield self._failure(number, self._errors[number] + self._deaths[number], Trouble(said, str(error)))
            else:
                (self._suspects if self._deaths[number] > 1 else self._again).append(number)

    def _arrival(self, numbers: Sequence[int], content: Any) -> Arrived[T]:
        self.open -= len(numbers)
        return Arrived(tuple(self.items[number] for number in numbers), content)

    def _failure(self, number: int, attempts: int, trouble: Trouble) -> Failed[T]:
        self.open -= 1
        return Failed(self.items[number], attempts, trouble)

    def cancel(self) -> None:
        """Let go of everything that is under way."""
        for future in list(self._under_way):
            self.crew.abandon(future)
