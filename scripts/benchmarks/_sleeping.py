"""A job whose units sleep: it occupies a worker and no core, so that one machine can have a hundred workers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple


class Sleeping(NamedTuple):
    """Units that take so many seconds, and whose results take so many bytes."""

    seconds: float
    size: int

    def begin(self, items: Sequence[int]) -> None:
        """Do nothing."""

    def one(self, item: int) -> int:
        """Sleep."""
        time.sleep(self.seconds)
        return item

    def weight(self, result: int) -> int:
        """The bytes of a result."""
        return self.size

    def packed(self, items: Sequence[int], results: Sequence[int]) -> bytes:
        """So many bytes as the results take together."""
        return bytes(self.size * len(results))
