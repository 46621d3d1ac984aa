"""What the footer of a file of units says of itself: which units it holds, and, packed, what else is known of them.

A start reads the first of many files and unpacks none. Other readers of Parquet take both for texts and pass them by.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

__all__ = ["BrokenFileError", "Footer", "Keys", "TooLargeError", "key_of", "packed", "unpacked"]

Keys = npt.NDArray[np.uint64]

INDEX, DETAILS = b"ns_mab_gym", b"ns_mab_gym.details"  # keys of the metadata of the file
FORMAT = 2
PIECES = {"format", "units", "rows", "digest"}
DIGITS = 16  # of an identity, in a footer as in the name of a file: enough to tell units apart
MOST_UNITS = 10_000
LARGEST_INDEX = 400_000  # bytes, for so many units
LARGEST_DETAILS = 20_000_000  # bytes unpacked: pulls of 10^5 arms, or 10^4 alarms, in each of 25 runs


class BrokenFileError(Exception):
    """A file in the store is not what its name says."""


class TooLargeError(ValueError):
    """Results do not fit into one file; the message says why and what to do."""


def key_of(identity: str) -> int:
    """The beginning of an identity as a number, by which a unit is known where many are."""
    return int(identity[:DIGITS], 16)


@dataclass(frozen=True, eq=False)
class Footer:
    """The index of a file, and its packed details.

    Attributes:
        keys: (n,) the keys of the units in the file, in the order of their rows.
        rows: how many rows each of them has.
        details: everything else about them, packed.
        digest: the hash of all this and of the table; see :meth:`digest_with`.
    """

    keys: Keys
    rows: Sequence[int]
    details: bytes
    digest: str = ""

    @classmethod
    def of(cls, metadata: Mapping[bytes, bytes] | None) -> Self:
        """The footer in the metadata of a file; raises an error if there is none that can be."""
        if metadata is None or INDEX not in metadata:
            raise BrokenFileError("was not written by ns_mab_gym")
        index, details = metadata[INDEX], metadata.get(DETAILS, b"")
        if len(index) > LARGEST_INDEX:
            raise ValueError("its index is larger than one can be")
        found = json.loads(index)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError("it was written by another version")
        if found.keys() != PIECES or not isinstance(found["digest"], str):
            raise ValueError("its index is of another kind")
        keys = _keys_in(found["units"])
        return cls(keys, _counts(found["rows"], len(keys)), details, found["digest"])

    def metadata(self) -> dict[bytes, bytes]:
        """The footer as it is written into the metadata of a file."""
        index = {"format": FORMAT, "units": self._units(), "rows": list(self.rows), "digest": self.digest}
        return {INDEX: json.dumps(index, separators=(",", ":")).encode(), DETAILS: self.details}

    def digest_with(self, rounds: npt.NDArray[np.int64], regret: npt.NDArray[np.float64]) -> str:
        """A hash of the footer and of a table: Parquet has checksums for its pages, but none for the metadata."""
        digest = hashlib.sha256(json.dumps([self._units(), list(self.rows)]).encode())
        for each in (self.details, rounds.tobytes(), regret.tobytes()):
            digest.update(each)
        return digest.hexdigest()

    def _units(self) -> str:
        return self.keys.astype(">u8").tobytes().hex()


def _keys_in(units: Any) -> Keys:
    """The keys in the text of an index."""
    if not isinstance(units, str) or not 0 < len(units) <= DIGITS * MOST_UNITS or len(units) % DIGITS:
        raise ValueError("its index names no units, or too many")
    keys = np.frombuffer(bytes.fromhex(units), ">u8").astype(np.uint64)
    if DIGITS * len(keys) != len(units) or len(np.unique(keys)) != len(keys):
        raise ValueError("its index names a unit twice")
    return keys


def _counts(rows: Any, units: int) -> list[int]:
    if not isinstance(rows, list) or len(rows) != units or not all(type(each) is int and each > 0 for each in rows):
        raise ValueError("its index does not count the rows of its units")
    return rows


def packed(details: Any) -> bytes:
    """Details that JSON can hold as a short text.

    >>> unpacked(packed({"seconds": [0.5]}))
    b'{"seconds":[0.5]}'
    """
    text = json.dumps(details, separators=(",", ":")).encode()
    if len(text) > LARGEST_DETAILS:
        raise TooLargeError(
            f"pulls and alarms take {len(text):,} bytes, more than the {LARGEST_DETAILS:,} that a file may have; use "
            f"fewer arms, or put fewer units into a file"
        )
    return base64.b64encode(zlib.compress(text))


def unpacked(details: bytes) -> bytes:
    """The JSON in a text that :func:`packed` made; raises a ValueError if it is anything else, or too large."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(base64.b64decode(details, validate=True), LARGEST_DETAILS + 1)
    except (binascii.Error, zlib.error):
        raise ValueError("its details cannot be unpacked") from None
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("its details are larger than those of such results can be, or cut off")
    return text
