"""Reads records in Thrift's compact form, in which Parquet writes its footer and the headers of its pages."""

from __future__ import annotations

from typing import Any

__all__ = ["INT32", "INT64", "LIST", "RECORD", "TEXT", "Fields", "ThriftReader"]

TRUE, FALSE, BYTE, INT16, INT32, INT64, DOUBLE, TEXT, LIST, RECORD = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12  # kinds of values
DEEPEST = 8
MOST_VALUES = 1_000_000  # that are read from one file
Fields = dict[tuple[int, int], Any]  # by their number and their kind: readers pass by a field that is of another kind


class ThriftReader:
    """Reads the records in some bytes; raises a ValueError or an IndexError where there is none.

    Args:
        content: the bytes.
        at: where the first record begins.

    Attributes:
        at: where the next one begins.
    """

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self.at = content, at
        self._left = MOST_VALUES

    def record(self, depth: int = 0) -> Fields:
        """The fields of a record; of texts only where they are is read."""
        fields: Fields = {}
        number = 0
        while head := self._byte():
            kind, step = head & 15, head >> 4
            number = number + step if step else self._signed()
            if (number, kind) in fields:
                raise ValueError("a record has a field twice")
            fields[number, kind] = head if kind in (TRUE, FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            raise ValueError("a record is larger or deeper than one can be")
        if kind in (INT16, INT32, INT64):
            return self._signed()
        if kind == RECORD:
            return self.record(depth + 1)
        if kind == LIST:
            return self._list(depth + 1)
        if kind not in (TRUE, FALSE, BYTE, DOUBLE, TEXT):
            raise ValueError("a record has a value of another kind")
        length = self._unsigned() if kind == TEXT else 8 if kind == DOUBLE else 1
        self.at += length
        return self.at - length

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        length = head >> 4 if head >> 4 < 15 else self._unsigned()
        return [self._value(head & 15, depth) for _ in range(length)]

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number has no end")
