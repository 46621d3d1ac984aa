"""How much memory there is, so that what will not fit is refused before anything is allocated.

The check comes before the allocation, since systems promise memory that they do not have and end the process later.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

__all__ = ["DoesNotFitError", "available_memory", "ensure_fits", "grouped", "in_words"]

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
MOST = 10**24  # bytes that are told exactly; more of them are "over" so many
SMALL = 16 << 20  # bytes for which nobody looks up what is free, which takes longer than to allocate them
CGROUPS = (  # of the container or the batch job, if there is one: its limit, and what of it is in use
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


class DoesNotFitError(ValueError):
    """What was asked for needs more memory than there is."""


def ensure_fits(what: str, needed: float, remedy: str) -> None:
    """Raise a :class:`DoesNotFitError` if so many bytes are more than the memory that is free.

    Args:
        what: what needs the memory.
        needed: how many bytes it needs at once.
        remedy: what to do instead.
    """
    if needed <= SMALL:
        return
    free = max(available_memory(), 0.0)
    if needed > free:
        raise DoesNotFitError(f"{what} would take {in_words(needed)} of memory, {in_words(free)} are free; {remedy}")


def available_memory() -> float:
    """How many bytes this process can still get without swapping; all that it has addresses for if nobody tells."""
    return min(float(sys.maxsize), _free_on_machine(), *(_free_in(*files) for files in CGROUPS), _free_in_limits())


def _free_on_machine() -> float:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        pass
    try:  # other Unixes tell how much there is, not how much is free
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _free_in(limit: str, used: str) -> float:
    try:
        return float(int(Path(limit).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii")))
    except (OSError, ValueError):  # there is no such group, or it has no limit
        return math.inf


def _free_in_limits() -> float:
    """What ``ulimit -v`` leaves."""
    if sys.platform == "win32":
        return math.inf
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return math.inf
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        pages = 0
    return float(limit - pages * resource.getpagesize())


def in_words(count: float) -> str:
    """A number of bytes as people read it.

    >>> in_words(999), in_words(8e12), in_words(5.6e9), in_words(10**400)
    ('999 bytes', '8 TB', '5.6 GB', 'over 1,000,000,000 PB')
    """
    if count >= MOST:
        return f"over {MOST // 10**15:,} {UNITS[-1]}"
    size, units = float(count), iter(UNITS)
    unit = next(units)
    for larger in units:
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.2g} {unit}" if 1 <= size < 10 else f"{size:,.0f} {unit}"


def grouped(number: int) -> str:
    """A whole number of any length, short enough for a message.

    >>> grouped(50_000), grouped(10**400)
    ('50,000', 'over 1,000,000,000,000,000,000,000,000')
    """
    if abs(number) <= MOST:
        return f"{number:,}"
    return f"over {MOST:,}" if number > 0 else f"below {-MOST:,}"
