"""Which of the files in a folder holds which units."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..file_names import file_name
from ..files import is_plain_file
from .footers import BrokenFileError, Keys
from .ledgers import Entries, Ledger, among
from .unit_files import keys_of_file
from .units import Unit

__all__ = ["Holding", "Shelf", "name_of_shared"]

# What a name says at its end: the runs of the one unit in the file, or how many units share it; then its hash.
NAME = re.compile(r"([^\W_].*)--(?:([0-9]+-[0-9]+)|[0-9]+-units)--([0-9a-f]{16})\.parquet", re.DOTALL)
NO_NAME = ("", "", 0)
SHARED = -1
NOTHING = np.empty(0, np.uint64)


def name_of_shared(units: Sequence[Unit], keys: Keys) -> str:
    """A name for a file that these units share, which people can read, and which differs for other units."""
    worlds, agents = {unit.world.words for unit in units}, {unit.agent.words for unit in units}
    words = [min(worlds) if len(worlds) == 1 else f"{len(worlds)} worlds"]
    words += [min(agents) if len(agents) == 1 else f"{len(agents)} agents"]
    readable = (file_name(each, instead="unnamed", keep=".-", gap="_") for each in words)
    digest = hashlib.sha256(np.sort(keys).astype(">u8").tobytes()).hexdigest()
    return f"{'--'.join(readable)}--{len(keys)}-units--{digest[:16]}.parquet"


class Holding(NamedTuple):
    """A file, the keys of those of its units that are asked for, and whether these are all."""

    name: str
    keys: Keys
    whole: bool


class Shelf:
    """The files of a folder, and the one of them that holds each unit.

    The name of a file of one unit says which it is; a file of several says it in its footer. If several files hold a
    unit, that counts which holds the fewest others: such a file was written later, or is a part of the other.

    Args:
        folder: where the files are; there are none if it does not exist.

    Attributes:
        strangers: the names of everything else in the folder, and of files whose only unit another file holds.
        broken: why it cannot be told which units a file holds, by its name.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.strangers: set[str] = set()
        self.broken: dict[str, str] = {}
        self._texts: list[str] = []  # words that begin the names of files of one unit, and whole names of others
        self._numbers: dict[str, int] = {}
        self._totals: dict[int, int] = {}  # how many units each shared file holds
        entries = self._scanned() if folder.is_dir() else Entries(NOTHING, *[np.empty(0, np.int32)] * 2)
        self._ledger = Ledger(entries)
        self.strangers |= self._superseded(entries)

    def find(self, key: int) -> Path | None:
        """The file that holds a unit."""
        found = self._ledger.find(key)
        return None if found is None else self.folder / self._name(key, *found)

    def holds(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Which of these units some file holds."""
        return among(keys, self._ledger.entries.keys)

    def put(self, name: str, keys: Keys) -> None:
        """Note that a file with these units is here now: they count, wherever else they are."""
        words, runs, _ = _said_by(name)
        if runs:
            self._ledger.put(keys, self._number(words), self._number(runs))
        else:
            self._totals[self._number(name)] = len(keys)
            self._ledger.put(keys, self._number(name), SHARED)

    def take_in(self, name: str) -> None:
        """Note that something was moved here, which may be a file of units."""
        words, runs, key = _said_by(name) if is_plain_file(self.folder / name) else NO_NAME
        if runs:
            self.put(name, np.array([key], np.uint64))
        elif words:
            with contextlib.suppress(BrokenFileError):
                self.put(name, keys_of_file(self.folder / name))

    def drop(self, name: str) -> None:
        """Note that a file is not here any more."""
        self.strangers.discard(name)
        words, runs, key = _said_by(name)
        if runs and self.find(key) == self.folder / name:
            self._ledger.remove(key)
        elif words and not runs and self._totals.pop(self._number(name), 0):
            self._ledger.remove_all(self._number(name), SHARED)

    def holding(self, wanted: Keys) -> list[Holding]:
        """The files that hold some of these units."""
        mine = self._mine(wanted)
        alone = self._alone(mine)
        shared = self._in_shared(mine).items()
        return [*alone, *(Holding(self._texts[file], keys, len(keys) == self._totals[file]) for file, keys in shared)]

    def holding_others(self, wanted: Keys) -> list[str]:
        """The names of the files that hold anything but these units, and of everything else that is here."""
        mine = self._mine(wanted)
        kept = self._in_shared(mine)
        mixed = (self._texts[file] for file, total in self._totals.items() if len(kept.get(file, NOTHING)) < total)
        return [*self.strangers, *(each.name for each in self._alone(~mine)), *mixed]

    def _mine(self, wanted: Keys) -> npt.NDArray[np.bool_]:
        return among(self._ledger.entries.keys, np.sort(wanted))

    def _alone(self, chosen: npt.NDArray[np.bool_]) -> list[Holding]:
        """The files of one unit that hold the chosen entries."""
        keys, files, runs = self._ledger.entries
        places = np.flatnonzero(chosen & (runs != SHARED))
        names = map(self._name, keys[places].tolist(), files[places].tolist(), runs[places].tolist())
        return [Holding(name, keys[place : place + 1], True) for name, place in zip(names, places, strict=True)]

    def _in_shared(self, chosen: npt.NDArray[np.bool_]) -> dict[int, Keys]:
        """The keys of the chosen entries in each shared file, by the number of its name."""
        keys, files, runs = self._ledger.entries
        places = np.flatnonzero(chosen & (runs == SHARED))
        places = places[np.argsort(files[places], kind="stable")]
        numbers, first = np.unique(files[places], return_index=True)
        return dict(zip(numbers.tolist(), np.split(keys[places], first[1:]), strict=False))

    def _name(self, key: int, file: int, runs: int) -> str:
        words = self._texts[file]
        return words if runs == SHARED else f"{words}--{self._texts[runs]}--{key:016x}.parquet"

    def _number(self, text: str) -> int:
        """The number of a text, which is kept once: names of files have much in common."""
        if text not in self._numbers:
            self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return self._numbers[text]

    def _scanned(self) -> Entries:
        """What the files hold, those first that hold most units."""
        columns = array("Q"), array("i"), array("i")
        shared: dict[str, Keys] = {}
        with os.scandir(self.folder) as entries:
            for entry in entries:
                words, runs, key = _said_by(entry.name)
                if not words or not entry.is_file(follow_symlinks=False):
                    self.strangers.add(entry.name)
                elif runs:
                    for column, number in zip(columns, (key, self._number(words), self._number(runs)), strict=True):
                        column.append(number)
                else:
                    self._open(entry.name, shared)
        order = sorted(shared, key=lambda name: (-len(shared[name]), name))
        numbers, totals = [self._number(name) for name in order], [len(shared[name]) for name in order]
        self._totals = dict(zip(numbers, totals, strict=True))
        keys, files, runs_of = (np.array(column) for column in columns)
        return Entries(
            np.concatenate([*map(shared.__getitem__, order), keys.astype(np.uint64)]),
            np.append(np.repeat(np.array(numbers, np.int32), totals), files.astype(np.int32)),
            np.append(np.full(sum(totals), SHARED, np.int32), runs_of.astype(np.int32)),
        )

    def _open(self, name: str, shared: dict[str, Keys]) -> None:
        try:
            shared[name] = keys_of_file(self.folder / name)
        except BrokenFileError as error:
            self.broken[name] = str(error)

    def _superseded(self, scanned: Entries) -> set[str]:
        """The files of one unit that another file holds too, and that do not count."""
        alone = np.flatnonzero(scanned.runs != SHARED)
        alone = alone[np.argsort(scanned.keys[alone])]
        keys, files, runs = (column[alone] for column in scanned)
        counting = self._ledger.entries
        places = counting.keys.searchsorted(keys)
        lost = (counting.files[places] != files) | (counting.runs[places] != runs)
        return set(map(self._name, keys[lost].tolist(), files[lost].tolist(), runs[lost].tolist()))


def _said_by(name: str) -> tuple[str, str, int]:
    """Words, runs and number in a name; there are no runs if units share the file, no words if there are no units."""
    found = NAME.fullmatch(name)
    return NO_NAME if found is None else (found[1], found[2] or "", int(found[3], 16))
