"""What a worker does with a task, and what it sends back."""

from __future__ import annotations

import os
import pickle
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from ..kept_files import ChangedFileError

__all__ = ["Caught", "Job", "Parcel", "Trouble", "UnfitWorkerError", "carry_out", "here"]

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
HOUSE = __name__.partition(".")[0]
FULL = 4_000_000  # bytes of results after which no further item is begun


class UnfitWorkerError(ValueError):
    """A worker lacks what the work needs, or has another version of it: the whole work stops."""


class Job(Protocol[T_contra]):
    """What is to be done with the items of a task; it is sent to the workers."""

    def begin(self, items: Sequence[T_contra]) -> None:
        """Called before the first item of a task; raises an :class:`UnfitWorkerError` if this worker cannot do it."""

    def one(self, item: T_contra) -> Any:
        """The result of one item; an error concerns this item alone."""

    def weight(self, result: Any) -> int:
        """How many bytes a result takes, about."""

    def packed(self, items: Sequence[T_contra], results: Sequence[Any]) -> Any:
        """The results of several items as they are sent back."""


class Trouble(NamedTuple):
    """Why an item has no result."""

    error: str
    traceback: str = ""
    worker: str = ""


class Caught(NamedTuple):
    """A warning that was issued elsewhere."""

    text: str
    category: type[Warning]


class Parcel(NamedTuple):
    """What a worker sends back for a task.

    Attributes:
        content: what the job made of the results; None if there are none.
        well: the numbers, within the task, of the items that went well.
        troubles: the numbers of those that did not, with the reasons.
        left: how many of the last items were not begun, because the time of the task was over or its parcel full.
        caught: the warnings.
    """

    content: Any
    well: tuple[int, ...]
    troubles: tuple[tuple[int, Trouble], ...]
    left: int
    caught: tuple[Caught, ...]

    def accounts_for(self, items: int) -> bool:
        """Whether this can be what became of a task of so many items: each of the first went well or did not."""
        numbers = sorted([*self.well, *(number for number, _ in self.troubles)])
        return 0 <= self.left < items and numbers == list(range(items - self.left))


def carry_out(job: Job[T], items: Sequence[T], seconds: float, elsewhere: bool) -> Parcel:
    """Do a task: its first item, and as many of the others as time and space allow.

    Args:
        job: what is to be done.
        items: with what.
        seconds: after which no further item is begun.
        elsewhere: whether this is another process than the one that waits for the result.
    """
    ends = time.perf_counter() + seconds
    results: dict[int, Any] = {}
    troubles: dict[int, Trouble] = {}
    worker = here() if elsewhere else ""
    with _kept_warnings(elsewhere) as caught:
        job.begin(items)
        space = FULL
        for number, item in enumerate(items):
            if number and (time.perf_counter() >= ends or space <= 0):
                break
            with _told(troubles, [number], worker, elsewhere):
                results[number] = job.one(item)
                space -= job.weight(results[number])
        begun, content = len(results) + len(troubles), None
        if results:
            with _told(troubles, list(results), worker, elsewhere):
                content = job.packed([items[number] for number in results], list(results.values()))
    well = tuple(number for number in results if number not in troubles)
    told = tuple(dict.fromkeys(Caught(_text(each.message), _portable(each.category)) for each in caught))
    return Parcel(content, well, tuple(troubles.items()), len(items) - begun, told)


@contextmanager
def _told(troubles: dict[int, Trouble], numbers: Sequence[int], worker: str, elsewhere: bool) -> Iterator[None]:
    """Note an error as the trouble of these items, unless it concerns the whole work."""
    try:
        yield
    except (UnfitWorkerError, ChangedFileError):
        raise
    except BaseException as error:  # whatever the code of a user raises
        if isinstance(error, KeyboardInterrupt) and not elsewhere:  # other processes leave Ctrl-C to this one
            raise
        trouble = Trouble(_in_one_line(error), "".join(traceback.format_exception(error)), worker)
        troubles.update(dict.fromkeys(numbers, trouble))


def _in_one_line(error: BaseException) -> str:
    """What an error says, and where it arose, unless this package raised it."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    ours = str(frame.f_globals.get("__name__")).partition(".")[0] == HOUSE
    place = "" if ours else f"({Path(frame.f_code.co_filename).name}, line {line})"
    text = _text(error)
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return " ".join(f"{said} {place}".split())


def _text(said: object) -> str:
    """What an error or a warning says, also if it fails to say it."""
    try:
        return str(said)
    except Exception as error:
        return f"(its text cannot be had: {type(error).__name__})"


def _portable(category: type[Warning]) -> type[Warning]:
    """A class of warnings that can be sent: this one, or the nearest that it is derived from."""
    for each in category.__mro__:
        if issubclass(each, Warning):
            with suppress(pickle.PicklingError, AttributeError):  # no name leads to one that was made in a function
                pickle.dumps(each)
                return each
    return Warning


@contextmanager
def _kept_warnings(elsewhere: bool) -> Iterator[list[warnings.WarningMessage]]:
    """The warnings of this block, to be sent back; in the process that waits for the result they are issued at once."""
    if not elsewhere:
        yield []
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # each warning once for every line of code that issues it
        yield caught


def here() -> str:
    """What this worker is called: its address in a cluster, or else its process."""
    if (distributed := sys.modules.get("distributed")) is not None:
        try:
            return str(distributed.get_worker().address)
        except ValueError:  # not in a task of a cluster
            pass
    return f"process {os.getpid()}"
