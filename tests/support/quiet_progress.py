"""A progress that shows nothing."""

from __future__ import annotations

from ns_mab_gym.play.progress import Progress


class Quiet(Progress):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.started: list[tuple[int, int]] = []
        self.advanced: list[tuple[int, int]] = []
        self.said: list[str] = []

    def start(self, done: int, total: int) -> None:
        self.started.append((done, total))

    def say(self, line: str) -> None:
        self.said.append(line)

    def advance(self, things: int, steps: int) -> None:
        self.advanced.append((things, steps))

    @property
    def done(self) -> int:
        """The number of units that were computed."""
        return sum(units for units, _ in self.advanced)
