"""Progress of simulations and studies: a bar on a terminal, lines elsewhere, or a function of the user."""

from __future__ import annotations

import io
import sys
import time
from typing import Any

import pytest

import ns_mab_gym as nsb
from ns_mab_gym import worlds
from ns_mab_gym.play import progress
from ns_mab_gym.play.progress import Bar, Lines, progress_for

WORLD = worlds.Abrupt(horizon=50)


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_function_is_told_every_run_in_the_thread_of_the_caller(jobs: int) -> None:
    told: list[tuple[int, int]] = []
    nsb.simulate(WORLD, "random", runs=4, n_jobs=jobs, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_the_function_raises_ends_the_simulation(jobs: int) -> None:
    def enough(done: int, total: int) -> None:
        if done == 2:
            raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        nsb.simulate(WORLD, "random", runs=200, n_jobs=jobs, progress=enough)


def test_a_log_gets_a_last_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)  # which lines do not need
    nsb.simulate(WORLD, "random", runs=3, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("3 of 3 runs, ")
    assert line.endswith("steps/s, 0 s left")


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    nsb.simulate(WORLD, "random", runs=3, progress=True)
    assert "3 of 3 runs, " in stream.getvalue().rstrip().split("\r")[-1]


def test_nothing_is_printed_unless_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    nsb.simulate(WORLD, "random", runs=1)  # compiled, if it was not
    capfd.readouterr()
    nsb.simulate(WORLD, "random", runs=3)
    assert capfd.readouterr() == ("", "")


def test_a_terminal_without_tqdm_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    assert isinstance(progress_for(Terminal()), Lines)


@pytest.mark.parametrize("given", [1, "yes", None], ids=repr)
def test_what_is_neither_a_truth_value_nor_a_function_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r"progress must be True, False or a function of \(done, total\), got"):
        nsb.simulate(WORLD, "random", runs=3, progress=given)


def test_lines_come_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    stream = io.StringIO()
    lines = Lines(stream, "games", every=5.0)
    lines.start(0, 10)
    for _ in range(10):
        clock[0] += 2.0
        lines.advance(1, 1_000_000)
    assert stream.getvalue().splitlines() == [
        "3 of 10 games, 500 k steps/s, 14 s left",
        "6 of 10 games, 500 k steps/s, 8 s left",
        "9 of 10 games, 500 k steps/s, 2 s left",
        "10 of 10 games, 500 k steps/s, 0 s left",
    ]


def test_a_notebook_gets_a_bar_too() -> None:
    stream_of_a_notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    with progress_for(stream_of_a_notebook(), "runs") as bar:
        assert isinstance(bar, Bar)


def test_a_bar_shows_units_speed_failures_and_time_left() -> None:
    stream = Terminal()
    with progress_for(stream) as bar:
        bar.start(3, 5)
        bar.advance(1, 1_000)
        bar.say("a word")
        bar.fail()
        bar.advance(1, 1_000)
    last = stream.getvalue().rstrip().split("\r")[-1]
    assert "5 of 5 units, " in last
    assert " steps/s, 1 failed, 00:00 left" in last
    assert "a word\n" in stream.getvalue()


def test_lines_show_the_same() -> None:
    stream = io.StringIO()
    with progress_for(stream) as lines:
        lines.start(3, 5)
        lines.say("a word")
        lines.advance(1, 1_000)  # too soon after the last line
        lines.fail()
        lines.advance(1, 1_000)
    said, last = stream.getvalue().splitlines()
    assert said == "a word"
    assert last.startswith("5 of 5 units, ")
    assert last.endswith(" steps/s, 0 s left, 1 failed")
