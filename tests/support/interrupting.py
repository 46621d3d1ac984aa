"""Faults at every moment at which a program turns to the file system, one after another.

Python announces each such moment (opening, making, renaming, removing, listing) to an audit hook, before it happens.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

MOMENTS = ("open", "os.mkdir", "os.rename", "os.remove", "os.listdir", "os.scandir")
KILLED, REFUSED, FOREIGN = 99, 3, 4  # exit codes


def kill() -> None:
    """End the process at once, as SIGKILL does."""
    os._exit(KILLED)


def fill_disk() -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(work: Callable[[], object], folder: Path, moment: int, fault: Callable[[], None]) -> int:
    """Do something in a process of its own, where a fault happens at the n-th moment in a folder and at all later ones.

    Returns its exit code: 0 if it ended before, KILLED, REFUSED after a ValueError of one line, FOREIGN after others.
    """
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = moment

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in MOMENTS and str(arguments[0]).startswith(str(folder)):
            left -= 1
            if left <= 0 and not (fault is fill_disk and _needs_no_room(event, arguments)):
                fault()

    sys.addaudithook(hook)
    try:
        work()
    except ValueError as error:
        os._exit(REFUSED if "\n" not in str(error) else FOREIGN)
    except BaseException:
        traceback.print_exc()
        os._exit(FOREIGN)
    os._exit(0)


def _needs_no_room(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether a full disk lets this happen: reading, listing, removing."""
    reading = event == "open" and isinstance(arguments[2], int) and not arguments[2] & (os.O_WRONLY | os.O_RDWR)
    return reading or event in ("os.listdir", "os.scandir", "os.remove")
