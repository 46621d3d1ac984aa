"""What is tried at the edges: extreme numbers, values of the wrong kind, and arrays that do not count from the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ns_mab_gym.agents.core.arguments import LARGEST, LARGEST_REWARD, SMALLEST

NUMBERS: list[Any] = [
    0, 1, -1, 2, 0.5, 1 - 2.0**-53, 5e-324, 1e-320, SMALLEST, 1e-30, LARGEST, 1e150, 1e305, 1.7e308, -1e308,
    math.nan, math.inf, -math.inf, 2**31, 2**63, 2**64 + 1, 10**400, np.float32(0.5), np.int8(3), np.float64(1e-310),
]  # fmt: skip
STRANGERS: list[Any] = [
    None, True, False, "", "\0", "é", "0.5", "x" * 10_000, b"1", [], [0.5], (0.1, 0.2, 0.3), {}, {"a": 1}, set(), 1j,
    object(), np.zeros(2), np.array(0.5), np.bool_(True), 10**5_000, type, [[0.1]], lambda: 1,
]  # fmt: skip
# By what an agent takes, the rewards at the edges of it: the smallest, the largest, and those next to a limit.
REWARDS = {
    "binary": [0.0, 1.0],
    "unit": [0.0, 5e-324, 1e-320, 1e-16, 0.5, 1 - 2.0**-53, 1.0],
    "real": [-LARGEST_REWARD, -1.0, -5e-324, 0.0, 1e-320, 1e-16, 1.0, 1e15, LARGEST_REWARD],
}


class FromTheFront(np.ndarray[Any, Any]):
    """An array that refuses negative indices, which NumPy and compiled code take to count from the end.

    Compiled code with NUMBA_BOUNDSCHECK=1 finds indices beyond an array, but takes −1 for its last place.
    """

    def __getitem__(self, key: Any) -> Any:
        _refuse(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse(key)
        super().__setitem__(key, value)


def _refuse(key: Any) -> None:
    for each in key if isinstance(key, tuple) else (key,):
        if isinstance(each, int | np.integer) and each < 0:
            raise AssertionError(f"a rule took place {each} of an array, which counts from its end")


def from_the_front(state: Any) -> Any:
    """The same state in the same memory, with arrays that refuse negative indices."""
    if isinstance(state, np.ndarray):
        return state.view(FromTheFront)
    if not isinstance(state, tuple):
        return state
    parts = [from_the_front(part) for part in state]
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
