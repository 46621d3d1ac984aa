"""A table from the keys of units to where they are; a million units take 16 MB, and are looked up at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .footers import Keys

__all__ = ["Entries", "Ledger", "among"]

GONE = -2
MOST_RECENT = 50_000  # entries that were added and are not sorted in

Numbers = npt.NDArray[np.int32]


class Entries(NamedTuple):
    """Keys, each with a pair of numbers, none of which is -2."""

    keys: Keys
    files: Numbers
    runs: Numbers


def among(keys: Keys, others: Keys) -> npt.NDArray[np.bool_]:
    """Which of the keys are among others, which are sorted."""
    found = np.zeros(len(keys), np.bool_)
    if len(others):
        order = np.argsort(keys)  # looked up in this order, many are found ten times as fast
        places = np.minimum(others.searchsorted(keys[order]), len(others) - 1)
        found[order] = others[places] == keys[order]
    return found


class Ledger:
    """Entries by their keys; what is added later counts.

    Args:
        entries: what is there first.
    """

    def __init__(self, entries: Entries) -> None:
        self._sorted = _latest(entries)
        self._recent: dict[int, tuple[int, int]] = {}

    @property
    def entries(self) -> Entries:
        """Everything, sorted by the keys."""
        recent = list(self._recent.values())
        added = Entries(
            np.fromiter(self._recent, np.uint64, len(recent)),
            np.array([file for file, _ in recent], np.int32),
            np.array([runs for _, runs in recent], np.int32),
        )
        if recent or (self._sorted.files == GONE).any():
            self._sorted = _latest(_joined(self._sorted, added))
            self._recent = {}
        return self._sorted

    def find(self, key: int) -> tuple[int, int] | None:
        """The numbers beside a key; None if there are none."""
        if key in self._recent:
            return self._recent[key]
        place = self._place(key)
        return None if place is None else (int(self._sorted.files[place]), int(self._sorted.runs[place]))

    def put(self, keys: Keys, file: int, runs: int) -> None:
        """Add keys, with the same numbers beside all."""
        if len(self._recent) > MOST_RECENT:
            _ = self.entries
        for key in keys.tolist():
            self.remove(key)  # else it would be found again when the new one is removed
            self._recent[key] = file, runs

    def remove(self, key: int) -> None:
        """Remove a key, if it is there."""
        self._recent.pop(key, None)
        if (place := self._place(key)) is not None:
            self._sorted.files[place] = GONE

    def remove_all(self, file: int, runs: int) -> None:
        """Remove all keys that have these numbers beside them."""
        self._recent = {key: numbers for key, numbers in self._recent.items() if numbers != (file, runs)}
        self._sorted.files[(self._sorted.files == file) & (self._sorted.runs == runs)] = GONE

    def _place(self, key: int) -> int | None:
        """Where a key is among those that are sorted in."""
        keys, files, _ = self._sorted
        place = int(keys.searchsorted(np.uint64(key)))
        return place if place < len(keys) and keys[place] == key and files[place] != GONE else None


def _joined(one: Entries, other: Entries) -> Entries:
    return Entries(np.append(one.keys, other.keys), np.append(one.files, other.files), np.append(one.runs, other.runs))


def _latest(entries: Entries) -> Entries:
    """The entries sorted by their keys, the last one of each, without those that are gone."""
    order = np.argsort(entries.keys, kind="stable")
    keys, files = entries.keys[order], entries.files[order]
    last = np.ones(len(keys), np.bool_)
    last[:-1] = keys[1:] != keys[:-1]
    kept = order[last & (files != GONE)]
    return Entries(entries.keys[kept], entries.files[kept], entries.runs[kept])
