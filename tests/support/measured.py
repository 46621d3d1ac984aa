"""The memory that a call takes."""

import tracemalloc
from collections.abc import Callable


def peak(function: Callable[[], object]) -> int:
    """The bytes that were allocated at once, with what the function returns."""
    tracemalloc.start()
    kept = function()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return most
