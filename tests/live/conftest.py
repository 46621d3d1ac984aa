"""Agents in service with a clock of their own, one decision in ten seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import ns_mab_gym as nsb


class Clock:
    """A clock that is set by hand."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state.sqlite"


@pytest.fixture
def opened(file: Path, clock: Clock) -> Iterator[Callable[..., nsb.Live]]:
    """Opens the test's file; what is left open is closed at the end."""
    every: list[nsb.Live] = []

    def open_(agent: Any = "ts", arms: Any = ("blue", "green", "red"), **settings: Any) -> nsb.Live:
        every.append(nsb.Live(agent, arms, file, **{"seed": 1, "clock": clock, **settings}))
        return every[-1]

    yield open_
    for live in every:
        with suppress(Exception):
            live._file.close()
