"""A progress that shows nothing."""

from __future__ import annotations

from typing import Self


class Quiet:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.started: list[tuple[int, int]] = []
        self.advanced: list[tuple[int, int]] = []
        self.said: list[str] = []
        self.failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start(self, done: int, total: int) -> None:
        self.started.append((done, total))

    def say(self, line: str) -> None:
        self.said.append(line)

    def advance(self, units: int, steps: int) -> None:
        self.advanced.append((units, steps))

    @property
    def done(self) -> int:
        """How many units were computed."""
        return sum(units for units, _ in self.advanced)

    def fail(self) -> None:
        self.failed += 1
